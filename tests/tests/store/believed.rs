//! What was believed, as of any moment, does not depend on how the file came to be.

use std::collections::BTreeMap;

use amem_format::reader::Reader;
use amem_format::view::{AsOf, View};
use amem_format::{EdgeType, EventType, Lsn, Micros, NodeId, SessionId};
use amem_store::mutation::{Ingest, NewEdge, NewEvent};
use amem_store::{Mutation, Store};
use amem_tests::random::Random;

use crate::{correction, dump, fact, open, run};

/// One of everything, at random, on what is there.
fn random_mutation(random: &mut Random, store: &Store) -> Mutation {
    let n = store.view().nodes();
    let id = NodeId(random.below(n.max(1)));
    let other = NodeId(random.below(n.max(1)));
    let edge_type = EdgeType(random.below(7) as u8);
    match random.below(if n < 3 { 1 } else { 16 }) {
        0..=3 => {
            let attributes = (random.below(3) == 0)
                .then(|| {
                    serde_json::json!({ "n": random.below(5) })
                        .as_object()
                        .cloned()
                })
                .flatten();
            let event_time = (random.below(3) == 0).then(|| Micros(random.below(1 << 50) as i64));
            let event_type = EventType(random.below(6) as u8);
            let confidence = random.unit();
            let event = NewEvent {
                confidence,
                attributes,
                event_time,
                ..NewEvent::new(event_type, "text")
            };
            Mutation::Ingest(Ingest {
                events: vec![event, fact("and")],
                follow: true,
                ..Ingest::default()
            })
        }
        4 | 5 => Mutation::Link(NewEdge {
            source: id,
            target: other,
            edge_type,
            weight: random.unit(),
        }),
        6 => Mutation::Unlink {
            source: id,
            target: other,
            edge_type,
        },
        7 | 8 => Mutation::Correct(correction(id.0, "corrected")),
        9 => Mutation::Forget(id),
        10 => Mutation::Restore(id),
        11 => Mutation::Pin(id),
        12 => Mutation::Unpin(id),
        13 => Mutation::SetAttributes {
            target: id,
            attributes: serde_json::json!({ "set": random.below(9) })
                .as_object()
                .cloned(),
        },
        14 => Mutation::SetVector {
            target: id,
            vector: (random.below(2) == 0).then(|| vec![random.unit(); 128]),
            space: None,
        },
        _ => Mutation::Compress {
            session: SessionId(0),
            text: "a summary".into(),
            vector: None,
        },
    }
}

#[test]
fn past_beliefs_are_unchanged_by_checkpoint_copy_and_reopen() {
    for seed in 0..12 {
        let (disk, mut store) = open(seed);
        let mut random = Random::new(seed);
        // What the newest view showed when it was the newest, but for what hides as of now.
        let mut shown: BTreeMap<Lsn, Vec<String>> = BTreeMap::new();
        for step in 0..120 {
            let mutation = random_mutation(&mut random, &store);
            if matches!(mutation, Mutation::Forget(_)) && step % 2 == 0 {
                continue;
            }
            drop(run(&mut store, mutation));
            if random.below(40) == 0 {
                store.checkpoint().unwrap();
            }
            disk.advance(random.below(1 << 33) as i64);
            shown.insert(store.view().lsn(), dump(&store.view()));
        }
        let answers = |view: &View| -> Vec<Vec<String>> {
            let moments = shown.keys().flat_map(|&lsn| {
                let time = view.as_of(AsOf::Lsn(lsn)).unwrap().moment().1;
                [
                    AsOf::Lsn(lsn),
                    AsOf::Time(time),
                    AsOf::Time(Micros(time.0 + 1)),
                ]
            });
            moments
                .map(|moment| dump(&view.as_of(moment).unwrap()))
                .collect()
        };
        let before = answers(&store.view());
        let strip = |lines: &[String]| lines.iter().map(|l| stripped(l)).collect::<Vec<_>>();
        for (lsn, lines) in &shown {
            let then = dump(&store.view().as_of(AsOf::Lsn(*lsn)).unwrap());
            assert_eq!(strip(&then), strip(lines), "seed {seed}, as of {lsn}");
        }
        store.checkpoint().unwrap();
        assert!(
            answers(&store.view()) == before,
            "seed {seed}: after a checkpoint"
        );
        let copy = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(copy.path(), disk.contents("b.amem").unwrap()).unwrap();
        let copied = Reader::open(copy.path()).unwrap();
        assert!(
            answers(&copied.view().unwrap()) == before,
            "seed {seed}: in a copy"
        );
        let folder = store.folder().clone();
        drop(store);
        let again = Store::open(&folder, "b").unwrap();
        assert!(
            answers(&again.view()) == before,
            "seed {seed}: after a reopen"
        );
    }
}

/// A line of a dump without what is as of now (hidden or not) and without strength, which an `as_of` view
/// computes for its moment.
fn stripped(line: &str) -> String {
    let Some(flags) = line.find("flags: Flags(") else {
        return line.to_owned();
    };
    let end = flags + line[flags..].find("),").unwrap_or(0);
    let number: u8 = line[flags + 13..end].parse().unwrap();
    let score = line.find("decay_score: ").unwrap();
    let after = score + line[score..].find(',').unwrap();
    format!(
        "{}{}{}{}",
        &line[..flags],
        number & !8,
        &line[end..score],
        &line[after..]
    )
}
