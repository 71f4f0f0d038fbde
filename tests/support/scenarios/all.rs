//! The scripts.

use std::sync::Arc;

use amem_format::event::{Edge, Event, MemoryGraph};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};
use amem_store::{Error, Folder, MergeSource, Mutation, NewBrain, Request, Store};
use uuid::Uuid;

use super::ask::*;
use super::flaw::Flaw;
use super::process::Process;
use super::script::{Script, Step, Writer, time_of};
use crate::disk::SimDisk;

/// Every script.
pub fn all() -> Vec<Script> {
    vec![
        created(),
        imported(),
        kinds(),
        kinds_and_checkpoints(),
        groups(),
        grown().with_share(1),
        checkpoints(),
        in_steps(),
        given_up(),
        restarts(),
        erasing(),
        erasing_meanwhile(),
        replaced(),
        merged(),
        in_steps().without_exchange("a checkpoint in steps, no exchange"),
        replaced().without_exchange("a replaced file, no exchange"),
        erasing_meanwhile().without_exchange("an erase during a checkpoint, no exchange"),
    ]
}

/// What another brain has becomes this one's: as a transaction, and as a new generation, before which a checkpoint that
/// had been begun gives way.
fn merged() -> Script {
    Writer::new()
        .each([fact("one"), merge(1, usize::MAX)])
        .group([correct(2, "otherwise", Some(0.5)), touch(&[0])])
        .then([Step::Begin, Step::Build])
        .each([merge(2, 0)])
        .then([Step::Carry, Step::Install])
        .each([fact("after")])
        .then([Step::Kill])
        .end("merges", brain(), merge(3, 0))
}

/// Another brain, of which this one has nothing.
fn merge(seed: u64, journal_bytes: usize) -> Mutation {
    let process = Process::new(Arc::new(SimDisk::new(100 + seed)), Flaw::None);
    process.set_clock(time_of(0));
    let made = || {
        let folder = Folder::open(Arc::new(process.clone()), "another")?;
        let mut graph = graph();
        for event in &mut graph.events {
            event.text.push_str(&format!(" by {seed}"));
        }
        amem_store::import(&folder, "another", &brain(), &graph)?;
        let mut store = Store::open(&folder, "another")?;
        store.execute(Request::new(correct(1, "as another says", Some(0.5))))?;
        Ok::<_, Error>(store.view())
    };
    let view = made().unwrap_or_else(|e| panic!("another brain: {e}"));
    Mutation::Merge(MergeSource {
        journal_bytes,
        ..MergeSource::new(view)
    })
}

/// The scripts whose operations are made to fail, each in turn.
pub fn faulty() -> Vec<Script> {
    vec![
        created(),
        imported(),
        groups(),
        in_steps(),
        given_up(),
        restarts(),
        erasing(),
        erasing_meanwhile(),
        merged(),
        in_steps().without_exchange("a checkpoint in steps, no exchange"),
    ]
}

pub(super) fn brain() -> NewBrain {
    NewBrain {
        dimension: DIMENSION,
        space: Uuid::from_u128(0xA11CE),
        settings: settings(0.01),
    }
}

/// A brain without vectors.
pub(super) fn plain() -> NewBrain {
    NewBrain {
        dimension: 0,
        space: Uuid::nil(),
        settings: settings(0.01),
    }
}

fn created() -> Script {
    Writer::new()
        .each([fact("first"), touch(&[0])])
        .end("create", plain(), fact("last"))
}

fn imported() -> Script {
    let script = Writer::new()
        .each([
            correct(1, "otherwise", Some(0.5)),
            link(0, 2, EdgeType::PART_OF, 0.5),
            touch(&[0, 1]),
        ])
        .then([Step::Checkpoint])
        .each([Mutation::Forget(NodeId(2)), ingest([full("new", 3, 8)])])
        .end("import", brain(), Mutation::Decay);
    Script {
        import: Some(graph()),
        ..script
    }
}

