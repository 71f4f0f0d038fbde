//! Hostile clients beside healthy ones: the daemon's memory stays bounded, and the others are served as before.
//!
//! One kind of abuse after the other, each by a process of low priority, so that the test measures the daemon's work
//! for it. Healthy callers run throughout; windows without abuse stand before and after each kind. `AMEM_ABUSE_SECS` is
//! the duration of each kind (1.6). `soak` is the short form of `amem-soak`.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod healthy;
mod http;
#[expect(dead_code, reason = "the tests of ingress need more")]
#[path = "../ingress/process.rs"]
mod process;
mod soak;
mod tls;

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use amem_client::v1;
use amem_locks::LockResultExt;
use amem_tests::daemon::DaemonHome;
use amem_tests::process::{descriptors, resident, start_ready};

use crate::healthy::{Healthy, Way, Window};

/// What is measured is measured alone.
static ALONE: Mutex<()> = Mutex::new(());

const BRAIN: &str = "b";
const KINDS: [&str; 6] = ["silent", "slow", "unread", "pings", "resets", "oversized"];

/// What the daemon may take more than before, whatever is done to it. The most is taken by answers that nobody reads:
/// 64 MiB that may wait for long, what comes within 5 s beside them (here 384 of 170 KB), 256 KiB of each of 16
/// connections, and what 384 subscriptions have waiting. It was 294 MiB after 2 s, and grew, before those limits were
/// there.
const MEMORY_BYTES_MAX: u64 = 256 << 20;
/// Descriptors that come and go by themselves: those of files, while a checkpoint is made.
const DESCRIPTORS: usize = 8;
/// What unread answers take at the least.
const UNREAD_BYTES_MIN: u64 = 8 << 20;
/// By how many times the slowest hundredth of calls may become slower.
const SLOWER_MAX: f64 = 2.0;
/// What the clock of a busy machine adds or takes.
const NOISE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 5 });

/// The connections that a kind makes at least, and what it sends on them.
fn least(kind: &str) -> [u64; 2] {
    match kind {
        "silent" => [64, 0],
        "slow" => [64, 64],
        "unread" => [16, 300],
        "pings" | "resets" => [1, 1_000],
        "tls" => [64, 16],
        "tls-half" | "tls-unfinished" => [64, 0],
        "tls-garbage" | "tls-closing" => [64, 64],
        "http" => [64, 64],
        "http-slow" => [64, 64],
        "http-unread" => [16, 64],
        _ => [4, 4],
    }
}

/// How often a kind is tried that slows the others down: other processes of the machine have their turns, too, and what
/// the daemon does is the same each time. Memory is never tried again.
const TRIES: usize = 3;

/// A process of bad clients.
struct Abuser(Child);

impl Abuser {
    fn start(kind: &str, socket: &Path) -> Self {
        Self::start_at(kind, socket.as_os_str(), BRAIN.as_ref())
    }

    /// Starts one with what it reaches, and with a brain or a file of a certificate.
    fn start_at(kind: &str, address: &OsStr, of: &OsStr) -> Self {
        let mut command = Command::new("nice");
        command.args(["-n", "19", env!("CARGO_BIN_EXE_amem-abuser"), kind]);
        command.arg(address).arg(of);
        Self(start_ready(&mut command))
    }

    /// Ends it; gives what it did.
    fn end(mut self) -> String {
        drop(self.0.stdin.take());
        let mut said = String::new();
        let out = self.0.stdout.as_mut().unwrap();
        out.read_to_string(&mut said).unwrap();
        said.trim().to_owned()
    }
}

