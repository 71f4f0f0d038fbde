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
    /// A UUIDv7 under which a retry is answered and not executed again.
    pub request_id: Option<Uuid>,
    /// The caller's request in its original form, if that is not the mutation: a retry must be equal to it.
    pub said: Option<String>,
    /// Refuse if anything but touches was committed after this.
    pub expected_lsn: Option<Lsn>,
    /// Refuse if the first event's newest head is not the second.
    pub expected_head: Option<(NodeId, NodeId)>,
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
        }
    }

    /// The same by an agent.
    #[must_use]
    pub fn by(mut self, principal: &str, agent: &str) -> Self {
        (self.principal, self.agent) = (principal.into(), agent.into());
        self
    }

    /// The same under a request id.
    #[must_use]
    pub fn with_id(mut self, id: Uuid) -> Self {
        self.request_id = Some(id);
        self
    }
}

/// What changes a brain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Mutation {
    /// New events, with edges among them and to others.
    Ingest(Ingest),
    /// A correction that replaces a belief.
    Correct(Correct),
    /// A new edge, or another weight for an existing one.
    Link(NewEdge),
    /// An edge is retracted.
    Unlink {
        /// Where it starts.
        source: NodeId,
        /// Where it ends.
        target: NodeId,
        /// What it means.
        edge_type: EdgeType,
    },
    /// Events were used, each this number of times.
    Touch(Vec<(NodeId, u32)>),
    /// An event does not fade from now on.
    Pin(NodeId),
    /// An event fades from now on.
    Unpin(NodeId),
    /// An event is hidden.
    Forget(NodeId),
    /// An event is shown again.
    Restore(NodeId),
    /// Text, vector and attributes of events are erased.
    Erase(Vec<NodeId>),
    /// A session is summarised by an episode.
    Compress {
        /// The session.
        session: SessionId,
        /// The summary.
        text: String,
        /// The summary's vector.
        vector: Option<Vec<f32>>,
    },
    /// An event's vector from now on, or none.
    SetVector {
        /// The event.
        target: NodeId,
        /// Of the brain's dimension.
        vector: Option<Vec<f32>>,
        /// The vector's space; none is the brain's.
        space: Option<Uuid>,
    },
    /// An event's attributes from now on, or none.
    SetAttributes {
        /// The event.
        target: NodeId,
        /// A JSON object.
        #[serde(serialize_with = "as_json")]
        attributes: Option<Attributes>,
    },
    /// Strength is computed for this moment.
    Decay,
    /// A session begins.
    OpenSession {
        /// The client's own name for it; opening it again finds it again. May be empty.
        key: String,
    },
    /// A session ends.
    CloseSession {
        /// The session.
        session: SessionId,
        /// How it ended.
        outcome: String,
    },
    /// What another brain has and this one does not.
    Merge(MergeSource),
    /// The settings from now on.
    SetSettings(#[serde(serialize_with = "as_json")] Settings),
    // The hash by which retries are recognised includes the position of a variant: append new ones.
    /// Some events of a session are summarised.
    CompressPart(Part),
}

/// As JSON: postcard alone would give a number, a boolean and a string the same bytes.
fn as_json<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let json = serde_json::to_string(value).map_err(S::Error::custom)?;
    serializer.serialize_str(&json)
}

impl Mutation {
    /// Which kind of commit it makes.
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
    /// What summarises them.
    pub episode: Episode,
    /// The events.
    pub events: Vec<NodeId>,
}

/// The summary of a part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Episode {
    /// One of this text, made with the part.
    New(String),
    /// One that was made with an earlier part.
    At(NodeId),
}

/// New events.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ingest {
    /// The events, in order.
    pub events: Vec<NewEvent>,
    /// Edges among them and to others.
    pub links: Vec<NewLink>,
    /// Add a temporal-next edge from each event to the one before it in its session.
    pub follow: bool,
    /// Add related-to edges from each event with a vector to the most similar ones.
    pub relate: Option<Relate>,
}

/// Which similar events a new one gets related-to edges to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relate {
    /// At most to this number of events.
    pub k: usize,
    /// The lowest cosine, −1..=1.
    pub min_similarity: f32,
}

/// A new event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewEvent {
    /// Its type.
    pub event_type: EventType,
    /// The text; not empty.
    pub text: String,
    /// Its session; none is session 0.
    pub session: Option<SessionId>,
    /// Confidence, 0..=1.
    pub confidence: f32,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// Decay rate per day; none is the rate of its type.
    pub lambda: Option<f32>,
    /// A JSON object.
    #[serde(serialize_with = "as_json")]
    pub attributes: Option<Attributes>,
    /// Of the brain's dimension. Without one, the built-in embedder makes it if the brain is of its space.
    pub vector: Option<Vec<f32>>,
    /// The vector's space; none is the brain's.
    pub space: Option<Uuid>,
}

impl NewEvent {
    /// An event of a type with a text, certain, in no session.
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
        }
    }
}

/// An end of an edge: an event that is there, or one of the same batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum End {
    /// An event that is there.
    Event(NodeId),
    /// The event at this place of the batch, from 0.
    New(usize),
}

/// An edge that comes with new events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewLink {
    /// Where it starts.
    pub source: End,
    /// Where it ends.
    pub target: End,
    /// What it means.
    pub edge_type: EdgeType,
    /// 0..=1.
    pub weight: f32,
}

/// An edge between events that are there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NewEdge {
    /// Where it starts.
    pub source: NodeId,
    /// Where it ends.
    pub target: NodeId,
    /// What it means.
    pub edge_type: EdgeType,
    /// 0..=1. Of a supersedes edge: the share of the target's confidence that is lost.
    pub weight: f32,
}

/// A correction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Correct {
    /// The event that is replaced.
    pub target: NodeId,
    /// Replace the newest head of its chain instead.
    pub to_head: bool,
    /// What replaces it; its type is correction unless said otherwise.
    pub event: NewEvent,
    /// The target's confidence from now on; none is 0.
    pub target_confidence: Option<f32>,
    /// Why; becomes the attribute `amem.reason`.
    pub reason: Option<String>,
}

/// The answer to a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The commit that did it; the newest one if nothing had to be done.
    pub lsn: Lsn,
    /// Its recorded time.
    pub time: Micros,
    /// The events that were made, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<NodeId>,
    /// How many edges were made or changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub edges: u64,
    /// The session that was opened, or found again.
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
