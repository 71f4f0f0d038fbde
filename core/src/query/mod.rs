//! Every query, on a view.

pub mod attributes;
pub mod cursor;
pub(crate) mod place;
pub mod time;
