//! A file of a process with a flaw.

use std::io;
use std::sync::{Arc, Mutex};

use amem_format::journal::live;
use amem_store::disk::File;

use super::flaw::Flaw;
use super::process::{Phase, State, held};
use crate::disk::forward;

/// An open file.
#[derive(Debug)]
pub(super) struct FlawedFile {
    process: Arc<State>,
    file: Arc<dyn File>,
    /// Whether it is a brain, or is to be one, and none of the folder's own files.
    is_brain: bool,
    /// How often it was synced.
    syncs: Mutex<u64>,
    /// A sync that has been promised and not done.
    owed: Mutex<bool>,
    /// What the medium gets after the sync.
    kept_back: Mutex<Vec<(u64, Vec<u8>)>>,
    /// Where the live page begins.
    page: Mutex<Option<u64>>,
}

impl FlawedFile {
    pub(super) fn new(process: Arc<State>, file: Arc<dyn File>, is_brain: bool) -> Self {
        Self {
            process,
            file,
            is_brain,
            syncs: Mutex::default(),
            owed: Mutex::default(),
            kept_back: Mutex::default(),
            page: Mutex::default(),
        }
    }

    fn at_work(&self) -> bool {
        self.process.phase() == Phase::Working && !self.process.is_new(self.id())
    }

    fn is_new_in(&self, phase: Phase) -> bool {
        self.process.phase() == phase && self.process.is_new(self.id())
    }

    fn pay(&self) -> io::Result<()> {
        if std::mem::take(&mut *held(&self.owed)) {
            self.file.sync()
        } else {
            Ok(())
        }
    }

    /// A sync as the flawed process asks for it; `sync` does it.
    fn sync_with(&self, sync: impl Fn() -> io::Result<()>) -> io::Result<()> {
        self.pay()?;
        let syncs = {
            let mut syncs = held(&self.syncs);
            *syncs += 1;
            *syncs
        };
        let checkpointing = self.is_new_in(Phase::Checkpointing);
        let left_out = match self.process.flaw {
            Flaw::FramesNotSynced => self.at_work(),
            Flaw::EverySecondSyncSkipped => self.at_work() && syncs % 2 == 1,
            Flaw::CreatedNotSynced => self.is_new_in(Phase::Creating),
            Flaw::NewFileNotSynced => checkpointing,
            Flaw::CarriedNotSynced => checkpointing && syncs > 1,
            Flaw::RecoveryNotSynced => self.is_brain && self.process.phase() == Phase::Opening,
            _ => false,
        };
        if left_out {
            return Ok(());
        }
        let late = match self.process.flaw {
            Flaw::CreatedSyncedLate => self.is_new_in(Phase::Creating),
            Flaw::NewFileSyncedLate => checkpointing,
            _ => false,
        };
        if late {
            self.process.sync_late(self.file.clone());
            return Ok(());
        }
        if self.process.flaw == Flaw::AnsweredBeforeSync && self.at_work() {
            *held(&self.owed) = true;
            return Ok(());
        }
        let kept_back = std::mem::take(&mut *held(&self.kept_back));
        for (position, bytes) in &kept_back {
            self.file.write_at(*position, &vec![0; bytes.len()])?;
        }
        let done = sync();
        for (position, bytes) in &kept_back {
            self.file.write_at(*position, bytes)?;
        }
        match (done, self.process.flaw) {
            (Err(_), Flaw::SyncErrorIgnored) => Ok(()),
            (Err(_), Flaw::SyncRetried) => sync(),
            (done, _) => done,
        }
    }
}

impl File for FlawedFile {
    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.pay()?;
        if self.at_work() {
            self.process.tell_due()?;
        }
        let clears = self.process.phase() == Phase::Opening && bytes.iter().all(|&byte| byte == 0);
        if self.process.flaw == Flaw::TailNotZeroed && clears && !self.process.is_new(self.id()) {
            return Ok(());
        }
        if self.process.flaw == Flaw::EndWrittenAfterSync && self.at_work() {
            let (now, later) = bytes.split_at(bytes.len() / 2);
            let after = position + now.len() as u64;
            held(&self.kept_back).push((after, later.to_vec()));
        }
        match self.file.write_at(position, bytes) {
            Err(_) if self.process.flaw == Flaw::WriteErrorIgnored => {}
            done => done?,
        }
        let page = *held(&self.page);
        match page {
            Some(page) if self.process.flaw == Flaw::CommittedBeforeSync && self.at_work() => {
                let end = position + bytes.len() as u64;
                self.file.store_cell(page, live::COMMITTED, end)
            }
            _ => Ok(()),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_with(|| self.file.sync())
    }

    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        match self.process.flaw {
            // What stands there is not what it takes to be there.
            Flaw::EndWrittenAfterSync | Flaw::WriteErrorIgnored => self.sync(),
            Flaw::PartTooShort if self.at_work() => {
                let short = &bytes[..bytes.len().saturating_sub(1)];
                self.sync_with(|| self.file.sync_part(position, short))
            }
            _ => self.sync_with(|| self.file.sync_part(position, bytes)),
        }
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        *held(&self.page) = Some(page);
        match (self.process.flaw, offset) {
            (Flaw::RebootBelieved, live::DOUBT)
            | (Flaw::SupersededNotTold, live::SUPERSEDED_BY) => return Ok(()),
            (Flaw::SupersededToldLate, live::SUPERSEDED_BY) => {
                self.process.tell_late(self.file.clone(), page, value);
                return Ok(());
            }
            (_, live::COMMITTED) if self.at_work() => self.process.answers(),
            _ => {}
        }
        self.file.store_cell(page, offset, value)
    }

    forward!(File, |this| this.file; id, len, read_at, write_out, map, protect, is_sole_opening);
}
