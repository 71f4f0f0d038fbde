//! A bit is flipped in the file of a brain that the store opens to write: what it makes of it tells of the damage, or
//! shows what the whole brain would.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use amem_doctor::verify;
use amem_format::EventType;
use amem_format::base::section::{HEADER, SectionPlace, tag};
use amem_format::brain::Brain;
use amem_format::mapping::Map;
use amem_store::Ownership;
use amem_store::disk::Disk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Error, Folder, Mutation, Request, Result, Store};
use amem_tests::damaged::{open, shown};
use amem_tests::disk::SimDisk;
use amem_tests::random::Random;

use crate::{KNOWN, seed, share};

/// One in this many bits is tried by default: each takes a brain to be opened, written, folded and
/// closed.
const SHARE: u64 = 1_000;
const FILE: &str = "b.amem";

/// How the store was left.
#[derive(Debug, Clone, Copy)]
enum StoreEnd {
    Closed,
    /// Its process was killed, and what it had written is in the cache.
    Killed,
}

/// What became of one.
#[derive(Debug, Clone, Copy)]
enum Became {
    /// It is not opened.
    Refused,
    /// It is opened, and makes no new generation of what it can't read.
    Stopped,
    /// It went on, and `verify` reports the damage.
    Told,
    /// It went on, and nothing is different.
    Same,
}

fn fact(text: &str) -> Request {
    Request::new(Mutation::Ingest(Ingest {
        events: vec![NewEvent::new(EventType::FACT, text)],
        ..Ingest::default()
    }))
}

/// A disk with the known brain as one of ours, with something in its journal.
fn owned(left: StoreEnd) -> SimDisk {
    let disk = Arc::new(SimDisk::new(5));
    let made = || -> Result<SimDisk> {
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test")?;
        let file = disk.create(FILE).unwrap();
        file.write_at(0, KNOWN.bytes()).unwrap();
        let Ownership::Untracked(stamp) = amem_store::ownership(&folder, "b")? else {
            panic!("a copy is ours");
        };
        let (_, original) = amem_store::adopt(&folder, "b", stamp, false)?;
        if let Some(original) = original {
            original.finalise()?;
        }
        let mut store = Store::open(&folder, "b")?;
        for text in ["one", "two", "three"] {
            store.execute(fact(text))?;
        }
        Ok(match left {
            StoreEnd::Closed => {
                store.close()?;
                disk.cloned()
            }
            StoreEnd::Killed => disk.cloned(),
        })
    };
    made().unwrap()
}

/// Where the sections of the file are.
fn places(disk: &SimDisk) -> Vec<SectionPlace> {
    let brain = Brain::open(Map::owned(&disk.contents(FILE).unwrap()));
    brain.unwrap().base().table().places.clone()
}

/// Where a store stopped.
#[derive(Debug)]
enum StopPoint {
    AtOpen,
    Later(Error),
}

/// Opens the brain, goes on with it, and makes a new generation of it. What it shows then, if no damage is reported.
fn go_on(disk: &Arc<SimDisk>) -> Result<Option<u64>, StopPoint> {
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a later one");
    let mut store = Store::open(&folder.unwrap(), "b").map_err(|_| StopPoint::AtOpen)?;
    let done = store.execute(fact("four"));
    let done = done.and_then(|_| store.checkpoint());
    let done = done.and_then(|_| store.execute(fact("five")));
    done.and_then(|_| store.close()).map_err(StopPoint::Later)?;
    let read = || -> Result<_> {
        let bytes = disk.contents(FILE).unwrap();
        let report = verify::native(Arc::new(Map::owned(&bytes)), None)?;
        Ok(if report.is_whole() {
            Some(shown(&open(&bytes)?))
        } else {
            None
        })
    };
    read().map_err(StopPoint::Later)
}

fn judge(disk: SimDisk, bit: usize, expected: u64) -> Result<Became, String> {
    let disk = Arc::new(disk);
    flip(&disk, bit);
    match catch_unwind(AssertUnwindSafe(|| go_on(&disk))) {
        Ok(Err(stopped)) => match (disk.contents(FILE), stopped) {
            (Some(_), StopPoint::AtOpen) => Ok(Became::Refused),
            (Some(_), StopPoint::Later(e)) if is_damage(&e) => Ok(Became::Stopped),
            (Some(_), StopPoint::Later(e)) => Err(format!("it goes on, and does not say why: {e}")),
            (None, _) => Err("it is refused, and its file is gone".into()),
        },
        Ok(Ok(None)) => Ok(Became::Told),
        Ok(Ok(Some(shown))) if shown == expected => Ok(Became::Same),
        Ok(Ok(Some(_))) => Err("nobody tells of it, and it shows something else".into()),
        Err(_) => Err("a panic".into()),
    }
}

