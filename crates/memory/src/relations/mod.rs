//! From the text of a fact to its entity graph.
//!
//! It is read from the text, so that it is as true as the fact: it holds while the fact does, and goes when it goes.

mod names;
mod read;
#[cfg(test)]
mod read_test;
mod table;

pub(crate) use names::looks_technical;
pub use read::aliases_said;
pub(crate) use read::fact_graph;
