//! Nearest: events by the cosine between vectors.

pub(crate) mod cosines;
pub(crate) mod similar;

pub use similar::{Similar, SimilarHits, SimilarityTarget};
