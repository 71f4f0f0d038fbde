//! A writer whose power fails: it writes one brain by the store itself, and notes each request and each answer.
//!
//! `amem-committer FOLDER BOOT SEED FLAW` makes the brain `b` if it is not there. What an earlier one had begun and
//! was not answered comes first, by stdin, one request a line up to an empty one. Then it writes until it can't:
//! groups of batches, corrections and links, checkpoints beside them. Each line of stdout is a `WriterLine`.
//! `FOLDER BOOT SEED FLAW end` only does what comes by stdin, and closes the brain in order.

#![forbid(unsafe_code)]

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use amem_store::disk::os::OsDisk;
use amem_store::{Checkpoint, Error, Folder, NewBrain, Store, create};
use amem_tests::power::{Ask, BootDisk, Flaw, What, WriterLine, told};
use amem_tests::random::Random;
use uuid::Uuid;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ended = match args[..] {
        [folder, boot, seed, flaw] => run(folder, boot, seed, flaw, false),
        [folder, boot, seed, flaw, "end"] => run(folder, boot, seed, flaw, true),
        _ => Err("usage: amem-committer FOLDER BOOT SEED FLAW [end]".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // The reading process may be gone.
            drop(say(&WriterLine::Failed(why.to_string())));
            ExitCode::FAILURE
        }
    }
}

/// One line, in one write, so that no part of it is lost with the process.
fn say(said: &WriterLine) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(said)?;
    line.push(b'\n');
    Ok(std::io::stdout().lock().write_all(&line)?)
}

fn run(folder: &str, boot: &str, seed: &str, flaw: &str, ends: bool) -> Result<(), Failure> {
    let flaw = Flaw::named(flaw).ok_or("no such flaw")?;
    let disk = BootDisk::new(OsDisk::new(folder)?, boot.parse()?, flaw);
    let folder = Folder::open(Arc::new(disk), "a committer")?;
    let store = match Store::open(&folder, "b") {
        Err(Error::NotFound { .. }) => {
            let options = NewBrain {
                dimension: 0,
                space: Uuid::nil(),
                ..NewBrain::default()
            };
            create(&folder, "b", &options)?;
            Store::open(&folder, "b")?
        }
        opened => opened?,
    };
    say(&WriterLine::Open)?;
    let mut committer = Committer {
        nodes: store.view().nodes(),
        store,
        random: Random::new(seed.parse()?),
        seed: seed.to_owned(),
        texts: 0,
        ids: Vec::new(),
    };
    let mut left = Vec::new();
    for line in std::io::stdin().lock().lines() {
        match line?.as_str() {
            "" => break,
            line => left.push(serde_json::from_str(line)?),
        }
    }
    committer.commit(&left)?;
    if ends {
        return Ok(committer.store.close()?);
    }
    loop {
        committer.step()?;
    }
}

struct Committer {
    store: Store,
    random: Random,
    seed: String,
    texts: u64,
    /// Events that were there at the start.
    nodes: u64,
    /// Its own events that are neither corrected nor linked yet.
    ids: Vec<u64>,
}

impl Committer {
    fn step(&mut self) -> Result<(), Failure> {
        if self.random.below(12) > 0 {
            return self.group();
        }
        let mut checkpoint = Checkpoint::begin(&self.store)?;
        checkpoint.build()?;
        for _ in 0..self.random.below(4) {
            self.group()?;
        }
        checkpoint.carry(&self.store.brain().clone())?;
        if self.random.below(2) == 0 {
            self.group()?;
        }
        drop(self.store.install(checkpoint)?);
        say(&WriterLine::Checkpoint)
    }

    fn group(&mut self) -> Result<(), Failure> {
        let asks: Vec<Ask> = (0..1 + self.random.below(3)).map(|_| self.ask()).collect();
        self.commit(&asks)
    }

    fn commit(&mut self, asks: &[Ask]) -> Result<(), Failure> {
        for ask in asks {
            say(&WriterLine::Begun(ask.clone()))?;
        }
        let requests: Vec<_> = asks.iter().map(Ask::request).collect();
        for (ask, answer) in asks.iter().zip(self.store.commit(&requests)) {
            let told = told(ask, &answer?);
            if matches!(ask.what, What::Ingest(_)) {
                // What an earlier one had begun may be there already.
                let ids = told.events.iter().map(|(id, _)| *id);
                self.ids.extend(ids.filter(|id| *id >= self.nodes));
            }
            say(&WriterLine::Done(told, SystemTime::now()))?;
        }
        Ok(())
    }

    fn ask(&mut self) -> Ask {
        let what = match self.random.below(8) {
            0..=1 if !self.ids.is_empty() => {
                let target = self.random.below(self.ids.len() as u64) as usize;
                What::Correct(self.ids.swap_remove(target), self.text())
            }
            // Each event is a source at most once, and of a link to an earlier run's, so that each is new.
            2 if !self.ids.is_empty() && self.nodes > 0 => {
                let source = self.random.below(self.ids.len() as u64) as usize;
                let target = self.random.below(self.nodes);
                What::Link(self.ids.swap_remove(source), target)
            }
            3..=4 => What::Ingest(
                (0..2 + self.random.below(12))
                    .map(|_| self.text())
                    .collect(),
            ),
            _ => What::Ingest(vec![self.text()]),
        };
        Ask {
            id: Uuid::now_v7(),
            what,
        }
    }

    /// An unused text; now and then a long one.
    fn text(&mut self) -> String {
        self.texts += 1;
        let more = match self.random.below(20) {
            0 => self.random.below(20_000),
            _ => self.random.below(60),
        };
        let rest = "and so on ".repeat(more as usize / 10);
        format!("{} says {} {rest}", self.seed, self.texts)
    }
}