/// Three events of a session that was never opened.
pub(super) fn graph() -> MemoryGraph {
    let at = |i: u64| Micros(1_500_000_000_000_000 + i as i64 * 1_000_000);
    let event = |i: u64| Event {
        id: NodeId(i),
        event_type: EventType::ALL[i as usize],
        flags: Flags::VECTOR,
        created_at: at(i),
        event_time: None,
        session: SessionId(3),
        confidence: 0.9,
        access_count: i as u32,
        last_accessed: at(i + 5),
        decay_score: 0.8,
        lambda: 0.0,
        text: format!("brought along {i}"),
        vector: Some(vector(i as u8)),
        attributes: None,
    };
    let edge = |source, target| Edge {
        source: NodeId(source),
        target: NodeId(target),
        edge_type: EdgeType::RELATED_TO,
        weight: 0.5,
        created_at: at(9),
    };
    MemoryGraph {
        dimension: DIMENSION,
        events: (0..3).map(event).collect(),
        edges: vec![edge(0, 1), edge(2, 0)],
    }
}

fn first_half() -> [Mutation; 13] {
    [
        open_session("chat"),
        ingest([event(EventType::FACT, "alpha"), full("beta", 1, 1)]),
        tied(full("gamma", 1, 2), event(EventType::DECISION, "delta"), 0),
        link(0, 1, EdgeType::CONTRADICTS, 0.5),
        link(0, 1, EdgeType::CONTRADICTS, 0.75),
        correct(0, "alpha is wrong", Some(0.25)),
        correct(0, "still wrong", None),
        touch(&[0, 1, 5]),
        Mutation::Pin(NodeId(1)),
        unlink(3, 2, EdgeType::CAUSED_BY),
        Mutation::Forget(NodeId(5)),
        Mutation::Restore(NodeId(5)),
        set_vector(3, Some(vector(3))),
    ]
}

fn second_half() -> [Mutation; 13] {
    [
        set_vector(1, None),
        set_attributes(0, Some("more")),
        set_attributes(1, None),
        Mutation::Decay,
        Mutation::Unpin(NodeId(1)),
        Mutation::SetSettings(settings(0.05)),
        touch(&[2]),
        Mutation::Decay,
        compress(1, "what was said"),
        close_session(1),
        link(5, 2, EdgeType::SUPERSEDES, 0.5),
        unlink(5, 2, EdgeType::SUPERSEDES),
        erase(&[3]),
    ]
}

/// Every kind of mutation.
pub fn kinds() -> Script {
    Writer::new().each(first_half()).each(second_half()).end(
        "every mutation",
        brain(),
        fact("last"),
    )
}

fn kinds_and_checkpoints() -> Script {
    let [first, rest @ ..] = first_half();
    Writer::new()
        .each([first])
        .group(rest)
        .then([Step::Checkpoint])
        .each(second_half())
        .then([Step::Checkpoint])
        .end("every mutation, checkpoints", brain(), fact("last"))
}

fn groups() -> Script {
    let nowhere = link(0, 1_000_000, EdgeType::SUPPORTS, 0.5);
    Writer::new()
        .each([open_session("chat")])
        .group([fact("one"), fact("two"), ingest([full("three", 1, 1)])])
        .mixed([fact("four"), touch(&[0, 1])], &nowhere, 2)
        .group([
            correct(0, "not one", None),
            Mutation::Forget(NodeId(1)),
            tied(full("six", 1, 2), full("seven", 1, 3), 2),
            close_session(1),
        ])
        .mixed([Mutation::Decay, fact("eight")], &erase(&[77]), 3)
        .end("groups and retries", brain(), fact("last"))
}

/// The journal outgrows the room that it was given.
fn grown() -> Script {
    let long = |letter: &str| fact(&format!("{letter}{}", "abcdefg ".repeat(12_000)));
    Writer::new()
        .each([
            long("1"),
            fact("short"),
            long("2"),
            long("3"),
            fact("shorter"),
        ])
        .then([Step::Kill])
        .each([long("4")])
        .end("a growing journal", plain(), fact("last"))
}

