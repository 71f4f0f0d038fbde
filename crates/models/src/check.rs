//! The verdict of one tiny call.

use std::time::Instant;

/// Whether a model or an embedder answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    /// Provider, model and server.
    pub name: String,
    /// What it answered, or why it did not; no key is in it.
    pub verdict: Result<String, String>,
    /// Milliseconds that the call took.
    pub millis: u64,
}

impl CheckReport {
    pub(crate) fn of(name: String, call: impl FnOnce() -> Result<String, String>) -> Self {
        let started = Instant::now();
        let verdict = call();
        Self {
            name,
            verdict,
            millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        }
    }
}
