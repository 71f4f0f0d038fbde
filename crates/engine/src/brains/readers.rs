//! Which groups of users may read files of brains directly, when that changes.
//!
//! Promises: once this is done, no group can open the file of a brain that it may not read. A process that has the file
//! mapped keeps what it sees.

use amem_store::Readers;

use super::engine::Engine;
use crate::error::{Error, Result};

impl Engine {
    /// Lets these groups read, and no others. Closed brains are opened for it once.
    ///
    /// # Errors
    /// `Readers` with the brains whose files are as they were.
    pub async fn set_readers(&self, readers: Readers) -> Result<()> {
        self.0.folder.set_readers(readers);
        let mut names = Vec::new();
        for name in self.names().await? {
            if let Err(error) = self.protect(&name).await {
                tracing::error!(brain = name, why = error.to_string(), "access.readers");
                names.push(name);
            }
        }
        if names.is_empty() {
            Ok(())
        } else {
            Err(Error::Readers { names })
        }
    }

    async fn protect(&self, name: &str) -> Result<()> {
        let was_open = self.open_brains().iter().any(|brain| brain.name == name);
        match self.open_ours(name).await {
            Ok(brain) => brain.protect().await?,
            // Files of others are theirs to protect; files that are gone need nothing.
            Err(error) if error.is_not_ours() || error.is_unknown_brain() => return Ok(()),
            Err(error) => return Err(error),
        }
        if !was_open {
            self.close_if(name, |_| true).await;
        }
        Ok(())
    }
}
