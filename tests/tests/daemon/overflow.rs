//! A daemon that was stopped while more happened in its folder than the system keeps notifications of.

use std::fs;
use std::time::{Duration, Instant};

use amem_tests::machine::skipped;

use crate::process::{Daemon, create_bare, folder, get, ingest};
use crate::watch::{at, brain, until};

/// Brains that are copied in.
const COPIES: usize = 3;
/// As many notifications can be made in a test.
const NEWS_MAX: usize = 200_000;
/// The next scan of the folder without a reason is later.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
async fn brains_copied_in_while_notifications_are_lost_are_found() {
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap_or_default();
    let most = most.trim().parse().unwrap_or(usize::MAX);
    if most > NEWS_MAX {
        return skipped(&format!("{most} notifications wait until one is lost"));
    }
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    ingest(&client, "b", &["one"]).await;
    let outside = folder.path().join("outside");
    fs::copy(at(folder.path(), "b"), &outside).unwrap();
    daemon.signal("-STOP");
    let made = Instant::now();
    // Made, closed and removed: three of each. One and the other, since equal ones in a row are one.
    for name in ["one.amem", "other.amem"]
        .into_iter()
        .cycle()
        .take(most / 3 + 1)
    {
        let path = folder.path().join(name);
        fs::write(&path, "").unwrap();
        fs::remove_file(&path).unwrap();
    }
    let name = |number: usize| format!("copy-{number}");
    for number in 0..COPIES {
        fs::copy(&outside, at(folder.path(), &name(number))).unwrap();
    }
    println!("made in {:?}", made.elapsed());
    let begun = Instant::now();
    daemon.signal("-CONT");
    for number in 0..COPIES {
        let name = name(number);
        until(&name, || brain(&client, &name)).await;
        println!("{name} after {:?}", begun.elapsed());
        assert_eq!(get(&client, &name, &[0]).await[0].text, "one");
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert!(daemon.stop().success());
}
