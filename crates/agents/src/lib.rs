//! Writes amemctl into the settings of agents, and takes it back: the MCP server and the hooks.
//!
//! `client_file` says which files a client has and what belongs into each, `hook` has the one table of hooks, `jsonc`
//! and `toml_text` edit the texts, `plan` works out all changes before `disk` writes any.
//!
//! Promises: what is not ours stays, byte for byte; connect and then disconnect gives back the files as they were;
//! connecting twice changes nothing; a file that cannot be parsed is refused with its line, and nothing is written.
//!
//! Not here: the command line (`amemctl`), the server and the hooks themselves.

#![forbid(unsafe_code)]

mod client;
mod client_file;
mod diff;
mod disk;
mod document;
mod entry;
mod error;
mod fault;
mod hook;
mod jsonc;
mod locations;
mod plan;
mod plugin;
mod program;
mod record;
mod splice;
mod style;
mod toml_text;
mod whole;

pub use client::AgentClient;
pub use error::{FILE_BYTES_MAX, SettingsError};
pub use hook::deployed;
pub use locations::{Locations, VARIABLES};
pub use plan::{ClientStatus, ConnectPlan, SettingsChange, status};
pub use program::Program;
