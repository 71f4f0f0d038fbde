//! What a second merge must find: everything known again, nothing doubled, nothing back that was erased.

use std::sync::Arc;

use amem_format::event::Attributes;
use amem_format::journal::op::Op;
use amem_format::limits::{ATTRIBUTES_BYTES_MAX, NAME_BYTES_MAX};
use amem_format::view::AsOf;
use amem_format::{EdgeType, NodeId};
use amem_store::ORIGIN;
use amem_store::disk::Disk;
use amem_store::mutation::NewEdge;
use amem_store::{Error, Folder, IncomingFile, MergeReport, MergeSource, Mutation, Request, Store};

use super::World;
use crate::{correction, fact, ingest, run};

/// The first event behind what the brains of a `World` have in common.
const NEXT: NodeId = NodeId(14);

/// Nothing but that so many events are known.
fn known(matched: u64) -> MergeReport {
    MergeReport {
        matched,
        ..MergeReport::default()
    }
}

fn set(target: NodeId, attributes: Attributes) -> Mutation {
    Mutation::SetAttributes {
        target,
        attributes: Some(attributes),
    }
}

fn one(key: &str, value: impl Into<serde_json::Value>) -> Attributes {
    Attributes::from_iter([(key.to_owned(), value.into())])
}

fn link(weight: f32) -> Mutation {
    Mutation::Link(NewEdge {
        source: NodeId(0),
        target: NodeId(1),
        edge_type: EdgeType::SUPPORTS,
        weight,
    })
}

fn unlink() -> Mutation {
    Mutation::Unlink {
        source: NodeId(0),
        target: NodeId(1),
        edge_type: EdgeType::SUPPORTS,
    }
}

fn weights(world: &World) -> Vec<Option<f32>> {
    let of = |brain: &Store| {
        let edge = brain
            .view()
            .find_edge(NodeId(0), NodeId(1), EdgeType::SUPPORTS);
        edge.unwrap().map(|edge| edge.weight)
    };
    world.brains.iter().map(of).collect()
}

#[test]
fn an_event_erased_in_the_destination_stays_erased() {
    for folded in [false, true] {
        let mut world = World::of(3, 41);
        run(&mut world.brains[1], ingest(vec![fact("a secret")])).unwrap();
        world.merge(0, 1);
        world.merge(2, 0);
        run(&mut world.brains[0], Mutation::Erase(vec![NEXT])).unwrap();
        if folded {
            world.brains[0].checkpoint().unwrap();
        }
        for from in [1, 2, 1] {
            assert_eq!(world.merge(0, from), known(15));
        }
        let view = world.brains[0].view();
        let node = view.node(NEXT).unwrap();
        assert!(node.is_erased() && node.text().unwrap().is_empty());
        // What is left says where it was, not who said it.
        let left = node.attributes().unwrap().unwrap();
        assert_eq!(left.keys().collect::<Vec<_>>(), [ORIGIN]);
        let origin = left[ORIGIN].as_object().unwrap();
        assert_eq!(
            origin.keys().collect::<Vec<_>>(),
            ["instance", "event", "time"]
        );
        // Brains that have it whole keep it, and report it.
        assert_eq!(world.merge(1, 0).erased_there, 1);
        assert_eq!(world.merge(2, 0).erased_there, 1);
        let view = world.brains[1].view();
        assert_eq!(view.node(NEXT).unwrap().text().unwrap(), "a secret");
    }
}

#[test]
fn of_an_erased_events_attributes_only_the_origin_remains() {
    let mut world = World::of(2, 42);
    run(&mut world.brains[1], ingest(vec![fact("a secret")])).unwrap();
    world.merge(0, 1);
    let set = run(&mut world.brains[0], set(NEXT, one("told", "hush"))).unwrap();
    world.brains[0].checkpoint().unwrap();
    run(&mut world.brains[0], Mutation::Erase(vec![NEXT])).unwrap();
    for _ in 0..2 {
        let view = world.brains[0].view();
        let then = view.as_of(AsOf::Lsn(set.lsn)).unwrap();
        for view in [view, then] {
            let node = view.node(NEXT).unwrap();
            let left = node.attributes().unwrap().unwrap_or_default();
            assert!(node.is_erased() && left.keys().all(|key| key == ORIGIN));
        }
        world.brains[0].checkpoint().unwrap();
    }
    assert!(
        !world
            .disk
            .files_with(b"hush")
            .contains(&"b.amem".to_owned())
    );
}

