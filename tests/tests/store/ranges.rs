//! Values at the end of their range: a file with them is refused or served, and loses nothing that was acknowledged.

use std::sync::Arc;

use amem_doctor::{repair, verify};
use amem_format::base::section::tag;
use amem_format::base_builder::{self, write_base};
use amem_format::mapping::Map;
use amem_format::view::AsOf;
use amem_format::{Micros, NodeId};
use amem_store::disk::Disk;
use amem_store::{Error, Folder, IncomingFile, Mutation, Store};
use amem_tests::disk::SimDisk;
use amem_tests::fuzz::mend;
use uuid::Uuid;

use crate::{correction, fact, ingest, open, run};

/// Ends of ranges: of the last commit's LSN and time.
const ENDS: [(u64, i64); 5] = [
    (7, i64::MAX),
    (7, i64::MAX - 1),
    (7, 300_000_000_000_000_000),
    (u64::MAX, 1_700_000_000_000_000),
    (u64::MAX - 1, 1_700_000_000_000_000),
];

/// A closed brain whose last commit has this LSN and time, with checksums that hold.
fn brain(lsn: u64, time: i64) -> (Arc<SimDisk>, Folder, Vec<u8>) {
    let (disk, mut store) = open(21);
    run(&mut store, ingest(vec![fact("one")])).unwrap();
    store.checkpoint().unwrap();
    let base = store.view();
    let base = base.brain().base();
    let [identity, clock] =
        [tag::IDENTITY, tag::CLOCK].map(|of| base.section(of).unwrap().offset as usize);
    let commits = base.clock().unwrap().len();
    let folder = store.folder().clone();
    store.close().unwrap();
    let mut bytes = disk.contents("b.amem").unwrap();
    let mut put = |at: usize, value: [u8; 8]| bytes[at..at + 8].copy_from_slice(&value);
    put(identity + 40, lsn.to_le_bytes());
    put(identity + 48, time.to_le_bytes());
    put(clock + 8 * commits, lsn.to_le_bytes());
    put(clock + 16 * commits, time.to_le_bytes());
    mend(&mut bytes);
    disk.open("b.amem").unwrap().write_at(0, &bytes).unwrap();
    (disk, folder, bytes)
}

#[test]
fn a_brain_at_the_end_of_its_range_is_served_and_writes_nothing() {
    for (lsn, time) in ENDS {
        let (_disk, folder, _) = brain(lsn, time);
        let mut store = Store::open(&folder, "b").unwrap();
        let refused = run(&mut store, ingest(vec![fact("two")])).unwrap_err();
        let text = refused.to_string();
        assert!(
            !matches!(refused, Error::OutcomeUnknown { .. }),
            "{lsn} {time}: {text}"
        );
        assert!(text.contains("amemctl"), "{lsn} {time}: {text}");
        assert_eq!(store.poisoned(), None, "{lsn} {time}");
        let view = store.view();
        assert_eq!(
            (
                view.nodes(),
                &*view.node(NodeId(0)).unwrap().text().unwrap()
            ),
            (1, "one")
        );
        store.checkpoint().unwrap();
        store.close().unwrap();
        let store = Store::open(&folder, "b").unwrap();
        store.remove().unwrap();
        assert!(matches!(
            Store::open(&folder, "b"),
            Err(Error::NotFound { .. })
        ));
    }
}

#[test]
fn verify_reports_values_at_the_end_of_their_range_and_adoption_refuses_them() {
    for (lsn, time) in ENDS {
        let (_disk, folder, bytes) = brain(lsn, time);
        let report = verify::native(Arc::new(Map::owned(&bytes)), None).unwrap();
        let found = report.findings.first().map(ToString::to_string);
        let found = found.unwrap_or_else(|| panic!("{lsn} {time} is whole"));
        assert!(found.contains("range"), "{found}");
        let mut incoming = IncomingFile::begin(&folder, "c", bytes.len() as u64).unwrap();
        incoming.push(&bytes).unwrap();
        let refused = incoming.finish(true).unwrap_err().to_string();
        assert!(refused.contains("range"), "{refused}");
    }
}

#[test]
fn a_clock_outside_of_its_range_is_refused_at_the_start_and_at_the_write() {
    for time in [
        -1_000_000,
        i64::MIN,
        253_402_300_800_000_000,
        i64::MAX - 9_000_000,
    ] {
        let (disk, mut store) = open(22);
        run(&mut store, ingest(vec![fact("one")])).unwrap();
        let right = disk.now();
        disk.set_clock(Micros(time));
        for mutation in [ingest(vec![fact("two")]), Mutation::Decay] {
            let refused = run(&mut store, mutation).unwrap_err().to_string();
            assert!(refused.contains("clock"), "{time}: {refused}");
        }
        let refused = Folder::open(Arc::new(disk.cloned()), "a test").unwrap_err();
        assert!(refused.to_string().contains("clock"), "{time}: {refused}");
        disk.set_clock(right);
        run(&mut store, ingest(vec![fact("two")])).unwrap();
        assert_eq!(store.view().nodes(), 2);
    }
}

