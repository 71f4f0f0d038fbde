//! A view: a brain up to one LSN. What every query runs on.
//!
//! Taking a view copies nothing and takes no lock: it is a reference to the shared generation and a bound.
//! A view `as_of` an earlier moment is a view as well; what differs is stated at each accessor.
//!
//! Promises: every answer from one view is of the same moment (P4); an `as_of` view answers the same before
//! and after a checkpoint, a copy or a reopen.

mod as_of;
mod belief;
mod bound;
mod commits;
mod edges;
mod graph;
mod graph_reader;
mod lists;
mod node;
mod session_ids;
mod snapshot;
mod strength;
mod terms;

pub use bound::AsOf;
pub use commits::Committed;
pub use edges::{Direction, Tie, Ties};
pub use graph_reader::Web;
pub use lists::Ids;
pub use node::Node;
pub use session_ids::SessionIds;
pub use snapshot::{View, check_space};
pub use strength::{Shares, strength_after};
