//! amemd: the daemon that owns a folder of brains and is their one writer.
//!
//! Promises: one daemon per folder (P1); an answered write is durable and seen by every view from then on (P3,
//! P4); a defect in a call or in one brain's writer stops neither the daemon nor another brain; no connection out
//! that the settings do not name (P9). Not here: what a mutation does and how it lasts (`amem_store`), what a query
//! means (`amem_format`).

#![forbid(unsafe_code)]

pub mod config;
pub mod error;
pub mod http2;
pub mod limits;
pub mod process;
pub mod refusal;
pub mod server;
pub mod socket;
pub mod traces;

mod brains;
mod open_brain;
mod writer;

mod access;
mod check;
mod checkpoints;
mod control;
mod convert;
mod descriptors;
mod digest;
mod door;
mod figures;
mod file_system;
mod folder;
mod health;
mod heavy;
mod holders;
mod jobs;
mod latency;
mod listen;
mod log;
mod methods;
mod metrics;
mod notify;
mod panics;
mod rates;
mod replaced;
mod schedules;
mod secrets;
mod services;
mod shares;
mod tokens;
mod touches;
mod trust;
mod turns;
mod watch;
mod words;

pub use access::{Grants, Role};
pub use config::{Config, Flags};
pub use convert::{Asks, Says};
pub use door::decoded_bytes;
pub use error::{Error, Result};
pub use folder::open_folder;
pub use listen::{Lent, Listeners};
pub use server::run;
pub use socket::Socket;
pub use tokens::Tokens;
