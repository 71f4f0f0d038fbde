//! What a view shows of each event, and of its edges.

use amem_format::{Error, Flags, NodeId};
use amem_query::events::{SessionFilter, SessionSelector, SessionSpans};
use amem_query::{Get, ListSessions, ShowSession};
use amem_tests::model::Requests;
use amem_tests::model::{Event, Session, edges, sessions};

use crate::in_worlds;

#[test]
fn every_event_equals_the_models() {
    in_worlds(60, |_, view, known| {
        assert_eq!(view.nodes(), known.state.events.len() as u64);
        assert_eq!((view.lsn().0, view.moment().0.0), (known.now, known.moment));
        for event in &known.state.events {
            let node = view.node(NodeId(event.id)).unwrap();
            let found = node.to_event().unwrap();
            let made = &event.made;
            let has = Flags::VECTOR.with(Flags::ATTRIBUTES);
            assert_eq!(found.flags.without(has), event.flags, "{}", event.id);
            assert_eq!(found.text, made.text);
            assert_eq!(found.event_time.map(|t| t.0), made.event_time);
            assert_eq!(found.created_at.0, event.created_at);
            assert_eq!(found.confidence, made.confidence);
            assert_eq!(found.lambda, made.lambda);
            assert_eq!(found.attributes, made.attributes);
            assert_eq!(found.vector, made.vector);
            assert_eq!(found.access_count, event.accesses);
            assert_eq!(
                found.decay_score, event.strength,
                "strength of {}",
                event.id
            );
        }
    });
}

#[test]
fn get_gives_an_event_and_its_edges_unless_it_is_hidden() {
    in_worlds(40, |world, view, known| {
        let scope = Requests::of(world).scope();
        for event in &known.state.events {
            let all = world.random.below(2) == 0;
            let get = Get {
                event: NodeId(event.id),
                edges: 3,
                scope: scope.clone(),
                include_forgotten: all,
            };
            let got = match get.run(view) {
                Ok(got) => got,
                Err(Error::Forgotten { .. }) => {
                    assert!(event.flags.has(Flags::FORGOTTEN) && !all);
                    continue;
                }
                Err(Error::Invalid { .. }) => {
                    assert_ne!(scope, Default::default());
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            assert!(all || !event.flags.has(Flags::FORGOTTEN));
            let mut is_cut = false;
            for (found, outgoing) in [(&got.outgoing, true), (&got.incoming, false)] {
                let mut expected = edges(known, event.id, outgoing, &scope, all);
                is_cut |= expected.len() > 3;
                expected.truncate(3);
                let other = |e: &amem_format::Edge| if outgoing { e.target } else { e.source };
                let found: Vec<_> = found.iter().map(|e| (other(e).0, e.edge_type.0)).collect();
                assert_eq!(found, expected);
            }
            assert_eq!(got.is_cut, is_cut);
            for edge in got.outgoing.iter().chain(&got.incoming) {
                let (weight, created_at) = known.state.edges[&edge.key()];
                assert_eq!((edge.weight, edge.created_at.0), (weight, created_at));
            }
        }
    });
}

#[test]
fn sessions_are_listed_by_number_page_by_page() {
    in_worlds(40, |world, view, known| {
        let state = world.random.pick(&[
            SessionFilter::Any,
            SessionFilter::Open,
            SessionFilter::Closed,
        ]);
        let oldest_first = world.random.below(2) == 0;
        let mut request = ListSessions {
            state,
            oldest_first,
            limit: 1 + world.random.below(4) as usize,
            cursor: None,
        };
        let mut found = Vec::new();
        loop {
            let page = request.run(view).unwrap();
            found.extend(page.sessions.iter().map(|s| s.id));
            for session in &page.sessions {
                let expected = &known.state.sessions[&session.id.0];
                assert_eq!(session.key, expected.key);
                assert_eq!(session.explicit, expected.explicit);
                assert_eq!(session.closed.map(|t| t.0), expected.closed);
                assert_eq!(session.outcome, expected.outcome);
                assert_eq!(session.agent, expected.agent);
                let times = (session.opened.0, session.last_event.0);
                assert_eq!(times, (expected.opened, expected.last_event));
                let of = |e: &&amem_tests::model::Event| e.made.session == session.id.0;
                let named = SessionSelector::Id(session.id);
                let shown = ShowSession { session: named }.run(view).unwrap();
                assert_eq!(shown.events, known.state.events.iter().filter(of).count());
                assert_eq!(shown.session, *session);
                let of = known.state.events.iter().filter(of);
                like_spans(&shown.spans, expected, &of.collect::<Vec<_>>());
            }
            request.cursor = page.next;
            if request.cursor.is_none() {
                break;
            }
        }
        assert_eq!(found, sessions(known, state, oldest_first));
    });
}

/// Spans have their times, the number of their events, and the episodes that events of theirs are part of.
fn like_spans(shown: &SessionSpans<'_>, session: &Session, of: &[&Event]) {
    let all = session.spans();
    assert_eq!((shown.count, shown.newest.len()), (all.len(), all.len()));
    let mut left = of.to_vec();
    for (span, expected) in shown.newest.iter().zip(&all).rev() {
        let closed = span.span.closed.map(|t| t.0);
        let found = (span.span.explicit, span.span.opened.0, closed);
        assert_eq!(found, (expected.0, expected.1, expected.2));
        assert_eq!(span.span.outcome, expected.3);
        let is_first = std::ptr::eq(span, &shown.newest[0]);
        let at = left.partition_point(|e| !is_first && e.created_at < expected.1);
        assert_eq!(span.events, left.split_off(at).len());
    }
}
