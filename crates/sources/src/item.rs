//! What a reader yields: items with stable ids, and entries that were skipped.

use std::fmt;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use crate::kind::SourceKind;

/// Microseconds since 1970, UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventTime(pub i64);

/// Where an item comes from. It stays the same when the source is read again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId {
    /// The kind of the source; notes share one name.
    pub kind: SourceKind,
    /// The path of a note or file, with `~` for the home folder; or the id of a conversation.
    pub document: String,
    /// The part of the document; empty for the document itself. A line of a note is named by its content, so that it
    /// keeps its id when it moves.
    pub part: String,
}

impl SourceId {
    /// The id of the whole document.
    #[must_use]
    pub fn of_document(&self) -> Self {
        Self {
            part: String::new(),
            ..self.clone()
        }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.id_name(), self.document)?;
        if self.part.is_empty() {
            return Ok(());
        }
        write!(f, "#{}", self.part)
    }
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ItemType {
    /// A turn of a conversation.
    Turn,
    /// A note as a whole: its title and properties.
    Document,
    /// A paragraph, item, quote or row of a note.
    Block,
    /// A memory of another store.
    Memory,
    /// A thing that observations and edges are about.
    Entity,
    /// What is known of an entity.
    Observation,
    /// A connection of two entities, in words.
    Edge,
}

impl ItemType {
    /// Its name in attributes and counts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Document => "document",
            Self::Block => "block",
            Self::Memory => "memory",
            Self::Entity => "entity",
            Self::Observation => "observation",
            Self::Edge => "edge",
        }
    }
}

/// The author of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TurnRole {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A participant with a name.
    Speaker(String),
}

impl TurnRole {
    /// `user`, `assistant`, or the participant's name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Speaker(name) => name,
        }
    }
}

/// A connection to another item of the same source.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ItemRelation {
    /// `part_of`, `links_to`, `supersedes`, `follows`, or the source's own word.
    pub name: String,
    /// The other item.
    pub to: SourceId,
}

/// Where an item stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ItemPlace {
    /// The file, or the file of a ZIP behind `!`.
    pub file: String,
    /// From 1; in a database the row. 0 if the file as a whole is meant. In a large JSON file, the element.
    pub line: u64,
}

impl fmt::Display for ItemPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        Ok(())
    }
}

/// One memory of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceItem {
    /// Stable across readings.
    pub id: SourceId,
    /// Of everything below but the place: an item with the same id and another hash was edited.
    pub hash: u128,
    /// What it is.
    pub item_type: ItemType,
    /// At most [`crate::limits::TEXT_BYTES_MAX`] bytes; never empty.
    pub text: String,
    /// The author of a turn.
    pub role: Option<TurnRole>,
    /// The title of its document or conversation.
    pub title: Option<String>,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    /// When it happened, was said, or began to be true.
    pub time: Option<EventTime>,
    /// When it ended to be true.
    pub ends: Option<EventTime>,
    /// Tags, properties, the project: whatever else the source says.
    pub attributes: Map<String, Value>,
    /// Connections to items of the same source.
    pub relations: Vec<ItemRelation>,
    /// Where it stands.
    pub place: ItemPlace,
}

/// Why an entry was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SkipReason {
    /// Not readable as what it should be.
    Malformed,
    /// The file ends in the middle of it.
    CutOff,
    /// Over a bound.
    TooLarge,
    /// Not UTF-8 or UTF-16.
    BadEncoding,
    /// The entry was read, but its time was not understood.
    BadTime,
    /// A connection to something that does not exist.
    Dangling,
    /// A file that cannot be read.
    Unreadable,
    /// A symbolic link, a path that leaves its folder, a ZIP in a ZIP, an encrypted file.
    Refused,
    /// A file that the source promises and does not have.
    Missing,
    /// It stands in the source twice.
    Repeated,
    /// It has a secret, and the caller refuses those.
    Secret,
    /// What a client adds by itself: reminders, context, instructions.
    Injected,
    /// Of a system or developer, hidden, or a branch that the user left.
    Hidden,
    /// The work of an agent below the agent.
    Sidechain,
    /// Calls and results of tools, reasoning, attachments, records of the client.
    Machinery,
    /// Nothing in it.
    Blank,
}

impl SkipReason {
    /// True if something may be wrong; false for what is left out by design.
    #[must_use]
    pub fn is_fault(self) -> bool {
        !matches!(
            self,
            Self::Repeated
                | Self::Injected
                | Self::Hidden
                | Self::Sidechain
                | Self::Machinery
                | Self::Blank
        )
    }

    /// Its name in counts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::CutOff => "cut off",
            Self::TooLarge => "too large",
            Self::BadEncoding => "bad encoding",
            Self::BadTime => "bad time",
            Self::Dangling => "dangling",
            Self::Unreadable => "unreadable",
            Self::Refused => "refused",
            Self::Missing => "missing",
            Self::Repeated => "repeated",
            Self::Secret => "secret",
            Self::Injected => "injected",
            Self::Hidden => "hidden",
            Self::Sidechain => "sidechain",
            Self::Machinery => "machinery",
            Self::Blank => "blank",
        }
    }
}

/// An entry that is no item, or an item of which a part is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedEntry {
    /// Where it stands.
    pub place: ItemPlace,
    /// The class of the reason.
    pub reason: SkipReason,
    /// The reason in words.
    pub detail: String,
}

/// Takes what a reader yields, in the order of the source.
pub trait SourceSink {
    /// Takes an item. `Break` ends the reading.
    fn item(&mut self, item: SourceItem) -> ControlFlow<()>;

    /// Takes note of a skipped entry. `Break` ends the reading.
    fn skip(&mut self, entry: SkippedEntry) -> ControlFlow<()>;
}

/// Everything in memory, for small sources.
#[derive(Debug, Default)]
pub struct CollectedItems {
    /// In the order of the source.
    pub items: Vec<SourceItem>,
    /// In the order of the source.
    pub skipped: Vec<SkippedEntry>,
}

impl SourceSink for CollectedItems {
    fn item(&mut self, item: SourceItem) -> ControlFlow<()> {
        self.items.push(item);
        ControlFlow::Continue(())
    }

    fn skip(&mut self, entry: SkippedEntry) -> ControlFlow<()> {
        self.skipped.push(entry);
        ControlFlow::Continue(())
    }
}
