//! Memories that people have elsewhere, read into one model.
//!
//! ```
//! use amem_sources::{CollectedItems, ReadOptions, SourceKind, detect, read};
//!
//! # let folder = tempfile::tempdir()?;
//! let path = folder.path().join("notes.md");
//! std::fs::write(&path, "# Build\n\nAda runs the build.\n")?;
//! assert_eq!(detect(&path)?.sources[0].kind, SourceKind::Markdown);
//!
//! let mut found = CollectedItems::default();
//! let counts = read(&path, None, &ReadOptions::default(), &mut found)?;
//! assert_eq!((counts.total(), counts.faults()), (found.items.len() as u64, 0));
//! assert!(found.items.iter().any(|item| item.text.contains("Ada runs the build.")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`detect`] says what a file, a folder, a ZIP or the home of a client is. [`read`] gives a [`SourceSink`] its
//! [`SourceItem`]s: each with an id that stays the same, a hash of its content, and its place; and what was skipped,
//! with the reason. An importer that stores id and hash can be run again: equal hashes are known, another hash is an
//! edit, an id that is missing is gone.
//!
//! Promises: bytes are untrusted (P6): nothing panics, memory is bounded by [`limits`], sources are never changed.
//! Secrets of known forms are masked, and context that clients or memory tools injected is left out.
//!
//! The other way, events of a brain become tables, notes and graphs, from the JSON lines of an export.
//!
//! Not here: brains, scopes, what becomes of an item.

#![forbid(unsafe_code)]

mod detect;
mod error;
mod event_time;
pub mod export;
mod homes;
mod input;
mod item;
mod kind;
mod ledger;
pub mod limits;
mod notes;
mod options;
mod output;
mod plain_turn;
mod read;
mod readers;
mod recognition;

pub use detect::{DetectedSource, Detection, detect};
pub use error::SourceError;
pub use homes::{ClientHome, homes};
pub use item::{
    CollectedItems, EventTime, ItemPlace, ItemRelation, ItemType, SkipReason, SkippedEntry,
    SourceId, SourceItem, SourceSink, TurnRole,
};
pub use kind::SourceKind;
pub use ledger::{ItemChange, SourceLedger};
pub use notes::{PlainBlock, PlainNote};
pub use options::{ReadCounts, ReadOptions, SecretPolicy};
pub use read::{read, read_opened};
