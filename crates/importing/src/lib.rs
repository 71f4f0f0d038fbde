//! What people have elsewhere, as events or memories of a brain.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use amem_importing::{ImportError, ImportPath, ImportReport, ImportScope, ImportTarget, Importer};
//!
//! fn import<T: ImportTarget>(
//!     target: &mut T,
//!     notes: &Path,
//! ) -> Result<ImportReport, ImportError<T::Failure>> {
//!     let importer = Importer {
//!         form: None,
//!         read: Default::default(),
//!         scope: ImportScope { user: "ada".into(), is_named: true, project: None },
//!         is_dry: false,
//!         is_there: true,
//!     };
//!     importer.run(target, &[ImportPath::of(notes, None)?])
//! }
//! ```
//!
//! [`ImportPath`] is a file, a folder or the home of a client; an [`Importer`] reads it by `amem-sources` and writes
//! into an [`ImportTarget`]: notes become events, conversations and memories of other stores become memories.
//!
//! Promises: sources are only read. A repeated import writes nothing twice, and one that was interrupted goes on: each
//! event has the id and the hash of its item. An item that changed replaces its event, one that is gone hides it, one
//! that comes back is there again; what the user forgot stays so. What is skipped is listed with its place and reason.
//!
//! Not here: formats (`amem-sources`), the connection to a daemon, arguments and output (`amemctl`).

#![forbid(unsafe_code)]

mod batch;
mod entry;
mod error;
mod event_import;
mod fact_import;
mod import_path;
mod import_sink;
mod importer;
mod item_message;
mod known_sources;
mod message;
mod outcome;
mod report;
mod run;
mod source_event;
mod target;

pub use batch::{AppendBatch, BatchRequest};
pub use entry::{BatchEntry, EntryEdge};
pub use error::ImportError;
pub use fact_import::ImportScope;
pub use import_path::ImportPath;
pub use importer::{Importer, ItemForm};
pub use outcome::{ImportCounts, ReadNotes, SkippedPlace};
pub use report::{FoundFiles, ImportReport};
pub use run::RunId;
pub use target::{ChangeAnswer, EventChange, ImportTarget};
