//! Models of what a commit adds and a view reads: each reader takes a bound first, and looks below it.

use std::sync::{Arc, OnceLock};

use amem_locks::LockResultExt;

use super::entry::{DeltaEvent, END, Events, Slot, Span, StateVersion, ValueRef};
use super::graph::{DeltaEdges, EdgeSlot, EdgeVersion};
use super::log::{CommitEntry, DeltaSessions, Log, SessionVersion};
use super::structures::beside;
use super::terms::LazyTerms;
use crate::analyzer::ANALYZER_VERSION;
use crate::append::AtomicIndex;
use crate::base::terms::LengthQuarter;
use crate::journal::frame::Kind;
use crate::journal::op::Commit;
use crate::publish::{self, AppliedMark};
use crate::spawn;
use crate::sync::{AtomicU64, Mutex, Ordering, WriteMark};
use crate::types::{ActorId, EdgeType, EventType, Flags, Lsn, Micros, NodeId, SessionId};

fn entry(lsn: u32) -> CommitEntry {
    let at = u64::from(lsn);
    CommitEntry {
        commit: Commit {
            lsn: Lsn(at),
            time: Micros(at as i64),
            actor: ActorId(0),
            kind: Kind::Ingest,
        },
        position: at,
        end: at + 1,
        nodes: at,
        edges: 0,
    }
}

fn node(lsn: u32, event_time: Option<Micros>) -> DeltaEvent {
    DeltaEvent {
        lsn: Lsn(lsn.into()),
        author: Default::default(),
        event_type: EventType::FACT,
        session: SessionId(0),
        created_at: Micros(0),
        event_time,
        confidence: 1.0,
        lambda: 0.0,
        flags: Flags::default(),
        access_count: 0,
        last_accessed: Micros(0),
        decay_score: 1.0,
        text: Span::default(),
        attributes: Span::default(),
        vector: Span::default(),
        previous_in_session: END,
        slot: Slot::default(),
    }
}

/// Of a view's commits everything is there, and nothing else is counted.
pub(crate) fn commit() {
    /// The log, the events, and how many commits are synced.
    struct Delta(Log, Events, loom::sync::atomic::AtomicU32);
    // Event n is added by commit n + 1, of which every other says when it happened.
    let commit = |Delta(log, events, synced): &Delta, lsn: u32| {
        let event_time = lsn.is_multiple_of(2).then_some(Micros(9));
        events.push(node(lsn, event_time), lsn - 1);
        log.push(entry(lsn));
        synced.store(lsn, Ordering::Relaxed);
        log.publish(log.applied());
    };
    let delta = Delta(Log::default(), Events::new(0), Default::default());
    commit(&delta, 1);
    beside(
        delta,
        move |delta| commit(delta, 2),
        |Delta(log, events, synced)| {
            let bound = log.published();
            let synced = synced.load(Ordering::Relaxed);
            assert!(synced >= bound, "wrong: a view has what is not synced");
            let last = log.get(bound - 1).map(|entry| entry.nodes);
            assert_eq!(last, Some(bound.into()), "wrong: the newest commit");
            for id in 0..bound {
                let lsn = events.nodes.get(id).map(|node| node.lsn.0);
                assert_eq!(lsn, Some(u64::from(id) + 1), "wrong: event {id}");
            }
            let facts = events.of_kind(EventType::FACT);
            let facts = facts.partition_point(facts.len(), |&id| id < bound);
            assert_eq!(facts, bound, "wrong: events of a type");
            let happened = events.happened.iter().filter(|(_, id)| *id < bound);
            assert_eq!(
                happened.count() as u32,
                bound - 1,
                "wrong: events with a time"
            );
            let until = log.until_lsn(log.applied(), Lsn(1));
            assert_eq!(until, 1, "wrong: commits until one");
        },
    );
}

