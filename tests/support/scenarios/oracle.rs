//! What a brain shows after each transaction of a script, at every moment.

use std::sync::Arc;

use amem_format::view::{AsOf, View};
use amem_format::{Lsn, Micros};
use amem_store::{Answer, Folder, Store};

use super::flaw::Flaw;
use super::picture;
use super::process::Process;
use super::script::{Script, time_of};
use super::trial::{NAME, create};
use crate::disk::SimDisk;

/// The truth about a script: it was played on a sound disk, without checkpoints and without restarts.
#[derive(Debug)]
pub struct Oracle {
    moments: Vec<Moment>,
}

/// What the brain shows after a transaction.
#[derive(Debug)]
struct Moment {
    lsn: Lsn,
    time: Micros,
    answer: Answer,
    view: View,
    /// All of it.
    now: Vec<u8>,
    /// Its graph as of this transaction and each before it.
    earlier: Vec<Vec<u8>>,
}

impl Oracle {
    /// Plays a script.
    ///
    /// # Panics
    /// If the store refuses a request of it.
    pub fn new(script: &Script) -> Self {
        let process = Process::new(Arc::new(SimDisk::new(0)), Flaw::None);
        let folder = Folder::open(Arc::new(process.clone()), "the oracle");
        let folder = folder.unwrap_or_else(|e| panic!("{}: {e}", script.name));
        process.set_clock(time_of(1));
        let store = create(&folder, script).and_then(|()| Store::open(&folder, NAME));
        let mut store = store.unwrap_or_else(|e| panic!("{}: {e}", script.name));
        let mut oracle = Self {
            moments: Vec::new(),
        };
        oracle.note(script, store.view(), Answer::default());
        for (number, (request, now)) in (2..).zip(script.requests()) {
            process.set_clock(now);
            let answer = store.execute(request.clone());
            let answer = answer.unwrap_or_else(|e| panic!("{}, {number}: {e}", script.name));
            oracle.note(script, store.view(), answer);
        }
        // A view stays what it was.
        for (moment, number) in oracle.moments.iter().zip(1..) {
            let mut late = Vec::new();
            let drawn = picture::graph(&moment.view, &mut late);
            let same = drawn.is_ok() && moment.now.starts_with(&late);
            assert!(
                same,
                "{}: a view of transaction {number} changed",
                script.name
            );
        }
        oracle
    }

    fn note(&mut self, script: &Script, view: View, answer: Answer) {
        let (lsn, time) = view.moment();
        let moments = self.moments.iter().map(|moment| moment.lsn).chain([lsn]);
        let earlier = moments.map(|lsn| then(&view, AsOf::Lsn(lsn)));
        let drawn = earlier
            .collect::<Result<_, _>>()
            .and_then(|earlier| Ok((now(&view)?, earlier)));
        let (now, earlier) = drawn.unwrap_or_else(|e| panic!("{}: {e}", script.name));
        self.moments.push(Moment {
            lsn,
            time,
            answer,
            view,
            now,
            earlier,
        });
    }

    /// The number of transactions, that after all others included.
    pub fn transactions(&self) -> u64 {
        self.moments.len() as u64
    }

    /// What a transaction was answered.
    pub fn answer(&self, transaction: u64) -> &Answer {
        &self.moments[transaction as usize - 1].answer
    }

    /// The number of transactions up to an LSN, if it is that of one.
    pub(super) fn count(&self, lsn: Lsn) -> Option<u64> {
        let found = self.moments.iter().position(|moment| moment.lsn == lsn)?;
        Some(found as u64 + 1)
    }

    /// The number of transactions that a brain shows, if it shows exactly what so many leave.
    pub fn judge(&self, view: &View) -> Result<u64, String> {
        let (lsn, _) = view.moment();
        let found = self.count(lsn);
        let found = found.ok_or_else(|| format!("LSN {lsn} is within a transaction"))?;
        let moment = &self.moments[found as usize - 1];
        if now(view)? != moment.now {
            let difference = picture::difference(view, &moment.view);
            return Err(format!("after {found} transactions: {difference}"));
        }
        for (past, expected) in self.moments.iter().zip(&moment.earlier) {
            for as_of in [AsOf::Lsn(past.lsn), AsOf::Time(past.time)] {
                // A view is its brain and its moment: two of one moment are the same.
                let is_drawn = matches!(as_of, AsOf::Time(_)) && is_same(view, past)?;
                if !is_drawn && then(view, as_of)? != *expected {
                    let views = (view.as_of(as_of), moment.view.as_of(as_of));
                    let difference = match views {
                        (Ok(found), Ok(expected)) => picture::difference(&found, &expected),
                        (Err(e), _) | (_, Err(e)) => e.to_string(),
                    };
                    return Err(format!(
                        "after {found} transactions, as of {as_of:?}: {difference}"
                    ));
                }
            }
        }
        Ok(found)
    }
}

/// True if the LSN and the time of a moment lead to the same view.
fn is_same(view: &View, past: &Moment) -> Result<bool, String> {
    let at = |as_of| {
        let view = view.as_of(as_of).map_err(|e| e.to_string())?;
        Ok::<_, String>((view.moment(), view.nodes()))
    };
    Ok(at(AsOf::Lsn(past.lsn))? == at(AsOf::Time(past.time))?)
}

fn now(view: &View) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(4096);
    picture::graph(view, &mut out)
        .and_then(|()| picture::rest(view, &mut out))
        .map_err(|e| e.to_string())?;
    Ok(out)
}

fn then(view: &View, as_of: AsOf) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(4096);
    view.as_of(as_of)
        .and_then(|view| picture::graph(&view, &mut out))
        .map_err(|e| e.to_string())?;
    Ok(out)
}
