//! A bit is flipped in the file of a brain that the store opens to write: what it makes of it tells of the damage, or
//! shows what the whole brain would.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;

use amem_core::EventType;
use amem_core::mapping::Map;
use amem_core::verify;
use amem_store::adoption::{self, Standing};
use amem_store::disk::Disk;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, Request, Result, Store};
use amem_tests::damaged::{open, shown};
use amem_tests::disk::SimDisk;
use amem_tests::random::Random;

use crate::{KNOWN, seed, share};

/// One in so many bits is tried unless somebody says otherwise: each takes a brain to be opened, written, folded and
/// closed.
const SHARE: u64 = 1_000;
const FILE: &str = "b.amem";

/// How the store was left.
#[derive(Debug, Clone, Copy)]
enum Left {
    Closed,
    /// Its process was killed, and what it had written is in the cache.
    Killed,
}

/// What became of one.
#[derive(Debug, Clone, Copy)]
enum Became {
    /// The store refused something, in words.
    Refused,
    /// It went on, and `verify` tells of the damage.
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
fn owned(left: Left) -> SimDisk {
    let disk = Arc::new(SimDisk::new(5));
    let made = || -> Result<SimDisk> {
        let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a test")?;
        let file = disk.create(FILE).unwrap();
        file.write_at(0, KNOWN.bytes()).unwrap();
        let Standing::Other(stamp) = adoption::standing(&folder, "b")? else {
            panic!("a copy is ours");
        };
        let (_, original) = adoption::adopt(&folder, "b", stamp, false)?;
        if let Some(original) = original {
            original.settle()?;
        }
        let mut store = Store::open(&folder, "b")?;
        for text in ["one", "two", "three"] {
            store.execute(fact(text))?;
        }
        Ok(match left {
            Left::Closed => {
                store.close()?;
                disk.cloned()
            }
            Left::Killed => disk.cloned(),
        })
    };
    made().unwrap()
}

/// Opens the brain, goes on with it, and makes a new generation of it. What it shows then, if nobody tells of damage.
fn go_on(disk: &Arc<SimDisk>) -> Result<Option<u64>> {
    let folder = Folder::open(disk.clone() as Arc<dyn Disk>, "a later one")?;
    let mut store = Store::open(&folder, "b")?;
    store.execute(fact("four"))?;
    store.checkpoint()?;
    store.execute(fact("five"))?;
    store.close()?;
    let bytes = disk.contents(FILE).unwrap();
    let report = verify::native(Arc::new(Map::owned(&bytes)), None)?;
    Ok(match report.is_whole() {
        true => Some(shown(&open(&bytes)?)),
        false => None,
    })
}

fn judge(disk: SimDisk, bit: usize, expected: u64) -> Result<Became, String> {
    let disk = Arc::new(disk);
    let before = disk.contents(FILE).unwrap();
    let damaged = before[bit / 8] ^ (1 << (bit % 8));
    let file = disk.open(FILE).unwrap();
    file.write_at(bit as u64 / 8, &[damaged]).unwrap();
    file.sync().unwrap();
    match catch_unwind(AssertUnwindSafe(|| go_on(&disk))) {
        Ok(Err(_)) => match disk.contents(FILE) {
            Some(_) => Ok(Became::Refused),
            None => Err("it is refused, and its file is gone".into()),
        },
        Ok(Ok(None)) => Ok(Became::Told),
        Ok(Ok(Some(shown))) if shown == expected => Ok(Became::Same),
        Ok(Ok(Some(_))) => {
            let mut damaged_bytes = before.clone();
            damaged_bytes[bit / 8] = damaged;
            let told = verify::native(Arc::new(Map::owned(&damaged_bytes)), None);
            Err(format!(
                "verify of before would tell {:?}, but after it nobody does, and it shows something else",
                told.map(|r| r.findings)
            ))
        }
        Err(_) => Err("a panic".into()),
    }
}

#[test]
fn a_store_that_goes_on_with_a_flipped_bit_tells_of_it_or_shows_the_same() {
    for left in [Left::Closed, Left::Killed] {
        let whole = owned(left);
        let bits = whole.contents(FILE).unwrap().len() * 8;
        let expected = go_on(&Arc::new(whole.cloned())).unwrap().unwrap();
        let (random, share) = (
            &mut Random::new(seed()),
            share().map_or(SHARE, |one| one * 10),
        );
        let chosen: Vec<usize> = (0..bits).filter(|_| random.below(share) == 0).collect();
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
        let told = count(|became| matches!(became, Became::Told));
        let same = count(|became| matches!(became, Became::Same));
        let wrong: Vec<_> = judged
            .iter()
            .filter(|(_, became)| became.is_err())
            .collect();
        println!(
            "{} bits under a store, {left:?}: refused {refused}, told by verify {told}, the same {same}",
            chosen.len()
        );
        assert!(wrong.is_empty(), "{left:?}: {wrong:?}");
        assert!(refused > 0 && same > 0, "{left:?}: nothing happened");
    }
}
