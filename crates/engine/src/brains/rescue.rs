//! Brains whose files other programs removed or displaced.

use amem_store::quarantine::{QuarantineNotice, QuarantineReason};
use amem_store::{Error as StoreError, Store};
use tokio::task::JoinSet;

use super::adoption::{AdoptionOutcome, NameState};
use super::engine::{Engine, SlotGuard};
use crate::error::Result;
use crate::jobs::JobKind;
use crate::tasks::{blocking, run_to_end};

impl Engine {
    /// Logs files that were quarantined since the last call.
    pub fn log_quarantined(&self) {
        for QuarantineNotice {
            brain,
            file,
            reason,
        } in self.0.folder.take_quarantine_notices()
        {
            let what = match reason {
                QuarantineReason::Conflict => {
                    "another file had the brain's name: it is quarantined as a conflict"
                }
                QuarantineReason::Recovered => {
                    "what the brain had is quarantined: its file had lost its name"
                }
                QuarantineReason::Original => "a file that became the brain is quarantined",
            };
            tracing::warn!(brain, file, "{what} (amemctl conflicts)");
        }
    }

    /// Saves a brain whose file another program removed, or takes its name back from a file that was put there.
    pub(crate) async fn rescue(&self, name: &str) -> AdoptionOutcome {
        let (engine, of) = (self.clone(), name.to_owned());
        let done = run_to_end(async move {
            let slot = engine.lock_slot(&of).await?;
            engine.rescue_in(&of, slot).await
        });
        let outcome = match done.await.and_then(|outcome| outcome) {
            Ok(outcome) => outcome,
            Err(error) => {
                tracing::error!(
                    brain = name,
                    why = error.to_string(),
                    "the brain's file was removed or displaced"
                );
                AdoptionOutcome::Later
            }
        };
        self.notify_waiters();
        outcome
    }

    /// Saves the brains, open or closed, that have lost their names since the last check: the next run would not find
    /// them.
    pub async fn save_nameless(&self) {
        let mut saving = JoinSet::new();
        for name in self.0.known.names() {
            let state = self.check_name(&name).await;
            if matches!(state, NameState::Missing { .. } | NameState::Displaced) {
                let engine = self.clone();
                saving.spawn(async move { engine.rescue(&name).await });
            }
        }
        while saving.join_next().await.is_some() {}
    }

    async fn rescue_in(&self, name: &str, mut slot: SlotGuard) -> Result<AdoptionOutcome> {
        let job = self.0.jobs.begin(JobKind::Rescue, name);
        let open = slot.clone().filter(|open| !open.is_closed());
        let (rescued, store) = match open {
            Some(brain) => (brain.hold_name().await, None),
            None => match self.0.known.held(name) {
                Some(held) => {
                    let (folder, of) = (self.0.folder.clone(), name.to_owned());
                    match blocking(move || Store::reopen(&folder, &of, &held)).await? {
                        Ok(store) => (Ok(true), Some(store)),
                        Err(error) => (Err(error.into()), None),
                    }
                }
                None => {
                    // Its writer has saved it already: what has its name now is an untracked file.
                    job.forget();
                    self.0.known.forget(name);
                    self.unlock_slot(name, slot);
                    return Ok(AdoptionOutcome::Changing);
                }
            },
        };
        match rescued {
            Ok(false) => {
                job.forget();
                self.unlock_slot(name, slot);
                Ok(AdoptionOutcome::Done)
            }
            Ok(true) => {
                let what = "a file had taken its name: it is quarantined as a conflict";
                job.done(what);
                if let Some(store) = store {
                    *slot = Some(self.start_writer(store)?);
                }
                self.unlock_slot(name, slot);
                Ok(AdoptionOutcome::Done)
            }
            Err(error) => {
                job.failed(&error);
                if matches!(error.store(), Some(StoreError::Overwritten { .. })) {
                    // Nothing of it can be saved, and nothing is written to it any more.
                    *slot = None;
                    self.0.known.forget(name);
                    self.problems().note(name, &error, false);
                }
                if matches!(error.store(), Some(StoreError::Replaced { .. })) {
                    *slot = None;
                    self.0.known.forget(name);
                    self.0.health.forget(name).await;
                }
                self.unlock_slot(name, slot);
                Err(error)
            }
        }
    }
}
