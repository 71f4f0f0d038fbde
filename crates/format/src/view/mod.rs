//! A view: a brain up to one LSN. Every query runs on a view.
//!
//! A view is a reference to the shared generation and a bound; taking one copies no data and takes no lock.
//! `as_of` gives a view of an earlier moment; each accessor states where such a view differs.
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
mod scope_list;
mod session_ids;
mod snapshot;
mod spans;
mod stamps;
mod strength;
mod terms;

pub use bound::AsOf;
pub use commits::CommitRecord;
pub use edges::{Direction, EdgeList, EdgeRef};
pub use graph_reader::GraphReader;
pub use lists::Ids;
pub use node::Node;
pub use session_ids::SessionIds;
pub use snapshot::{View, check_space};
pub use strength::{StrengthBounds, strength_after};
