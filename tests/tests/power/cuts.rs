//! The power of a file system fails at random moments under a writer; what it was answered must be there.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use amem_tests::mounts::{Kind, Mount};
use amem_tests::power::{CutMode, Cutter, Flaw, WriterLine};
use amem_tests::random::Random;
use tempfile::TempDir;

use crate::history::History;
use crate::writer::{Start, Writer};
use crate::{make_folder, mounted, say, scratch, size};

/// Cuts of one brain; then another one is begun.
const CUTS_OF_A_BRAIN: u64 = 25;

/// A file system, the brain on it, and what fails its power.
struct Rig {
    kind: Kind,
    flaw: Flaw,
    random: Random,
    cutter: Cutter,
    boot: u64,
    history: History,
    sums: Sums,
    mount: Mount,
    _folder: TempDir,
}

/// What was done.
#[derive(Debug, Default)]
struct Sums {
    cuts: u64,
    answered: usize,
    replayed: usize,
    checkpoints: u64,
    /// Cuts before the writer had opened the brain.
    opening: u64,
    brains: u64,
    late: usize,
}

impl Rig {
    /// None where this can't be done, which is printed.
    fn new(kind: Kind, flaw: Flaw, seed: u64) -> Option<Self> {
        let folder = scratch();
        let mount = mounted(kind, folder.path(), "what a power cut leaves")?;
        let rig = Self {
            kind,
            flaw,
            random: Random::new(seed),
            cutter: Cutter::start().unwrap(),
            boot: 0,
            history: History::default(),
            sums: Sums::default(),
            mount,
            _folder: folder,
        };
        rig.begin();
        Some(rig)
    }

    fn brains(&self) -> PathBuf {
        self.mount.folder().join("brains")
    }

    fn file(&self) -> PathBuf {
        self.brains().join("b.amem")
    }

    /// Another brain.
    fn begin(&self) {
        let brains = self.brains();
        if brains.exists() {
            fs::remove_dir_all(&brains).unwrap();
        }
        make_folder(&brains);
    }

    fn writer(&mut self, ends: bool) -> Writer {
        self.boot += 1;
        let (seed, open) = (self.random.below(1 << 40), &self.history.open);
        let start = Start {
            boot: self.boot,
            seed,
            flaw: self.flaw,
            ends,
        };
        start.on(&self.brains(), open)
    }

    /// Fails the power at some moment of a writer's life; gives what is wrong with what is left.
    fn cut(&mut self) -> Vec<String> {
        let mut writer = self.writer(false);
        let micros = self.random.pick(&[4_000, 10_000, 30_000, 80_000]);
        std::thread::sleep(Duration::from_micros(self.random.below(micros)));
        let how = self.random.pick(&[CutMode::AtOnce, CutMode::LogFlushed]);
        let ended = writer.has_ended();
        let failed = self.cutter.cut(self.mount.folder(), how).unwrap();
        let (_, said) = writer.kill();
        self.sums.cuts += 1;
        if !said.iter().any(|said| matches!(said, WriterLine::Open)) {
            self.sums.opening += 1;
        }
        let mut wrong = match (ended, said.last()) {
            (Some(status), last) => vec![format!("the writer ended by itself: {status}, {last:?}")],
            (None, _) => Vec::new(),
        };
        self.history.add(said, Some(failed));
        self.mount.again().unwrap();
        wrong.extend(self.history.wrong(&self.file()));
        wrong
    }

    /// Has what is open answered, looks at every byte, and begins another brain.
    fn turn(&mut self) -> Vec<String> {
        let (status, said) = self.writer(true).end();
        let mut wrong = Vec::new();
        if !status.success() {
            wrong.push(format!("the last writer: {status}, {:?}", said.last()));
        }
        self.history.add(said, None);
        wrong.extend(self.history.wrong_at_the_end(&self.file()));
        let history = std::mem::take(&mut self.history);
        self.sums.answered += history.answered();
        self.sums.replayed += history.replayed();
        self.sums.checkpoints += history.checkpoints;
        self.sums.brains += 1;
        self.sums.late += history.late;
        self.begin();
        wrong
    }
}

/// Fails the power so often; nothing may be wrong.
fn check(kind: Kind, short: u64) {
    let seed = size("AMEM_SEED", std::process::id().into());
    let Some(mut rig) = Rig::new(kind, Flaw::None, seed) else {
        return;
    };
    let (cuts, begun) = (size("AMEM_POWER_CUTS", short), Instant::now());
    while rig.sums.cuts < cuts {
        let mut wrong = rig.cut();
        if wrong.is_empty() && (rig.sums.cuts % CUTS_OF_A_BRAIN == 0 || rig.sums.cuts == cuts) {
            wrong = rig.turn();
        }
        let at = rig.sums.cuts;
        assert!(
            wrong.is_empty(),
            "AMEM_SEED={seed}, {kind}, cut {at}: {wrong:#?}"
        );
        if at % 1000 == 0 {
            say(&format!("{kind}: {:?}, {:.0?}", rig.sums, begun.elapsed()));
        }
    }
    let Sums {
        cuts,
        answered,
        replayed,
        checkpoints,
        opening,
        brains,
        late,
    } = rig.sums;
    say(&format!(
        "{}: {cuts} power cuts ({opening} while the brain was being opened), {answered} requests acknowledged in {brains} \
         brains, {replayed} of them by an attempt before a cut, {late} answers too late, {checkpoints} checkpoints, lost 0, \
         doubled 0, {:.1} s",
        rig.kind,
        begun.elapsed().as_secs_f32()
    ));
    assert!(answered > cuts as usize, "hardly anything was answered");
    assert!(checkpoints > 0 && opening < cuts, "no work was cut off");
}

#[test]
fn what_was_answered_survives_power_cuts_on_ext4() {
    check(Kind::Ext4, 150);
}

#[test]
fn what_was_answered_survives_power_cuts_on_xfs() {
    check(Kind::Xfs, 50);
}

#[test]
fn a_store_that_does_not_sync_is_caught_by_power_cuts() {
    let Some(mut rig) = Rig::new(Kind::Ext4, Flaw::NoSync, 7) else {
        return;
    };
    let wrong = (0..100)
        .map(|_| rig.cut())
        .find(|wrong| !wrong.is_empty())
        .unwrap_or_else(|| panic!("nothing was lost: {:?}", rig.sums));
    // The first writer begins with nothing; a later one may find that it can't go on, which no other test lets pass.
    let is_later = rig.sums.cuts > 1;
    let is_loss = |what: &String| {
        let ways = ["event ", "edge ", "the brain is gone", "it can't be read"];
        let is_reported = ways.iter().any(|way| what.starts_with(way));
        is_reported || (is_later && what.starts_with("the writer ended by itself"))
    };
    assert!(wrong.iter().any(is_loss), "{wrong:#?}");
}
