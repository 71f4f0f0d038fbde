//! What the service manager hears, and when. That it hears of the end, the tests in `door` check.
//!
//! A daemon whose threads all hang can't be made from outside; that it falls silent is tested beside the code
//! (`amemd::os::notify`). Here it stands still as a whole.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use amem_client::core::journal::live;
use amem_client::core::reader::Reader;
use rustix::time::{ClockId, clock_gettime};

use crate::process::{Daemon, Setup};
use crate::tools::add;
use amem_tests::daemon::create_bare;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A service manager's end of the protocol.
struct Manager(UnixDatagram);

impl Manager {
    /// Starts a daemon and listens to it from its first word.
    fn start(place: Setup, variables: &[(&str, String)]) -> (Daemon, Self) {
        let path = place.socket().with_file_name("manager");
        drop(std::fs::remove_file(&path));
        let manager = Self(UnixDatagram::bind(&path).unwrap());
        let mut command = place.command();
        command.env("NOTIFY_SOCKET", path);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        (Daemon::start(place, command), manager)
    }

    /// The next thing that is said within a time.
    fn next(&self, within: Duration) -> Option<Vec<String>> {
        self.0.set_read_timeout(Some(within)).unwrap();
        let mut buffer = [0; 1024];
        let bytes = self.0.recv(&mut buffer).ok()?;
        let said = String::from_utf8(buffer[..bytes].to_vec()).unwrap();
        Some(said.lines().map(str::to_owned).collect())
    }

    /// What is said with this word, and everything before it.
    fn until(&self, word: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let mut before = Vec::new();
        loop {
            let said = self.next(PATIENCE);
            let said = said.unwrap_or_else(|| panic!("never {word}, but {before:?}"));
            if said.iter().any(|line| line == word) {
                return (said, before);
            }
            before.push(said);
        }
    }
}

/// The value of a name among what is said.
fn value<'a>(said: &'a [String], name: &str) -> Option<&'a str> {
    let mut values = said.iter().filter_map(|line| line.split_once('='));
    values
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

/// Microseconds of the clock that the manager compares by.
fn monotonic_micros() -> i64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec * 1_000_000 + now.tv_nsec / 1000
}

const BRAINS: [&str; 4] = ["a", "b", "c", "d"];

/// True for each brain that was closed in order, or recovered.
fn are_whole(place: &Setup) -> Vec<bool> {
    let is_whole = |brain: &str| {
        let path = place.path(&format!("brains/{brain}.amem"));
        let view = Reader::open(path).unwrap().view().unwrap();
        let brain = view.brain();
        let clean = brain
            .live_page()
            .and_then(|page| brain.cell(page + live::CLEAN));
        clean.unwrap() != 0
    };
    BRAINS.map(is_whole).into()
}

#[tokio::test]
async fn ready_is_sent_once_when_every_brain_is_recovered() {
    let daemon = Setup::new("").start();
    let client = daemon.client().await;
    for brain in BRAINS {
        create_bare(&client, brain).await;
        for n in 0..200 {
            add(&client, brain, &format!("{brain} {n}")).await.unwrap();
        }
    }
    drop(client);
    let place = daemon.kill();
    assert_eq!(
        are_whole(&place),
        [false; BRAINS.len()],
        "they need recovery"
    );

    let path = place.socket().with_file_name("manager");
    let manager = Manager(UnixDatagram::bind(&path).unwrap());
    let mut command = place.command();
    command.env("NOTIFY_SOCKET", path);
    let started = std::thread::spawn(move || Daemon::start(place, command));
    let (_, before) = manager.until("READY=1");
    let whole = BRAINS.len();
    let daemon = started.join().unwrap();
    assert_eq!(are_whole(&daemon.place), vec![true; whole]);
    for said in &before {
        assert!(value(said, "EXTEND_TIMEOUT_USEC").is_some(), "{said:?}");
    }
    assert!(daemon.stop().success());
    let (_, before) = manager.until("STOPPING=1");
    assert_eq!(before, Vec::<Vec<String>>::new());
}

#[test]
fn a_reload_reports_its_start_its_end_and_why_nothing_changed() {
    let (daemon, manager) = Manager::start(Setup::new(""), &[]);
    manager.until("READY=1");
    for (settings, why) in [
        ("[limits]\nconections = 9\n", Some("limits.connections")),
        ("[limits]\nconnections = 0\n", Some("limits.connections")),
        ("[limits]\nconnections = 9\n", None),
    ] {
        daemon.place.configure(settings);
        let asked = monotonic_micros();
        daemon.signal("-HUP");
        let (began, before) = manager.until("RELOADING=1");
        let heard = monotonic_micros();
        assert!(before.is_empty(), "{before:?}");
        let at: i64 = value(&began, "MONOTONIC_USEC").unwrap().parse().unwrap();
        assert!((asked..=heard).contains(&at), "{asked} {at} {heard}");
        let (over, before) = manager.until("READY=1");
        assert!(before.is_empty(), "{before:?}");
        let says = value(&over, "STATUS").unwrap();
        match why {
            Some(why) => assert!(
                says.contains(why) && says.contains("cannot reload"),
                "{says}"
            ),
            None => assert_eq!(says, "", "what was wrong is not any more"),
        }
    }
    assert!(daemon.stop().success());
}

#[test]
fn watchdog_messages_arrive_within_half_of_the_interval() {
    let within = Duration::from_secs(3);
    let asked = [("WATCHDOG_USEC", within.as_micros().to_string())];
    let (_daemon, manager) = Manager::start(Setup::new(""), &asked);
    manager.until("READY=1");
    manager.until("WATCHDOG=1");
    for _ in 0..3 {
        let since = Instant::now();
        manager.until("WATCHDOG=1");
        assert!(since.elapsed() < within / 2, "{:?}", since.elapsed());
    }
}

#[test]
fn watchdog_messages_for_another_process_are_not_sent() {
    let asked = [
        ("WATCHDOG_USEC", "30000".to_owned()),
        ("WATCHDOG_PID", "1".to_owned()),
    ];
    let (_daemon, manager) = Manager::start(Setup::new(""), &asked);
    manager.until("READY=1");
    assert_eq!(manager.next(Duration::from_millis(300)), None);
}

#[test]
fn a_stalled_daemon_sends_no_watchdog_message_until_it_continues() {
    let within = Duration::from_millis(300);
    let asked = [("WATCHDOG_USEC", within.as_micros().to_string())];
    let (daemon, manager) = Manager::start(Setup::new(""), &asked);
    manager.until("READY=1");
    manager.until("WATCHDOG=1");
    daemon.signal("-STOP");
    // What was said before it stood still.
    while manager.next(within).is_some() {}
    assert_eq!(manager.next(within * 2), None);
    daemon.signal("-CONT");
    manager.until("WATCHDOG=1");
}
