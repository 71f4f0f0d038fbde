//! Everything at once, for as long as one likes: `amem-soak [--for 5m] [--seed N] [--set NAME=VALUE]`, where
//! the last is for the daemon's environment.
//!
//! Writers with ledgers and request ids, sessions, summaries, corrections, erases, decay, queries, subscriptions,
//! readers of the files, checkpoints, files that are put into the folder, merged and removed, settings read again; and
//! in the first half `kill -9` again and again. The second half belongs to one process, so that its memory and
//! descriptors can be told, and writers take their time, so that it is not the brains' growth that counts; of a run
//! of an hour or more, the slope of its memory is judged as well. In the end every brain is verified and held against
//! what was answered; exit code 1 if anything is wrong.

#![forbid(unsafe_code)]

mod check;
mod gauges;
mod noted;
mod others;
mod watchers;
mod world;

use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use amem_tests::daemon::{DaemonHome, DaemonProcess};
use amem_tests::random::Random;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::sleep;

use crate::gauges::Gauges;
use crate::world::{Failure, LEDGERS, World, Writers};

/// A soak in which all of these happen.
const LONG: Duration = Duration::from_secs(60);
const MUST_HAPPEN: [&str; 5] = [
    "commits followed",
    "erases",
    "files adopted",
    "merges",
    "views",
];

/// How long a writer waits after each request in the first half, at least.
const FAST: Duration = Duration::from_millis(20);
/// The same in the second.
const SLOW: Duration = Duration::from_millis(400);

const USAGE: &str = "usage: amem-soak [--for 90s|5m|24h] [--seed N] [--set NAME=VALUE]...";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match LocalSet::new().run_until(soak(&args)).await {
        Ok((said, true)) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Ok((said, false)) => {
            println!("{said}");
            ExitCode::FAILURE
        }
        Err(why) => {
            println!("amem-soak: {why}");
            ExitCode::FAILURE
        }
    }
}

/// `90`, `90s`, `5m`, `24h`.
fn span(text: &str) -> Result<Duration, Failure> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text[..text.len() - unit.len()].parse()?;
    let seconds = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err(format!("{text:?} is no span of time: say 90s, 5m, 24h").into()),
    };
    Ok(Duration::from_secs(number * seconds))
}

/// The closing line, and whether all is well.
async fn soak(args: &[String]) -> Result<(String, bool), Failure> {
    let mut variables = Vec::new();
    let (mut lasts, mut seed) = (Duration::from_secs(300), u64::from(std::process::id()));
    for pair in args.chunks(2) {
        match pair {
            [key, value] if key == "--for" => lasts = span(value)?,
            [key, value] if key == "--seed" => seed = value.parse()?,
            [key, value] if key == "--set" => {
                let (name, value) = value.split_once('=').ok_or("--set NAME=VALUE")?;
                variables.push((name, value));
            }
            _ => return Err(USAGE.into()),
        }
    }
    let folder = tempfile::Builder::new().prefix("amem-soak-").tempdir()?;
    let beside = std::env::current_exe()?;
    let mut place = DaemonHome::new(
        beside.with_file_name("amem-tested-daemon"),
        folder.path().join("brains"),
    );
    std::fs::create_dir(place.folder())?;
    // As the units of `deploy` have it.
    place.set("MALLOC_ARENA_MAX", "2");
    for (name, value) in variables {
        place.set(name, value);
    }
    let mut daemon = place.start();
    let world = Arc::new(World::new(place, seed, lasts).await?);
    let began = Instant::now();
    let writers = Writers::start(&world, "first", FAST)?;
    let mut tasks = JoinSet::new();
    others::start(&world, &mut tasks);
    let readers = watchers::start(&world, &mut tasks);
    let kills;
    (daemon, kills) = trouble(&world, daemon, lasts / 2).await?;
    let mut ledgers = writers.end()?;
    let writers = Writers::start(&world, "second", SLOW)?;
    let gauges = Gauges::watch(&world, daemon.pid(), lasts / 2).await?;
    world.ended.store(true, Ordering::Relaxed);
    for (all, of_second) in ledgers.iter_mut().zip(writers.end()?) {
        all.extend(of_second);
    }
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    for reader in readers {
        reader.join().map_err(|_| "a reader of a file panicked")?;
    }
    if !daemon.stop().success() {
        world.wrong("the daemon did not end well".into());
    }
    let mut said = format!(
        "soak: {:.0} s, seed {seed}, {kills} kills, {} reloads",
        began.elapsed().as_secs_f32(),
        world.count("reloads"),
    );
    if lasts >= LONG {
        for what in MUST_HAPPEN {
            if world.count(what) == 0 {
                world.wrong(format!("no {what}"));
            }
        }
    }
    let brains_bytes = check::brains(&world, &ledgers, &mut said)?;
    let is_flat = gauges.tell(brains_bytes, &mut said);
    world.tell_latencies(&mut said);
    let wrong = world.all_wrong();
    for what in wrong.iter().take(20) {
        write!(said, "\nWRONG: {what}")?;
    }
    Ok((said, wrong.is_empty() && is_flat))
}

/// Kills the daemon again and again, and starts it again, and has it read its settings, for so long.
async fn trouble(
    world: &Arc<World>,
    mut daemon: DaemonProcess,
    lasts: Duration,
) -> Result<(DaemonProcess, u64), Failure> {
    let (began, mut random, mut kills) = (Instant::now(), Random::new(world.seed), 0);
    let every = (lasts / 8).clamp(Duration::from_secs(1), Duration::from_secs(30));
    while began.elapsed() + every < lasts {
        sleep(every.mul_f32(0.5 + random.unit() / 2.0)).await;
        reload(world, &daemon).await?;
        for brain in LEDGERS {
            // It may be killed in the middle of this.
            tokio::task::spawn_local(others::checkpoint(world.clone(), brain));
        }
        sleep(Duration::from_micros(random.below(20_000))).await;
        daemon.kill();
        kills += 1;
        daemon = world.place.start();
    }
    sleep(lasts.saturating_sub(began.elapsed())).await;
    Ok((daemon, kills))
}

/// SIGHUP.
pub(crate) async fn reload(world: &World, daemon: &DaemonProcess) -> Result<(), Failure> {
    let pid = daemon.pid().to_string();
    let mut command = tokio::process::Command::new("kill");
    let told = command.args(["-HUP", &pid]).status().await?;
    if !told.success() {
        return Err("kill -HUP".into());
    }
    world.add("reloads");
    Ok(())
}
