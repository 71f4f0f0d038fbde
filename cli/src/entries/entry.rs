//! An event to be, as a text brings it.

use amem_client::v1;
use amem_format::EdgeType;

/// A session as a text names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum EntrySession {
    /// None.
    Nobody,
    /// By the client's key.
    Key(String),
    /// By a number that means something within the text only.
    Unnamed(u32),
}

/// An edge that begins at an entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct EntryEdge {
    /// The number of the entry where it ends, which may come later.
    pub(crate) to: u64,
    /// What it means.
    pub(crate) edge_type: EdgeType,
    /// How much.
    pub(crate) weight: f32,
}

/// An event to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TextEntry {
    /// Its line in the text, from 1.
    pub(crate) line: u64,
    /// How others of the text name it, where they do.
    pub(crate) number: Option<u64>,
    /// Its session.
    pub(crate) session: EntrySession,
    /// The event; its session is filled in when it is known.
    pub(crate) event: v1::NewEvent,
    /// Edges that begin here.
    pub(crate) ties: Vec<EntryEdge>,
    /// It is not to fade.
    pub(crate) is_pinned: bool,
    /// It is to be hidden once all is written.
    pub(crate) is_forgotten: bool,
    /// It says nothing any more, and can't be written.
    pub(crate) is_erased: bool,
    /// What it says that no new event can be told, in the plural.
    pub(crate) lost: Vec<&'static str>,
}

impl TextEntry {
    /// A fact of a session, with no ties.
    pub(crate) fn fact(line: u64, session: String, event: v1::NewEvent) -> Self {
        Self {
            line,
            number: None,
            session: EntrySession::Key(session),
            event: v1::NewEvent {
                r#type: v1::EventType::Fact.into(),
                ..event
            },
            ties: Vec::new(),
            is_pinned: false,
            is_forgotten: false,
            is_erased: false,
            lost: Vec::new(),
        }
    }
}
