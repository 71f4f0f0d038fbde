//! Files that other programs put into the folder.

use std::time::Instant;

use amem_format::reader::Reader;
use amem_store::Ownership;
use amem_store::disk::Stamp;
use amem_store::folder::SUFFIX;
use amem_store::{Error as StoreError, LossyConversions};

use super::engine::Engine;
use super::known_brains::BrainIdentity;
use crate::error::{Error, Result};
use crate::jobs::JobKind;
use crate::limits::LATE_AFTER;
use crate::tasks::{blocking, run_to_end};
use crate::text::plural;

/// The state of a name in the folder.
#[derive(Debug)]
pub(crate) enum NameState {
    /// Nothing to do.
    Settled,
    /// No file, where a brain of ours should be.
    Missing { since: Instant },
    /// Another file, or other content, where a brain of ours should be.
    Displaced,
    /// A file that is not ours.
    Untracked(Stamp),
    /// The check failed: retry.
    Later,
}

/// The outcome of adopting or rescuing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AdoptionOutcome {
    /// Done.
    Done,
    /// Nothing is done: another program is writing the file.
    Changing,
    /// The file is rejected, and will be as long as it does not change.
    Rejected,
    /// A temporary failure, not caused by the file: retry.
    Later,
}

impl Engine {
    /// Checks a name in the folder.
    pub(crate) async fn check_name(&self, name: &str) -> NameState {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let Ok(standing) = blocking(move || amem_store::ownership(&folder, &of)).await else {
            return NameState::Later;
        };
        let is_known = self.0.known.is_held(name);
        match standing {
            Ok(Ownership::Own) if self.is_open_and_overwritten(name) => NameState::Displaced,
            Ok(Ownership::Overwritten(what)) => {
                self.0.known.note_present(name);
                let brain = name.to_owned();
                let error = StoreError::Overwritten { brain, what }.into();
                self.problems().note(name, &error, false);
                NameState::Settled
            }
            Ok(Ownership::Own) => {
                self.0.known.note_present(name);
                let is_listed = match self.problem(name) {
                    Some(problem) => !problem.is_rejected,
                    None => self.0.known.contains(name),
                };
                if !is_listed {
                    // Its adoption ended unseen, or its file was removed and came back.
                    self.note_adopted(name).await;
                }
                NameState::Settled
            }
            Ok(Ownership::Missing) => match self.0.known.note_missing(name) {
                Some(since) => NameState::Missing { since },
                None => {
                    self.forget(name).await;
                    NameState::Settled
                }
            },
            Ok(Ownership::Untracked(stamp)) if self.0.known.is_held_as(name, stamp.id) => {
                // No writer had it open, and nothing of the brain is left to save.
                tracing::warn!(
                    brain = name,
                    "another program wrote a file of its own over that of the closed brain: it is adopted"
                );
                self.0.known.forget(name);
                NameState::Untracked(stamp)
            }
            Ok(Ownership::Untracked(_) | Ownership::Rejected(_)) if is_known => {
                NameState::Displaced
            }
            Ok(Ownership::Untracked(stamp)) => NameState::Untracked(stamp),
            Err(error @ StoreError::Name { .. }) => {
                // The name alone rejects the file, as long as it is there.
                let path = self.0.path.join(format!("{name}{SUFFIX}"));
                match blocking(move || path.symlink_metadata().is_ok()).await {
                    Ok(true) => self.reject(name, &error.into()),
                    Ok(false) => self.forget(name).await,
                    Err(_) => return NameState::Later,
                }
                NameState::Settled
            }
            Ok(Ownership::Rejected(why)) => {
                let name_of = name.to_owned();
                self.reject(name, &StoreError::Rejected { name: name_of, why }.into());
                NameState::Settled
            }
            Err(why) => {
                tracing::warn!(brain = name, %why, "can't be checked");
                NameState::Later
            }
        }
    }

    /// True if a brain is open whose file is not what its writer left there. A file that cannot be read is another
    /// matter: its readers and its writer get the error.
    fn is_open_and_overwritten(&self, name: &str) -> bool {
        let open = self.open_brains();
        let open = open.iter().find(|brain| brain.name == name);
        open.is_some_and(|brain| matches!(brain.held().overwritten(), Ok(Some(_))))
    }

    /// The names that need a check: of files that are not known to be ours, of brains without a file, and of problems
    /// that may be gone.
    pub(crate) async fn names_to_check(&self) -> Result<Vec<String>> {
        let (folder, mut known) = (self.0.folder.clone(), self.0.known.files());
        for brain in self.open_brains() {
            known.insert(brain.name.clone(), Some(brain.file()));
        }
        let rejected = self.check_invalid_names().await?;
        blocking(move || {
            let mut names = rejected;
            for name in folder.names()? {
                let ours = known.remove(&name).flatten();
                let found = folder.disk().identity(&format!("{name}{SUFFIX}"));
                if ours.is_none() || found.ok() != ours {
                    names.push(name);
                }
            }
            names.extend(known.into_keys());
            names.sort_unstable();
            names.dedup();
            Ok(names)
        })
        .await?
    }

