//! A quarantined file in the place of the brain whose name it had.
//!
//! Promises: what the brain was is quarantined first, durably; from the first moment to the last there is a brain of
//! that name, and no caller can make another meanwhile; whatever fails, what was quarantined stays.

use std::sync::Arc;

use amem_store::{ImportReport, quarantine};

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::open_brain::OpenBrain;
use crate::tasks::{blocking, run_to_end};

impl Engine {
    /// Makes a quarantined file the brain of a name, in the place of `brain`; returns the name of the file that has
    /// what that brain was. Callers that ask meanwhile wait for the one or get the other.
    ///
    /// # Errors
    /// `Reopened` if `brain` is not what is open under the name.
    pub async fn replace_with_quarantined(
        &self,
        name: &str,
        file: &str,
        brain: Option<Arc<OpenBrain>>,
    ) -> Result<(ImportReport, Option<String>)> {
        let (mut slot, engine) = (self.lock_slot(name).await?, self.clone());
        let (name, file) = (name.to_owned(), file.to_owned());
        run_to_end(async move {
            let is_same = match (slot.as_ref(), &brain) {
                (Some(open), Some(brain)) => Arc::ptr_eq(open, brain),
                (open, brain) => open.is_none() && brain.is_none(),
            };
            if !is_same {
                return Err(Error::Reopened { name });
            }
            let replaced = engine.replace_in_slot(&name, &file, brain).await;
            *slot = None;
            engine.unlock_slot(&name, slot);
            replaced
        })
        .await?
    }

    async fn replace_in_slot(
        &self,
        name: &str,
        file: &str,
        brain: Option<Arc<OpenBrain>>,
    ) -> Result<(ImportReport, Option<String>)> {
        let before = match brain {
            Some(brain) => Some(brain.retire().await?),
            None => None,
        };
        let (folder, of, theirs) = (self.0.folder.clone(), name.to_owned(), file.to_owned());
        match blocking(move || quarantine::take(&folder, &theirs, &of, true)).await? {
            Ok(imported) => {
                self.0.known.forget(name);
                self.forget(name).await;
                tracing::info!(
                    brain = name,
                    file,
                    before,
                    "a quarantined file is the brain now"
                );
                Ok((imported, before))
            }
            Err(error) => {
                // Whether the names were exchanged before that is unknown: what ours had stays quarantined, and listed.
                tracing::warn!(brain = name, file, before, %error, "a quarantined file is not the brain, or not wholly");
                Err(error.into())
            }
        }
    }
}
