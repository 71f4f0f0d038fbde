//! Files that others put into the folder, and files of ours that others took away or pushed aside.
//!
//! Promises: whatever happens to a file that is being adopted, a brain is made of all of it or not at all; a brain that
//! was open here, even if it is closed by now, does not end with its file's name.

use std::collections::HashMap;
use std::time::Instant;

use amem_format::reader::Reader;
use amem_proto::v1::JobKind;
use amem_store::disk::Stamp;
use amem_store::folder::SUFFIX;
use amem_store::quarantine::{QuarantineNotice, QuarantineReason};
use amem_store::{Error, LossyConversions, Store};
use amem_store::{OriginalFile, Ownership};
use tokio::task::JoinSet;
use tonic::Code;

use super::{Brains, Taken, Which, blocking, to_its_end};
use crate::limits::{LATE_AFTER, ORIGINALS_MAX};
use crate::refusal::{Refusal, Result};
use crate::words::plural;

/// What stands under a name.
#[derive(Debug)]
pub(crate) enum Found {
    /// Nothing that needs anything done.
    Nothing,
    /// Nothing, where a brain of ours should be.
    Gone { since: Instant },
    /// Another file, where a brain of ours should be.
    Pushed,
    /// A file that is not ours.
    Stranger(Stamp),
    /// What could not be looked at now.
    Later,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All that was to be done.
    Done,
    /// Nothing: somebody is writing the file.
    Changing,
    /// Nothing, and nothing will as long as the file is as it is.
    Refused,
    /// Nothing, by no fault of the file.
    Later,
}

/// Files of which brains were made, by the brain, and when each is looked at for the last time.
pub(super) type Originals = HashMap<String, (Instant, OriginalFile)>;

impl Brains {
    /// Looks at what stands under a name.
    pub(crate) async fn look(&self, name: &str) -> Found {
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let Ok(standing) = blocking(move || amem_store::ownership(&folder, &of)).await else {
            return Found::Later;
        };
        let is_known = self.0.known.has(name);
        match standing {
            Ok(Ownership::Own) => {
                self.0.known.present(name);
                let is_listed = match self.problem(name) {
                    Some(told) => !told.is_rejected,
                    None => self.0.known.knows(name),
                };
                if !is_listed {
                    // Its adoption was not known to be done, or its file was taken away and came back.
                    self.note_adopted(name).await;
                }
                Found::Nothing
            }
            Ok(Ownership::Missing) => match self.0.known.missing(name) {
                Some(since) => Found::Gone { since },
                None => {
                    self.forget(name).await;
                    Found::Nothing
                }
            },
            Ok(Ownership::Untracked(_) | Ownership::Rejected(_)) if is_known => Found::Pushed,
            Ok(Ownership::Untracked(stamp)) => Found::Stranger(stamp),
            Err(error @ Error::Name { .. }) => {
                // The name says it all, as long as it is there.
                let path = self.0.path.join(format!("{name}{SUFFIX}"));
                match blocking(move || path.symlink_metadata().is_ok()).await {
                    Ok(true) => self.refuse(name, error.into()),
                    Ok(false) => self.forget(name).await,
                    Err(_) => return Found::Later,
                }
                Found::Nothing
            }
            Ok(Ownership::Rejected(why)) => {
                let name_of = name.to_owned();
                self.refuse(name, Error::Rejected { name: name_of, why }.into());
                Found::Nothing
            }
            Err(why) => {
                tracing::warn!(brain = name, %why, "can't be looked at");
                Found::Later
            }
        }
    }

    /// Tells of files that were kept aside, whoever found them.
    pub(crate) fn tell_kept(&self) {
        for QuarantineNotice {
            brain,
            file,
            reason,
        } in self.0.folder.take_quarantine_notices()
        {
            let what = match reason {
                QuarantineReason::Conflict => {
                    "another file had the brain's name: it is kept as a conflict"
                }
                QuarantineReason::Recovered => {
                    "what the brain had is kept: its file had lost its name"
                }
                QuarantineReason::Original => "a file that became the brain is kept",
            };
            tracing::warn!(brain, file, "{what} (amemctl conflicts)");
        }
    }

    /// The names under which files stand that are not known to be ours, those of brains that have none, and those of
    /// which something is told that may be gone.
    pub(crate) async fn strangers(&self) -> Result<Vec<String>> {
        let (folder, mut known) = (self.0.folder.clone(), self.0.known.files());
        for brain in self.open() {
            known.insert(brain.name.clone(), Some(brain.shared.file()));
        }
        let told = self.odd().await?;
        blocking(move || {
            let mut strangers = told;
            for name in folder.names()? {
                let ours = known.remove(&name).flatten();
                let found = folder.disk().identity(&format!("{name}{SUFFIX}"));
                if ours.is_none() || found.ok() != ours {
                    strangers.push(name);
                }
            }
            strangers.extend(known.into_keys());
            strangers.sort_unstable();
            strangers.dedup();
            Ok(strangers)
        })
        .await?
    }

