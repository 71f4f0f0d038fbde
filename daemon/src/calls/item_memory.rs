//! Items at the daemon: what the calls on each brain share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use amem_engine::OpenBrain;
use amem_items::ItemState;
use amem_locks::LockResultExt;

/// What the calls on the items of each brain share, by its name.
#[derive(Debug, Default)]
pub(super) struct ItemMemory(Mutex<HashMap<String, Arc<ItemState>>>);

impl ItemMemory {
    pub(super) fn state(&self, brain: &OpenBrain) -> Arc<ItemState> {
        let mut states = self.0.lock().unpoisoned();
        states.entry(brain.name.clone()).or_default().clone()
    }
}