#[test]
fn a_follower_of_commits_ends_with_the_attributes_of_an_erased_event() {
    let mut world = World::of(2, 55);
    let mut secret = fact("a secret");
    secret.attributes = Some(one("told", "hush"));
    run(&mut world.brains[1], ingest(vec![secret])).unwrap();
    world.merge(0, 1);
    let before = world.brains[0].view().lsn();
    run(&mut world.brains[0], Mutation::Erase(vec![NEXT])).unwrap();
    for _ in 0..2 {
        let view = world.brains[0].view();
        let has = view.node(NEXT).unwrap().attributes().unwrap().unwrap();
        assert!(has.keys().eq([ORIGIN]), "{has:?}");
        let (mut lsn, mut followed) = (before, None);
        while let Some(next) = view.commit_after(lsn).unwrap() {
            for op in next.ops() {
                if let Op::Attributes { target: NEXT, json } = op.unwrap() {
                    followed = Some(serde_json::from_str(json).unwrap_or_default());
                }
            }
            lsn = next.commit.lsn;
        }
        assert_eq!(followed, Some(has));
        world.brains[0].checkpoint().unwrap();
    }
}

#[test]
fn an_event_erased_in_the_source_before_a_merge_arrives_once() {
    let mut world = World::of(2, 43);
    run(
        &mut world.brains[1],
        ingest(vec![fact("gone"), fact("here")]),
    )
    .unwrap();
    run(&mut world.brains[1], Mutation::Erase(vec![NEXT])).unwrap();
    assert_eq!(world.merge(0, 1).events, 2);
    for (into, from) in [(0, 1), (1, 0), (0, 1)] {
        world.brains[into].checkpoint().unwrap();
        assert_eq!(world.merge(into, from), known(16));
    }
    assert!(world.brains[0].view().node(NEXT).unwrap().is_erased());
}

#[test]
fn events_with_the_maximal_attributes_are_recognised() {
    let mut world = World::of(2, 44);
    let bytes = ATTRIBUTES_BYTES_MAX - r#"{"k":""}"#.len();
    let full = |with: &str| one("k", with.repeat(bytes));
    let mut event = fact("full");
    event.attributes = Some(full("x"));
    run(&mut world.brains[1], ingest(vec![event])).unwrap();
    assert_eq!(world.merge(0, 1).events, 1);
    assert_eq!(world.merge(0, 1), known(15));
    run(&mut world.brains[1], set(NEXT, full("y"))).unwrap();
    assert_eq!(world.merge(0, 1).changed, 1);
    assert_eq!(world.merge(1, 0), known(15));
    let view = world.brains[0].view();
    let kept = view.node(NEXT).unwrap().attributes().unwrap().unwrap();
    assert_eq!((kept.len(), &kept["k"]), (2, &full("y")["k"]));
}

#[test]
fn the_origin_of_an_event_cannot_be_set_by_a_client() {
    let mut world = World::of(2, 45);
    run(&mut world.brains[1], ingest(vec![fact("x")])).unwrap();
    world.merge(0, 1);
    let told = |world: &World| {
        let view = world.brains[0].view();
        view.node(NEXT).unwrap().attributes().unwrap().unwrap()
    };
    let origin = told(&world);
    run(&mut world.brains[0], set(NEXT, one("own", 1))).unwrap();
    assert_eq!(told(&world)[ORIGIN], origin[ORIGIN]);
    // A client that reads, changes and sets attributes returns it unchanged.
    let mut read = told(&world);
    read.insert("own".into(), 2.into());
    run(&mut world.brains[0], set(NEXT, read.clone())).unwrap();
    assert_eq!(told(&world), read);
    let none = Mutation::SetAttributes {
        target: NEXT,
        attributes: None,
    };
    run(&mut world.brains[0], none).unwrap();
    assert_eq!(told(&world), origin);
    for (target, lie) in [(NEXT, one(ORIGIN, 1)), (NodeId(2), origin.clone())] {
        let refused = run(&mut world.brains[0], set(target, lie)).unwrap_err();
        assert!(refused.to_string().contains(ORIGIN), "{refused}");
    }
    let mut event = fact("an import");
    event.attributes = Some(one(ORIGIN, "elsewhere"));
    let refused = run(&mut world.brains[0], ingest(vec![event])).unwrap_err();
    assert!(refused.to_string().contains(ORIGIN), "{refused}");
    assert_eq!(world.merge(0, 1), known(15));
    assert_eq!(world.merge(1, 0), known(15));
}