/// What a journal says of an event of the base is seen up to the bound, whole, and by every way.
pub(crate) fn base() {
    struct Delta(Log, Events);
    let said = |events: &Events, id: NodeId, lsn: u32| {
        let slot = events.base_slot_or_new(id).expect("a slot");
        events.changes(id);
        let state = StateVersion {
            lsn: Lsn(lsn.into()),
            time: Micros(0),
            actor: ActorId(0),
            node: id,
            confidence: 0.5,
            confidence_lsn: Lsn(0),
            flags: Flags::default(),
            lambda: 0.0,
            attributes: ValueRef::Initial,
            vector: ValueRef::Initial,
            previous: slot.state.get(),
        };
        events.push_state(slot, state);
    };
    let commit = move |Delta(log, events): &Delta, id, lsn| {
        said(events, id, lsn);
        log.push(entry(lsn));
        log.publish(log.applied());
    };
    let delta = Delta(Log::default(), Events::new(100));
    let (known, id) = (NodeId(71), NodeId(70));
    commit(&delta, known, 1);
    beside(
        delta,
        move |delta| commit(delta, id, 2),
        move |Delta(log, events)| {
            for id in [id, known] {
                if events.is_changed(id) {
                    assert!(events.has_slot(id), "wrong: a change without a bit");
                }
                if events.has_slot(id) {
                    assert!(
                        events.base_slot(id).is_some(),
                        "wrong: a bit without a slot"
                    );
                }
            }
            let bound = log.published();
            let seen = |id, lsn| {
                let slot = events.base_slot(id);
                let state = slot.and_then(|slot| events.state(slot, Lsn(lsn)));
                state.map(|state| state.lsn.0)
            };
            assert_eq!(
                seen(known, bound.into()),
                Some(1),
                "wrong: a state that was there"
            );
            let new = seen(id, bound.into());
            assert_eq!(
                new,
                (bound == 2).then_some(2),
                "wrong: the state of an event"
            );
        },
    );
}

/// A thread that sees that an event has changed sees the change.
pub(crate) fn changed() {
    let events = Events::new(100);
    let write = |events: &Events| events.changes(NodeId(70));
    beside(events, write, |events| {
        if !events.is_unchanged() {
            assert!(
                events.is_changed(NodeId(70)),
                "wrong: what has changed is not seen"
            );
        }
    });
}

/// Edges of a source stay found while there become so many that they are indexed.
pub(crate) fn edges() {
    struct Delta(DeltaEdges, Slot, Slot);
    let link = |Delta(edges, from, to): &Delta, target: u64| {
        let version = edges.versions.push(EdgeVersion {
            lsn: Lsn(target),
            time: Micros(0),
            actor: ActorId(0),
            slot: edges.slots.len(),
            value: Some((1.0, Micros(0))),
            before: None,
            previous: END,
        });
        let slot = EdgeSlot {
            source: NodeId(0),
            target: NodeId(target),
            edge_type: EdgeType::SUPPORTS,
            in_base: false,
            version: AtomicIndex::to(version),
            before: 0,
            next_outgoing: END,
            next_incoming: END,
        };
        edges.push((from, to), slot);
    };
    let delta = Delta(DeltaEdges::default(), Slot::default(), Slot::default());
    (1..9).for_each(|target| link(&delta, target));
    beside(
        delta,
        move |delta| link(delta, 9),
        |Delta(edges, from, to)| {
            let newest = from.outgoing.get();
            for target in [1, u64::from(newest) + 1] {
                let key = (NodeId(0), NodeId(target), EdgeType::SUPPORTS);
                let slot = edges.find(newest, key).and_then(|at| edges.slots.get(at));
                let slot = slot.expect("wrong: an edge is lost");
                let value = edges.value(slot, Lsn(9)).flatten();
                assert!(value.is_some(), "wrong: an edge without its value");
            }
            let incoming = edges.chain(to.incoming.get(), false).count();
            assert!(incoming >= 8, "wrong: {incoming} of 8 edges to an event");
        },
    );
}

/// A thread that finds a session sees its contents.
pub(crate) fn session() {
    let open = |sessions: &DeltaSessions, id, lsn| {
        let version = SessionVersion {
            lsn: Lsn(lsn),
            opened: Some((Span::default(), Span::default(), Micros(0))),
            closed: None,
            reopenings: 0,
            previous: END,
        };
        sessions.push(SessionId(id), version);
    };
    let sessions = DeltaSessions::default();
    open(&sessions, 1, 1);
    let write = move |sessions: &DeltaSessions| {
        open(sessions, 1, 2);
        open(sessions, 2, 3);
    };
    beside(sessions, write, |sessions| {
        let known = sessions
            .find(SessionId(1))
            .expect("wrong: a session is lost");
        let version = sessions.version(known, Lsn(1)).map(|version| version.lsn);
        assert_eq!(version, Some(Lsn(1)), "wrong: what was known of a session");
        if let Some(other) = sessions.find(SessionId(2)) {
            assert_eq!(other.id, SessionId(2), "wrong: another session");
        }
    });
}