#[test]
fn one_write_under_a_wrong_clock_takes_no_strength_from_later_decay_runs() {
    let (disk, mut store) = open(23);
    run(&mut store, ingest(vec![fact("an old one")])).unwrap();
    let right = disk.now();
    let expected = store.view().node(NodeId(0)).unwrap().confidence();
    disk.set_clock(Micros(right.0 + 20 * 365 * Micros::DAY));
    run(&mut store, ingest(vec![fact("of the future")])).unwrap();
    disk.set_clock(Micros(right.0 + Micros::DAY));
    for checkpoint in [false, true] {
        if checkpoint {
            store.checkpoint().unwrap();
        }
        run(&mut store, Mutation::Decay).unwrap();
        run(&mut store, Mutation::Touch(vec![(NodeId(0), 1)])).unwrap();
        let strength = store.view().node(NodeId(0)).unwrap().strength();
        assert!(strength > 0.9 * expected, "{strength} of {expected}");
    }
    // What was used was used by the clock, too.
    let view = store.view();
    let used = view.node(NodeId(0)).unwrap().last_accessed();
    assert!(used > right && used.0 < right.0 + 2 * Micros::DAY, "{used}");
}

/// The file that a repair makes, with its times mended.
fn retimed(bytes: &[u8], now: Micros) -> Vec<u8> {
    let repaired = repair::repair(bytes, Uuid::from_u128(7), now).unwrap();
    let mended = repair::retime(repaired, now).unwrap();
    assert!(mended.report.lost_nothing(), "{:?}", mended.report);
    let mut out = Vec::new();
    let end = write_base(&mended.view, &mended.options, &mut out).unwrap();
    base_builder::journal(&mended.options.identity, 1, end, &mut out).unwrap();
    let verified = verify::native(Arc::new(Map::owned(&out)), None).unwrap();
    assert!(verified.is_whole(), "{:?}", verified.findings);
    out
}

/// Receives a file as a brain, and opens that.
fn received(folder: &Folder, name: &str, bytes: &[u8]) -> Store {
    let mut incoming = IncomingFile::begin(folder, name, bytes.len() as u64).unwrap();
    incoming.push(bytes).unwrap();
    incoming.finish(true).unwrap();
    Store::open(folder, name).unwrap()
}

#[test]
fn times_that_lie_ahead_are_mended_in_their_order_and_all_others_stay() {
    let (disk, mut store) = open(24);
    run(&mut store, ingest(vec![fact("a"), fact("b")])).unwrap();
    let before = store.view().time();
    let right = disk.now();
    disk.set_clock(Micros(right.0 + 20 * 365 * Micros::DAY));
    run(&mut store, ingest(vec![fact("c"), fact("d")])).unwrap();
    run(&mut store, Mutation::Correct(correction(0, "not a"))).unwrap();
    run(&mut store, Mutation::Decay).unwrap();
    store.checkpoint().unwrap();
    disk.set_clock(Micros(right.0 + Micros::DAY));
    run(&mut store, Mutation::Touch(vec![(NodeId(1), 1)])).unwrap();
    run(&mut store, ingest(vec![fact("e")])).unwrap();
    let (folder, texts) = (store.folder().clone(), texts(&store));
    store.close().unwrap();
    let bytes = disk.contents("b.amem").unwrap();
    let now = disk.now();
    let mut store = received(&folder, "c", &retimed(&bytes, now));
    assert_eq!(self::texts(&store), texts);
    let view = store.view();
    let times: Vec<_> = (0..view.nodes())
        .map(|id| view.node(NodeId(id)).unwrap().created_at())
        .collect();
    assert!(
        times.is_sorted() && times.iter().all(|time| *time <= now),
        "{times:?}"
    );
    assert!(view.time() <= now);
    // What was known before is known as before.
    let then = view.as_of(AsOf::Time(before)).unwrap();
    assert_eq!(
        (then.nodes(), then.node(NodeId(0)).unwrap().confidence()),
        (2, 1.0)
    );
    let made = run(&mut store, ingest(vec![fact("f")])).unwrap();
    assert!(
        made.time.0 - now.0 < Micros::DAY,
        "{} after {now}",
        made.time
    );
    run(&mut store, Mutation::Decay).unwrap();
    let strength = store.view().node(NodeId(1)).unwrap().strength();
    assert!(strength > 0.9, "{strength}");
}

#[test]
fn a_brain_at_the_end_of_its_times_goes_on_once_they_are_mended() {
    for (lsn, time) in ENDS.into_iter().filter(|(lsn, _)| *lsn == 7) {
        let (disk, folder, bytes) = brain(lsn, time);
        let mut store = received(&folder, "c", &retimed(&bytes, disk.now()));
        run(&mut store, ingest(vec![fact("two")])).unwrap();
        assert_eq!(texts(&store), ["one", "two"]);
    }
}

fn texts(store: &Store) -> Vec<String> {
    let view = store.view();
    let text = |id| view.node(NodeId(id)).unwrap().text().unwrap().into_owned();
    (0..view.nodes()).map(text).collect()
}
