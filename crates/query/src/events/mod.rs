//! Events and sessions by id, by conditions and along time.

pub(crate) mod get;
pub(crate) mod pattern;
pub(crate) mod sessions;
pub(crate) mod timeline;

pub use get::{Get, Got};
pub use pattern::{Matches, Order, Pattern};
pub use sessions::{Named, SessionPage, Sessions, ShowSession, Shown, State};
pub use timeline::{Moments, Timeline};