impl Drop for Abuser {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The middle one of several windows, by what of them is looked at.
fn middle(windows: &[Window], of: impl Fn(&Window) -> Duration) -> Duration {
    let mut all: Vec<Duration> = windows.iter().map(of).collect();
    all.sort();
    all[all.len() / 2]
}

/// What one kind came to.
fn check(kind: &str, quiet: &[Window], abused: &[Window], grown: u64, did: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut told = format!("{kind:9}");
    type Of = fn(&Window) -> Duration;
    let looks: [(&str, Of, Of); 2] = [
        ("GetEvents", |w| w.get_p50, |w| w.get_p99),
        ("Ingest", |w| w.ingest_p50, |w| w.ingest_p99),
    ];
    for (call, p50, p99) in looks {
        let (before, during) = (middle(quiet, p99), middle(abused, p99));
        let times = during.as_secs_f64() / before.as_secs_f64();
        told += &format!(
            " {call} p50 {:.0?} → {:.0?}, p99 {before:.0?} → {during:.0?} ({times:.1} x);",
            middle(quiet, p50),
            middle(abused, p50),
        );
        if during > before.mul_f64(SLOWER_MAX) + NOISE {
            wrong.push(format!("{kind}: {call} p99 {before:?} → {during:?}"));
        }
    }
    let megabytes = grown as f64 / f64::from(1 << 20);
    told += &format!(" memory + {megabytes:.0} MiB; {did}");
    drop(writeln!(std::io::stderr().lock(), "{told}"));
    if grown > MEMORY_BYTES_MAX {
        wrong.push(format!("{kind}: {megabytes:.0} MiB more"));
    }
    // Unread answers take memory, or there were none.
    if kind == "unread" && grown < UNREAD_BYTES_MIN {
        wrong.push(format!("{kind}: only {megabytes:.0} MiB more"));
    }
    wrong
}

/// Waits until what abuse held is let go, but for what comes and goes by itself.
fn wait_for_descriptors(pid: u32, before: usize) {
    let begun = Instant::now();
    loop {
        let open = descriptors(pid).unwrap();
        if open <= before + DESCRIPTORS {
            return;
        }
        let is_long = begun.elapsed() > Duration::from_secs(20);
        assert!(
            !is_long,
            "{open} descriptors, {before} before: connections are still held"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A daemon with its well-behaved callers, and how they were served when nobody disturbed them.
struct Trial {
    pid: u32,
    healthy: Healthy,
    window: Duration,
    /// Windows of each kind of abuse.
    windows: usize,
    descriptors: usize,
    before: Vec<Window>,
}

impl Trial {
    fn start(pid: u32, way: &Way) -> Self {
        let secs = std::env::var("AMEM_ABUSE_SECS").ok();
        let secs: f64 = secs.and_then(|secs| secs.parse().ok()).unwrap_or(1.6);
        let window = Duration::from_secs_f64((secs / 4.0).min(2.0));
        let healthy = Healthy::start(way, BRAIN);
        let mut trial = Self {
            pid,
            window,
            windows: (secs / window.as_secs_f64()).round() as usize,
            descriptors: descriptors(pid).unwrap(),
            before: Vec::new(),
            healthy,
        };
        // The first calls of all are slower.
        trial.healthy.window(window);
        trial.before = trial.quiet();
        trial
    }

    fn quiet(&self) -> Vec<Window> {
        (0..2).map(|_| self.healthy.window(self.window)).collect()
    }

    /// Lets a kind of abuse go on for its time, again where others are slowed down; gives what is wrong.
    fn abuse(&mut self, kind: &str, start: impl Fn() -> Abuser) -> Vec<String> {
        for again in (0..TRIES).rev() {
            let memory = resident(self.pid).unwrap();
            let abuser = start();
            let mut most = memory;
            let mut abused = Vec::new();
            for _ in 0..self.windows {
                abused.push(self.healthy.window(self.window));
                most = most.max(resident(self.pid).unwrap());
            }
            let did = abuser.end();
            let numbers = did.split(' ').filter_map(|word| word.parse::<u64>().ok());
            let numbers: Vec<_> = numbers.collect();
            let is_enough = numbers
                .iter()
                .zip(least(kind))
                .all(|(did, least)| *did >= least);
            assert!(
                numbers.len() == 2 && is_enough,
                "{kind} did too little: {did}"
            );
            wait_for_descriptors(self.pid, self.descriptors);
            let after = self.quiet();
            let before = std::mem::replace(&mut self.before, after.clone());
            let grown = most.saturating_sub(memory);
            let found = check(kind, &[before, after].concat(), &abused, grown, &did);
            if found.is_empty() || again == 0 || grown > MEMORY_BYTES_MAX {
                return found;
            }
        }
        Vec::new()
    }
}

#[test]
fn hostile_clients_neither_exceed_the_memory_bound_nor_slow_others_down() {
    let _alone = ALONE.lock().unpoisoned();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let mut trial = Trial::start(daemon.pid(), &Way::Socket(place.socket()));
    let mut wrong = Vec::new();
    for kind in KINDS {
        wrong.extend(trial.abuse(kind, || Abuser::start(kind, &place.socket())));
    }
    trial.healthy.end();
    assert!(daemon.stop().success());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What unread answers may hold, and what the daemon takes for the calls and for answers that are being computed. It
/// was 2 GiB, of 40 connections, before the bytes of answers were bounded.
const LARGE_BYTES_MAX: u64 = (256 + 128) << 20;

#[test]
fn large_unread_answers_are_bounded_and_others_are_served() {
    let _alone = ALONE.lock().unpoisoned();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
    let daemon = place.start();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = runtime.block_on(amem_client::Client::connect_unix(place.socket()));
    let client = client.unwrap();
    let text = |n: u8| char::from(b'a' + n).to_string().repeat(1 << 20);
    runtime.block_on(async {
        amem_tests::daemon::create_bare(&client, BRAIN).await;
        let event = |n| v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: text(n),
            ..Default::default()
        };
        let ingest = v1::IngestRequest {
            brain: BRAIN.into(),
            events: (0..3).map(event).collect(),
            ..Default::default()
        };
        client.memory().ingest(ingest).await.unwrap();
    });
    let get = || {
        let request = v1::GetEventsRequest {
            brain: BRAIN.into(),
            event_ids: vec![0, 1, 2],
            ..Default::default()
        };
        runtime.block_on(async { client.queries().get_events(request).await })
    };
    get().unwrap();
    let before = resident(daemon.pid()).unwrap();
    let abuser = Abuser::start("large", &place.socket());
    let mut most = before;
    let begun = Instant::now();
    let mut served = 0;
    // Until much more was asked for than is allowed to wait, and others were served beside it.
    while served < 20 || begun.elapsed() < Duration::from_secs(1) {
        let answer = get().unwrap_or_else(|status| panic!("after {served} calls: {status}"));
        assert_eq!(answer.into_inner().events.len(), 3);
        served += 1;
        most = most.max(resident(daemon.pid()).unwrap());
    }
    let did = abuser.end();
    let megabytes = (most - before) >> 20;
    drop(writeln!(
        std::io::stderr().lock(),
        "large: memory + {megabytes} MiB; {did}"
    ));
    assert!(most - before < LARGE_BYTES_MAX, "{megabytes} MiB more");
    assert!(daemon.stop().success());
}
