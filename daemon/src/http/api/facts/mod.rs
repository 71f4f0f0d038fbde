//! The handlers of fact memory: each makes a message of FactService from options, and JSON from the answer.
//!
//! Not here: what the calls do (`calls::facts`), and whose memories a caller may use (`Gateway::fact_as`).

mod shapes;

pub(super) mod add;
pub(super) mod list;
pub(super) mod memory;
pub(super) mod search;

pub(super) mod batch;
pub(super) mod delete;
pub(super) mod entities;
pub(super) mod feedback;

pub(super) mod events;
pub(super) mod exports;
pub(super) mod settings;
pub(super) mod webhooks;
