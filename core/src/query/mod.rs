//! Every query, on a view.

pub mod attributes;
pub(crate) mod place;
pub mod time;
