//! Files that others put into the folder of a running daemon, and what happens to its own.

use std::fs::{self, File};
use std::future::Future;
use std::io::Write;
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_interop::spec1;
use amem_store::limits::INCOMING_BYTES_MAX;
use amem_tests::random;
use tonic::Code;

use crate::process::{Daemon, create_bare, folder, get, ingest};

/// How long anything may take to be noticed.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks again and again until there is an answer.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(what: &str, ask: impl Fn() -> F) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(crate) async fn brain(client: &Client, name: &str) -> Option<v1::GetBrainResponse> {
    let request = v1::GetBrainRequest { brain: name.into() };
    let answer = client.brains().get_brain(request).await;
    answer.ok().map(|answer| answer.into_inner())
}

async fn problems(client: &Client) -> Vec<v1::BrainProblem> {
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    status.unwrap().into_inner().problems
}

async fn problem(client: &Client, name: &str) -> v1::BrainProblem {
    until(&format!("{name} is no problem"), || async {
        problems(client)
            .await
            .into_iter()
            .find(|problem| problem.brain == name)
    })
    .await
}

async fn texts(client: &Client, name: &str, count: u64) -> Vec<String> {
    let events = get(client, name, &(0..count).collect::<Vec<_>>()).await;
    events.into_iter().map(|event| event.text).collect()
}

pub(crate) fn at(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.amem"))
}

/// The files in one of our own folders.
pub(crate) fn kept(folder: &Path, place: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join(".amemd").join(place)).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// How long a slow process writes a file: longer than one that does not change passes for whole.
const SLOW: Duration = Duration::from_secs(3);
/// The longest pause of such a writer that the daemon can't take for the end.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Writes the first bytes of a file, goes on and on, and writes the rest at last. Returns its inode and the longest
/// pause that was made.
fn write_slowly(path: &Path, bytes: &[u8], first: usize) -> (u64, Duration) {
    let mut file = File::create(path).unwrap();
    let (began, mut last, mut longest) = (Instant::now(), Instant::now(), Duration::ZERO);
    file.write_all(&bytes[..first]).unwrap();
    while began.elapsed() < SLOW {
        std::thread::sleep(Duration::from_millis(50));
        let at = first - 1;
        file.write_all_at(&bytes[at..first], at as u64).unwrap();
        longest = longest.max(last.elapsed());
        last = Instant::now();
    }
    file.write_all(&bytes[first..]).unwrap();
    let inode = file.metadata().unwrap().ino();
    drop(file);
    (inode, longest.max(last.elapsed()))
}

/// Writes a file slowly, and again under another name if the machine was so busy that the writer has rested.
async fn written_slowly(folder: &Path, bytes: &[u8], first: usize) -> (String, u64) {
    for attempt in 0..10 {
        let name = format!("slow-{attempt}");
        let (path, bytes) = (at(folder, &name), bytes.to_vec());
        let writing = tokio::task::spawn_blocking(move || write_slowly(&path, &bytes, first));
        let (inode, longest) = writing.await.unwrap();
        if longest < PAUSE_MAX {
            return (name, inode);
        }
    }
    panic!("this machine is too busy to write slowly and evenly");
}

/// True for a file that was written slowly, and perhaps not evenly.
fn is_try(name: &str) -> bool {
    name.starts_with("slow-")
}

/// True for a file that was quarantined under the name of a brain.
fn is_of(kept: &Path, name: &str) -> bool {
    kept.file_name().unwrap().to_str().unwrap().contains(name)
}

/// A daemon with a brain `b` that has an event in its base and one in its journal.
async fn started(flags: &[&str]) -> (tempfile::TempDir, Daemon, Client) {
    let folder = folder();
    let daemon = Daemon::start_with(folder.path(), flags);
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["in the base"]).await;
    let request = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(request).await.unwrap();
    ingest(&client, "b", &["in the journal"]).await;
    (folder, daemon, client)
}

const TEXTS: [&str; 2] = ["in the base", "in the journal"];

