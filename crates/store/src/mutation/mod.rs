//! Requests to a brain's writer, and its answers.

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::journal::frame::Kind;
use amem_format::{EdgeType, EventType, Lsn, Micros, NodeId, SessionId};
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

mod merge;

pub use merge::{MergeReport, MergeSource};

/// A mutation, its caller, and its preconditions.
#[derive(Debug, Clone)]
pub struct Request {
    /// What to do.
    pub mutation: Mutation,
    /// The authenticated principal, such as `uid:1000`.
    pub principal: String,
    /// The agent's name, as it claims; may be empty.
    pub agent: String,
    /// A UUIDv7 that identifies the request: a retry gets the first answer and is not executed again.
    pub request_id: Option<Uuid>,
    /// The original form of the request, if that is not the mutation: a retry must be equal to it.
    pub said: Option<String>,
    /// Fail if anything but touches was committed after this LSN.
    pub expected_lsn: Option<Lsn>,
    /// Fail if the newest head of the first event is not the second.
    pub expected_head: Option<(NodeId, NodeId)>,
    /// Fail if one of these events was erased: what is to be stored was made of their texts.
    pub unless_erased: Vec<NodeId>,
}

impl Request {
    /// A request without a caller or preconditions.
    pub fn new(mutation: Mutation) -> Self {
        Self {
            mutation,
            principal: String::new(),
            agent: String::new(),
            request_id: None,
            said: None,
            expected_lsn: None,
            expected_head: None,
            unless_erased: Vec::new(),
        }
    }

    /// Sets the agent.
    #[must_use]
    pub fn by(mut self, principal: &str, agent: &str) -> Self {
        (self.principal, self.agent) = (principal.into(), agent.into());
        self
    }

    /// Sets the request id.
    #[must_use]
    pub fn with_id(mut self, id: Uuid) -> Self {
        self.request_id = Some(id);
        self
    }
}

/// A change of a brain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Mutation {
    /// New events, with edges among them and to existing events.
    Ingest(Ingest),
    /// Corrects a belief.
    Correct(Correct),
    /// A new edge, or a new weight of an existing one.
    Link(NewEdge),
    /// Retracts an edge.
    Unlink {
        /// The source.
        source: NodeId,
        /// The target.
        target: NodeId,
        /// Its type.
        edge_type: EdgeType,
    },
    /// Uses of events, with counts.
    Touch(Vec<(NodeId, u32)>),
    /// Pins an event.
    Pin(NodeId),
    /// Unpins an event.
    Unpin(NodeId),
    /// Forgets an event.
    Forget(NodeId),
    /// Restores a forgotten event.
    Restore(NodeId),
    /// Erases text, vector and attributes of events.
    Erase(Vec<NodeId>),
    /// Summarises a session by an episode.
    Compress {
        /// The session.
        session: SessionId,
        /// The summary.
        text: String,
        /// The summary's vector.
        vector: Option<Vec<f32>>,
    },
    /// Sets the vector of an event, or removes it.
    SetVector {
        /// The event.
        target: NodeId,
        /// Of the brain's dimension.
        vector: Option<Vec<f32>>,
        /// The vector's space; `None` is that of the brain.
        space: Option<Uuid>,
    },
    /// Sets the attributes of an event, or removes them.
    SetAttributes {
        /// The event.
        target: NodeId,
        /// A JSON object.
        #[serde(serialize_with = "as_json")]
        attributes: Option<Attributes>,
    },
    /// Runs decay: strength is that of this moment from then on.
    Decay,
    /// Opens a session.
    OpenSession {
        /// The client's key, which finds the session, and opens it again if it is closed; may be empty.
        key: String,
    },
    /// Closes a session.
    CloseSession {
        /// The session.
        session: SessionId,
        /// Its outcome.
        outcome: String,
    },
    /// Merges another brain.
    Merge(MergeSource),
    /// Replaces the settings.
    SetSettings(#[serde(serialize_with = "as_json")] Settings),
    // The hash by which retries are recognised includes the position of a variant: append new ones.
    /// Summarises some events of a session.
    CompressPart(Part),
}

/// As JSON: postcard alone would give a number, a boolean and a string the same bytes.
fn as_json<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let json = serde_json::to_string(value).map_err(S::Error::custom)?;
    serializer.serialize_str(&json)
}

impl Mutation {
    /// The kind of its commit.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Ingest(_) => Kind::Ingest,
            Self::Correct(_) => Kind::Correct,
            Self::Link(_) => Kind::Link,
            Self::Unlink { .. } => Kind::Unlink,
            Self::Touch(_) => Kind::Touch,
            Self::Pin(_) => Kind::Pin,
            Self::Unpin(_) => Kind::Unpin,
            Self::Forget(_) => Kind::Forget,
            Self::Restore(_) => Kind::Restore,
            Self::Erase(_) => Kind::Erase,
            Self::Compress { .. } | Self::CompressPart(_) => Kind::Compress,
            Self::SetVector { .. } => Kind::SetVector,
            Self::SetAttributes { .. } => Kind::SetAttributes,
            Self::Decay => Kind::Decay,
            Self::OpenSession { .. } => Kind::OpenSession,
            Self::CloseSession { .. } => Kind::CloseSession,
            Self::SetSettings(_) => Kind::SetSettings,
            Self::Merge(_) => Kind::Merge,
        }
    }
}

