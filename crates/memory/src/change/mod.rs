//! Changes by request: a new text for a memory, its end, many of them at once, the end of all memories of a scope.

mod masking;
mod request;
mod run;

mod batch;

pub use batch::{ChangeOutcome, delete_many, update_many};
pub use masking::masked_reason;
pub use request::{UpdateRequest, check_reason, memory_id};
pub use run::{delete, delete_all, update};
