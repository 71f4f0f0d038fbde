//! Text for people: pages of lines, tables and trees.
//!
//! Promises: nothing that a file says reaches the terminal as a control sequence (`printable`); without a
//! terminal, or with `NO_COLOR`, there are no colours; in a terminal that is not of UTF-8, lines and bars are drawn in
//! ASCII.

mod page;
mod span;
mod spark;
mod table;
mod tree;
mod value;

pub(crate) use page::{Style, TextPage};
pub(crate) use span::{micros, span};
pub(crate) use spark::spark;
pub(crate) use table::{Align, TextTable};
pub(crate) use tree::{Branch, tree};
pub(crate) use value::{agree, bytes, clipped, count, float, plural, printable};
