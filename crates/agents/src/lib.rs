//! The clients, agents and editors with one: what is known of each, and amemctl in their settings.
//!
//! `agents.toml` has a row for each client, `client` looks it up. `client_file` says what belongs into a client's
//! files, `hook` has the hooks, `jsonc` and `toml_text` edit the texts, `plan` works out all changes before `disk`
//! writes any.
//!
//! ```
//! use amem_agents::{AgentClient, HookMoment};
//!
//! let client: AgentClient = "codex".parse()?;
//! assert!(client.takes_context(HookMoment::Prompt));
//! assert_eq!(HookMoment::of_event("Stop"), Some(HookMoment::Answer));
//! # Ok::<(), String>(())
//! ```
//!
//! Promises: what is not ours stays, byte for byte; connect and then disconnect gives back the files as they were;
//! connecting twice changes nothing; a file that cannot be parsed is refused with its line, and nothing is written.
//!
//! Not here: the command line (`amemctl`), the server and the hooks themselves, readers of transcripts
//! (`amem-sources`).

#![forbid(unsafe_code)]

mod client;
mod client_file;
mod client_path;
mod diff;
mod disk;
mod document;
mod entry;
mod error;
mod fault;
mod hook;
mod jsonc;
mod locations;
mod moment;
mod plan;
mod plugin;
mod program;
mod record;
mod splice;
mod style;
mod toml_text;
mod whole;

pub use client::{AgentClient, VARIABLES, fields};
pub use error::{FILE_BYTES_MAX, SettingsError};
pub use hook::deployed;
pub use locations::Locations;
pub use moment::HookMoment;
pub use plan::{ClientStatus, ConnectPlan, SettingsChange, status};
pub use program::Program;
