//! Eight readers and four writers around one brain, each a process of its own, beside checkpoints.
//!
//! Writers go through the daemon, readers follow the file. Once a writer is answered, a view that any reader begins
//! must have it: 0 stale views. `AMEM_CROWD_SECS` is how long (5; 60 is the long form).

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use amem_client::{Client, Reader, v1};
use amem_core::mapping::Cells;
use amem_tests::crowd::{CELLS_BYTES, OVER, Slot, WRITERS};
use amem_tests::daemon::Place;

const READERS: usize = 8;
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// One of the crowd; it is killed when it is dropped.
struct Member(Child, BufReader<ChildStdout>);

impl Member {
    fn start<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_amem-crowd"))
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let mut member = Self(child, out);
        assert_eq!(member.line(), "ready");
        member
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.1.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    /// What it says in the end: names and numbers.
    fn end(mut self) -> Vec<(String, u64)> {
        let said = self.line();
        assert!(self.0.wait().unwrap().success(), "{said}");
        let words: Vec<&str> = said.split(' ').collect();
        let pair = |pair: &[&str]| (pair[0].to_owned(), pair[1].parse().unwrap());
        words.chunks(2).map(pair).collect()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
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

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

async fn create(place: &Place) -> Client {
    let client = Client::connect_unix(place.socket()).await.unwrap();
    let request = v1::CreateBrainRequest {
        brain: "b".into(),
        vectors: Some(v1::VectorOptions::default()),
        ..Default::default()
    };
    client.brains().create_brain(request).await.unwrap();
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn no_view_of_eight_readers_misses_what_one_of_four_writers_was_answered() {
    let seconds = std::env::var("AMEM_CROWD_SECS").ok();
    let seconds = seconds.and_then(|n| n.parse().ok()).unwrap_or(5);
    let folder = folder();
    let place = Place::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let client = create(&place).await;
    let (path, cells) = cells(place.run());
    let brain = folder.path().join("b.amem");
    let (path, brain) = (path.to_str().unwrap(), brain.to_str().unwrap());
    let socket = place.socket();
    let socket = socket.to_str().unwrap();
    let readers: Vec<Member> = (0..READERS)
        .map(|_| Member::start(["read", path, brain]))
        .collect();
    let writers: Vec<Member> = (0..WRITERS)
        .map(|slot| Member::start(["write", path, &slot.to_string(), socket, "b"]))
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
    cells.store(OVER as usize, 1);
    let writers: Vec<_> = writers.into_iter().map(Member::end).collect();
    let readers: Vec<_> = readers.into_iter().map(Member::end).collect();
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
async fn a_view_without_what_a_writer_tells_counts_as_stale() {
    let folder = folder();
    let place = Place::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let _daemon = place.start();
    create(&place).await;
    let (path, cells) = cells(place.run());
    // A writer that says that it was answered, and was not.
    cells.store(Slot(2).lsn(), 1 << 40);
    let brain = folder.path().join("b.amem");
    let reader = Member::start([Path::new("read"), &path, &brain]);
    cells.store(OVER as usize, 1);
    let said = [reader.end()];
    let (views, stale) = (sum(&said, "views"), sum(&said, "stale"));
    assert!(views > 0 && stale == views, "{stale} stale of {views}");
}
