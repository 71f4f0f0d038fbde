//! Changes by request: a new text for a memory, its end, the end of all memories of a scope.

mod request;
mod run;

pub use request::{UpdateRequest, memory_id};
pub use run::{delete, delete_all, update};
