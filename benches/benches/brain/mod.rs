//! A brain in a temporary folder of its own.

use std::error::Error;

use amem_store::{Mutation, Request, Store};
use tempfile::TempDir;

use crate::batch::batch;
use crate::data::Random;
use crate::empty;

/// Events of a brain at first.
pub(crate) const EVENTS: u64 = 20_000;

/// A brain after a checkpoint.
pub(crate) struct Brain {
    pub(crate) store: Store,
    pub(crate) random: Random,
    _folder: TempDir,
}

impl Brain {
    /// The same one each time.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        // Beside what is compiled: the system's folder for temporary files may be in memory.
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let (_, mut store) = empty::brain(folder.path())?;
        let mut random = Random::new(1);
        for first in (0..EVENTS).step_by(1_000) {
            let ingest = batch(&mut random, first, 1_000);
            store.execute(Request::new(Mutation::Ingest(ingest)))?;
        }
        store.checkpoint()?;
        Ok(Self {
            store,
            random,
            _folder: folder,
        })
    }
}
