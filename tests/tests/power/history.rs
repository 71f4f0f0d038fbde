//! The requests and answers of a brain's writers, and whether the medium agrees with them.

use std::collections::HashSet;
use std::path::Path;
use std::time::SystemTime;

use amem_client::Reader;
use amem_doctor::verify;
use amem_tests::ledger::{Receipt, Verdict};
use amem_tests::power::{Ask, WriterLine};

/// All that was done with one brain, whichever process did it.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// It was there once.
    is_made: bool,
    told: Vec<Receipt>,
    /// What was begun and not answered.
    pub(crate) open: Vec<Ask>,
    pub(crate) checkpoints: u64,
    /// Answers that came when the power had failed.
    pub(crate) late: usize,
}

impl History {
    /// Adds what a writer said, whose power failed at some time, if it did.
    ///
    /// An answer that came later counts for nothing: a sync that is under way when a file system is shut down may end
    /// well although nothing reached the medium (seen on ext4, once in 2,000 cuts). A machine without power gives no
    /// answer any more.
    pub(crate) fn add(&mut self, said: Vec<WriterLine>, failed: Option<SystemTime>) {
        let mut late = 0;
        for said in said {
            match said {
                WriterLine::Open => self.is_made = true,
                // What is begun again is the same request.
                WriterLine::Begun(ask) if self.open.contains(&ask) => {}
                WriterLine::Begun(ask) => self.open.push(ask),
                WriterLine::Done(_, at) if failed.is_some_and(|failed| at >= failed) => late += 1,
                WriterLine::Done(told, _) => {
                    self.open.remove(0);
                    self.told.push(told);
                }
                WriterLine::Checkpoint => self.checkpoints += 1,
                WriterLine::Failed(_) => {}
            }
        }
        self.late += late;
    }

    /// Requests that were answered.
    pub(crate) fn answered(&self) -> usize {
        self.told.len()
    }

    /// Requests whose answer came from an attempt before the power failed.
    pub(crate) fn replayed(&self) -> usize {
        self.told.iter().filter(|told| told.replayed).count()
    }

    /// What is wrong with a file, be it recovered or not: all that was answered must be there once and in order, the
    /// rest whole or not at all.
    pub(crate) fn wrong(&self, file: &Path) -> Vec<String> {
        if !file.exists() {
            return if self.is_made {
                vec!["the brain is gone".into()]
            } else {
                Vec::new()
            };
        }
        let view = match Reader::open_copy(file) {
            Ok(view) => view,
            Err(why) => return vec![format!("it can't be read: {why}")],
        };
        let verdict = match Verdict::of(&view, std::slice::from_ref(&self.told)) {
            Ok(verdict) => verdict,
            Err(why) => return vec![format!("it can't be read: {why}")],
        };
        let mut wrong = [verdict.lost, verdict.doubled, verdict.disordered].concat();
        let mut strange: HashSet<String> = verdict.strange.into_iter().collect();
        for ask in &self.open {
            let there = ask.texts().iter().filter(|text| strange.remove(*text));
            let (there, all) = (there.count(), ask.texts().len());
            if there != 0 && there != all {
                wrong.push(format!(
                    "{there} of {all} events of a batch that was not answered"
                ));
            }
        }
        wrong.extend(
            strange
                .into_iter()
                .map(|text| format!("of nobody: {text:?}")),
        );
        wrong
    }

    /// The same of a brain that was closed in order, when all that was begun is answered; every byte is looked at.
    pub(crate) fn wrong_at_the_end(&self, file: &Path) -> Vec<String> {
        let mut wrong = self.wrong(file);
        wrong.extend(self.open.iter().map(|ask| format!("not answered: {ask:?}")));
        match verify::file(file) {
            Ok(report) if report.is_whole() => {}
            Ok(report) => wrong.push(format!("{report:?}")),
            Err(why) => wrong.push(why.to_string()),
        }
        wrong
    }
}
