//! JSON lines: one event a line, its outgoing edges inside it. README.md of this crate has the fields.
//!
//! Promises: the same view gives the same bytes; what is written reads back as equal events and edges (with
//! vectors, if they were written); a line that makes no sense is refused by its number.

mod line;
mod read;
mod write;

pub(crate) use line::{EventLine, LINE_BYTES_MAX};
pub(crate) use read::read;
pub(crate) use write::write;
