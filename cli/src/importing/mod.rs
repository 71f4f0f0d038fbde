//! Imports what people have elsewhere: transcripts of agents, exports of chats, vaults of notes, other memory stores.
//!
//! `amem-sources` reads; here its items become events of a brain (`event_import`), or memories (`fact_import`).
//!
//! Promises: sources are only read. A repeated import writes nothing twice, and one that was interrupted goes on: each
//! event has the id and the hash of its item. An item that changed replaces its event, one that is gone hides it, one
//! that comes back is there again; what the user forgot stays so. What is skipped is listed with its place and reason.
//! Not here: formats (`amem-sources`), arguments and output (`command::import_sources`).

mod event_import;
mod fact_import;
mod import_sink;
mod known_sources;
mod outcome;
mod source_event;

pub(crate) use event_import::EventImport;
pub(crate) use fact_import::{FactImport, ImportScope};
pub(crate) use import_sink::ImportSink;
pub(crate) use outcome::{ImportCounts, ReadNotes};