/// What can't even be read is reported with its offset.
fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Format(amem_format::Error::Corrupt { .. }))
}

fn flip(disk: &SimDisk, bit: usize) {
    let before = disk.contents(FILE).unwrap();
    let damaged = before[bit / 8] ^ (1 << (bit % 8));
    let file = disk.open(FILE).unwrap();
    file.write_at(bit as u64 / 8, &[damaged]).unwrap();
    file.sync().unwrap();
}

#[test]
fn a_store_with_a_flipped_bit_reports_it_or_gives_the_same_answers() {
    for left in [StoreEnd::Closed, StoreEnd::Killed] {
        let whole = owned(left);
        let bits = whole.contents(FILE).unwrap().len() * 8;
        let expected = go_on(&Arc::new(whole.cloned())).unwrap().unwrap();
        let (random, share) = (
            &mut Random::new(seed()),
            share().map_or(SHARE, |one| one * 10),
        );
        let mut chosen: Vec<usize> = (0..bits).filter(|_| random.below(share) == 0).collect();
        // Each bit that says what a section is.
        chosen.extend(places(&whole).iter().flat_map(|place| {
            let tag = (place.offset - HEADER) as usize * 8;
            tag..tag + 8
        }));
        let judged = Mutex::new(Vec::new());
        let next = Mutex::new(chosen.iter());
        let cores = thread::available_parallelism().map_or(2, usize::from);
        thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| {
                    loop {
                        let Some(&bit) = next.lock().unwrap().next() else {
                            break;
                        };
                        let became = judge(whole.cloned(), bit, expected);
                        judged.lock().unwrap().push((bit, became));
                    }
                });
            }
        });
        let judged = judged.into_inner().unwrap();
        let count = |of: fn(&Became) -> bool| {
            let found = judged
                .iter()
                .filter(|(_, became)| became.as_ref().is_ok_and(of));
            found.count()
        };
        let refused = count(|became| matches!(became, Became::Refused));
        let stopped = count(|became| matches!(became, Became::Stopped));
        let told = count(|became| matches!(became, Became::Told));
        let same = count(|became| matches!(became, Became::Same));
        let wrong: Vec<_> = judged
            .iter()
            .filter(|(_, became)| became.is_err())
            .collect();
        println!(
            "{} bits under a store, {left:?}: refused {refused}, stopped at what it can't read {stopped}, \
             told by verify {told}, the same {same}",
            chosen.len()
        );
        assert!(wrong.is_empty(), "{left:?}: {wrong:?}");
        assert!(refused > 0 && told > 0 && same > 0, "{left:?}");
    }
}

/// What takes the file's name away, or its place.
type Displacement = fn(&SimDisk);

#[test]
fn a_brain_with_any_damaged_part_is_saved_and_recovered() {
    let removed: Displacement = |disk| disk.remove(FILE).unwrap();
    let replaced: Displacement = |disk| {
        let other = disk.create("other").unwrap();
        other.write_at(0, b"another's").unwrap();
        disk.replace("other", FILE).unwrap();
    };
    // Bytes of the checksums; of an index and of the texts, so that all that is damaged is rebuilt.
    let at =
        |tag| move |places: &[SectionPlace]| places.iter().find(|p| p.tag == tag).unwrap().offset;
    let (sums, kinds) = (at(tag::CHECKSUMS), at(tag::KINDS));
    for (taken, both) in [removed, replaced]
        .into_iter()
        .flat_map(|taken| [(taken, false), (taken, true)])
    {
        let disk = Arc::new(owned(StoreEnd::Closed));
        let places = places(&disk);
        let damage: Vec<u64> = if both {
            vec![kinds(&places) + 40, 64 + 72 + 24]
        } else {
            vec![sums(&places) + 40]
        };
        for byte in &damage {
            flip(&disk, *byte as usize * 8 + 1);
        }
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a later one").unwrap();
        let mut store = Store::open(&folder, "b").unwrap();
        let before = store.view().nodes();
        taken(&disk);
        let answer = store.execute(fact("four"));
        let kept = match answer {
            Err(Error::Replaced { saved, .. }) => saved.path().to_owned(),
            answer => {
                answer.unwrap();
                FILE.to_owned()
            }
        };
        drop((store, folder));
        let bytes = disk.contents(&kept).unwrap();
        let report = verify::native(Arc::new(Map::owned(&bytes)), None).unwrap();
        assert!(!report.is_whole(), "the damage is reported");
        assert!(open(&bytes).unwrap().nodes() >= before, "{kept}");
    }
    // And one whose process was killed.
    let disk = Arc::new(owned(StoreEnd::Killed));
    let damaged = sums(&places(&disk)) + 40;
    flip(&disk, damaged as usize * 8 + 1);
    assert!(go_on(&disk).unwrap().is_none(), "the damage is reported");
}
