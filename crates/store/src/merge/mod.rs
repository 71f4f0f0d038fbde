//! Two brains compared: which events are the same, and what changed where since.
//!
//! Promises: an event is the same event in both if it was recorded at the same moment, with the same type and
//! text, wherever it has been merged to since; an erased one is recognised by moment and type. Both brains are only
//! read.
//! Not here: what becomes of the differences (`plan::merge`).

pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod matching;
pub(crate) mod origin;
