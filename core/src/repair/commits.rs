//! The times of commits, where the section that has them is damaged.
//!
//! Promises: LSNs and times ascend, and end with those of the base. A commit whose LSN or time is damaged is left out,
//! unless history has it as well.

use std::collections::BTreeMap;

use super::times::longest_run;
use crate::base::Base;
use crate::types::{Lsn, Micros};

/// The body of a clock: what the old one says in order, and what history says.
pub(super) fn clock(base: &Base) -> Vec<u8> {
    let commits = commits(base);
    let mut body = (commits.len() as u64).to_le_bytes().to_vec();
    body.extend(commits.iter().flat_map(|(lsn, _)| lsn.0.to_le_bytes()));
    body.extend(commits.iter().flat_map(|(_, time)| time.0.to_le_bytes()));
    body
}

fn commits(base: &Base) -> Vec<(Lsn, Micros)> {
    let last = (base.identity().base_lsn, base.identity().base_time);
    let is_earlier = |of: &(Lsn, Micros)| of.0 >= Lsn(1) && of.0 < last.0 && of.1 < last.1;
    let mut found: Vec<_> = match base.clock() {
        Ok(clock) => (0..clock.len()).filter_map(|at| clock.get(at)).collect(),
        Err(_) => Vec::new(),
    };
    found.retain(is_earlier);
    believe(&mut found);
    let mut all: BTreeMap<_, _> = found.into_iter().collect();
    if let Ok(history) = base.history() {
        // A change has the time of its commit: of two that differ, the clock's is the damaged one.
        let changes = history.iter().flatten();
        all.extend(
            changes
                .map(|change| (change.lsn, change.time))
                .filter(is_earlier),
        );
    }
    let mut found: Vec<_> = all.into_iter().collect();
    believe(&mut found);
    if last.0 >= Lsn(1) {
        found.push(last);
    }
    found
}

/// Keeps the longest run of commits in which LSNs ascend, and of these the longest in which times do.
fn believe(commits: &mut Vec<(Lsn, Micros)>) {
    let ascending: [fn(&(Lsn, Micros)) -> Micros; 2] =
        [|of| Micros(i64::try_from(of.0.0).unwrap_or(-1)), |of| of.1];
    for value in ascending {
        let values: Vec<_> = commits.iter().map(|of| Some(value(of))).collect();
        let run = longest_run(&values, Micros::MAX);
        *commits = run.into_iter().map(|at| commits[at]).collect();
        commits.dedup_by_key(|of| value(of));
    }
}
