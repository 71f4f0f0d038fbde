//! Eight readers and four writers around one brain, each a process of its own, beside checkpoints.
//!
//! Writers go through the daemon, readers follow the file. Once a writer is answered, a view that any reader begins
//! must have it: 0 stale views.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use amem_client::{Reader, v1};
use amem_format::mapping::Cells;
use amem_tests::daemon::DaemonHome;
use amem_tests::staleness::{CELLS_BYTES, OVER, Slot, WRITERS};

use crate::process::Member;
use crate::{create, folder, seconds};

const READERS: usize = 8;
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// Starts one process, and waits until it is ready.
fn start<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Member {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-staleness"));
    let member = Member::spawn(command.args(args));
    member.says("ready");
    member
}

/// What it says in the end: names and numbers.
fn end(member: Member) -> Vec<(String, u64)> {
    let said = member.line();
    member.ends(&said);
    let words: Vec<&str> = said.split(' ').collect();
    let pair = |pair: &[&str]| (pair[0].to_owned(), pair[1].parse().unwrap());
    words.chunks(2).map(pair).collect()
}

/// The sum of what several say under one name.
fn sum(said: &[Vec<(String, u64)>], name: &str) -> u64 {
    let named = |said: &Vec<(String, u64)>| said.iter().find(|(n, _)| n == name).unwrap().1;
    said.iter().map(named).sum()
}

/// A page of cells in a file.
fn cells(folder: &Path) -> (PathBuf, Cells) {
    let path = folder.join("cells");
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true);
    let file = file.open(&path).unwrap();
    file.set_len(CELLS_BYTES).unwrap();
    let cells = Cells::shared(&file, 0, CELLS_BYTES as usize).unwrap();
    (path, cells)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_view_of_eight_readers_misses_an_answered_write_of_four_writers() {
    let seconds = seconds();
    let folder = folder();
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let client = create(&place).await;
    let (path, cells) = cells(place.run());
    let brain = folder.path().join("b.amem");
    let (path, brain) = (path.to_str().unwrap(), brain.to_str().unwrap());
    let socket = place.socket();
    let socket = socket.to_str().unwrap();
    let readers: Vec<Member> = (0..READERS).map(|_| start(["read", path, brain])).collect();
    let writers: Vec<Member> = (0..WRITERS)
        .map(|slot| start(["write", path, &slot.to_string(), socket, "b"]))
        .collect();
    let until = Instant::now() + Duration::from_secs(seconds);
    let mut checkpoints = 0;
    let mut every = tokio::time::interval(CHECKPOINT_EVERY);
    while Instant::now() < until {
        every.tick().await;
        let request = v1::CheckpointBrainRequest { brain: "b".into() };
        client.brains().checkpoint_brain(request).await.unwrap();
        checkpoints += 1;
    }
    cells.store(OVER as usize, 1).unwrap();
    let writers: Vec<_> = writers.into_iter().map(end).collect();
    let readers: Vec<_> = readers.into_iter().map(end).collect();
    let (commits, views) = (sum(&writers, "commits"), sum(&readers, "views"));
    let (stale, generations) = (sum(&readers, "stale"), sum(&readers, "generations"));
    println!(
        "{seconds} s, {READERS} readers, {WRITERS} writers: {views} views, {stale} stale, {commits} commits, \
         {checkpoints} checkpoints, {generations} generations seen"
    );
    assert_eq!(stale, 0);
    assert!(generations > READERS as u64, "no reader saw a checkpoint");
    assert!(daemon.stop().success());
    assert_eq!(
        Reader::open(brain).unwrap().view().unwrap().nodes(),
        commits
    );
}

#[tokio::test]
async fn a_view_without_an_announced_write_counts_as_stale() {
    let folder = folder();
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let _daemon = place.start();
    create(&place).await;
    let (path, cells) = cells(place.run());
    // A writer that says that it was answered, and was not.
    cells.store(Slot(2).lsn(), 1 << 40).unwrap();
    let brain = folder.path().join("b.amem");
    let reader = start([Path::new("read"), &path, &brain]);
    cells.store(OVER as usize, 1).unwrap();
    let said = [end(reader)];
    let (views, stale) = (sum(&said, "views"), sum(&said, "stale"));
    assert!(views > 0 && stale == views, "{stale} stale of {views}");
}