#[tokio::test]
async fn a_copy_of_a_brain_is_adopted_as_a_sibling_by_any_way_of_copying() {
    let (folder, _daemon, client) = started(&[]).await;
    let original = brain(&client, "b").await.unwrap();
    let from = at(folder.path(), "b");
    let outside = folder.path().join("outside.part");
    fs::copy(&from, &outside).unwrap();
    // Copied, moved, written under a hidden name and renamed, and written slowly.
    let copied = at(folder.path(), "copied");
    fs::copy(&outside, &copied).unwrap();
    let moved = at(folder.path(), "moved");
    fs::copy(&outside, folder.path().join("x")).unwrap();
    fs::rename(folder.path().join("x"), &moved).unwrap();
    let synced = at(folder.path(), "synced");
    fs::copy(&outside, folder.path().join(".synced.amem.Ab3")).unwrap();
    fs::rename(folder.path().join(".synced.amem.Ab3"), &synced).unwrap();
    let bytes = fs::read(&outside).unwrap();
    let (slowly, written) = written_slowly(folder.path(), &bytes, bytes.len() / 2).await;
    let slow = at(folder.path(), &slowly);
    let mut instances = vec![original.moment.clone().unwrap().instance];
    for (name, path) in [
        ("copied", copied),
        ("moved", moved),
        ("synced", synced),
        (&slowly, slow),
    ] {
        let found = until(name, || brain(&client, name)).await;
        let (info, whose) = (found.info.unwrap(), original.info.clone().unwrap());
        assert_eq!(info.lineage, whose.lineage, "{name}");
        instances.push(found.moment.unwrap().instance);
        assert_eq!(texts(&client, name, 2).await, TEXTS, "{name}");
        ingest(&client, name, &["its own"]).await;
        let meta = fs::metadata(&path).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o400, "{name}");
        assert_ne!(meta.ino(), written);
    }
    instances.sort();
    instances.dedup();
    assert_eq!(instances.len(), 5, "each is an instance of its own");
    assert_eq!(brain(&client, "b").await.unwrap().moment, original.moment);
    let told = problems(&client).await;
    assert!(told.iter().all(|of| is_try(&of.brain)), "{told:?}");
    let kept = kept(folder.path(), "conflicts");
    assert!(!kept.iter().any(|kept| is_of(kept, &slowly)), "{kept:?}");
}