    /// Makes a brain of a file that is at rest. `closed`: its writer was seen to close it.
    pub(crate) async fn adopt(&self, name: &str, stamp: Stamp, closed: bool) -> AdoptionOutcome {
        let (engine, of) = (self.clone(), name.to_owned());
        let done = run_to_end(async move {
            let slot = engine.lock_slot(&of).await?;
            let outcome = engine.adopt_in(&of, stamp).await;
            engine.unlock_slot(&of, slot);
            outcome
        });
        let outcome = done.await.and_then(|outcome| outcome);
        let outcome = outcome.unwrap_or(AdoptionOutcome::Later);
        self.notify_waiters();
        if outcome == AdoptionOutcome::Done && closed {
            self.finalise_original(name).await;
        }
        outcome
    }

    async fn adopt_in(&self, name: &str, stamp: Stamp) -> Result<AdoptionOutcome> {
        let job = self.0.jobs.begin(JobKind::Adoption, name);
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let adopted = blocking(move || match stamp.bytes {
            0 => Err(StoreError::Rejected {
                name: of,
                why: "it is empty: put the whole file here".into(),
            }),
            _ => amem_store::adopt(&folder, &of, stamp, true),
        })
        .await?;
        let (imported, original) = match adopted {
            Ok(adopted) => adopted,
            Err(StoreError::Changing { .. } | StoreError::NotFound { .. }) => {
                job.forget();
                return Ok(AdoptionOutcome::Changing);
            }
            Err(error) => {
                let outcome = match error {
                    StoreError::Disk { .. } | StoreError::OutcomeUnknown { .. } => {
                        AdoptionOutcome::Later
                    }
                    _ => AdoptionOutcome::Rejected,
                };
                let error = Error::from(error);
                job.failed(&error);
                self.reject(name, &error);
                return Ok(outcome);
            }
        };
        let kept = imported.original.as_deref().unwrap_or_default();
        let LossyConversions {
            dropped_edges: dropped,
            changed,
        } = imported.lossy;
        tracing::info!(brain = name, layout = ?imported.layout, dropped_edges = dropped, changed, original = kept, "adopted");
        job.done(match dropped + changed {
            0 => format!("{:?}", imported.layout),
            _ => format!(
                "{:?}; {} could not be kept and {} changed, the original is {kept}",
                imported.layout,
                plural(dropped, "edge"),
                plural(changed, "value")
            ),
        });
        self.note_adopted(name).await;
        if let Some(original) = original {
            // An earlier original is a file of its own.
            self.finalise_original(name).await;
            let due = Instant::now() + LATE_AFTER;
            self.originals().insert(name.to_owned(), (due, original));
            self.finalise_oldest().await;
        }
        Ok(AdoptionOutcome::Done)
    }

    /// Lists a file that became a brain, with its identity, before it is opened.
    async fn note_adopted(&self, name: &str) {
        let path = self.0.path.join(format!("{name}{SUFFIX}"));
        let read = blocking(move || {
            let view = Reader::open(path)?.view()?;
            Ok::<_, amem_format::Error>(BrainIdentity::of(&view))
        });
        let identity = match read.await {
            Ok(Ok(identity)) => Some(identity),
            Ok(Err(why)) => {
                tracing::warn!(brain = name, %why, "the identity of an adopted brain can't be read");
                None
            }
            // A panic, which is in the log.
            Err(_) => None,
        };
        self.0.known.adopted(name, identity);
        self.problems().remove(name);
        self.0.health.report(name, true).await;
    }

    /// Lists a file as rejected; logs it once.
    pub(super) fn reject(&self, name: &str, error: &Error) {
        let is_new = self
            .problems()
            .get(name)
            .is_none_or(|problem| !problem.is_same(error));
        if is_new {
            tracing::warn!(brain = name, why = error.to_string(), "rejected");
        }
        self.problems().note(name, error, true);
    }

    /// Forgets the problem of a file that has changed.
    pub(crate) fn forget_problem(&self, name: &str) {
        self.problems().remove(name);
    }

    /// Waits for a name that a caller asks for and that is not a brain yet.
    pub(crate) async fn asked(&self) -> String {
        match self.0.asked.1.lock().await.recv().await {
            Some(name) => name,
            // The sender lives as long as `self`.
            None => std::future::pending().await,
        }
    }

    /// Notifies callers that wait for a name.
    pub(crate) fn notify_waiters(&self) {
        self.0.worked_on.send_modify(|count| *count += 1);
    }

    /// Asks the watcher to check a name, and waits until it did.
    pub(super) async fn wait_for(&self, name: &str, until: Instant) -> Result<()> {
        let mut worked_on = self.0.worked_on.subscribe();
        // A watcher whose queue is full finds the name by itself.
        drop(self.0.asked.0.try_send(name.to_owned()));
        let changed = tokio::time::timeout_at(until.into(), worked_on.changed()).await;
        if let Some(problem) = self.problems().get(name) {
            return Err(problem.error.clone());
        }
        match changed {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::Adopting {
                name: name.to_owned(),
            }),
        }
    }
}
