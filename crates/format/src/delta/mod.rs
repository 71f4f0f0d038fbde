//! The journal as read into memory: append-only, each entry stamped with its LSN.
//!
//! Nothing here is ever changed or moved: a newer value is a newer entry that links to the one before, so a
//! reader of an older view follows the links until it meets an LSN that it may see. Texts, attributes and
//! vectors stay in the mapped journal; entries hold their place.
//!
//! Promises: applying a commit costs in proportion to the commit (P5); readers take no lock; what is applied
//! but not published is past every reader's bound (P4).

pub mod entry;
mod event_set;
pub mod graph;
pub mod log;
mod postings;
pub mod skiplist;
pub mod sparse;
pub mod terms;

pub use postings::DeltaTerms;

use crate::append::{AppendVec, Trie};

/// The delta of one generation.
#[derive(Debug)]
pub struct Delta {
    /// Commits, and how far readers may look.
    pub log: log::Log,
    /// Events and the versions of their state.
    pub events: entry::Events,
    /// Edges and their versions.
    pub edges: graph::Edges,
    /// Commits after which something else may be what replaces an event: edges that replace, and events hidden or
    /// shown.
    pub replacements: AppendVec<crate::types::Lsn>,
    /// Sessions.
    pub sessions: log::Sessions,
    /// Names of actors, numbered on from the base's, and the commit that made each known.
    pub actors: AppendVec<(crate::types::Lsn, entry::Span, entry::Span)>,
    /// Requests.
    pub requests: AppendVec<log::Request>,
    /// Requests by id.
    pub request_index: Trie<u128>,
    /// Settings: LSN and JSON.
    pub settings: AppendVec<(crate::types::Lsn, entry::Span)>,
    /// Decay runs.
    pub decays: AppendVec<crate::base::identity::DecayRun>,
    /// Terms of the texts of new events.
    pub terms: terms::LazyTerms,
}

impl Delta {
    /// Of a journal that says nothing yet, on a base of so many events.
    pub fn new(base_nodes: u64) -> Self {
        Self {
            log: Default::default(),
            events: entry::Events::new(base_nodes),
            edges: Default::default(),
            replacements: AppendVec::new(),
            sessions: Default::default(),
            actors: AppendVec::new(),
            requests: AppendVec::new(),
            request_index: Trie::new(),
            settings: AppendVec::new(),
            decays: AppendVec::new(),
            terms: Default::default(),
        }
    }
}
