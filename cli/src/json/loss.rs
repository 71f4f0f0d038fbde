//! What a text or a form could not hold.

use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct LossCount {
    pub(crate) what: &'static str,
    pub(crate) count: u64,
}
