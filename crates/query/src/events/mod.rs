//! Events and sessions by id, by conditions and along time.

pub(crate) mod get;
pub(crate) mod pattern;
pub(crate) mod sessions;
pub(crate) mod spans;
pub(crate) mod timeline;

pub use get::{EventWithEdges, Get};
pub use pattern::{Order, Pattern, PatternPage};
pub use sessions::{
    ListSessions, SessionFilter, SessionOverview, SessionPage, SessionSelector, ShowSession,
};
pub use spans::{SessionSpans, SpanOverview};
pub use timeline::{Timeline, TimelinePage};
