//! Sessions that go on: a closed one is opened again by its use, and each span keeps its times, outcome and episode.

use std::sync::Arc;

use amem_doctor::{repair, verify};
use amem_format::mapping::Map;
use amem_format::view::{AsOf, Direction, View};
use amem_format::{Lsn, Micros, NodeId, SessionId};
use amem_query::ShowSession;
use amem_query::events::SessionSelector;
use amem_store::{Error, Mutation, Store};
use amem_tests::disk::SimDisk;
use uuid::Uuid;

use crate::{fact, ingest, open, run};

const SESSION: SessionId = SessionId(1);

/// A commit of a later second, and its LSN.
fn later(disk: &SimDisk, store: &mut Store, mutation: Mutation) -> Result<Lsn, Error> {
    disk.advance(1_000_000);
    run(store, mutation).map(|answer| answer.lsn)
}

fn say(text: &str) -> Mutation {
    let mut event = fact(text);
    event.session = Some(SESSION);
    ingest(vec![event])
}

fn open_by_key() -> Mutation {
    Mutation::OpenSession { key: "talk".into() }
}

fn close(outcome: &str) -> Mutation {
    Mutation::CloseSession {
        session: SESSION,
        outcome: outcome.into(),
    }
}

fn compress(text: &str) -> Mutation {
    Mutation::Compress {
        session: SESSION,
        text: text.into(),
        vector: None,
    }
}

/// Of each span: whether it is closed, its outcome, its events, its episodes.
type SpanRows = Vec<(bool, String, usize, Vec<u64>)>;

fn shown(view: &View) -> SpanRows {
    let session = SessionSelector::Id(SESSION);
    let found = ShowSession { session }.run(view).unwrap();
    let latest = found.spans.newest.last().unwrap().span;
    let of = &found.session;
    assert_eq!((of.opened, of.closed), (latest.opened, latest.closed));
    assert_eq!(of.outcome, latest.outcome);
    let counts: usize = found.spans.newest.iter().map(|span| span.events).sum();
    assert_eq!((found.events, of.key), (counts, "talk"));
    let spans = found.spans.newest.into_iter().map(|span| {
        let episodes = span.episodes.iter().map(|id| id.0).collect();
        let closed = span.span.closed.is_some();
        (closed, span.span.outcome.to_owned(), span.events, episodes)
    });
    spans.collect()
}

fn span(
    closed: bool,
    outcome: &str,
    events: usize,
    episodes: &[u64],
) -> (bool, String, usize, Vec<u64>) {
    (closed, outcome.to_owned(), events, episodes.to_vec())
}

/// What is shown at each moment of a session of three spans: opened by its key, by an event, and by its key again.
fn told(disk: &SimDisk, store: &mut Store) -> Vec<(Lsn, SpanRows)> {
    let mut told = Vec::new();
    let mut tell = |mutation: Mutation, expected: SpanRows| {
        let lsn = later(disk, store, mutation).unwrap();
        assert_eq!(shown(&store.view()), expected, "{lsn}");
        told.push((lsn, expected));
    };
    tell(open_by_key(), vec![span(false, "", 0, &[])]);
    tell(say("one"), vec![span(false, "", 1, &[])]);
    tell(close("first"), vec![span(true, "first", 1, &[])]);
    tell(compress("the first"), vec![span(true, "first", 2, &[1])]);
    let first = span(true, "first", 2, &[1]);
    tell(say("two"), vec![first.clone(), span(false, "", 1, &[])]);
    tell(say("three"), vec![first.clone(), span(false, "", 2, &[])]);
    tell(
        close("second"),
        vec![first.clone(), span(true, "second", 2, &[])],
    );
    tell(
        compress("the second"),
        vec![first.clone(), span(true, "second", 3, &[4])],
    );
    let both = [first, span(true, "second", 3, &[4])];
    tell(
        open_by_key(),
        [&both[..], &[span(false, "", 0, &[])]].concat(),
    );
    tell(close(""), [&both[..], &[span(true, "", 0, &[])]].concat());
    told
}

fn check(store: &Store, told: &[(Lsn, SpanRows)]) {
    let view = store.view();
    assert!(view.session(SESSION).unwrap().is_some());
    for (lsn, expected) in told {
        let then = view.as_of(AsOf::Lsn(*lsn)).unwrap();
        assert_eq!(&shown(&then), expected, "as of {lsn}");
    }
    let never = view.as_of(AsOf::Lsn(Lsn(0))).unwrap();
    assert_eq!(never.session(SESSION).unwrap(), None);
    assert_eq!(never.session_spans(SESSION).unwrap(), []);
}

#[test]
fn a_closed_session_goes_on_and_every_moment_shows_it_as_it_was() {
    let (disk, mut store) = open(60);
    let told = told(&disk, &mut store);
    check(&store, &told);
    let folder = store.folder().clone();
    drop(store);
    let mut store = Store::open(&folder, "b").unwrap();
    check(&store, &told);
    store.checkpoint().unwrap();
    check(&store, &told);
    // Reopened over a checkpoint, and once more over the next.
    let more = |lsn: Lsn, last: SpanRows| (lsn, [&told.last().unwrap().1[..], &last].concat());
    let lsn = later(&disk, &mut store, say("four")).unwrap();
    let mut told = [&told[..], &[more(lsn, vec![span(false, "", 1, &[])])]].concat();
    check(&store, &told);
    let lsn = later(&disk, &mut store, close("fourth")).unwrap();
    let last = told.last().unwrap().1.len() - 1;
    let mut spans = told.last().unwrap().1.clone();
    spans[last] = span(true, "fourth", 1, &[]);
    told.push((lsn, spans));
    check(&store, &told);
    store.checkpoint().unwrap();
    check(&store, &told);
    let bytes = disk.contents("b.amem").unwrap();
    let report = verify::native(Arc::new(Map::owned(&bytes)), None).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let repaired = repair::repair(&bytes, Uuid::from_u128(1), Micros(1)).unwrap();
    assert!(repaired.report.lost_nothing(), "{:?}", repaired.report);
    assert_eq!(shown(&repaired.view), told.last().unwrap().1);
}

#[test]
fn a_close_covers_no_event_twice_and_a_second_close_is_refused() {
    let (disk, mut store) = open(61);
    told(&disk, &mut store);
    let view = store.view();
    let parts = |episode: u64| -> Vec<u64> {
        (0..view.nodes())
            .filter(|id| {
                let out = view.edges_of(NodeId(*id), Direction::Outgoing).unwrap();
                out.iter().any(|edge| edge.other == NodeId(episode))
            })
            .collect()
    };
    assert_eq!((parts(1), parts(4)), (vec![0], vec![2, 3]));
    let again = later(&disk, &mut store, close("again")).unwrap_err();
    assert!(
        matches!(again, Error::SessionClosed { id: SESSION }),
        "{again}"
    );
    let nothing = later(&disk, &mut store, compress("nothing")).unwrap_err();
    let why = "session 1 has no event that is not compressed or forgotten";
    assert!(nothing.to_string().contains(why), "{nothing}");
    let missing = Mutation::CloseSession {
        session: SessionId(9),
        outcome: String::new(),
    };
    let missing = later(&disk, &mut store, missing).unwrap_err();
    assert!(matches!(missing, Error::UnknownSession { .. }), "{missing}");
}