/// Two that fill the index of terms at once both get it as far as they asked, whole.
pub(crate) fn terms() {
    let texts = |id: u32| Ok(["common", "common word"][id as usize].into());
    let look = move |terms: &LazyTerms, end: u32| {
        let index = terms
            .until(0, end, ANALYZER_VERSION, LengthQuarter::default, texts)
            .expect("an index");
        let covered = index.end();
        assert!(covered >= end, "wrong: {covered} of {end} events");
        let found: Vec<_> = index
            .postings("common", covered)
            .map(|(id, _)| id)
            .collect();
        let all: Vec<_> = (0..covered).rev().collect();
        assert_eq!(found, all, "wrong: the events that say a word");
        let length = index.total_length_below(covered);
        assert_eq!(length, [0, 1, 3][covered as usize], "wrong: their length");
    };
    let write = move |terms: &LazyTerms| look(terms, 2);
    beside(LazyTerms::default(), write, move |terms| {
        look(terms, 1);
    });
}

/// A thread that loads the applied position sees everything up to it.
pub(crate) fn applied() {
    struct Reader(AppliedMark, Log);
    let write = |Reader(applied, log): &Reader| {
        log.push(entry(1));
        log.publish(log.applied());
        applied.reach(1);
    };
    beside(
        Reader(AppliedMark::nothing(), Log::default()),
        write,
        |Reader(applied, log)| {
            let up_to = applied.up_to().expect("a file that is owned");
            let seen = u64::from(log.published());
            assert!(seen >= up_to, "wrong: {seen} of {up_to} that are applied");
        },
    );
}

/// The file as it is mapped, and the writer's word in it.
struct File {
    frames: [OnceLock<WriteMark>; FRAMES],
    committed: AtomicU64,
    /// What clients were answered, by other ways.
    answered: loom::sync::atomic::AtomicU64,
}

const FRAMES: usize = 2;

impl File {
    fn read(&self, frame: u32) {
        let frame = self.frames[frame as usize].get();
        frame.expect("wrong: there is no frame yet").read();
    }
}

/// A reader of it, shared by two threads, as `reader` follows a file.
struct SharedReader {
    applied: AppliedMark,
    position: Mutex<u64>,
    log: Log,
}

impl SharedReader {
    fn follow(&self, file: &File) {
        let mut position = self.position.lock().unpoisoned();
        let committed = publish::load(&file.committed);
        while *position < committed {
            // The frame is checked and applied.
            file.read(*position as u32);
            self.log.push(entry(*position as u32));
            *position += 1;
        }
        self.log.publish(self.log.applied());
        self.applied.reach(committed);
    }

    fn view(&self, file: &File) {
        let answered = file.answered.load(Ordering::Acquire);
        let applied = self.applied.up_to();
        if applied.is_some() && applied != Some(publish::load(&file.committed)) {
            self.follow(file);
        }
        let count = self.log.published();
        assert!(
            u64::from(count) >= answered,
            "wrong: commit {answered} was answered, and is not in a view"
        );
        for at in 0..count {
            assert!(self.log.get(at).is_some(), "wrong: a commit of a view");
            // Texts are lent from the mapping.
            file.read(at);
        }
    }
}

/// A writer publishes frames in a file, and answers; two threads of one reader take views of it.
pub(crate) fn file() {
    let file = File {
        frames: Default::default(),
        committed: AtomicU64::new(0),
        answered: loom::sync::atomic::AtomicU64::new(0),
    };
    let followed = SharedReader {
        applied: AppliedMark::nothing(),
        position: Mutex::new(0),
        log: Log::default(),
    };
    let commit = |file: &File, at: usize| {
        let written = file.frames[at].set(WriteMark::now());
        assert!(written.is_ok(), "a frame is written once");
        publish::store(&file.committed, at as u64 + 1);
        file.answered.store(at as u64 + 1, Ordering::Release);
    };
    commit(&file, 0);
    followed.view(&file);
    let shared = Arc::new((file, followed));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let shared = shared.clone();
            spawn(move || shared.1.view(&shared.0))
        })
        .collect();
    commit(&shared.0, 1);
    for reader in readers {
        reader.join().expect("a reader that ends");
    }
    shared.1.view(&shared.0);
}
