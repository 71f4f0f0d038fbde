//! Webhooks: changes of memories, posted to receivers, in builds with a client (feature `webhooks`), if
//! `webhooks.hosts` or `webhooks.private_hosts` lists hosts.
//!
//! A webhook is a position among the events of its brain: unsent changes stay in the brain, and a receiver that is slow
//! or gone costs calls nothing. Promises: each change is sent at least once, over restarts and crashes, in the order of
//! its brain; nothing is sent to a host that is not listed; a failed post is repeated after longer and longer pauses,
//! and after `WEBHOOK_ATTEMPTS_MAX` of them the webhook is paused and keeps its position; a memory that was erased is
//! sent as its id alone; secrets are in the file of webhooks and in the answer that creates them, nowhere else.
//! Not here: the connection and the signature (`amem_webhooks`), requests of administrators (`http`).

mod client;
mod webhook;

mod file;
mod registry;

mod message;

mod delivery;

pub(crate) use client::check;
pub use client::{Post, PostFuture, Starter};
pub(crate) use delivery::deliver;
pub(crate) use registry::{Erasure, Webhooks, unknown_webhook};
pub(crate) use webhook::{Webhook, WebhookChange, WebhookEvent, WebhookPosition};
