//! What a merge brought, as the packages' readers have it: live while it comes, and of a copy; and what they say where
//! the file that comes next can't be read.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_format::journal::frame::Kind;
use amem_format::{EventType, Lsn, NodeId};
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, MergeSource, Mutation, NewBrain, Request, Store, create};
use serde_json::{Value, json};

use crate::kit::{Kit, say};

/// How long a reader may say nothing of a file that it can't read.
const PATIENCE: Duration = Duration::from_secs(20);

/// A reader in another process.
struct Reader {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Reader {
    /// Opens a file, and what is read of it.
    fn open(kit: &Kit, path: &Path) -> (Self, Value) {
        let mut command = kit.command();
        command
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut reader = Self { child, lines };
        let first = reader.line();
        (reader, first)
    }

    /// What it reads now.
    fn again(&mut self) -> Value {
        writeln!(self.child.stdin.as_ref().unwrap(), "again").unwrap();
        self.line()
    }

    fn line(&mut self) -> Value {
        let line = self.lines.next().expect("a line of the reader").unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // It ends with its input.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

fn remember(store: &mut Store, texts: &[&str]) {
    let event = |text: &&str| NewEvent::new(EventType::FACT, *text);
    let ingest = Ingest {
        events: texts.iter().map(event).collect(),
        ..Ingest::default()
    };
    store
        .execute(Request::new(Mutation::Ingest(ingest)))
        .unwrap();
}

/// What a reader must say of a brain.
fn told(store: &Store, is_live: bool) -> Value {
    let view = store.view();
    let event = |id| {
        let node = view.node(NodeId(id)).unwrap();
        let attributes = node.attributes().unwrap().unwrap_or_default();
        json!([node.text().unwrap(), attributes])
    };
    let events: Vec<_> = (0..view.nodes()).map(event).collect();
    json!({"lsn": view.lsn().0, "live": is_live, "torn": null, "events": events})
}

/// True if the brain's newest commit is a merge that stands in its journal.
fn ends_with_a_merge(store: &Store) -> bool {
    let view = store.view();
    let before = Lsn(view.lsn().0 - 1);
    let last = view.commit_after(before).unwrap();
    store.journal_bytes() > 0 && last.is_some_and(|last| last.commit.kind == Kind::Merge)
}

/// Runs a script of a package that follows files, of which it is given the path.
pub(crate) fn is_read(script: &Kit) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let disk = Arc::new(OsDisk::new(folder.path()).unwrap());
    let brains = Folder::open(disk, "a test").unwrap();
    let [mut ours, mut theirs] = ["ours", "theirs"].map(|name| {
        create(&brains, name, &NewBrain::default()).unwrap();
        Store::open(&brains, name).unwrap()
    });
    remember(&mut ours, &["of ours"]);
    let path = folder.path().join("ours.amem");
    let (mut reader, first) = Reader::open(script, &path);
    assert_eq!(first, told(&ours, true), "{}", script.name);
    // Behind the other commits, and as the last transaction of a new generation.
    for (text, journal_bytes) in [("by a small one", usize::MAX), ("by a large one", 0)] {
        remember(&mut theirs, &[text, "and more of theirs"]);
        let other = MergeSource {
            journal_bytes,
            ..MergeSource::new(theirs.view())
        };
        ours.execute(Request::new(Mutation::Merge(other))).unwrap();
        assert!(ends_with_a_merge(&ours), "{text}");
        assert_eq!(reader.again(), told(&ours, true), "{}: {text}", script.name);
        let copy = folder.path().join("copy");
        fs::copy(&path, &copy).unwrap();
        let (_, of_copy) = Reader::open(script, &copy);
        assert_eq!(of_copy, told(&ours, false), "{}: {text}", script.name);
        fs::remove_file(copy).unwrap();
    }
    replaced_by_none(script, &mut reader, &mut ours, &path);
    say(&format!(
        "{}: merges are read, live and of a copy",
        script.name
    ));
}

/// A new generation that can't be read where the reader looks, and then can.
fn replaced_by_none(script: &Kit, reader: &mut Reader, ours: &mut Store, path: &Path) {
    let aside: PathBuf = path.with_extension("aside");
    ours.checkpoint().unwrap();
    fs::rename(path, &aside).unwrap();
    fs::write(path, "no brain").unwrap();
    let began = Instant::now();
    let failed = loop {
        let said = reader.again();
        assert!(began.elapsed() < PATIENCE, "{}: {said}", script.name);
        if let Some(failed) = said["failed"].as_str() {
            break failed.to_owned();
        }
    };
    assert!(failed.contains("DamagedFile"), "{}: {failed}", script.name);
    fs::rename(&aside, path).unwrap();
    while reader.again() != told(ours, true) {
        assert!(began.elapsed() < PATIENCE, "{}", script.name);
    }
}
