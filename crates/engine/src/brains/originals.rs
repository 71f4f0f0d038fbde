//! Files that became brains: each is checked once more a while after its adoption, and removed.

use std::time::Instant;

use amem_store::OriginalFile;

use super::engine::Engine;
use crate::jobs::JobKind;
use crate::limits::ORIGINALS_MAX;
use crate::tasks::{blocking, run_to_end};

impl Engine {
    /// When the next original is due.
    pub(crate) fn next_original(&self) -> Option<Instant> {
        self.originals().values().map(|(due, _)| *due).min()
    }

    /// Removes the originals that are due.
    pub(crate) async fn finalise_due_originals(&self) {
        let now = Instant::now();
        let due = |(name, (due, _)): (&String, &(Instant, OriginalFile))| {
            (*due <= now).then(|| name.clone())
        };
        let names: Vec<_> = self.originals().iter().filter_map(due).collect();
        for name in names {
            self.finalise_original(&name).await;
        }
    }

    /// Each original is an open file: past `ORIGINALS_MAX`, the oldest is removed early.
    pub(super) async fn finalise_oldest(&self) {
        let oldest = {
            let originals = self.originals();
            let oldest = originals.iter().min_by_key(|(_, (due, _))| *due);
            oldest
                .filter(|_| originals.len() > ORIGINALS_MAX)
                .map(|(name, _)| name.clone())
        };
        if let Some(name) = oldest {
            self.finalise_original(&name).await;
        }
    }

    /// Removes the file that became a brain; once this returns, no other task is about to. If it fails the file is left
    /// (`Folder::clear_leftovers`).
    pub async fn finalise_original(&self, name: &str) {
        let (engine, of) = (self.clone(), name.to_owned());
        let done = run_to_end(async move {
            let _alone = engine.0.finalising.lock().await;
            engine.remove_original(&of).await;
        });
        if let Err(error) = done.await {
            tracing::error!(brain = name, why = error.to_string(), "finalising");
        }
    }

    async fn remove_original(&self, name: &str) {
        let Some((_, original)) = self.originals().remove(name) else {
            return;
        };
        match blocking(move || original.finalise()).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(kept))) => {
                let what = "the file that became this brain was written to afterwards: it is quarantined as a conflict";
                self.0
                    .jobs
                    .begin(JobKind::Rescue, name)
                    .done(format_args!("{what}, {kept}"));
            }
            Ok(Err(why)) => {
                tracing::warn!(brain = name, %why, "what became a brain is still there")
            }
            Err(error) => tracing::error!(brain = name, why = error.to_string(), "finalising"),
        }
    }
}
