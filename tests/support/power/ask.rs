//! A writer's notes of its requests and of their answers.

use std::time::SystemTime;

use amem_format::{EdgeType, EventType, NodeId};
use amem_store::mutation::{Answer, Correct, End, Ingest, NewEdge, NewEvent, NewLink};
use amem_store::{Mutation, Request};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ledger::Receipt;

/// A line of a writer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum WriterLine {
    /// The brain is there, and recovered if it had to be.
    Open,
    /// This is begun.
    Begun(Ask),
    /// The first of what was begun was answered, at this time.
    Done(Receipt, SystemTime),
    /// A new generation is in place.
    Checkpoint,
    /// It could not go on.
    Failed(String),
}

/// A request under its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// The request id, which its retries have too.
    pub id: Uuid,
    /// What is asked.
    pub what: What,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// New events of these texts, each caused by the one before it.
    Ingest(Vec<String>),
    /// An event of this text that replaces another.
    Correct(u64, String),
    /// An edge from the first to the second.
    Link(u64, u64),
}

impl Ask {
    /// The request.
    pub fn request(&self) -> Request {
        let fact = |text: &String| NewEvent::new(EventType::FACT, text.clone());
        let mutation = match &self.what {
            What::Ingest(texts) => Mutation::Ingest(Ingest {
                events: texts.iter().map(fact).collect(),
                links: (1..texts.len())
                    .map(|at| NewLink {
                        source: End::New(at),
                        target: End::New(at - 1),
                        edge_type: EdgeType::CAUSED_BY,
                        weight: 1.0,
                    })
                    .collect(),
                ..Ingest::default()
            }),
            What::Correct(target, text) => Mutation::Correct(Correct {
                target: NodeId(*target),
                to_head: false,
                event: fact(text),
                target_confidence: None,
                reason: None,
            }),
            What::Link(source, target) => Mutation::Link(NewEdge {
                source: NodeId(*source),
                target: NodeId(*target),
                edge_type: EdgeType::RELATED_TO,
                weight: 0.5,
            }),
        };
        Request::new(mutation)
            .by("uid:0", "committer")
            .with_id(self.id)
    }

    /// The texts of the events that it makes.
    pub fn texts(&self) -> &[String] {
        match &self.what {
            What::Ingest(texts) => texts,
            What::Correct(_, text) => std::slice::from_ref(text),
            What::Link(..) => &[],
        }
    }
}

/// What an answer says of a request.
pub fn told(ask: &Ask, answer: &Answer) -> Receipt {
    let ids: Vec<u64> = answer.ids.iter().map(|id| id.0).collect();
    let edges = match &ask.what {
        What::Ingest(_) => ids
            .windows(2)
            .map(|two| (two[1], two[0], EdgeType::CAUSED_BY.0))
            .collect(),
        What::Correct(target, _) => vec![(ids[0], *target, EdgeType::SUPERSEDES.0)],
        What::Link(source, target) => vec![(*source, *target, EdgeType::RELATED_TO.0)],
    };
    Receipt {
        lsn: answer.lsn.0,
        replayed: answer.replayed,
        retries: 0,
        events: ids.into_iter().zip(ask.texts().iter().cloned()).collect(),
        edges,
    }
}
