//! A clock that is set, forward and back, by years.

use amem_format::journal::op::Op;
use amem_format::{Lsn, Micros, NodeId};
use amem_store::Mutation;

use crate::{fact, ingest, open, run};

const YEARS: i64 = 20 * 365 * Micros::DAY;

#[test]
fn recorded_times_ascend_across_clock_changes_and_strengths_stay_bounded() {
    let (disk, mut store) = open(51);
    let start = Micros(1_700_000_000_000_000);
    let moves = [0, YEARS, -YEARS, 3, -2 * YEARS, 2 * YEARS];
    for (at, by) in moves.into_iter().enumerate() {
        disk.set_clock(Micros(start.0 + by));
        let made = run(&mut store, ingest(vec![fact("it is so")])).unwrap();
        assert_eq!(made.ids, [NodeId(at as u64)]);
        run(&mut store, Mutation::Touch(vec![(NodeId(0), 1)])).unwrap();
        run(&mut store, Mutation::Decay).unwrap();
        if at == 3 {
            store.checkpoint().unwrap();
        }
    }
    let view = store.view();
    let mut last = Micros(i64::MIN);
    let mut lsn = Lsn(0);
    while let Some(commit) = view.commit_after(lsn).unwrap() {
        assert!(commit.commit.time > last, "{:?}", commit.commit);
        (last, lsn) = (commit.commit.time, commit.commit.lsn);
        for op in commit.ops() {
            if let Op::Decay { at, .. } = op.unwrap() {
                assert!(at <= commit.commit.time);
            }
        }
    }
    assert_eq!(lsn, view.lsn());
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id).unwrap();
        for time in [start.0, start.0 + YEARS, i64::MIN, i64::MAX].map(Micros) {
            let strengths = [node.strength(), node.strength_at(time).unwrap()];
            for strength in strengths {
                assert!((0.0..=node.confidence()).contains(&strength), "{strength}");
            }
        }
    }
}
