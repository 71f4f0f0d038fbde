//! One event with three edges to earlier ones, and batches of them: the input of writers.

use amem_format::{EdgeType, NodeId};
use amem_store::Mutation;
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};

use super::super::corpus::Corpus;
use super::super::measure::Outcome;
use crate::data::Random;

/// An event of the corpus as a new one, with edges to three of the events below `existing`.
pub(in super::super) fn new_event(
    corpus: &Corpus,
    number: u64,
    existing: u64,
) -> Outcome<Mutation> {
    Ok(Mutation::Ingest(batch(corpus, number, 1, existing)))
}

/// Consecutive events of the corpus as new ones, each with edges to three earlier ones.
pub(super) fn batch(corpus: &Corpus, first: u64, count: u64, existing: u64) -> Ingest {
    let events = (first..first + count).map(|number| {
        let event = corpus.bare(number);
        NewEvent {
            confidence: event.confidence,
            vector: Some(corpus.vector(number)),
            ..NewEvent::new(event.event_type, event.text)
        }
    });
    let mut random = Random::new(first ^ 0xe7);
    let mut links = Vec::new();
    for at in 0..count {
        let mut targets: Vec<u64> = Vec::new();
        while targets.len() < 3.min(existing + at) as usize {
            let target = random.below(existing + at);
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        links.extend(targets.into_iter().map(|target| NewLink {
            source: End::New(at as usize),
            target: match target.checked_sub(existing) {
                None => End::Event(NodeId(target)),
                Some(place) => End::New(place as usize),
            },
            // Not supersedes: its targets would lose their confidence.
            edge_type: [0, 1, 2, 4, 5, 6].map(EdgeType)[random.below(6) as usize],
            weight: random.unit(),
        }));
    }
    Ingest {
        events: events.collect(),
        links,
        ..Ingest::default()
    }
}
