//! Posts signed messages to the receivers of webhooks. amemd links it with its feature `webhooks`.
//!
//! Promises: a name is looked up once for each post, and the connection goes to an address that was checked; private
//! addresses are refused unless the caller allows them for the host; nothing goes to public addresses without TLS; a
//! redirect is an answer like any other, and is not followed; a post ends within `POST_AFTER`.
//! Not here: which hosts may be called, what is posted, and when it is tried again (`webhooks` of amemd).

#![forbid(unsafe_code)]

mod client;
mod signature;

pub use client::{Post, PostFuture, start};
