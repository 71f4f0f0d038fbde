//! Readers in other processes, and copies of the file, while a writer commits: on a real disk.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod order;
mod peers;

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use amem_format::reader::Reader;
use amem_format::view::View;
use amem_format::{EventType, NodeId};
use amem_store::disk::Disk;
use amem_store::disk::os::OsDisk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create};
use amem_tests::board::{self, Board};
use peers::Peer;

/// A folder on the disk that the build is on: a folder of temporary files may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn open(path: &Path) -> Store {
    open_on(Arc::new(OsDisk::new(path).unwrap()))
}

/// A new brain on a disk.
fn open_on(disk: Arc<dyn Disk>) -> Store {
    let folder = Folder::open(disk, "a test").unwrap();
    let mut options = NewBrain {
        dimension: 0,
        space: uuid::Uuid::nil(),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    create(&folder, "b", &options).unwrap();
    Store::open(&folder, "b").unwrap()
}

/// Commits `count` events, each in a commit of its own, `group` commits to a sync.
fn commit(store: &mut Store, count: u64, group: u64, acknowledged: impl FnMut(u64)) {
    commit_some(store, count, group, 1, acknowledged);
}

/// Commits so often, `group` commits to a sync: each `event_every`-th adds an event, the others say that it was used.
fn commit_some(
    store: &mut Store,
    count: u64,
    group: u64,
    event_every: u64,
    mut acknowledged: impl FnMut(u64),
) {
    let mut done = 0;
    while done < count {
        let mut next = store.view().nodes();
        let requests: Vec<Request> = (0..group.min(count - done))
            .map(|i| {
                if !i.is_multiple_of(event_every) {
                    return Request::new(Mutation::Touch(vec![(NodeId(next - 1), 1)]));
                }
                let events = vec![NewEvent::new(EventType::FACT, board::text(next))];
                next += 1;
                Request::new(Mutation::Ingest(Ingest {
                    events,
                    ..Ingest::default()
                }))
            })
            .collect();
        for answer in store.commit(&requests) {
            acknowledged(answer.unwrap().lsn.0);
            done += 1;
        }
    }
}

/// The number of a long run, set by an environment variable.
fn size(variable: &str, short: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(short)
}

#[test]
fn readers_in_other_processes_see_every_answered_commit_across_checkpoints() {
    let commits = size("AMEM_FOLLOW_COMMITS", 100_000);
    let dir = folder();
    let mut store = open(dir.path());
    let (brain, page) = (dir.path().join("b.amem"), dir.path().join("board"));
    let board = Board::create(&page).unwrap();
    let before = Peer::start(&brain, &page, "follow", 0);
    let tenth = commits / 10;
    // A long run is not to spend its time on syncs.
    let group = (commits / 20_000).max(64);
    commit_some(&mut store, tenth, group, 8, |lsn| board.answer(lsn));
    store.checkpoint().unwrap();
    let after = Peer::start(&brain, &page, "follow", 1);
    for _ in 0..9 {
        commit_some(&mut store, tenth, group, 8, |lsn| board.answer(lsn));
        store.checkpoint().unwrap();
    }
    commit(&mut store, 100, 1, |lsn| board.answer(lsn));
    board.finish();
    let events = store.view().nodes();
    for (name, peer) in [
        ("started before a checkpoint", before),
        ("started after one", after),
    ] {
        let seen = peer.finish().unwrap_or_else(|why| panic!("{why}"));
        println!("{commits} commits, reader {name}: {seen}");
        assert!(seen.contains(" stale 0 for more than 100 ms 0,"), "{seen}");
        assert!(
            seen.contains(&format!(" frames {} ", 10 * tenth + 100)),
            "{seen}"
        );
        assert!(
            seen.ends_with(&format!(" events {events}")),
            "{seen} of {events}"
        );
    }
}

fn check_copy(view: &View, acknowledged: u64) {
    assert!(
        view.lsn().0 >= acknowledged,
        "LSN {} of {acknowledged}",
        view.lsn()
    );
    for id in 0..view.nodes() {
        let text = view.node(NodeId(id)).unwrap().text().unwrap().into_owned();
        assert!(
            text.starts_with(&format!("{id} ")),
            "event {id} says {text:?}"
        );
    }
}

#[test]
fn a_copy_by_cp_under_load_has_everything_acknowledged_before_it() {
    let copies = size("AMEM_COPIES", 100);
    let dir = folder();
    let mut store = open(dir.path());
    let (acknowledged, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let torn = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                commit(&mut store, 40, 4, |lsn| {
                    acknowledged.store(lsn, Ordering::Release)
                });
                if store.journal_bytes() > 1 << 20 {
                    store.checkpoint().unwrap();
                }
            }
        });
        let mut torn = 0;
        for i in 0..copies {
            let before = acknowledged.load(Ordering::Acquire);
            let copy = dir.path().join(format!("copy-{i}"));
            let done = Command::new("cp")
                .arg(dir.path().join("b.amem"))
                .arg(&copy)
                .status()
                .unwrap();
            assert!(done.success());
            let reader = Reader::open(&copy).unwrap();
            assert!(!reader.is_live());
            torn += u64::from(reader.torn().is_some());
            check_copy(&reader.view().unwrap(), before);
            std::fs::remove_file(&copy).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
        torn
    });
    println!(
        "{copies} copies, {torn} with a torn tail, {} events",
        store.view().nodes()
    );
}

