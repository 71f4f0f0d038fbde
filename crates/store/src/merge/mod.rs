//! Compares two brains: common events, and the later change of each field and edge.
//!
//! Promises: an event is the same event in both if it was recorded at the same moment, with the same type and
//! text, wherever it has been merged to since; an erased one is recognised by moment and type. Both brains are only
//! read.
//! Not here: planning the merge (`plan::merge`).

pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod matching;
pub(crate) mod origin;
