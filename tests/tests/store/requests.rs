//! What is remembered of requests, and what of it an erase takes away.

use amem_format::base::section::tag;
use amem_format::journal::op::Op;
use amem_format::view::View;
use amem_format::{Lsn, NodeId};
use amem_store::disk::Disk;
use amem_store::{Error, Mutation, Request, Store};
use amem_tests::disk::SimDisk;
use amem_tests::fuzz::mend;
use uuid::{NoContext, Timestamp, Uuid};

use super::{fact, ingest, open};

const HOUR: i64 = 3600;
const YEAR: i64 = 365 * 24 * HOUR;

/// The `counter`th id of the moment.
fn id(disk: &SimDisk, counter: u32) -> Uuid {
    let seconds = disk.now().0 as u64 / 1_000_000;
    Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, counter))
}

/// Hashes of bodies in the base's requests and in its recent commits, ascending.
fn hashes(view: &View) -> [Vec<u128>; 2] {
    let base = view.brain().base();
    let requests = base.requests().unwrap();
    let remembered = (0..requests.len()).map(|at| requests.at(at).unwrap().body);
    let (mut from, mut recent) = (Lsn(0), Vec::new());
    while let Some(next) = view.commit_after(from).unwrap() {
        recent.extend(next.ops().filter_map(|op| match op.unwrap() {
            Op::Request { body, .. } => Some(body),
            _ => None,
        }));
        from = next.commit.lsn;
    }
    let mut both = [remembered.collect(), recent];
    both.iter_mut().for_each(|hashes| hashes.sort_unstable());
    both
}

#[test]
fn a_request_from_before_an_erase_is_recognised_by_id_and_its_hash_is_gone() {
    let (disk, mut store) = open(9);
    let [first, second] = [0, 1].map(|counter| id(&disk, counter));
    let secret = || Request::new(ingest(vec![fact("the code is 4711")])).with_id(first);
    let answer = store.execute(secret()).unwrap();
    for is_folded in [false, true] {
        let other = Request::new(ingest(vec![fact("the code is 4712")])).with_id(first);
        let refused = store.execute(other);
        assert!(matches!(refused, Err(Error::RequestReused { .. })));
        if !is_folded {
            store.checkpoint().unwrap();
        }
    }
    let [remembered, recent] = hashes(&store.view());
    assert_eq!((remembered.len(), &remembered), (1, &recent));
    let hash = remembered[0].to_le_bytes();
    assert!(!disk.files_with(&hash).is_empty());

    let erase = Mutation::Erase(vec![NodeId(0)]);
    store.execute(Request::new(erase)).unwrap();
    let after = Request::new(ingest(vec![fact("said later")])).with_id(second);
    store.execute(after).unwrap();
    store.checkpoint().unwrap();
    let found = disk.files_with(&hash);
    assert!(
        found.is_empty(),
        "a hash of what was erased is in {found:?}"
    );

    // A retry gets the answer of then; what it asks for can't be compared any more.
    let other = Request::new(ingest(vec![fact("the code is 4712")])).with_id(first);
    for request in [secret(), other] {
        let again = store.execute(request).unwrap();
        assert!(again.replayed);
        assert_eq!((again.lsn, &again.ids), (answer.lsn, &answer.ids));
    }
    assert_eq!(store.view().nodes(), 2);
    // What came after the erase is compared, also after another generation.
    for _ in 0..2 {
        let [remembered, recent] = hashes(&store.view());
        assert_eq!((remembered.len(), &remembered), (2, &recent));
        assert!(remembered[0] == 0 && remembered[1] != 0);
        let other = Request::new(ingest(vec![fact("another")])).with_id(second);
        let refused = store.execute(other);
        assert!(matches!(refused, Err(Error::RequestReused { .. })));
        store.checkpoint().unwrap();
    }
}

/// An id that says that it was made so many seconds from now.
fn id_from_now(disk: &SimDisk, seconds: i64) -> Uuid {
    let at = disk.now().0 / 1_000_000 + seconds;
    Uuid::new_v7(Timestamp::from_unix(NoContext, at as u64, 1))
}

#[test]
fn ids_from_far_ahead_and_behind_are_taken_and_their_retries_answered() {
    let (disk, mut store) = open(10);
    let seconds = [10 * YEAR, -25 * HOUR, 25 * HOUR, -30 * YEAR, 0];
    let ids = seconds.map(|seconds| id_from_now(&disk, seconds));
    let request = |at: usize| Request::new(ingest(vec![fact("said once")])).with_id(ids[at]);
    let firsts: Vec<_> = (0..ids.len())
        .map(|at| store.execute(request(at)).unwrap())
        .collect();
    for hours in [0, 0, 23] {
        disk.advance(hours * HOUR * 1_000_000);
        store.checkpoint().unwrap();
        for (at, first) in firsts.iter().enumerate() {
            let again = store.execute(request(at)).unwrap();
            assert!(again.replayed, "{} s from now", seconds[at]);
            assert_eq!((again.lsn, &again.ids), (first.lsn, &first.ids));
        }
    }
    assert_eq!(store.view().nodes(), ids.len() as u64);
}

#[test]
fn a_file_whose_floor_of_ids_lies_in_the_future_takes_requests_again() {
    let (disk, mut store) = open(11);
    let said = Request::new(ingest(vec![fact("first")])).with_id(id(&disk, 0));
    store.execute(said).unwrap();
    store.checkpoint().unwrap();
    let view = store.view();
    let section = view.brain().base().section(tag::REQUESTS).unwrap();
    let floor = section.offset as usize + 8;
    let folder = store.folder().clone();
    store.close().unwrap();
    // As programs of before left it after a million ids from the future: every id is below.
    let mut bytes = disk.contents("b.amem").unwrap();
    bytes[floor..floor + 8].copy_from_slice(&(1u64 << 48).to_le_bytes());
    mend(&mut bytes);
    disk.open("b.amem").unwrap().write_at(0, &bytes).unwrap();

    let mut store = Store::open(&folder, "b").unwrap();
    let request = Request::new(ingest(vec![fact("second")])).with_id(id(&disk, 3));
    store.execute(request.clone()).unwrap();
    store.checkpoint().unwrap();
    assert!(store.execute(request).unwrap().replayed);
}
