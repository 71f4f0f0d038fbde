//! The models that a program was set up with.

use std::fmt::Debug;
use std::sync::Arc;

use super::port::Model;
use crate::store::Embedder;

/// Hands out models: what is set up outside of fact memory, and shared by its calls.
pub trait ModelSource: Debug + Send + Sync {
    /// The language model for one add: its deadline begins now. `None` if there is none.
    fn language(&self) -> Option<Box<dyn Model>>;

    /// The embedder. `None` if there is none.
    fn embedder(&self) -> Option<Arc<dyn Embedder + Send + Sync>>;

    /// What was used of the budgets of today, for `restore` after a restart; `None` if nothing is counted.
    fn usage(&self) -> Option<String> {
        None
    }

    /// Goes on with the day of an earlier process.
    ///
    /// # Errors
    /// If `usage` gave something else.
    fn restore(&self, _usage: &str) -> Result<(), String> {
        Ok(())
    }
}
