//! What a command prints: text or JSON, progress, questions.

pub(crate) mod confirm;
pub(crate) mod context;
pub(crate) mod progress;
