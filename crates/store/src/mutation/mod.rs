//! What can be asked of a brain's writer, and what it answers.

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::journal::frame::Kind;
use amem_format::{EdgeType, EventType, Lsn, Micros, NodeId, SessionId};
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

mod merge;

pub use merge::{MergeReport, MergeSource};

/// A mutation, who asks for it, and under which conditions.
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
    /// What the caller said, in words of the one who hands it over, where that is not the mutation: a retry is held
    /// against it.
    pub said: Option<String>,
    /// Refuse if anything but uses of events was committed after this.
    pub expected_lsn: Option<Lsn>,
    /// Refuse if the first event's newest head is not the second.
    pub expected_head: Option<(NodeId, NodeId)>,
}

impl Request {
    /// A request without conditions by nobody in particular.
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
    /// Events were used, each so many times.
    Touch(Vec<(NodeId, u32)>),
    /// An event does not fade from now on.
    Pin(NodeId),
    /// An event fades from now on.
    Unpin(NodeId),
    /// An event is hidden.
    Forget(NodeId),
    /// An event is shown again.
    Restore(NodeId),
    /// Text, vector and attributes of events vanish for good.
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
        /// The vector's space; that of the brain if it is not said.
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
    /// All that another brain has and this one has not.
    Merge(MergeSource),
    /// The settings from now on.
    SetSettings(#[serde(serialize_with = "as_json")] Settings),
    // Retries are known by a hash that has the place of a mutation in this list: further ones come last.
    /// Some events of a session are summarised.
    CompressPart(Part),
}

/// As JSON, in which a number, a truth and a text are told apart whatever the form around them.
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

/// Events of a session that are summarised together: a session of many is, part by part, so that no other request waits
/// for all of it. Those that can't be any more are passed over; if none can, nothing is done.
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
    /// Tie each event to the one before it in its session by temporal-next.
    pub follow: bool,
    /// Tie each event with a vector to the most similar ones by related-to.
    pub relate: Option<Relate>,
}

/// How new events are tied to similar ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relate {
    /// To how many at most.
    pub k: usize,
    /// Cosine from which on, −1..=1.
    pub min_similarity: f32,
}

/// A new event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewEvent {
    /// Its type.
    pub event_type: EventType,
    /// The text; not empty.
    pub text: String,
    /// Its session; 0, which is nobody's, if it is not said.
    pub session: Option<SessionId>,
    /// Confidence, 0..=1.
    pub confidence: f32,
    /// When it happened.
    pub event_time: Option<Micros>,
    /// Decay rate per day; that of its type if it is not said.
    pub lambda: Option<f32>,
    /// A JSON object.
    #[serde(serialize_with = "as_json")]
    pub attributes: Option<Attributes>,
    /// Of the brain's dimension; made by the built-in embedder if it is not given and the brain is of its space.
    pub vector: Option<Vec<f32>>,
    /// The vector's space; that of the brain if it is not said.
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
    /// The confidence that is left to the target; 0 if it is not said.
    pub target_confidence: Option<f32>,
    /// Why, kept as the attribute `amem.reason`.
    pub reason: Option<String>,
}

/// What was done.
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
    /// Events whose episodes tell of erased ones, or that a summary covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<NodeId>,
    /// What a merge came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergeReport>,
    /// True if the request had been executed before and this is its answer.
    #[serde(skip)]
    pub replayed: bool,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}
