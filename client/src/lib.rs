//! Reads a brain file directly, or talks to amemd.
//!
//! ```no_run
//! use amem_client::Reader;
//! use amem_client::query::TextSearch;
//!
//! let reader = Reader::open("brains/work.amem")?;
//! let view = reader.view()?;
//! let search = TextSearch { question: "who runs the build?".into(), ..TextSearch::default() };
//! for hit in search.run(&view)?.hits {
//!     println!("{:.2} {}", hit.score, view.node(hit.id)?.text()?);
//! }
//! # Ok::<(), amem_client::core::Error>(())
//! ```
//!
//! Through the daemon:
//!
//! ```no_run
//! # #[cfg(feature = "grpc")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use amem_client::{Client, paths::UserPaths, v1};
//!
//! let socket = UserPaths::of_process().socket().ok_or("no home folder")?;
//! let brain = Client::connect_unix(socket).await?.brain("work").await?;
//! let question = v1::SearchRequest { text: "who runs the build?".into(), ..Default::default() };
//! println!("{:?}", brain.ask(question).await?);
//! # Ok(())
//! # }
//! ```
//!
//! `Reader` needs no daemon, tokio or tonic: it maps the file and follows what the daemon commits. With feature `grpc`,
//! `Client` talks to the daemon, and `Client::brain` opens a brain: read through its file if possible, else through the
//! daemon; written through the daemon.
//!
//! Promises: a query has the same answer or refusal either way, except for limits of calls (message size, deadlines,
//! load, permissions); a retried change is made once.
//!
//! Not here: writing files; only the daemon does that.

#![forbid(unsafe_code)]

pub use amem_format as core;
pub use amem_format::reader::Reader;
pub use amem_query as query;

#[cfg(feature = "grpc")]
pub mod limits;
#[cfg(feature = "grpc")]
mod remote;

#[cfg(feature = "grpc")]
pub use amem_host::paths;
#[cfg(feature = "grpc")]
pub use amem_proto::answer::{Code, Question, Refusal, Result};
#[cfg(feature = "grpc")]
pub use amem_proto::change::Change;
#[cfg(feature = "grpc")]
pub use amem_proto::ids::new_id;
#[cfg(feature = "grpc")]
pub use amem_proto::{Duration, Timestamp, json, v1};
#[cfg(feature = "grpc")]
pub use remote::{
    AuthorizedChannel, Brain, BrainAccess, Client, CommitStream, ConnectError, Retry, Tls, stubs,
};
