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

#[path = "../../crates/engine/src/brains/opening.rs"]
mod brains;
#[path = "../../crates/engine/src/open_brain.rs"]
mod open_brain;
#[path = "../../crates/engine/src/writer.rs"]
mod writer;

mod access;
mod check;
#[path = "../../crates/engine/src/checkpoints.rs"]
mod checkpoints;
mod control;
mod convert;
#[path = "../../crates/engine/src/descriptors.rs"]
mod descriptors;
mod digest;
mod door;
mod dumps;
mod figures;
mod file_sizes;
mod file_system;
mod folder;
mod health;
#[path = "../../crates/engine/src/blocking_pool.rs"]
mod heavy;
#[path = "../../crates/engine/src/file_holders.rs"]
mod holders;
#[path = "../../crates/engine/src/jobs.rs"]
mod jobs;
mod latency;
mod listen;
mod log;
mod methods;
mod metrics;
mod notify;
mod panics;
mod rates;
#[path = "../../crates/engine/src/replaced_files.rs"]
mod replaced;
#[path = "../../crates/engine/src/schedules/scheduler.rs"]
mod schedules;
mod secrets;
mod services;
mod shares;
mod tokens;
#[path = "../../crates/engine/src/touches.rs"]
mod touches;
mod trust;
#[path = "../../crates/engine/src/fair_queue.rs"]
mod turns;
#[path = "../../crates/engine/src/watch/watcher.rs"]
mod watch;
#[path = "../../crates/engine/src/text.rs"]
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
