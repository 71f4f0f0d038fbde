//! A naive model of a brain: lists and maps, the whole log replayed for every moment, every query answered by
//! looking at everything. What it shares with the core is the way words are cut and filters are read.
//!
//! `World` makes random commits and does each in both, in the model and in a journal in memory. An `Account` is given
//! what the store is asked, works out what that means, and says what is to be answered.

mod account;
mod described;
mod graph;
mod history;
mod likeness;
mod listing;
mod meaning;
mod ranking;
mod requests;
mod state;
mod world;
mod written;

pub use account::{Account, CommitRecord, SECRET, Verdict};
pub use described::{attributes, text, vector};
pub use graph::{Heads, conflicts, edges, forest, heads, resolve, route, tree};
pub use history::{Model, ViewState};
pub use likeness::{commits, likeness};
pub use listing::{SortKey, list, place, sessions};
pub use ranking::{ScoreParts, ShownHit, arranged, bm25, cosines, fit, fused, relevance, shown_as};
pub use requests::Requests;
pub use state::{Act, Event, NewEvent, Session, SessionSpan, State};
pub use world::{World, author_of};
pub use written::WrittenBrain;
