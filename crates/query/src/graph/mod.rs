//! Graph: what edges lead to, what replaced an event, and what contradicts what.

pub(crate) mod conflicts;
pub(crate) mod heads;
pub(crate) mod impact;
pub(crate) mod path;
pub(crate) mod resolve;
pub(crate) mod traverse;
pub(crate) mod visited;
pub(crate) mod walk;
pub(crate) mod why;

pub use conflicts::{Conflict, Conflicts, Disagreements};
pub use impact::Impact;
pub use path::{Path, Route};
pub use resolve::{Link, Resolve, Resolved};
pub use traverse::Traverse;
pub use walk::{Follow, Step, Tree, Via};
pub use why::Why;