#[test]
fn the_last_of_two_weights_and_a_retraction_wins() {
    let mut world = World::of(2, 46);
    run(&mut world.brains[0], link(0.5)).unwrap();
    world.merge(1, 0);
    run(&mut world.brains[1], link(0.9)).unwrap();
    assert_eq!(world.merge(0, 1).edges, 1);
    assert_eq!(weights(&world), [Some(0.9), Some(0.9)]);
    run(&mut world.brains[0], unlink()).unwrap();
    run(&mut world.brains[1], link(0.3)).unwrap();
    world.brains[1].checkpoint().unwrap();
    assert_eq!(world.merge(1, 0), known(14));
    assert_eq!(world.merge(0, 1).edges, 1);
    assert_eq!(weights(&world), [Some(0.3), Some(0.3)]);
    run(&mut world.brains[1], link(0.2)).unwrap();
    run(&mut world.brains[0], unlink()).unwrap();
    assert_eq!(world.merge(0, 1), known(14));
    assert_eq!(world.merge(1, 0).retracted, 1);
    assert_eq!(weights(&world), [None, None]);
}

#[test]
fn equal_access_counts_take_the_later_time() {
    let mut world = World::of(2, 47);
    for brain in &mut world.brains {
        run(brain, Mutation::Touch(vec![(NodeId(1), 1)])).unwrap();
    }
    assert_eq!(world.merge(0, 1).touched, 1);
    assert_eq!(world.merge(1, 0), known(14));
    let used = |brain: &Store| {
        let view = brain.view();
        let node = view.node(NodeId(1)).unwrap();
        (node.access_count(), node.last_accessed())
    };
    assert_eq!(used(&world.brains[0]), used(&world.brains[1]));
    assert_eq!(used(&world.brains[0]).0, 1);
}

#[test]
fn a_session_that_ended_in_the_source_ends_in_the_destination() {
    let mut world = World::of(2, 48);
    let open = Mutation::OpenSession { key: "k".into() };
    let session = run(&mut world.brains[1], open).unwrap().session.unwrap();
    let mut event = fact("in it");
    event.session = Some(session);
    run(&mut world.brains[1], ingest(vec![event])).unwrap();
    world.merge(0, 1);
    let close = |session, outcome: &str| Mutation::CloseSession {
        session,
        outcome: outcome.into(),
    };
    let ended = |world: &World| -> Vec<_> {
        let of = |brain: &Store| {
            let view = brain.view();
            let id = view.session_by_key("k").unwrap().unwrap();
            let session = view.session(id).unwrap().unwrap();
            session.closed.map(|_| session.outcome.to_owned())
        };
        world.brains.iter().map(of).collect()
    };
    let here = world.brains[0].view().session_by_key("k").unwrap().unwrap();
    run(&mut world.brains[1], close(session, "well")).unwrap();
    run(&mut world.brains[0], close(here, "better")).unwrap();
    assert_eq!(world.merge(0, 1), known(15));
    assert_eq!(world.merge(1, 0).sessions, 1);
    assert_eq!(
        ended(&world),
        [Some("better".into()), Some("better".into())]
    );
    assert_eq!(world.merge(0, 1), known(15));
}

#[test]
fn an_earlier_copy_adds_nothing_and_a_later_one_adds_its_changes() {
    let mut world = World::of(1, 49);
    let bytes = world.disk.contents("b.amem").unwrap();
    let folder = world.folder.clone();
    let backup = |bytes: &[u8]| {
        let mut file = IncomingFile::read_only(&folder, bytes.len() as u64).unwrap();
        file.push(bytes).unwrap();
        MergeSource::new(file.into_view().unwrap().0)
    };
    run(&mut world.brains[0], set(NodeId(1), one("since", 1))).unwrap();
    run(&mut world.brains[0], ingest(vec![fact("since")])).unwrap();
    let merged = run(&mut world.brains[0], Mutation::Merge(backup(&bytes)));
    assert_eq!(merged.unwrap().merged.unwrap(), known(14));
    let later = world.disk.contents("b.amem").unwrap();
    let lsn = world.brains[0].view().lsn();
    let merged = run(&mut world.brains[0], Mutation::Merge(backup(&later)));
    assert_eq!(merged.unwrap().merged.unwrap(), known(15));
    assert_eq!(world.brains[0].view().lsn(), lsn);
}

