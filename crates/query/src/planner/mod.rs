//! Planner: which events a query selects, from which list it reads them, and in which order.

pub(crate) mod authors;
pub(crate) mod cursor;
pub(crate) mod driver;
pub(crate) mod keyword;
pub(crate) mod listing;
pub(crate) mod lookup;
pub(crate) mod order;
pub(crate) mod scope;
pub(crate) mod selected;
pub(crate) mod selection;
pub(crate) mod strength_order;
pub(crate) mod strength_scan;
pub(crate) mod subject;
pub(crate) mod time_order;
pub(crate) mod values;

pub use authors::AuthorNames;
pub use lookup::{count_matching, count_with, events_matching, events_with};
pub use order::Axis;
pub use scope::{Scope, Sight, Visibility};
pub use selection::{Selection, ValueRange, Window};
