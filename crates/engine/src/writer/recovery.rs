//! A writer whose store can't go on: the writer drops the store and opens the brain again from its file, until that
//! succeeds.
//!
//! Promises: what was committed is not released before it has its name again or is saved in quarantine, however often
//! that fails. Not here: what fails, and what is saved (`amem_store`).

use std::io::ErrorKind;
use std::time::Instant;

use amem_store::folder::SUFFIX;
use amem_store::{Error as StoreError, Store};

use super::Writer;
use crate::error::Error;
use crate::jobs::JobKind;
use crate::limits::RECOVER_AGAIN_AFTER;

impl Writer {
    /// Reacts to the state of the store after an operation.
    pub(super) fn react(&mut self) {
        let Some(store) = &self.store else {
            return;
        };
        let overwritten = store.overwritten().map(|error| error.to_string());
        if let Some(why) = overwritten.or_else(|| store.poisoned().map(str::to_owned)) {
            self.lose(&why);
            self.recover();
            return;
        }
        let unsaved = store.unsaved();
        match unsaved {
            Some(why) => self.state.poison(why),
            None if self.is_unsaved => self.state.clear_poison(),
            None => return,
        }
        if unsaved.is_some() != self.is_unsaved {
            if let Some(why) = unsaved {
                tracing::error!(brain = self.name, why, "saving it is retried");
            }
            self.is_unsaved = unsaved.is_some();
            self.report_health(!self.is_unsaved);
        }
    }

    /// Drops a store that can't be used any more.
    pub(super) fn lose(&mut self, why: &str) {
        tracing::error!(brain = self.name, why, "the brain has to be recovered");
        let store = self.store.take();
        self.is_saved |= store.is_some_and(|store| store.saved().is_some());
        self.state.poison(why);
        self.report_health(false);
        self.checkpoints.failed(&Error::outcome_unknown());
    }

    /// Opens the brain again if its store was dropped, at most once in `RECOVER_AGAIN_AFTER`.
    pub(super) fn recover(&mut self) {
        if self.store.is_some() || Instant::now() < self.recover_at {
            return;
        }
        let job = self.jobs.begin(JobKind::Recovery, &self.name);
        let opened = match Store::open(&self.folder, &self.name) {
            // Its name is gone or belongs to another file: the open file alone has its content.
            Err(
                StoreError::NotFound { .. }
                | StoreError::Untracked { .. }
                | StoreError::Rejected { .. },
            ) if !self.is_saved => Store::reopen(&self.folder, &self.name, &self.state.held()),
            opened => opened,
        };
        match opened {
            Ok(store) => {
                (self.is_saved, self.is_unsaved) = (false, false);
                job.done(format_args!("LSN {}", store.view().lsn()));
                tracing::info!(brain = self.name, lsn = store.view().lsn().0, "recovered");
                self.state.publish(&store);
                self.state.clear_poison();
                self.checkpoints.note_erased(store.erase_pending());
                self.store = Some(store);
                self.report_health(true);
            }
            Err(error @ StoreError::Replaced { .. }) => {
                job.failed(&error);
                tracing::error!(brain = self.name, %error, "recovered, and quarantined");
                self.is_saved = true;
                self.give_up();
            }
            Err(error @ StoreError::Overwritten { .. }) => {
                // It is in the log. The next caller gets this error, from the next opening.
                job.failed(&error);
                self.state.poison(&error.to_string());
                self.give_up();
            }
            Err(StoreError::NotFound { .. } | StoreError::Untracked { .. }) => {
                // Its file was removed, which is in the log.
                job.forget();
                self.give_up();
            }
            Err(error) => {
                job.failed(&error);
                tracing::error!(brain = self.name, %error, "recovery failed");
                self.state.poison(&error.to_string());
                self.recover_at = Instant::now() + RECOVER_AGAIN_AFTER;
            }
        }
    }

    /// The last try to recover a brain that has lost its name: the next run of the daemon would not find it.
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

    /// Ends this writer: the next caller opens the brain again.
    fn give_up(&mut self) {
        self.recover_at = Instant::now() + RECOVER_AGAIN_AFTER;
        self.state.close();
        self.queue.close();
    }

    fn report_health(&self, is_serving: bool) {
        let reported = self.health.report(&self.name, is_serving);
        self.runtime.block_on(reported);
    }
}