    /// Makes a brain of a file that is at rest. `closed`: whoever wrote it was seen to be done.
    pub(crate) async fn adopt(&self, name: &str, stamp: Stamp, closed: bool) -> Outcome {
        let (brains, of) = (self.clone(), name.to_owned());
        let done = to_its_end(async move {
            let place = brains.take(&of).await?;
            let outcome = brains.adopt_at(&of, stamp).await;
            brains.leave(&of, place);
            outcome
        });
        let outcome = done.await.unwrap_or(Outcome::Later);
        self.tell_asked();
        if outcome == Outcome::Done && closed {
            self.settle(name).await;
        }
        outcome
    }

    async fn adopt_at(&self, name: &str, stamp: Stamp) -> Result<Outcome> {
        let job = self.0.jobs.begin(JobKind::Adoption, name);
        let (folder, of) = (self.0.folder.clone(), name.to_owned());
        let adopted = blocking(move || match stamp.bytes {
            0 => Err(Error::Rejected {
                name: of,
                why: "it is empty: put the whole file here".into(),
            }),
            _ => amem_store::adopt(&folder, &of, stamp, true),
        })
        .await?;
        let (imported, original) = match adopted {
            Ok(adopted) => adopted,
            Err(Error::Changing { .. } | Error::NotFound { .. }) => {
                job.forget();
                return Ok(Outcome::Changing);
            }
            Err(error) => {
                let outcome = match error {
                    Error::Disk { .. } | Error::OutcomeUnknown { .. } => Outcome::Later,
                    _ => Outcome::Refused,
                };
                let refusal = Refusal::from(error);
                job.failed(&refusal.message);
                self.refuse(name, refusal);
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
            // One of before is a file of its own.
            self.settle(name).await;
            let due = Instant::now() + LATE_AFTER;
            self.originals().insert(name.to_owned(), (due, original));
            self.settle_oldest().await;
        }
        Ok(Outcome::Done)
    }

    /// A file is a brain now: it is listed, with what it is, before anybody opens it.
    async fn note_adopted(&self, name: &str) {
        let path = self.0.path.join(format!("{name}{SUFFIX}"));
        let read = blocking(move || {
            let view = Reader::open(path)?.view()?;
            let (instance, lineage) = (view.identity().instance, view.identity().lineage);
            Ok::<_, amem_format::Error>(Which { instance, lineage })
        });
        let which = match read.await {
            Ok(Ok(which)) => Some(which),
            Ok(Err(why)) => {
                tracing::warn!(brain = name, %why, "which brain was adopted can't be read");
                None
            }
            // A defect, which is in the log.
            Err(_) => None,
        };
        self.0.known.adopted(name, which);
        self.problem_list().remove(name);
        self.0.health.brain(name, true).await;
    }

    /// Saves a brain whose file somebody took away, or gets its name back from a file that somebody put there.
    pub(crate) async fn rescue(&self, name: &str) -> Outcome {
        let (brains, of) = (self.clone(), name.to_owned());
        let done = to_its_end(async move {
            let place = brains.take(&of).await?;
            brains.rescue_at(&of, place).await
        });
        let outcome = match done.await {
            Ok(outcome) => outcome,
            Err(refusal) => {
                tracing::error!(
                    brain = name,
                    why = refusal.message,
                    "the brain's file was taken away or pushed aside"
                );
                Outcome::Later
            }
        };
        self.tell_asked();
        outcome
    }

    /// Saves what has lost its name since that was looked at last, open or closed: nobody else would.
    pub(crate) async fn save_nameless(&self) {
        let mut saving = JoinSet::new();
        for name in self.0.known.names() {
            if matches!(self.look(&name).await, Found::Gone { .. } | Found::Pushed) {
                let brains = self.clone();
                saving.spawn(async move { brains.rescue(&name).await });
            }
        }
        while saving.join_next().await.is_some() {}
    }

    async fn rescue_at(&self, name: &str, mut place: Taken) -> Result<Outcome> {
        let job = self.0.jobs.begin(JobKind::Rescue, name);
        let open = place.clone().filter(|open| !open.is_closed());
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
                    // Its writer has saved it already: whatever has its name now is a stranger.
                    job.forget();
                    self.0.known.forget(name);
                    self.leave(name, place);
                    return Ok(Outcome::Changing);
                }
            },
        };
        match rescued {
            Ok(false) => {
                job.forget();
                self.leave(name, place);
                Ok(Outcome::Done)
            }
            Ok(true) => {
                let what = "a file had taken its name: it is kept as a conflict";
                job.done(what);
                if let Some(store) = store {
                    *place = Some(self.start_writer(store)?);
                }
                self.leave(name, place);
                Ok(Outcome::Done)
            }
            Err(refusal) => {
                job.failed(&refusal.message);
                if refusal.reason == "REPLACED" {
                    *place = None;
                    self.0.known.forget(name);
                    self.0.health.forget(name).await;
                }
                self.leave(name, place);
                Err(refusal)
            }
        }
    }

    /// A file that is not adopted, and why. It is told once.
    pub(super) fn refuse(&self, name: &str, refusal: Refusal) {
        let is_new = self
            .problem_list()
            .get(name)
            .is_none_or(|known| known.refusal != refusal);
        if is_new {
            tracing::warn!(brain = name, why = refusal.message, "not adopted");
        }
        self.problem_list().note(name, &refusal, true);
    }

    /// A file has changed that was refused.
    pub(crate) fn look_anew(&self, name: &str) {
        self.problem_list().remove(name);
    }

    /// Waits for a name that somebody asks for, and that is not ours.
    pub(crate) async fn asked(&self) -> String {
        match self.0.asked.1.lock().await.recv().await {
            Some(name) => name,
            // We hold the other end.
            None => std::future::pending().await,
        }
    }

    /// Whoever waits for a name looks again.
    pub(crate) fn tell_asked(&self) {
        self.0.told.send_modify(|count| *count += 1);
    }

    /// Has the file under a name looked at, and waits until something came of it.
    pub(super) async fn wait_for(&self, name: &str, until: Instant) -> Result<()> {
        let mut told = self.0.told.subscribe();
        // A watcher that has so much to do finds the name by itself.
        drop(self.0.asked.0.try_send(name.to_owned()));
        let changed = tokio::time::timeout_at(until.into(), told.changed()).await;
        if let Some(problem) = self.problem_list().get(name) {
            return Err(problem.refusal.clone());
        }
        match changed {
            Ok(_) => Ok(()),
            Err(_) => Err(Refusal::new(
                Code::Unavailable,
                "ADOPTING",
                format!(
                    "{name}.amem is being adopted, or still being written by somebody: wait and retry"
                ),
            )),
        }
    }

    /// When a file of which a brain was made is looked at next.
    pub(crate) fn settle_next(&self) -> Option<Instant> {
        self.originals().values().map(|(due, _)| *due).min()
    }

    /// Takes away the files of which brains were made a while ago.
    pub(crate) async fn settle_due(&self) {
        let now = Instant::now();
        let due = |(name, (due, _)): (&String, &(Instant, OriginalFile))| {
            (*due <= now).then(|| name.clone())
        };
        let names: Vec<_> = self.originals().iter().filter_map(due).collect();
        for name in names {
            self.settle(&name).await;
        }
    }

    /// Each is a descriptor: of too many, the oldest is looked at earlier.
    async fn settle_oldest(&self) {
        let oldest = {
            let originals = self.originals();
            let oldest = originals.iter().min_by_key(|(_, (due, _))| *due);
            oldest
                .filter(|_| originals.len() > ORIGINALS_MAX)
                .map(|(name, _)| name.clone())
        };
        if let Some(name) = oldest {
            self.settle(&name).await;
        }
    }

    /// Takes away the file of which a brain was made; when this ends nobody is about to. Where it fails the file is
    /// left (`Folder::clear_leftovers`).
    pub(crate) async fn settle(&self, name: &str) {
        let (brains, of) = (self.clone(), name.to_owned());
        let done = to_its_end(async move {
            let _alone = brains.0.settling.lock().await;
            brains.settle_alone(&of).await;
            Ok(())
        });
        if let Err(refusal) = done.await {
            tracing::error!(brain = name, why = refusal.message, "settling");
        }
    }

    async fn settle_alone(&self, name: &str) {
        let Some((_, original)) = self.originals().remove(name) else {
            return;
        };
        match blocking(move || original.finalise()).await {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(kept))) => {
                let what = "the file that became this brain was written to afterwards: it is kept as a conflict";
                self.0
                    .jobs
                    .begin(JobKind::Rescue, name)
                    .done(format_args!("{what}, {kept}"));
            }
            Ok(Err(why)) => {
                tracing::warn!(brain = name, %why, "what became a brain is still there")
            }
            Err(refusal) => tracing::error!(brain = name, why = refusal.message, "settling"),
        }
    }
}
