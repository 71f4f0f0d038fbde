//! A received file in the place of the brain whose name it takes.
//!
//! Promises: the file is verified before the brain is closed; what had the name is quarantined, whole or as damaged as
//! it is, before the new brain has it; no caller can make another brain of the name meanwhile, and those that ask wait
//! for the new one.

use amem_store::{Error as StoreError, ImportReport, IncomingFile};

use super::engine::{Engine, SlotGuard};
use crate::error::Result;
use crate::tasks::{blocking, run_to_end};

impl Engine {
    /// Begins to receive a file of `bytes` that takes the place of a brain, if there is one.
    pub async fn receive_in_place(&self, name: &str, bytes: u64) -> Result<IncomingFile> {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        Ok(blocking(move || IncomingFile::begin_in_place(&folder, &of, bytes)).await??)
    }

    /// Makes a received file the brain of a name, in the place of what has the name. Returns the name of the
    /// quarantined file that has what stood there; none if nothing did.
    ///
    /// # Errors
    /// If no brain can be made of the file; then nothing has changed.
    pub async fn replace_with_received(
        &self,
        name: &str,
        incoming: IncomingFile,
        embed: bool,
    ) -> Result<(ImportReport, Option<String>)> {
        let incoming = blocking(move || incoming.verify().map(|()| incoming)).await??;
        let (slot, engine) = (self.lock_slot(name).await?, self.clone());
        let name = name.to_owned();
        run_to_end(async move {
            engine.finalise_original(&name).await;
            let replaced = engine.put_in_place(&name, slot, incoming, embed).await;
            engine.log_quarantined();
            engine.notify_waiters();
            replaced
        })
        .await?
    }

    async fn put_in_place(
        &self,
        name: &str,
        mut slot: SlotGuard,
        incoming: IncomingFile,
        embed: bool,
    ) -> Result<(ImportReport, Option<String>)> {
        let closed = match slot.take().filter(|open| !open.is_closed()) {
            Some(brain) => {
                let closed = brain.close_superseded().await;
                self.0.known.closed(name, brain.held());
                closed
            }
            None => Ok(()),
        };
        let replaced = match closed {
            // What it had is in its file, or is lost already.
            Err(error) if !is_lost(error.store()) => Err(error),
            _ => self.exchange(name, incoming, embed).await,
        };
        self.unlock_slot(name, slot);
        replaced
    }

    async fn exchange(
        &self,
        name: &str,
        incoming: IncomingFile,
        embed: bool,
    ) -> Result<(ImportReport, Option<String>)> {
        let done = blocking(move || incoming.finish_in_place(embed)).await?;
        match done {
            Ok((imported, before)) => {
                self.0.known.forget(name);
                self.forget(name).await;
                tracing::info!(brain = name, before, "a received file is the brain now");
                Ok((imported, before))
            }
            Err(error) => {
                tracing::warn!(brain = name, %error, "a received file is not the brain");
                Err(error.into())
            }
        }
    }
}

/// True if waiting brings nothing back of what the brain had and its file has not.
fn is_lost(error: Option<&StoreError>) -> bool {
    matches!(
        error,
        Some(StoreError::Overwritten { .. } | StoreError::Poisoned { .. })
    )
}
