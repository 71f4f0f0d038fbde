//! From a mutation to operations: validates it against a view, and derives what follows from it.
//!
//! Nothing is written here. A refused mutation leaves no trace. The view has everything that was accepted before,
//! durable or not.

pub(crate) mod belief;
mod builder;
mod changes;
mod correct;
mod dispatch;
mod edge_limit;
mod episodes;
mod erase;
mod events;
mod links;
mod merge;
mod sessions;
mod similar;
mod values;

pub(crate) use builder::Plan;
pub(crate) use dispatch::{plan_open_session, plan_within};
