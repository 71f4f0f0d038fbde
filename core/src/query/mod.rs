//! Every query, on a view.

pub mod attributes;
pub mod cursor;
pub mod filter;
pub(crate) mod place;
pub mod time;
