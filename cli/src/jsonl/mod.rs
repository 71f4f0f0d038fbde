//! JSON lines: an event with its outgoing edges on each line. README.md of this crate lists the fields.
//!
//! Promises: the same view gives the same bytes; what is written reads back as equal events and edges (with vectors, if
//! they were written); an invalid line is refused by its number.

mod line;
mod objects;
mod origin;
mod read;
mod write;

pub(crate) use line::{EventLine, LINE_BYTES_MAX};
pub(crate) use objects::each;
pub(crate) use origin::{Origin, first_recorded};
pub(crate) use read::read;
pub(crate) use write::write;
