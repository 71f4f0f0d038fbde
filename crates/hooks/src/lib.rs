//! Hooks: what a session of an agent is given at its start and with each prompt, and what is learnt from it.
//!
//! ```
//! use amem_hooks::{HookInput, HookMoment, answer_json};
//!
//! let sent = br#"{"session_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "Build it"}"#;
//! let input = HookInput::read(sent, None, None)?;
//! assert_eq!(input.moment, HookMoment::Prompt);
//! assert_eq!(input.prompt, "Build it");
//!
//! let answer = answer_json(input.client, &input.event, "Ada runs the build.");
//! assert!(answer.is_some_and(|json| json.contains("Ada runs the build.")));
//! # Ok::<(), amem_hooks::HookError>(())
//! ```
//!
//! A client runs a hook with JSON ([`HookInput`]) and reads JSON ([`answer_json`]). Between the two, a daemon runs the
//! moment ([`run`]) on fact memory, and keeps a [`Ledger`] of what each session was given.
//!
//! Promises: nothing is given twice to a session; the ledger has ids and hashes, no texts; secrets and what was given
//! are not learnt; a turn is learnt once, however often it is sent.
//! Not here: what is known of a client (`amem-agents`), transcripts of clients (`amem-sources`), where the daemon is,
//! which project a folder is (`amem-host`).

#![forbid(unsafe_code)]

pub mod limits;

mod error;

mod client;
mod moment;

mod prompt;

mod answer;
mod input;

pub mod entry;
mod ledger;

mod run;

pub use amem_agents::HookMoment;
pub use answer::answer_json;
pub use client::HookClient;
pub use entry::{LedgerEntry, SessionSummary};
pub use error::HookError;
pub use input::{HookInput, HookMessage};
pub use ledger::{Ledger, SessionKey, SessionLedger};
pub use moment::moment_message;
pub use run::{HookCalls, HookDone, HookRun, HookTurn, run, session_key};
