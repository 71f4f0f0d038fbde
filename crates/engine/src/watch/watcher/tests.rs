//! A watcher in which a round panics, or whose events are lost.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use amem_store::Folder;
use amem_store::disk::os::OsDisk;

use super::*;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A watcher whose next rescan is far away.
fn watch_of(path: &Path, events: Option<FolderEvents>) -> Watcher {
    let disk = Arc::new(OsDisk::new(path).unwrap());
    let ours = Folder::open(disk, "a test").unwrap();
    let engine = Engine::new(ours, path.to_owned(), Arc::new(()));
    Watcher {
        engine,
        events,
        arrivals: Arrivals::default(),
        work: JoinSet::new(),
        rescan_at: Instant::now() + Duration::from_secs(3600),
    }
}

/// Takes turns until a file waits to become a brain `new`, or was found to be none.
async fn until_found(watch: Watcher, turn: impl for<'w> FnMut(&'w mut Watcher) -> Round<'w>) {
    let engine = watch.engine.clone();
    let found = async {
        while engine.metrics().files_waiting().get() == 0 && engine.problem("new").is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        () = rounds(watch, turn) => {}
        () = found => return,
        () = tokio::time::sleep(PATIENCE) => {}
    }
    panic!("it was not found");
}

#[tokio::test]
async fn a_turn_that_panics_is_followed_by_others_which_find_what_it_left() {
    let folder = tempfile::tempdir().unwrap();
    // Only a rescan finds the file.
    let watch = watch_of(folder.path(), None);
    fs::write(folder.path().join("new.amem"), "a part of a brain").unwrap();
    let mut count = 0;
    until_found(watch, |watch| {
        count += 1;
        match count {
            1 => Box::pin(async { panic!("on purpose") }),
            _ => Box::pin(watch.round()),
        }
    })
    .await;
}

/// So many events can be made in a test.
#[cfg(target_os = "linux")]
const NEWS_MAX: usize = 200_000;

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_came_while_more_happened_than_could_be_told_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let events = FolderEvents::of(folder.path()).unwrap();
    let watch = watch_of(folder.path(), Some(events));
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    if most > NEWS_MAX {
        let why = format!("{most} events wait until one is lost (fs.inotify.max_queued_events)");
        let is_required = env::var_os("AMEM_MACHINE").is_some_and(|wanted| wanted == "required");
        assert!(!is_required, "{why}");
        // What a test prints in the usual way is not shown if it passes.
        drop(writeln!(std::io::stderr().lock(), "SKIPPED: {why}"));
        return;
    }
    // In turns, since equal events in a row are merged; neither is a brain's.
    for name in ["one", "other"].into_iter().cycle().take(most + 1) {
        fs::write(folder.path().join(name), "").unwrap();
    }
    // The overflow swallows the event of this file.
    fs::write(folder.path().join("new.amem"), "a part of a brain").unwrap();
    until_found(watch, |watch| Box::pin(watch.round())).await;
}

#[tokio::test]
async fn the_folder_is_scanned_again_after_a_while_more_often_without_notifications() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = watch_of(folder.path(), None);
    for name in ["one", "two"] {
        let path = folder.path().join(name).with_extension("amem");
        fs::write(path, "a part of a brain").unwrap();
        // The time is over.
        let begun = Instant::now();
        watch.rescan_at = begun;
        watch.round().await;
        assert!(watch.arrivals.names().contains(&name.to_owned()), "{name}");
        let next = watch.rescan_at - RESCAN_UNWATCHED_EVERY;
        assert!((begun..=Instant::now()).contains(&next), "{name}");
    }
    watch.events = FolderEvents::of(folder.path()).ok();
    if watch.events.is_some() {
        let begun = Instant::now();
        watch.rescan().await;
        let next = watch.rescan_at - RESCAN_EVERY;
        assert!((begun..=Instant::now()).contains(&next));
    }
}
