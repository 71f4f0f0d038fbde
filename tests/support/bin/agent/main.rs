//! One of many agents, as a process: it follows a brain from its first commit, writes, corrects, links, and notes
//! what it does and sees (`amem_tests::agents`).
//!
//! `amem-agent NUMBER SOCKET BRAIN FOLDER RATE` says "ready" once it follows, begins at "go", ends at "stop", so many
//! writes a second, and says "stopped"; once it has seen the last event it asks for conflicts and says "asked". Started
//! again on the same notes it goes on: what it was about to write when it was killed, and behind the last commit that
//! it had seen.

#![forbid(unsafe_code)]

mod follow;
mod notes;
mod write;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use amem_client::{Client, v1};
use amem_tests::agents;
use tokio::sync::mpsc;

use crate::follow::{OtherEvents, follow};
use crate::notes::Notes;
use crate::write::Writer;

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = match args[..] {
        [number, socket, brain, folder, rate] => run(number, socket, brain, folder, rate).await,
        _ => Err("usage: amem-agent NUMBER SOCKET BRAIN FOLDER RATE".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            ExitCode::FAILURE
        }
    }
}

async fn run(
    number: &str,
    socket: &str,
    brain: &str,
    folder: &str,
    rate: &str,
) -> Result<(), Failure> {
    let (number, rate): (usize, f64) = (number.parse()?, rate.parse()?);
    let brain = Client::connect_unix(socket).await?.brain(brain).await?;
    let notes = Notes::open(folder.as_ref(), number)?;
    let known = Arc::new(OtherEvents::new(number));
    let commits = brain.follow(Some(notes.after_lsn));
    let following = tokio::spawn(follow(commits, notes.seen, known.clone()));
    let mut writer = Writer::new(
        brain.clone(),
        number,
        notes.acts,
        notes.pending,
        notes.count,
        known,
    );
    let mut told = told();
    println!("ready");
    wait_for(&mut told, "go").await?;
    writer.begin().await?;
    let mut every = tokio::time::interval(Duration::from_secs_f64(1.0 / rate));
    every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            end = wait_for(&mut told, "stop") => break end?,
            _ = every.tick() => {}
        }
        writer.next().await?;
    }
    writer.end().await?;
    println!("stopped");
    following.await??;
    let mut told = String::new();
    let mut question = v1::ListConflictsRequest {
        page_size: 100,
        ..Default::default()
    };
    loop {
        let page = brain.ask(question.clone()).await?;
        page.conflicts
            .iter()
            .map(agents::conflict)
            .for_each(|line| told += &(line + "\n"));
        question.page_token = page.next_page_token;
        if question.page_token.is_empty() {
            break;
        }
    }
    std::fs::write(agents::file(folder.as_ref(), "asked", number), told)?;
    println!("asked");
    Ok(())
}

/// The lines of stdin.
fn told() -> mpsc::UnboundedReceiver<String> {
    let (tell, told) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            drop(tell.send(line));
        }
    });
    told
}

async fn wait_for(told: &mut mpsc::UnboundedReceiver<String>, word: &str) -> Result<(), Failure> {
    match told.recv().await {
        Some(line) if line == word => Ok(()),
        other => Err(format!("told {other:?} instead of {word:?}").into()),
    }
}
