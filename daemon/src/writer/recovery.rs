//! A writer whose store can't go on: it is dropped, and the brain opened again from its file, until that is done.
//!
//! Promises: what was committed is not let go of before it has its name again or is saved aside, however often that
//! fails. Not here: what fails, and what is saved (`amem_store`).

use std::io::ErrorKind;
use std::time::Instant;

use amem_proto::v1::JobKind;
use amem_store::folder::SUFFIX;
use amem_store::{Error, Store};

use super::Writer;
use crate::limits::RECOVER_AGAIN_AFTER;
use crate::refusal::Refusal;

impl Writer {
    /// Does what follows from what the store says of itself.
    pub(super) fn heed(&mut self) {
        let Some(store) = &self.store else {
            return;
        };
        if let Some(why) = store.poisoned().map(str::to_owned) {
            self.lose(&why);
            self.recover();
            return;
        }
        let unsaved = store.unsaved();
        match unsaved {
            Some(why) => self.shared.poison(why),
            None if self.is_unsaved => self.shared.recovered(),
            None => return,
        }
        if unsaved.is_some() != self.is_unsaved {
            if let Some(why) = unsaved {
                tracing::error!(brain = self.name, why, "it is tried again");
            }
            self.is_unsaved = unsaved.is_some();
            self.tell_health(!self.is_unsaved);
        }
    }

    /// The store can't be used any more.
    pub(super) fn lose(&mut self, why: &str) {
        tracing::error!(brain = self.name, why, "the brain has to be recovered");
        let store = self.store.take();
        self.is_saved |= store.is_some_and(|store| store.saved().is_some());
        self.shared.poison(why);
        self.tell_health(false);
        self.checkpoints.failed(Refusal::outcome_unknown());
    }

    /// Opens the brain again if it was lost, at most so often.
    pub(super) fn recover(&mut self) {
        if self.store.is_some() || Instant::now() < self.recover_at {
            return;
        }
        let job = self.jobs.begin(JobKind::Recovery, &self.name);
        let opened = match Store::open(&self.folder, &self.name) {
            // Its name is gone, or another's, and what it has is nowhere but in its file.
            Err(Error::NotFound { .. } | Error::Untracked { .. } | Error::Rejected { .. })
                if !self.is_saved =>
            {
                Store::reopen(&self.folder, &self.name, &self.shared.held())
            }
            opened => opened,
        };
        match opened {
            Ok(store) => {
                (self.is_saved, self.is_unsaved) = (false, false);
                job.done(format_args!("LSN {}", store.view().lsn()));
                tracing::info!(brain = self.name, lsn = store.view().lsn().0, "recovered");
                self.shared.show(&store);
                self.shared.recovered();
                self.checkpoints.note_erased(store.erase_pending());
                self.store = Some(store);
                self.tell_health(true);
            }
            Err(error @ Error::Replaced { .. }) => {
                job.failed(&error);
                tracing::error!(brain = self.name, %error, "recovered, and kept aside");
                self.is_saved = true;
                self.give_up();
            }
            Err(Error::NotFound { .. } | Error::Untracked { .. }) => {
                // Its file was taken away, which has been told.
                job.forget();
                self.give_up();
            }
            Err(error) => {
                job.failed(&error);
                tracing::error!(brain = self.name, %error, "recovery failed");
                self.shared.poison(&error.to_string());
                self.recover_at = Instant::now() + RECOVER_AGAIN_AFTER;
            }
        }
    }

    /// The last try of a brain that waits for recovery and has lost its name: the next run would not find it.
    pub(super) fn recover_nameless(&mut self) {
        let found = self
            .folder
            .disk()
            .identity(&format!("{}{SUFFIX}", self.name));
        if !self.is_saved && found.is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            self.recover_at = Instant::now();
            self.recover();
        }
    }

    /// Whoever wants a brain of this name opens another.
    fn give_up(&mut self) {
        self.recover_at = Instant::now() + RECOVER_AGAIN_AFTER;
        self.shared.close();
        self.queue.close();
    }

    fn tell_health(&self, is_serving: bool) {
        let told = self.health.brain(&self.name, is_serving);
        self.runtime.block_on(told);
    }
}
