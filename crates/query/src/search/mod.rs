//! Search: words, meaning, neighbourhood and session in one score.
//!
//! The score of an event is the sum of four parts:
//! - `text`: its BM25 score over the greatest of any event, times the weight of text;
//! - `vector`: the cosine between its vector and the question's, scaled so that the greatest of any event is 1, the
//!   mean of 256 events spread evenly over all 0.1, and what is below that falls towards 0, times the weight of
//!   vectors;
//! - `neighbours`: a share of what the best event before it and the best event after it have of the two parts
//!   above, and half that share of what the best ones two steps before and after it have. Before and after are
//!   told by temporal-next edges;
//! - `session`: a share of what the best event of its session has of the two first parts; of an event in no
//!   session, of what it has itself. It adds to what has another part, and finds nothing alone.
//!
//! Cosines that tell no two events apart, as those of a brain's only vector, count for nothing beside words; without
//! words, every event whose vector is not of zeros then has 1 instead.
//!
//! The two weights are made to sum to 1; without words, or without a vector, the other has all of it. The
//! greatest score and the scale of the cosine are those of all events of the view, hidden ones
//! counted. An event that the selection leaves out neither is found nor lends, and no step leads over it.
//!
//! What was superseded is found as its newest head (`resolve`), which then has the score of the best that it
//! replaces, or its own if that is greater; if the selection leaves the head out, it is not found.
//!
//! How these defaults were chosen, and what they find: docs/decisions/0013-search-defaults.md.

mod base_score;
mod full_scan;
mod fusion;
mod paged_vec;
mod remaining;
mod request;
mod run;
mod spread;
pub(crate) mod text;

pub use request::{Hit, Ranking, Search};
pub use run::default_weights;
pub use text::{TextHits, TextSearch};