#[test]
fn a_reader_releases_erased_bytes() {
    let dir = folder();
    let mut store = open(dir.path());
    let brain = dir.path().join("b.amem");
    commit(&mut store, 3, 1, drop);
    let (follows, stranded) = (Reader::open(&brain).unwrap(), Reader::open(&brain).unwrap());
    assert!(follows.is_live());
    store
        .execute(Request::new(Mutation::Erase(vec![NodeId(1)])))
        .unwrap();
    store.checkpoint().unwrap();
    let view = follows.view().unwrap();
    assert_eq!(view.identity().generation.0, 2);
    assert!(view.node(NodeId(1)).unwrap().is_erased());
    // A reader that finds no successor must not go on with the old file.
    std::fs::rename(&brain, dir.path().join("elsewhere")).unwrap();
    let refused = stranded.view();
    assert!(
        matches!(refused, Err(amem_format::Error::MustDrop { .. })),
        "{refused:?}"
    );
}

#[test]
fn a_reader_reports_an_unreadable_successor() {
    let dir = folder();
    let mut store = open(dir.path());
    let brain = dir.path().join("b.amem");
    commit(&mut store, 3, 1, drop);
    let reader = Reader::open(&brain).unwrap();
    let linked = dir.path().join("linked");
    std::fs::hard_link(&brain, &linked).unwrap();
    let at_link = Reader::open(&linked).unwrap();
    store.checkpoint().unwrap();
    commit(&mut store, 2, 1, drop);
    let elsewhere = dir.path().join("elsewhere");
    std::fs::rename(&brain, &elsewhere).unwrap();
    let refused = |why: &str| {
        let refused = reader.view().unwrap_err();
        let said = refused.to_string();
        assert!(
            matches!(refused, amem_format::Error::Superseded { .. }) && said.contains(why),
            "{said}"
        );
    };
    refused("No such file");
    std::fs::write(&brain, "not a brain").unwrap();
    refused("not");
    std::fs::remove_file(&brain).unwrap();
    std::fs::copy(&linked, &brain).unwrap();
    refused("generation 1 is there");
    std::fs::rename(&elsewhere, &brain).unwrap();
    assert_eq!(reader.view().unwrap().nodes(), 5);
    // Under its own name it is what it was.
    assert_eq!(at_link.view().unwrap().nodes(), 3);
}

/// Two readers of a file: by its name, and through a symbolic link.
fn by_name_and_by_link(path: &Path) -> [Reader; 2] {
    let link = path.with_extension("link");
    std::os::unix::fs::symlink(path, &link).unwrap();
    [path, &link].map(|path| Reader::open(path).unwrap())
}

/// Waits until readers without a hint have checked their paths.
fn wait_for_events(readers: &[Reader], events: u64) {
    let deadline = std::time::Instant::now() + 5 * amem_format::reader::PATH_CHECK_EVERY;
    for reader in readers {
        while reader.view().unwrap().nodes() != events {
            let path = reader.path().display();
            assert!(
                std::time::Instant::now() < deadline,
                "{path} is looked at once a second"
            );
            std::thread::yield_now();
        }
    }
}

#[test]
fn a_reader_follows_to_a_later_generation_without_any_hint() {
    let dir = folder();
    let mut store = open(dir.path());
    let (brain, path) = (dir.path().join("b.amem"), dir.path().join("copy"));
    commit(&mut store, 3, 1, drop);
    std::fs::copy(&brain, &path).unwrap();
    let readers = by_name_and_by_link(&path);
    for reader in &readers {
        assert!(!reader.is_live(), "a copy is nobody's");
    }
    store.checkpoint().unwrap();
    commit(&mut store, 2, 1, drop);
    let next = dir.path().join("next");
    std::fs::copy(&brain, &next).unwrap();
    std::fs::rename(&next, &path).unwrap();
    wait_for_events(&readers, 5);
    // Another brain under the name is not this one: what was open stays.
    let other = dir.path().join("other-folder");
    std::fs::create_dir(&other).unwrap();
    drop(self::open(&other));
    std::fs::rename(other.join("b.amem"), &path).unwrap();
    let until = std::time::Instant::now() + 2 * amem_format::reader::PATH_CHECK_EVERY;
    while std::time::Instant::now() < until {
        for reader in &readers {
            assert_eq!(reader.view().unwrap().nodes(), 5);
        }
    }
}

#[test]
fn an_adopted_file_becomes_live_for_a_reader_that_opened_it_before() {
    let dir = folder();
    let store = open(dir.path());
    let own = store.folder().clone();
    let live_page = store.brain().live_page().unwrap();
    store.close().unwrap();
    // As after a boot: it has no owner yet.
    let path = dir.path().join("b.amem");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&path, private).unwrap();
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let owner = live_page + amem_format::journal::live::OWNER;
    std::os::unix::fs::FileExt::write_all_at(&file, &[0; 16], owner).unwrap();
    let readers = by_name_and_by_link(&path);
    for reader in &readers {
        assert!(!reader.is_live());
    }
    let mut store = Store::open(&own, "b").unwrap();
    commit(&mut store, 4, 1, drop);
    wait_for_events(&readers, 4);
    assert!(readers.iter().all(Reader::is_live));
}
