//! Memory for agents over the Model Context Protocol: six tools, prompts and resources on fact memory.
//!
//! ```
//! use amem_mcp::{CompatSet, tools};
//!
//! let ours = tools(&[]);
//! assert_eq!(ours.len(), 6);
//! assert!(ours.iter().any(|tool| tool.name == "recall"));
//!
//! // Those of mem0's server beside them, for agents that know them.
//! assert!(tools(&[CompatSet::Mem0]).len() > ours.len());
//! ```
//!
//! One handler serves both eras of the protocol, on stdio and by HTTP. It keeps nothing: each request opens the place
//! that it is about (`MemorySource`) and makes calls of fact memory (`MemoryCalls`).
//!
//! Promises: answers are text of at most `limits::ANSWER_CHARS_MAX` characters; what a tool cannot do is a result with
//! words that a model can act on; a memory of another project is neither shown nor changed.
//! Not here: which project a folder is (`amem-host`), the network, how a daemon is started.

#![forbid(unsafe_code)]

pub mod limits;

mod calls;
mod memory_place;

mod answer;
mod arguments;
mod catalogue;
mod entries;
mod memories;

mod said_hits;
mod standing_part;

mod tools;

pub mod given_context;

mod brief;

mod given;

mod compat;
mod prompts;
mod resources;

mod server;

pub mod commands;

#[cfg(feature = "http")]
mod http;

pub use answer::minute_of;
pub use calls::{CallResult, MemoryCalls};
pub use catalogue::{CompatSet, INSTRUCTIONS, tools};
pub use given::{brief_of, recall_for};
#[cfg(feature = "http")]
pub use http::{answer_http, http_config};
pub use memories::write_again;
pub use memory_place::{MemoryPlace, ProjectName};
pub use rmcp;
pub use server::{MemoryServer, MemorySource, OpenMemory};
