//! Which groups of users may read files of brains directly, when that changes.
//!
//! Promises: once this has been done, no file of a brain can be opened by a group that may not any more. Who has it
//! mapped already keeps what they see.

use amem_store::Readers;
use tonic::Code;

use super::Brains;
use crate::refusal::{Refusal, Result};

impl Brains {
    /// Lets these read, and nobody else. Brains that are closed are opened for it once.
    pub(crate) async fn let_read(&self, readers: Readers) -> Result<()> {
        self.0.folder.set_readers(readers);
        let mut failed = Vec::new();
        for name in self.names().await? {
            if let Err(refusal) = self.protect(&name).await {
                tracing::error!(brain = name, why = refusal.message, "access.readers");
                failed.push(name);
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        let message = format!(
            "who may read the files of {} is as it was: the daemon's log says why",
            failed.join(", ")
        );
        Err(Refusal::new(Code::FailedPrecondition, "READERS", message))
    }

    async fn protect(&self, name: &str) -> Result<()> {
        let was_open = self.open().iter().any(|brain| brain.name == name);
        match self.get_ours(name).await {
            Ok(brain) => brain.protect().await?,
            // Files of others are theirs to protect; those that are gone need nothing.
            Err(refusal) if refusal.reason == super::NOT_OURS => return Ok(()),
            Err(refusal) if refusal.code == Code::NotFound => return Ok(()),
            Err(refusal) => return Err(refusal),
        }
        if !was_open {
            self.close_if(name, |_| true).await;
        }
        Ok(())
    }
}
