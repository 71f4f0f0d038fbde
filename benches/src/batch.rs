//! Events in batches: of all types, with vectors, each with edges to three others.

use amem_format::{EdgeType, EventType, NodeId};
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};

use crate::data::{self, Random};

/// New events for a brain of `first` events, with edges to these and to each other.
pub(crate) fn batch(random: &mut Random, first: u64, count: u64) -> Ingest {
    let events = (0..count)
        .map(|_| NewEvent {
            confidence: random.unit(),
            vector: Some(data::vector(random)),
            ..NewEvent::new(EventType(random.below(6) as u8), data::text(random))
        })
        .collect();
    let mut links = Vec::new();
    for i in 0..count {
        for _ in 0..3 {
            let target = random.below(first + count);
            if target == first + i {
                continue;
            }
            links.push(NewLink {
                source: End::New(i as usize),
                target: if target < first {
                    End::Event(NodeId(target))
                } else {
                    End::New((target - first) as usize)
                },
                // Not supersedes: its targets would lose their confidence.
                edge_type: [0, 1, 2, 4, 5, 6].map(EdgeType)[random.below(6) as usize],
                weight: random.unit(),
            });
        }
    }
    Ingest {
        events,
        links,
        ..Ingest::default()
    }
}
