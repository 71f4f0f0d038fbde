//! Text for people: pages of lines, tables and trees.
//!
//! Promises: nothing in a file reaches the terminal as a control sequence (`printable`); no colours without a terminal
//! or with `NO_COLOR`; ASCII instead of lines and bars in a terminal that is not UTF-8.

mod page;
mod rows;
mod span;
mod spark;
mod table;
mod tree;
mod value;

pub(crate) use page::{Style, TextPage};
pub(crate) use rows::{Column, Detail};
pub(crate) use span::{micros, span};
pub(crate) use spark::spark;
pub(crate) use table::{Align, TextTable};
pub(crate) use tree::{Branch, tree};
pub(crate) use value::{agree, bytes, clipped, count, float, plural, printable, printable_lines};
