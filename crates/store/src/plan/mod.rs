//! From a mutation to operations: validation against a view, and all that follows from it.
//!
//! Nothing is written here. A refused mutation leaves no trace; the view it is held against contains
//! everything that was accepted before it, durable or not.

pub(crate) mod belief;
mod changes;
mod correct;
mod dispatch;
mod edge_limit;
mod episodes;
mod erase;
mod events;
mod links;
mod merge;
mod planning;
mod sessions;
mod similar;
mod values;

pub(crate) use dispatch::{plan_open_session, plan_within};
pub(crate) use planning::Plan;