fn checkpoints() -> Script {
    Writer::new()
        .each([fact("one"), fact("two")])
        .then([Step::Checkpoint])
        .each([correct(0, "not one", None)])
        .group([touch(&[1]), Mutation::Decay])
        .then([Step::Checkpoint, Step::Checkpoint])
        .each([Mutation::Forget(NodeId(2))])
        .end("checkpoints", plain(), Mutation::Restore(NodeId(2)))
}

/// Commits beside every step of a checkpoint.
pub fn in_steps() -> Script {
    Writer::new()
        .each([ingest([full("one", 0, 1), full("two", 0, 2)])])
        .then([Step::Begin])
        .each([correct(0, "not one", None)])
        .then([Step::Build])
        .group([set_vector(1, Some(vector(5))), touch(&[0])])
        .then([Step::Carry])
        .each([link(1, 2, EdgeType::SUPPORTS, 0.5)])
        .then([Step::Install])
        .each([fact("after"), set_attributes(3, Some("x"))])
        .end(
            "a checkpoint in steps",
            brain(),
            Mutation::Forget(NodeId(1)),
        )
}

fn given_up() -> Script {
    Writer::new()
        .each([fact("one")])
        .then([Step::Begin, Step::Build])
        .each([fact("two")])
        .then([Step::Carry, Step::GiveUp])
        .each([fact("three")])
        .then([Step::Begin, Step::Build])
        .each([fact("four")])
        .then([Step::Kill, Step::Begin, Step::Build, Step::Install])
        .each([fact("five")])
        .end("checkpoints given up", plain(), fact("last"))
}

fn restarts() -> Script {
    Writer::new()
        .each([fact("one")])
        .then([Step::Kill])
        .group([fact("two"), touch(&[0])])
        .then([Step::Close])
        .each([correct(1, "not two", None)])
        .then([Step::Close, Step::Kill, Step::Checkpoint, Step::Kill])
        .each([fact("three")])
        .then([Step::Kill, Step::Close])
        .each([fact("four")])
        .end("restarts", plain(), fact("last"))
}

fn secret(word: &str, seed: u8) -> Vec<Vec<u8>> {
    let numbers = vector(seed).into_iter().flat_map(f32::to_le_bytes);
    vec![word.as_bytes().to_vec(), numbers.collect()]
}

/// An erase, answered once its bytes are gone.
pub fn erasing() -> Script {
    Writer::new()
        .each([
            ingest([full("qwertzuiop", 0, 41), event(EventType::FACT, "stays")]),
            set_attributes(0, Some("yxcvbnmasd")),
            set_vector(0, Some(vector(42))),
        ])
        .then([Step::Checkpoint])
        .each([
            set_vector(0, None),
            correct(0, "replaced", None),
            erase(&[0]),
        ])
        .erasing(secret("qwertzuiop", 41))
        .erasing(secret("yxcvbnmasd", 42))
        .each([fact("after")])
        .end("an erase", brain(), Mutation::Decay)
}

fn erasing_meanwhile() -> Script {
    Writer::new()
        .each([ingest([full("qwertzuiop", 0, 41)]), fact("stays")])
        .then([
            Step::Begin,
            Step::Build,
            Step::Kill,
            Step::Begin,
            Step::Build,
        ])
        .group([touch(&[1]), erase(&[0])])
        .erasing(secret("qwertzuiop", 41))
        .then([Step::Carry, Step::Install])
        .each([fact("after")])
        .end("an erase during a checkpoint", brain(), Mutation::Decay)
}

/// A copy takes the place of the brain's file while it is written.
pub fn replaced() -> Script {
    Writer::new()
        .each([fact("one"), fact("two")])
        .then([Step::Replace])
        .each([fact("three"), fact("four")])
        .end("a replaced file", plain(), fact("last"))
}