#[test]
fn edges_on_a_cycle_of_both_are_omitted_and_others_are_merged() {
    let mut world = World::of(2, 50);
    let replace = |source: u64, target: u64| {
        Mutation::Link(NewEdge {
            source: NodeId(source),
            target: NodeId(target),
            edge_type: EdgeType::SUPERSEDES,
            weight: 1.0,
        })
    };
    for (who, source, target) in [(0, 6, 7), (0, 7, 8), (1, 8, 6), (1, 9, 8), (1, 6, 10)] {
        run(&mut world.brains[who], replace(source, target)).unwrap();
    }
    let merged = world.merge(0, 1);
    assert_eq!((merged.edges, merged.cycles), (2, 1));
    let again = MergeReport {
        cycles: 1,
        ..known(14)
    };
    assert_eq!(world.merge(0, 1), again);
    // A cycle that a retraction opens is none.
    run(
        &mut world.brains[0],
        Mutation::Unlink {
            source: NodeId(7),
            target: NodeId(8),
            edge_type: EdgeType::SUPERSEDES,
        },
    )
    .unwrap();
    let merged = world.merge(1, 0);
    assert_eq!((merged.edges, merged.cycles), (1, 0));
    assert_eq!(world.merge(0, 1).edges, 1);
}

#[test]
fn the_last_of_many_replacements_is_merged_as_fast_as_the_first() {
    let mut world = World::of(2, 51);
    for at in 0..2_000 {
        let mut next = correction(5, &format!("better {at}"));
        next.to_head = true;
        run(&mut world.brains[1], Mutation::Correct(next)).unwrap();
    }
    let merged = world.merge(0, 1);
    assert_eq!(
        (merged.events, merged.edges, merged.cycles),
        (2_000, 2_000, 0)
    );
    assert_eq!(world.merge(0, 1), known(2_014));
}

#[test]
fn an_oversized_merge_is_refused_beforehand_and_poisons_nothing() {
    let mut world = World::of(2, 52);
    let events = (0..100)
        .map(|at| fact(&"large ".repeat(at)))
        .skip(1)
        .collect();
    run(&mut world.brains[1], ingest(events)).unwrap();
    let limit = |bytes_max, commit_bytes_max| {
        let other = MergeSource {
            bytes_max,
            commit_bytes_max,
            ..world.other(1)
        };
        Mutation::Merge(other)
    };
    let small = [0, 1_000, 10_000, 30_000, 60_000];
    let limits = small.map(|max| ("memory", limit(max, u64::MAX)));
    let commits = small.map(|max| ("its commit", limit(u64::MAX, max / 2)));
    let before = world.brains[0].view().lsn();
    for (of, merge) in limits.into_iter().chain(commits) {
        let refused = run(&mut world.brains[0], merge).unwrap_err();
        assert!(
            matches!(refused, Error::MergeTooLarge { of: what, .. } if what == of),
            "{refused}"
        );
        assert!(
            refused.to_string().contains("merge the smaller"),
            "{refused}"
        );
    }
    assert_eq!(world.brains[0].view().lsn(), before);
    assert_eq!(world.merge(0, 1).events, 99);
}

#[test]
fn a_long_history_of_few_events_takes_memory_for_the_events_only() {
    let mut world = World::of(2, 54);
    for times in 0..600 {
        let attributes = one("times", times);
        run(&mut world.brains[1], set(NodeId(3), attributes)).unwrap();
        let pinned = match times % 2 {
            0 => Mutation::Pin(NodeId(4)),
            _ => Mutation::Unpin(NodeId(4)),
        };
        run(&mut world.brains[1], pinned).unwrap();
        run(&mut world.brains[1], link(times as f32 / 600.0)).unwrap();
    }
    // In the journal, and as history.
    for is_folded in [false, true] {
        if is_folded {
            world.brains[1].checkpoint().unwrap();
        }
        let other = MergeSource {
            bytes_max: 20_000,
            ..world.other(1)
        };
        let merged = other.would_do(&world.brains[0].view()).unwrap();
        assert_eq!((merged.changed, merged.edges), (1, 1), "{is_folded}");
    }
}

#[test]
fn a_result_over_the_readers_limits_is_refused_before_it_is_written() {
    let World {
        disk,
        folder,
        mut brains,
    } = World::of(1, 53);
    let long = "x".repeat(NAME_BYTES_MAX + 1);
    let request = Request::new(ingest(vec![fact("by nobody")])).by(&long, "an agent");
    let refused = brains[0].execute(request).unwrap_err();
    assert!(
        !matches!(refused, Error::OutcomeUnknown { .. }),
        "{refused}"
    );
    run(&mut brains[0], ingest(vec![fact("next")])).unwrap();
    drop((brains, folder));
    let folder = Folder::open(disk as Arc<dyn Disk>, "the next").unwrap();
    assert_eq!(Store::open(&folder, "b").unwrap().view().nodes(), 15);
}
