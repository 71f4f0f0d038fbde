//! amemd: the daemon that owns a folder of brains and is their one writer.
//!
//! Promises: one daemon per folder (P1); an answered write is durable and seen by every view from then on (P3,
//! P4); a defect in a call or in one brain's writer stops neither the daemon nor another brain; no outgoing
//! connection that the configuration does not name (P9). Not here: what a mutation does and how it becomes durable
//! (`amem_store`), what a query means (`amem_query`).

#![forbid(unsafe_code)]

pub mod config;
pub mod error;
pub mod limits;
pub mod models;
pub mod process;
pub mod refusal;
pub mod traces;
pub mod webhooks;

mod auth;
mod brains;
mod call_pool;
mod calls;
mod control;
mod episodes;
mod gateway;
mod grpc;
mod http;
mod ingress;
mod log;
mod log_queue;
mod metrics;
mod os;
mod pending_facts;

pub use auth::{Grants, Role, Tokens};
pub use calls::{IntoCommand, Validate};
pub use config::{Config, Flags};
pub use error::{Error, Result};
pub use gateway::http2;
pub use grpc::decoded_bytes;
pub use ingress::Listeners;
pub use os::{InheritedSockets, Socket};
pub use process::{open_folder, run};
