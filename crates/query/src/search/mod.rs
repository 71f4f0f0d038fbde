//! Search: words, vectors, neighbourhood and session in one score.
//!
//! The score of an event is the sum of four parts, times three factors:
//! - `text`: its BM25 score divided by the greatest of any event, times the weight of text;
//! - `vector`: the cosine between its vector and the question's, times the weight of vectors. Cosines are scaled: the
//!   greatest becomes 1, the mean of 256 evenly spread events 0.1, and lower ones fall towards 0;
//! - `neighbours`: a share of the base scores (the two parts above) of the best event before it and the best event
//!   after it, plus half that share for the best ones two steps before and after, plus a share of the best short
//!   question just before it. Temporal-next edges define before and after. A short question (at most 12 terms, a
//!   question mark at its end) keeps four fifths of its own two parts;
//! - `session`: a share of the base score of the best event of its session; of its own, if it has no session. It adds
//!   to events with another part and finds none alone;
//! - `speaker`: 1, plus the boost of speakers for an event whose attribute `speaker` the question names, or whose role
//!   it means (`user`, `assistant`);
//! - `time`: 1, plus the boost of times for an event within a time that the question names; less of it up to a day
//!   before and 14 days after;
//! - `recency`: 1, or a half for every half-life of age.
//!
//! Of events with equal texts one is a hit, the newest, with the greatest of their scores and their number. Hits whose
//! scores differ by no more than the margin of ties come newest first, and so do hits that differ in one value only;
//! the older ones name the newest.
//!
//! Every hit has a relevance, which compares hits of different questions as scores cannot (`Relevance`).
//!
//! Cosines that distinguish no events, such as those of a brain's only vector, do not count beside words; without words
//! every event with a non-zero vector then has 1.
//!
//! The two weights are normalised to sum to 1; without words, or without a vector, the other has all of it. The
//! greatest BM25 score, its statistics and the scale of cosines are those of all events of the scope, hidden ones
//! included; without a scope, of the view. So a scoped score says nothing about other scopes. An event
//! outside the selection is neither found nor spreads its score, and no step leads through it.
//!
//! A superseded event is found as its newest head (`resolve`), with the greater of their scores. The selection is then
//! that of heads: of the superseded event only the scope counts, and whether it is forgotten; if the selection leaves
//! the head out, it is not found.
//!
//! How the defaults were chosen, and what they find: docs/decisions/0013-search-defaults.md.

mod arrange;
mod base_score;
mod candidates;
mod emphasis;
mod full_scan;
mod fusion;
mod near_scan;
mod paged_vec;
mod relevance;
mod remaining;
mod request;
mod run;
mod short_question;
mod spread;
pub(crate) mod text;

pub use relevance::{BESIDE_RELEVANCE, LIKELY_RELEVANCE};
pub use request::{Hit, Ranking, Relevance, Search};
pub use run::default_weights;
pub use text::{TextHit, TextHits, TextSearch};
