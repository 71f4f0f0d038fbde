//! Graph: what edges lead to, what replaced an event, and what contradicts what.

pub(crate) mod conflicts;
pub(crate) mod evidence;
pub(crate) mod heads;
pub(crate) mod impact;
pub(crate) mod marks;
pub(crate) mod path;
pub(crate) mod resolve;
pub(crate) mod traverse;
pub(crate) mod visited;
pub(crate) mod walk;
pub(crate) mod why;

pub use conflicts::{Conflict, ConflictPage, ListConflicts};
pub use impact::Impact;
pub use marks::{BeliefMark, BeliefMarks};
pub use path::{Route, ShortestPath};
pub use resolve::{ChainEvent, Resolution, Resolve};
pub use traverse::Traverse;
pub use walk::{Follow, Tree, TreeEdge, TreeStep};
pub use why::Why;
