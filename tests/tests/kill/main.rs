//! `kill -9` under load from clients that are processes of their own and retry until they are answered.
//!
//! Four clients write one brain; the daemon is killed at random moments, also in the middle of a checkpoint and of its
//! own start, and started again. In the end the brain must hold exactly what the clients were answered, and verify
//! clean. `AMEM_KILLS` is the number of kills (200), `AMEM_SEED` repeats the same moments.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod clients;
mod ledger;

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use amem_client::{Client, Reader, v1};
use amem_doctor::verify;
use amem_tests::daemon::{DaemonHome, DaemonProcess, create_bare};
use amem_tests::ledger::Verdict;
use amem_tests::random::Random;
use tokio::runtime::Runtime;

use crate::clients::Clients;

/// Kills of one brain; then another one is begun, as one that grows takes ever longer to look at.
const KILLS_OF_A_BRAIN: u64 = 1_000;
/// How long a brain may stand still.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number of a long run, set by an environment variable.
fn size(variable: &str, short: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(short)
}

/// Waits a moment by turning round: a sleep would be a thousand times longer than what it should hit.
fn spin(micros: u64) {
    let until = Instant::now() + Duration::from_micros(micros);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// What was done to the daemons.
#[derive(Debug, Default)]
struct Kills {
    all: u64,
    in_checkpoint: u64,
    in_start: u64,
    /// Of which a file was left that was being made.
    unfinished: u64,
}

/// A brain, the daemons that serve it, and those who write it.
struct Rig {
    _folder: tempfile::TempDir,
    place: DaemonHome,
    daemon: DaemonProcess,
    clients: Clients,
    reader: Reader,
    runtime: Runtime,
    random: Random,
    kills: Kills,
}

impl Rig {
    fn new(seed: u64, has_ids: bool) -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let place = DaemonHome::new(env!("CARGO_BIN_EXE_amem-tested-daemon"), folder.path());
        let daemon = place.start();
        let runtime = Runtime::new().unwrap();
        runtime.block_on(create(&place));
        Self {
            clients: Clients::start(&place, seed, has_ids),
            reader: Reader::open(folder.path().join("b.amem")).unwrap(),
            _folder: folder,
            place,
            daemon,
            runtime,
            random: Random::new(seed),
            kills: Kills::default(),
        }
    }

    /// Kills the daemon once clients have been answered for a while, and starts it again.
    fn kill(mut self) -> Self {
        let enough = self.reader.view().unwrap().lsn().0 + 5 + self.random.below(80);
        let began = Instant::now();
        while self.reader.view().unwrap().lsn().0 < enough {
            assert!(began.elapsed() < PATIENCE, "nothing is committed any more");
            std::thread::yield_now();
        }
        if self.random.below(3) == 0 {
            self.kills.in_checkpoint += 1;
            self.runtime.spawn(checkpoint(self.place.socket()));
            spin(self.random.below(20_000));
        } else {
            spin(self.random.below(2_000));
        }
        self.daemon.kill();
        self.kills.all += 1;
        let unfinished = fs::read_dir(self.place.folder().join(".amemd/tmp")).unwrap();
        self.kills.unfinished += u64::from(unfinished.count() > 0);
        if self.random.below(4) == 0 {
            let starting = self.place.launch();
            spin(self.random.below(20_000));
            starting.kill();
            self.kills.all += 1;
            self.kills.in_start += 1;
        }
        self.daemon = self.place.start();
        self
    }

    /// Lets clients be answered what is open, ends all, and looks at what is left.
    fn end(self) -> Verdict {
        let ledgers = self.clients.end();
        assert!(self.daemon.stop().success());
        let brain = self.place.folder().join("b.amem");
        let report = verify::file(&brain).unwrap();
        assert!(report.is_whole(), "{report:?}");
        let view = Reader::open(&brain).unwrap().view().unwrap();
        let verdict = Verdict::of(&view, &ledgers).unwrap();
        let Kills {
            all,
            in_checkpoint,
            in_start,
            unfinished,
        } = self.kills;
        println!(
            "{all} kills ({in_checkpoint} beside a checkpoint, {unfinished} with a file of one half made, {in_start} of a daemon that was starting), {} clients: \
             {verdict}; {} generations",
            ledgers.len(),
            view.identity().generation
        );
        verdict
    }
}

/// Makes an empty brain.
async fn create(place: &DaemonHome) {
    let client = Client::connect_unix(place.socket()).await.unwrap();
    create_bare(&client, "b").await;
}

/// Asks for a checkpoint; the daemon may die before it answers.
async fn checkpoint(socket: PathBuf) {
    if let Ok(client) = Client::connect_unix(socket).await {
        let request = v1::CheckpointBrainRequest { brain: "b".into() };
        drop(client.brains().checkpoint_brain(request).await);
    }
}

#[test]
fn repeated_kills_neither_lose_an_answered_write_nor_duplicate_a_retry() {
    let seed = size("AMEM_SEED", std::process::id().into());
    println!("AMEM_SEED={seed}");
    let (begun, mut left) = (Instant::now(), size("AMEM_KILLS", 200));
    let [mut brains, mut unfinished, mut retried] = [0; 3];
    while left > 0 {
        let mut rig = Rig::new(seed.wrapping_add(brains), true);
        while rig.kills.all < left.min(KILLS_OF_A_BRAIN) {
            rig = rig.kill();
        }
        left = left.saturating_sub(rig.kills.all);
        brains += 1;
        unfinished += rig.kills.unfinished;
        let verdict = rig.end();
        assert!(verdict.is_right(), "{verdict:?}");
        retried += verdict.retried;
    }
    assert!(unfinished > 0, "no kill came while a file was being made");
    assert!(retried > 0, "no client noticed");
    println!("{brains} brains, {:.0?}", begun.elapsed());
}

#[test]
fn without_request_ids_retries_duplicate_and_the_ledgers_report_it() {
    let mut rig = Rig::new(7, false);
    while rig.kills.all < 25 {
        rig = rig.kill();
    }
    let verdict = rig.end();
    assert!(verdict.lost.is_empty(), "{verdict:?}");
    assert!(!verdict.doubled.is_empty(), "{verdict}");
    assert!(!verdict.is_right());
}