#[tokio::test]
async fn files_of_other_layouts_become_brains() {
    let (folder, _daemon, client) = started(&[]).await;
    let graph = random::graph(3);
    let (mut reference, mut spec) = (Vec::new(), Vec::new());
    write_compatible(&graph, CompatOptions::default(), &mut reference).unwrap();
    spec1::write(&graph, &mut spec).unwrap();
    for (name, bytes) in [("reference", reference), ("spec-1", spec)] {
        fs::write(at(folder.path(), name), bytes).unwrap();
        until(name, || brain(&client, name)).await;
        let count = graph.events.len() as u64;
        let mut found = texts(&client, name, count).await;
        let mut expected: Vec<_> = graph
            .events
            .iter()
            .map(|event| event.text.clone())
            .collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

#[tokio::test]
async fn a_file_that_is_still_being_written_is_not_adopted() {
    let (folder, _daemon, client) = started(&[]).await;
    // All of the base, and of the journal's frames only the first: whole, as far as it goes.
    ingest(&client, "b", &["later"]).await;
    let bytes = fs::read(at(folder.path(), "b")).unwrap();
    let later = bytes
        .windows(5)
        .position(|bytes| bytes == b"later")
        .unwrap()
        - 200;
    let (slowly, _) = written_slowly(folder.path(), &bytes, later).await;
    let told = brain(&client, "b").await.unwrap();
    assert_eq!(told.status.unwrap().events, 3);
    until("slow", || brain(&client, &slowly)).await;
    assert_eq!(texts(&client, &slowly, 3).await[2], "later");
    let kept = kept(folder.path(), "conflicts");
    assert!(!kept.iter().any(|kept| is_of(kept, &slowly)), "{kept:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_written_to_a_file_after_its_adoption_are_quarantined() {
    let (folder, daemon, client) = started(&[]).await;
    let bytes = fs::read(at(folder.path(), "b")).unwrap();
    let mut writing = File::create(at(folder.path(), "slow")).unwrap();
    writing.write_all(&bytes).unwrap();
    // At rest for so long, it passes for whole.
    until("slow", || brain(&client, "slow")).await;
    writing.write_all(b"and this").unwrap();
    drop(writing);
    assert!(daemon.stop().success());
    let kept = kept(folder.path(), "conflicts");
    assert_eq!(kept.len(), 1);
    assert!(fs::read(&kept[0]).unwrap().ends_with(b"and this"));
}

#[tokio::test]
async fn a_file_that_is_no_brain_stays_unchanged_and_is_reported_once_examined() {
    let (folder, _daemon, client) = started(&[]).await;
    let whole = fs::read(at(folder.path(), "b")).unwrap();
    let mut flipped = whole.clone();
    flipped[70] ^= 0x10;
    // Within the base: what is behind it is room for the journal.
    let cut = &whole[..2000];
    let outside = tempfile::tempdir_in(folder.path().parent().unwrap()).unwrap();
    let elsewhere = outside.path().join("elsewhere.amem");
    fs::write(&elsewhere, &whole).unwrap();
    let rows: [(&str, &[u8], &str, &str); 5] = [
        (
            "noise",
            b"not a brain at all",
            "NOT_AN_AMEM_FILE",
            "not an .amem file",
        ),
        ("empty", b"", "INVALID", "empty"),
        ("cut", cut, "", ""),
        ("flipped", &flipped, "", ""),
        ("no name", &whole, "BRAIN_NAME", "use letters"),
    ];
    for (name, bytes, ..) in rows {
        fs::write(at(folder.path(), name), bytes).unwrap();
    }
    symlink(&elsewhere, at(folder.path(), "link")).unwrap();
    fs::hard_link(&elsewhere, at(folder.path(), "hard")).unwrap();
    let fifo = Command::new("mkfifo")
        .arg(at(folder.path(), "pipe"))
        .status();
    assert!(fifo.unwrap().success());
    fs::create_dir(at(folder.path(), "folder")).unwrap();
    let huge = File::create(at(folder.path(), "huge")).unwrap();
    huge.set_len(INCOMING_BYTES_MAX + 1).unwrap();
    for (name, bytes, reason, words) in rows {
        let told = problem(&client, name).await;
        assert!(
            reason.is_empty()
                || told.reason == reason
                || reason == "INVALID"
                || reason == "NOT_AN_AMEM_FILE",
            "{told:?}"
        );
        assert!(told.message.contains(words), "{told:?}");
        assert_eq!(fs::read(at(folder.path(), name)).unwrap(), bytes, "{name}");
    }
    for (name, words) in [
        ("link", "symbolic link"),
        ("hard", "hard links"),
        ("pipe", "no regular file"),
    ] {
        let told = problem(&client, name).await;
        assert_eq!(told.reason, "NOT_ADOPTED", "{told:?}");
        assert!(told.message.contains(words), "{told:?}");
    }
    let told = problem(&client, "huge").await;
    assert!(
        told.message.contains(&INCOMING_BYTES_MAX.to_string()),
        "{told:?}"
    );
    assert_eq!(fs::read(&elsewhere).unwrap(), whole);
    for name in [
        "noise", "cut", "flipped", "link", "hard", "pipe", "folder", "huge",
    ] {
        let request = v1::GetBrainRequest { brain: name.into() };
        let began = Instant::now();
        client.brains().get_brain(request).await.expect_err(name);
        assert!(began.elapsed() < Duration::from_secs(3), "{name}");
    }
    // What is mended is adopted, what is taken away is forgotten.
    fs::write(at(folder.path(), "noise"), &whole).unwrap();
    until("noise", || brain(&client, "noise")).await;
    fs::remove_file(at(folder.path(), "cut")).unwrap();
    until("cut is still told", || async {
        let told = problems(&client).await;
        told.iter()
            .all(|told| told.brain != "cut" && told.brain != "noise")
            .then_some(())
    })
    .await;
    assert_eq!(texts(&client, "b", 2).await, TEXTS);
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_files_are_adopted_at_the_start_and_owned_ones_stay_unchanged() {
    let (folder, daemon, client) = started(&[]).await;
    let before = brain(&client, "b").await.unwrap();
    assert!(daemon.stop().success());
    fs::copy(at(folder.path(), "b"), at(folder.path(), "copied")).unwrap();
    fs::rename(at(folder.path(), "b"), folder.path().join("away")).unwrap();
    fs::rename(folder.path().join("away"), at(folder.path(), "b")).unwrap();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    // The first call waits for the adoption.
    let copied = brain(&client, "copied").await.unwrap();
    assert_ne!(
        copied.moment.unwrap().instance,
        before.moment.clone().unwrap().instance
    );
    assert_eq!(texts(&client, "copied", 2).await, TEXTS);
    let after = brain(&client, "b").await.unwrap();
    assert_eq!(after.moment, before.moment);
    // A brain under another name is another brain.
    assert!(daemon.stop().success());
    fs::rename(at(folder.path(), "b"), at(folder.path(), "c")).unwrap();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let renamed = brain(&client, "c").await.unwrap();
    assert_ne!(
        renamed.moment.unwrap().instance,
        before.moment.unwrap().instance
    );
    assert_eq!(texts(&client, "c", 2).await, TEXTS);
}

/// An open brain, and one that was closed as idle.
const IDLE: [&[&str]; 2] = [&[], &["--set", "limits.idle_close_secs=1"]];

async fn until_closed(client: &Client, wanted: bool) {
    until("it stays open", || async {
        let status = client.admin().get_status(v1::GetStatusRequest {}).await;
        (!wanted || status.unwrap().into_inner().brains.is_empty()).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_file_that_takes_an_owned_name_is_quarantined_and_the_brain_loses_nothing() {
    for (row, flags) in IDLE.into_iter().enumerate() {
        let (folder, _daemon, client) = started(flags).await;
        let before = brain(&client, "b").await.unwrap();
        let reader = client.open("b").await.unwrap().reader.unwrap();
        until_closed(&client, row == 1).await;
        let theirs = folder.path().join("theirs");
        fs::write(&theirs, b"another user's").unwrap();
        fs::rename(&theirs, at(folder.path(), "b")).unwrap();
        until("nothing is kept", || async {
            (!kept(folder.path(), "conflicts").is_empty()).then_some(())
        })
        .await;
        let conflicts = kept(folder.path(), "conflicts");
        assert_eq!(
            fs::read(&conflicts[0]).unwrap(),
            b"another user's",
            "row {row}"
        );
        ingest(&client, "b", &["afterwards"]).await;
        let after = brain(&client, "b").await.unwrap();
        assert_eq!(
            after.moment.unwrap().instance,
            before.moment.unwrap().instance
        );
        assert_eq!(
            texts(&client, "b", 3).await,
            ["in the base", "in the journal", "afterwards"]
        );
        until("the reader stays behind", || async {
            (reader.view().unwrap().nodes() == 3).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_brain_file_moved_away_and_back_is_the_same_brain() {
    let (folder, _daemon, client) = started(&[]).await;
    let before = brain(&client, "b").await.unwrap();
    let (here, away) = (at(folder.path(), "b"), folder.path().join("away"));
    fs::rename(&here, &away).unwrap();
    until("nothing is saved", || async {
        (!kept(folder.path(), "recovered").is_empty()).then_some(())
    })
    .await;
    fs::rename(&away, &here).unwrap();
    until("it is not listed again", || async {
        let request = v1::ListBrainsRequest::default();
        let listed = client.brains().list_brains(request).await;
        let listed = listed.unwrap().into_inner();
        let names: Vec<_> = listed.brains.iter().map(|listed| &listed.brain).collect();
        (names == ["b"] && listed.files_waiting == 0).then_some(())
    })
    .await;
    let after = brain(&client, "b").await.unwrap();
    assert_eq!(
        after.moment.unwrap().instance,
        before.moment.unwrap().instance
    );
    assert_eq!(texts(&client, "b", 2).await, TEXTS);
}

#[tokio::test]
async fn a_brain_whose_file_is_removed_is_saved_from_the_open_descriptor() {
    for (row, flags) in IDLE.into_iter().enumerate() {
        let (folder, _daemon, client) = started(flags).await;
        until_closed(&client, row == 1).await;
        fs::remove_file(at(folder.path(), "b")).unwrap();
        until("nothing is saved", || async {
            (!kept(folder.path(), "recovered").is_empty()).then_some(())
        })
        .await;
        let request = v1::GetBrainRequest { brain: "b".into() };
        let answer = until("it is still there", || async {
            client.brains().get_brain(request.clone()).await.err()
        })
        .await;
        assert_eq!(answer.code(), Code::NotFound, "row {row}: {answer}");
        let saved = kept(folder.path(), "recovered").remove(0);
        fs::rename(saved, at(folder.path(), "again")).unwrap();
        until("again", || brain(&client, "again")).await;
        assert_eq!(texts(&client, "again", 2).await, TEXTS, "row {row}");
    }
}
