//! Posts signed messages to the receivers of webhooks. amemd links it with its feature `webhooks`.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let post = amem_webhooks::start()?;
//! let request = hyper::Request::post("https://hooks.example/memories");
//! let request = request.body(r#"{"brain":"work"}"#.to_owned())?;
//! let status = post(request, "the secret of the receiver".into(), false).await?;
//! println!("answered {status}");
//! # Ok(())
//! # }
//! ```
//!
//! Promises: a name is looked up once for each post, and the connection goes to an address that was checked; private
//! addresses are refused unless the caller allows them for the host; nothing goes to public addresses without TLS; a
//! redirect is an answer like any other, and is not followed; a post ends within `POST_AFTER`.
//! Not here: which hosts may be called, what is posted, and when it is tried again (`webhooks` of amemd).

#![forbid(unsafe_code)]

mod client;
mod signature;

pub use client::{Post, PostFuture, start};
