//! Sessions that are summarised a part at a time.

use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, NodeId, SessionId};
use amem_store::mutation::{Episode, NewEvent, Part};
use amem_store::{Answer, Error, Mutation, Store};

use crate::{fact, ingest, open, run};

fn part(store: &mut Store, episode: Episode, events: &[u64]) -> Result<Answer, Error> {
    let part = Part {
        session: SessionId(1),
        episode,
        events: events.iter().copied().map(NodeId).collect(),
    };
    run(store, Mutation::CompressPart(part))
}

/// A store with a session of six facts.
fn session(seed: u64) -> Store {
    let (_disk, mut store) = open(seed);
    let key = String::new();
    run(&mut store, Mutation::OpenSession { key }).unwrap();
    let said = |at| NewEvent {
        session: Some(SessionId(1)),
        ..fact(&format!("the {at}th thing that was said"))
    };
    run(&mut store, ingest((0..6).map(said).collect())).unwrap();
    store
}

/// Which events an episode is of.
fn covered(view: &View, episode: NodeId) -> Vec<u64> {
    let ties = view.edges_of(episode, Direction::Incoming).unwrap();
    let parts = ties
        .iter()
        .filter(|tie| tie.edge_type == EdgeType::PART_OF)
        .map(|tie| {
            assert!(view.node(tie.other).unwrap().is_compressed());
            tie.other.0
        });
    let mut parts: Vec<_> = parts.collect();
    parts.sort_unstable();
    parts
}

#[test]
fn summarising_in_parts_equals_summarising_at_once() {
    let mut whole = session(61);
    let close = Mutation::CloseSession {
        session: SessionId(1),
        outcome: "done".into(),
    };
    run(&mut whole, close.clone()).unwrap();
    let compress = Mutation::Compress {
        session: SessionId(1),
        text: "much was said".into(),
        vector: None,
    };
    run(&mut whole, compress).unwrap();
    let mut parts = session(61);
    run(&mut parts, close).unwrap();
    let text = "much was said".to_owned();
    let made = part(&mut parts, Episode::New(text), &[0, 1]).unwrap();
    assert_eq!((made.ids.as_slice(), made.edges), (&[NodeId(6)][..], 2));
    let half = parts.view();
    assert!(half.node(NodeId(1)).unwrap().is_compressed());
    assert!(!half.node(NodeId(2)).unwrap().is_compressed());
    parts.checkpoint().unwrap();
    for events in [[2, 3], [4, 5]] {
        let joined = part(&mut parts, Episode::At(NodeId(6)), &events).unwrap();
        assert_eq!((joined.ids.len(), joined.edges), (0, 2));
    }
    let (a, b) = (whole.view(), parts.view());
    assert_eq!((a.nodes(), a.edges()), (b.nodes(), b.edges()));
    assert_eq!(covered(&a, NodeId(6)), covered(&b, NodeId(6)));
    let episode = b.node(NodeId(6)).unwrap();
    assert_eq!(episode.event_type(), EventType::EPISODE);
    assert_eq!(episode.session(), SessionId(1));
    assert_eq!(episode.text().unwrap(), "much was said");
}

#[test]
fn a_part_skips_removed_events_and_is_refused_without_its_episode() {
    let mut store = session(62);
    run(&mut store, ingest(vec![fact("nobody's")])).unwrap();
    run(&mut store, Mutation::Forget(NodeId(1))).unwrap();
    let text = || Episode::New("what was said".into());
    let made = part(&mut store, text(), &[0, 0, 1, 6]).unwrap();
    assert_eq!((made.ids.as_slice(), made.edges), (&[NodeId(7)][..], 1));
    assert_eq!(covered(&store.view(), NodeId(7)), [0]);
    // Nothing is left of a part: nothing is done, and no episode made.
    let lsn = store.view().lsn();
    let nothing = part(&mut store, text(), &[0, 1, 6]).unwrap();
    assert!(nothing.ids.is_empty() && nothing.edges == 0);
    assert_eq!((store.view().nodes(), store.view().lsn()), (8, lsn));
    for episode in [2, 99] {
        let refused = part(&mut store, Episode::At(NodeId(episode)), &[3]);
        assert!(refused.is_err(), "{episode}");
    }
    run(&mut store, Mutation::Forget(NodeId(7))).unwrap();
    assert!(part(&mut store, Episode::At(NodeId(7)), &[3]).is_err());
    assert!(part(&mut store, Episode::New(String::new()), &[3]).is_err());
    assert!(part(&mut store, text(), &[99]).is_err());
    assert_eq!(store.view().nodes(), 8);
}
