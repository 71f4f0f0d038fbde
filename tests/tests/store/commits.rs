//! Following commits one by one: what a subscription stands on.

use amem_format::journal::frame::Kind;
use amem_format::journal::op::Op;
use amem_format::{Error as Core, Lsn, NodeId};
use amem_store::{Mutation, Request, Store};

use super::{correction, fact, ingest, open, run};

/// LSN and kind of every commit after an LSN.
fn followed(store: &Store, mut from: Lsn) -> Vec<(Lsn, Kind)> {
    let view = store.view();
    let mut out = Vec::new();
    while let Some(next) = view.commit_after(from).unwrap() {
        assert!(next.commit.lsn > from);
        assert!(next.ops().all(|op| op.is_ok()));
        from = next.commit.lsn;
        out.push((from, next.commit.kind));
    }
    out
}

#[test]
fn every_commit_is_delivered_once_across_checkpoints() {
    let (_disk, mut store) = open(7);
    let mut expected = Vec::new();
    for round in 0..30 {
        let answer = run(&mut store, ingest(vec![fact(&format!("fact {round}"))])).unwrap();
        expected.push((answer.lsn, Kind::Ingest));
        // An agent that is new makes a commit of two frames: it is delivered as one.
        let request = Request::new(Mutation::Correct(correction(round, "better")));
        let answer = store.execute(request.by("uid:1", &format!("agent {round}")));
        expected.push((answer.unwrap().lsn, Kind::Correct));
        if round % 7 == 3 {
            store.checkpoint().unwrap();
        }
        for from in 0..=expected.len() {
            let after = from.checked_sub(1).map_or(Lsn(0), |at| expected[at].0);
            assert_eq!(followed(&store, after), expected[from..]);
        }
        if round > 15 {
            break;
        }
    }
}

#[test]
fn an_lsn_within_a_commit_is_before_it_and_one_past_the_end_is_refused() {
    let (_disk, mut store) = open(8);
    let request = Request::new(ingest(vec![fact("one")])).by("uid:1", "someone");
    let lsn = store.execute(request).unwrap().lsn;
    assert!(lsn.0 > 1, "a commit of several frames");
    for checkpointed in [false, true] {
        for within in 0..lsn.0 {
            let found = store
                .view()
                .commit_after(Lsn(within))
                .unwrap()
                .unwrap()
                .commit
                .lsn;
            assert_eq!(found, lsn, "{checkpointed}");
        }
        assert_eq!(store.view().commit_after(lsn).unwrap(), None);
        let error = store.view().commit_after(Lsn(lsn.0 + 1)).unwrap_err();
        assert!(matches!(error, Core::UnknownLsn { .. }), "{error}");
        store.checkpoint().unwrap();
    }
}

#[test]
fn commits_past_the_retention_limit_are_gone_and_the_rest_is_whole() {
    let (_disk, mut store) = open(9);
    let text = "x".repeat(1 << 19);
    let mut lsns = Vec::new();
    let kept = amem_format::limits::RECENT_COMMITS_BYTES_MAX;
    while lsns.len() * text.len() < 2 * kept {
        lsns.push(run(&mut store, ingest(vec![fact(&text)])).unwrap().lsn);
    }
    store.checkpoint().unwrap();
    let view = store.view();
    let oldest = view.commits_held_after().unwrap();
    assert!(oldest > Lsn(0) && oldest < view.lsn(), "{oldest}");
    let error = view.commit_after(Lsn(oldest.0 - 1)).unwrap_err();
    assert!(
        matches!(error, Core::CommitsGone { oldest: told, .. } if told == oldest),
        "{error}"
    );
    let rest: Vec<_> = followed(&store, oldest)
        .into_iter()
        .map(|(lsn, _)| lsn)
        .collect();
    let expected: Vec<_> = lsns.into_iter().filter(|lsn| *lsn > oldest).collect();
    assert_eq!(rest, expected);
}

#[test]
fn a_commit_of_an_erased_event_has_nothing_of_its_text_after_the_checkpoint() {
    let (_disk, mut store) = open(10);
    run(
        &mut store,
        ingest(vec![fact("a secret"), fact("no secret")]),
    )
    .unwrap();
    run(&mut store, Mutation::Erase(vec![NodeId(0)])).unwrap();
    store.checkpoint().unwrap();
    let view = store.view();
    let commit = view.commit_after(Lsn(0)).unwrap().unwrap();
    let texts: Vec<_> = commit
        .ops()
        .filter_map(|op| match op.unwrap() {
            Op::Event(node) => Some(node.text.to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["", "no secret"]);
}

#[test]
fn only_touches_do_not_invalidate_what_was_read() {
    let (_disk, mut store) = open(11);
    let lsn = run(&mut store, ingest(vec![fact("one")])).unwrap().lsn;
    let touch = || Mutation::Touch(vec![(NodeId(0), 1)]);
    let pin_at = |store: &mut Store, lsn| {
        let mut request = Request::new(Mutation::Pin(NodeId(0)));
        request.expected_lsn = Some(lsn);
        store.execute(request)
    };
    run(&mut store, touch()).unwrap();
    store.checkpoint().unwrap();
    run(&mut store, touch()).unwrap();
    let pinned = pin_at(&mut store, lsn).unwrap().lsn;
    run(&mut store, touch()).unwrap();
    assert!(pin_at(&mut store, lsn).is_err());
    assert!(pin_at(&mut store, pinned).is_ok());
}