/// Events of a session that one summary covers. A large session is summarised part by part, so that no other request
/// waits for all of it. Events that can no longer be compressed are skipped; if none can be, nothing is done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// The session.
    pub session: SessionId,
    /// Their summary.
    pub episode: Episode,
    /// The events.
    pub events: Vec<NodeId>,
}

/// The summary of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Episode {
    /// A new episode with this text.
    New(String),
    /// An episode created for an earlier part.
    At(NodeId),
}

/// New events.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ingest {
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// Edges among them and to existing events.
    pub links: Vec<NewLink>,
    /// Add a temporal-next edge from each event to the one before it in its session.
    pub follow: bool,
    /// Add related-to edges from each event with a vector to the most similar ones.
    pub relate: Option<Relate>,
    /// Events to forget in the same commit: existing ones, or those of the batch, which no query shows then. Edges of
    /// the batch may end at them.
    // Left out if empty, so that the hashes of requests from before it existed stay what they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forget: Vec<End>,
}

/// The related-to edges from new events to similar ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relate {
    /// Maximum number of edges per event.
    pub k: usize,
    /// Minimum cosine similarity, −1..=1.
    pub min_similarity: f32,
}

/// A new event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewEvent {
    /// Its type.
    pub event_type: EventType,
    /// The text; not empty.
    pub text: String,
    /// Its session; `None` is session 0, no session.
    pub session: Option<SessionId>,
    /// Confidence, 0..=1.
    pub confidence: f32,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// Decay rate per day; `None` is the default of its type.
    pub lambda: Option<f32>,
    /// A JSON object.
    #[serde(serialize_with = "as_json")]
    pub attributes: Option<Attributes>,
    /// Of the brain's dimension. Without one, the built-in embedder makes it if the brain is of its space.
    pub vector: Option<Vec<f32>>,
    /// The vector's space; `None` is that of the brain.
    pub space: Option<Uuid>,
    /// The vector was made of the text in this process. If the brain got another space meanwhile, the event is stored
    /// without it, instead of being refused.
    #[serde(skip)]
    pub is_derived: bool,
}

impl NewEvent {
    /// An event with type and text, confidence 1 and no session.
    pub fn new(event_type: EventType, text: impl Into<String>) -> Self {
        Self {
            event_type,
            text: text.into(),
            session: None,
            confidence: 1.0,
            event_time: None,
            lambda: None,
            attributes: None,
            vector: None,
            space: None,
            is_derived: false,
        }
    }

    /// Gives it a vector that was made of its text in this process.
    pub fn derive(&mut self, vector: Option<Vec<f32>>) {
        self.is_derived = vector.is_some();
        self.vector = vector;
    }
}

/// An end of an edge: an existing event, or one of the same batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum End {
    /// An existing event.
    Event(NodeId),
    /// The event at this index of the batch, from 0.
    New(usize),
}

/// An edge that comes with new events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewLink {
    /// The source.
    pub source: End,
    /// The target.
    pub target: End,
    /// Its type.
    pub edge_type: EdgeType,
    /// 0..=1.
    pub weight: f32,
}

/// An edge between existing events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewEdge {
    /// The source.
    pub source: NodeId,
    /// The target.
    pub target: NodeId,
    /// Its type.
    pub edge_type: EdgeType,
    /// 0..=1. For a supersedes edge, the share of the target's confidence that is lost.
    pub weight: f32,
}

/// A correction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correct {
    /// The event to replace.
    pub target: NodeId,
    /// Whether to replace the newest head of its chain instead.
    pub to_head: bool,
    /// The replacement; a correction unless it states another type.
    pub event: NewEvent,
    /// The remaining confidence of the target; `None` is 0.
    pub target_confidence: Option<f32>,
    /// The reason, stored as attribute `amem.reason`.
    pub reason: Option<String>,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The LSN of the commit; that of the newest one if there was nothing to do.
    pub lsn: Lsn,
    /// Its recorded time.
    pub time: Micros,
    /// The new events, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<NodeId>,
    /// Number of edges added or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edges: u64,
    /// The session that was opened, or was open already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The event that was replaced, or changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<NodeId>,
    /// Events whose confidence changed; the episodes of erased events; events that a summary covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<NodeId>,
    /// What a merge did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeReport>,
    /// True if the request had been executed before and this is its answer.
    #[serde(skip)]
    pub replayed: bool,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
