//! Under what a change is repeated.

/// Under what a change is repeated: the key, and the hash of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// The idempotency key.
    pub key: String,
    /// The hash of the request; another request under the key is refused.
    pub request_hash: String,
}
