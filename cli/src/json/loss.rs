//! What a text or a form could not hold.

use serde::Serialize;

/// How many of what were lost or changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LossCount {
    pub(crate) what: &'static str,
    pub(crate) count: u64,
}
