//! The client that posts, which the binary hands in.

use std::pin::Pin;
use std::sync::Arc;

use hyper::Request;

use crate::config::{Config, WEBHOOK_HOSTS};
use crate::error::Result;

/// The status of the answer, or why there is none.
pub type PostFuture = Pin<Box<dyn Future<Output = std::result::Result<u16, String>> + Send>>;

/// Posts a request whose URL is whole, signed with a secret; true allows private addresses, and without TLS these only.
pub type Post = Arc<dyn Fn(Request<String>, String, bool) -> PostFuture + Send + Sync>;

/// Makes a client; an error says why it cannot.
pub type Starter = fn() -> std::result::Result<Post, String>;

/// Refuses hosts of webhooks in a build without a client.
pub(crate) fn check(config: &Config, starter: Option<Starter>) -> Result<()> {
    if config.webhook_hosts.is_empty() || starter.is_some() {
        return Ok(());
    }
    Err(config.wrong(
        WEBHOOK_HOSTS,
        "this amemd was built without webhooks: build it with `cargo build --release -p amemd --features webhooks`",
    ))
}
