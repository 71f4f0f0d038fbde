//! The journal as read into memory: append-only, each entry stamped with its LSN.
//!
//! Entries never change or move. A new value is a new entry that links to the previous one; a reader of an older
//! view follows the links to the first LSN within its bound. Texts, attributes and vectors stay in the mapped
//! journal; entries hold their position.
//!
//! Promises: applying a commit costs in proportion to the commit (P5); readers take no lock; a commit that is applied
//! but not published is past every reader's bound (P4).

pub mod entry;
mod event_set;
pub mod graph;
pub mod log;
mod postings;
pub mod skiplist;
pub mod sparse;
pub mod terms;
mod values;

pub use postings::{DeltaTerms, TermsBelow};
pub use values::DeltaValues;

use crate::append::{AppendVec, Trie};
use crate::stamp::StampTarget;

/// The delta of one generation.
#[derive(Debug)]
pub struct Delta {
    /// Commits, and how many of them are published.
    pub log: log::Log,
    /// Events and the versions of their state.
    pub events: entry::Events,
    /// Edges and their versions.
    pub edges: graph::DeltaEdges,
    /// Commits that may change which event replaces another: supersedes edges, forgets and restores.
    pub replacements: AppendVec<crate::types::Lsn>,
    /// Sessions.
    pub sessions: log::DeltaSessions,
    /// Actors, numbered on from the base's: the first commit of each, its principal and its agent.
    pub actors: AppendVec<(crate::types::Lsn, entry::Span, entry::Span)>,
    /// Requests.
    pub requests: AppendVec<log::RequestEntry>,
    /// Requests by id.
    pub request_index: Trie<u128>,
    /// Versions of the settings: LSN and JSON.
    pub settings: AppendVec<(crate::types::Lsn, entry::Span)>,
    /// Stamps of values that merges brought, by LSN.
    pub stamps: AppendVec<(crate::types::Lsn, StampTarget, crate::types::Micros)>,
    /// Decay runs.
    pub decays: AppendVec<crate::base::identity::DecayRun>,
    /// The first names of all who spoke in the journal, by hash (`attributes::speaker_hash`).
    pub speakers: Trie<u64>,
    /// Values of the attributes of new events.
    pub values: DeltaValues,
    /// Terms of the texts of new events.
    pub terms: terms::LazyTerms,
}

impl Delta {
    /// An empty delta on a base of `base_nodes` events.
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
            stamps: AppendVec::new(),
            decays: AppendVec::new(),
            speakers: Trie::new(),
            values: DeltaValues::default(),
            terms: Default::default(),
        }
    }
}
