//! The lines of a ledger: ids and hashes, no texts, so that what is erased from a brain is in no ledger either.

use amem_agents::HookMoment;
use amem_mcp::given_context::{NearMemory, NotGiven};
use serde::{Deserialize, Serialize};

/// A memory: its id, and the event of the version that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenId {
    /// The memory.
    pub id: String,
    /// The event.
    pub event: u64,
}

/// A memory that was close to a prompt and was not given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NearId {
    /// The memory, or the turn; empty for another event.
    pub id: String,
    /// The event.
    pub event: u64,
    /// How well it answers the prompt, in thousandths.
    pub relevance: u16,
    /// Why it was not given.
    pub why: NearReason,
}

/// Why a memory was not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NearReason {
    /// Its relevance is below the floor.
    Relevance,
    /// The session had it.
    Had,
    /// It was said in the session.
    Said,
    /// There was no room for it.
    Room,
}

impl From<&NearMemory> for NearId {
    fn from(near: &NearMemory) -> Self {
        Self {
            id: near.id.clone(),
            event: near.event,
            relevance: (near.relevance.clamp(0.0, 1.0) * 1_000.0).round() as u16,
            why: match near.why {
                NotGiven::Relevance => NearReason::Relevance,
                NotGiven::Had => NearReason::Had,
                NotGiven::Said => NearReason::Said,
                NotGiven::Room => NearReason::Room,
            },
        }
    }
}

/// What happened to a session. Times are microseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum LedgerEntry {
    /// The first line.
    Opened {
        /// When.
        at: i64,
        /// The brain.
        brain: String,
        /// The client.
        client: String,
        /// The client's id.
        session: String,
        /// The project's id.
        project: Option<String>,
    },
    /// Its context was compacted or cleared: it has nothing any more.
    Cleared {
        /// When.
        at: i64,
    },
    /// It was given memories, or a prompt was given none.
    Given {
        /// When.
        at: i64,
        /// At which moment.
        moment: HookMoment,
        /// The MD5 of the prompt; empty at the start.
        prompt: String,
        /// The characters of the prompt.
        chars: u32,
        /// The tokens that were given.
        tokens: u32,
        /// The memories.
        memories: Vec<GivenId>,
        /// What was close and not given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<NearId>,
        /// True if the prompt had too few words to look for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        short: bool,
    },
    /// Turns were stored.
    Stored {
        /// When.
        at: i64,
        /// At which moment.
        moment: HookMoment,
        /// Hashes of their ids.
        turns: Vec<u64>,
        /// Memories that were added or changed.
        memories: Vec<GivenId>,
        /// The turns in the brain, UUIDs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        said: Vec<String>,
    },
    /// It ended; it may go on.
    Ended {
        /// When.
        at: i64,
    },
}

impl LedgerEntry {
    /// When.
    #[must_use]
    pub fn at(&self) -> i64 {
        match self {
            Self::Opened { at, .. }
            | Self::Cleared { at }
            | Self::Given { at, .. }
            | Self::Stored { at, .. }
            | Self::Ended { at } => *at,
        }
    }
}

/// A session in short.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// The brain.
    pub brain: String,
    /// The client.
    pub client: String,
    /// The client's id.
    pub session: String,
    /// The project's id.
    pub project: Option<String>,
    /// When it began.
    pub from: i64,
    /// When it was last heard of.
    pub to: i64,
    /// Memories given.
    pub given: u32,
    /// Turns stored.
    pub turns: u32,
    /// Memories added or changed.
    pub learned: u32,
}

impl SessionSummary {
    /// Of the entries of a ledger; `None` if there is no first line.
    #[must_use]
    pub fn of(entries: &[LedgerEntry]) -> Option<Self> {
        let Some(LedgerEntry::Opened {
            at,
            brain,
            client,
            session,
            project,
        }) = entries.first()
        else {
            return None;
        };
        let mut out = Self {
            brain: brain.clone(),
            client: client.clone(),
            session: session.clone(),
            project: project.clone(),
            from: *at,
            ..Self::default()
        };
        let count = |more: usize| u32::try_from(more).unwrap_or(u32::MAX);
        for entry in entries {
            out.to = out.to.max(entry.at());
            match entry {
                LedgerEntry::Given { memories, .. } => {
                    out.given = out.given.saturating_add(count(memories.len()));
                }
                LedgerEntry::Stored {
                    turns, memories, ..
                } => {
                    out.turns = out.turns.saturating_add(count(turns.len()));
                    out.learned = out.learned.saturating_add(count(memories.len()));
                }
                LedgerEntry::Opened { .. }
                | LedgerEntry::Cleared { .. }
                | LedgerEntry::Ended { .. } => {}
            }
        }
        Some(out)
    }
}
