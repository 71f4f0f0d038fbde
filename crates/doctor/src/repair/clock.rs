//! Rebuilds a damaged clock section: the times of commits.
//!
//! Promises: LSNs and times ascend and end with those of the base. A commit with a damaged LSN or time is left out,
//! unless the history has it as well. Entries of an intact history are always kept.
//! Not here: consistency with the other sections (`rebuild`).

use super::times::longest_run;
use amem_format::base::Base;
use amem_format::types::{Lsn, Micros};

/// A commit and its recorded time.
type CommitTime = (Lsn, Micros);

/// The body of a clock section, from the old one and the history. `is_history_proven`: the history matches its
/// checksums.
pub(super) fn body(base: &Base, is_history_proven: bool) -> Vec<u8> {
    let last = (base.identity().base_lsn, base.identity().base_time);
    let clock = base.clock().into_iter();
    let clock = clock.flat_map(|clock| (0..clock.len()).filter_map(move |at| clock.get(at)));
    let history = base.history().into_iter();
    let history = history.flat_map(|history| {
        let changes = history.iter().flatten();
        changes
            .map(|change| (change.lsn, change.time))
            .collect::<Vec<_>>()
    });
    let commits = if is_history_proven {
        merge(history.collect(), clock.collect(), last)
    } else {
        merge(clock.collect(), history.collect(), last)
    };
    let mut body = (commits.len() as u64).to_le_bytes().to_vec();
    body.extend(commits.iter().flat_map(|(lsn, _)| lsn.0.to_le_bytes()));
    body.extend(commits.iter().flat_map(|(_, time)| time.0.to_le_bytes()));
    body
}

/// Merges two lists and the last commit in ascending order. Entries of `others` that contradict `sure` are left out.
fn merge(
    mut sure: Vec<CommitTime>,
    mut others: Vec<CommitTime>,
    last: CommitTime,
) -> Vec<CommitTime> {
    for list in [&mut sure, &mut others] {
        list.retain(|of| (Lsn(1)..last.0).contains(&of.0) && of.1 < last.1);
        list.dedup();
        keep_ascending(list);
    }
    others.retain(|of| {
        let at = sure.partition_point(|s| s.0 < of.0);
        let is_later = at.checked_sub(1).is_none_or(|before| sure[before].1 < of.1);
        is_later
            && sure
                .get(at)
                .is_none_or(|next| of.0 < next.0 && of.1 < next.1)
    });
    sure.append(&mut others);
    sure.sort_unstable();
    sure.extend((last.0 >= Lsn(1)).then_some(last));
    sure
}

/// Keeps the longest subsequence with ascending LSNs, and of that the longest with ascending times.
fn keep_ascending(commits: &mut Vec<CommitTime>) {
    keep(commits, |of| Micros(i64::try_from(of.0.0).unwrap_or(-1)));
    keep(commits, |of| of.1);
}

fn keep(commits: &mut Vec<CommitTime>, value: fn(&CommitTime) -> Micros) {
    let values: Vec<_> = commits.iter().map(|of| Some(value(of))).collect();
    let run = longest_run(&values, Micros::MAX);
    *commits = run.into_iter().map(|at| commits[at]).collect();
    commits.dedup_by_key(|of| value(of));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of two lists of (LSN, time) under a last commit (9, 90).
    fn check(sure: &[(u64, i64)], others: &[(u64, i64)], expected: &[(u64, i64)]) {
        let list = |of: &[(u64, i64)]| of.iter().map(|(l, t)| (Lsn(*l), Micros(*t))).collect();
        let found = super::merge(list(sure), list(others), (Lsn(9), Micros(90)));
        let found: Vec<_> = found.iter().map(|(l, t)| (l.0, t.0)).collect();
        assert_eq!(found, expected, "{sure:?} and {others:?}");
    }

    #[test]
    fn a_whole_clock_stays_as_it_is() {
        check(
            &[(2, 20), (5, 50), (9, 90)],
            &[],
            &[(2, 20), (5, 50), (9, 90)],
        );
        check(
            &[],
            &[(2, 20), (5, 50), (9, 90)],
            &[(2, 20), (5, 50), (9, 90)],
        );
        check(&[], &[], &[(9, 90)]);
    }

    #[test]
    fn a_damaged_entry_is_left_out_and_the_others_stay() {
        // An LSN too high, one of zero, one past the base; a time too late, one past the base, one before 1970.
        check(
            &[(7, 20), (5, 50), (6, 60)],
            &[],
            &[(5, 50), (6, 60), (9, 90)],
        );
        check(&[(0, 20), (5, 50)], &[], &[(5, 50), (9, 90)]);
        check(&[(u64::MAX, 20), (5, 50)], &[], &[(5, 50), (9, 90)]);
        check(
            &[(2, 70), (5, 50), (6, 60)],
            &[],
            &[(5, 50), (6, 60), (9, 90)],
        );
        check(&[(2, 20), (5, 500)], &[], &[(2, 20), (9, 90)]);
        check(&[(2, -7), (5, 50)], &[], &[(5, 50), (9, 90)]);
    }

    #[test]
    fn the_other_list_fills_gaps_and_pushes_nothing_out() {
        check(
            &[(5, 50)],
            &[(2, 20), (5, 51), (7, 70)],
            &[(2, 20), (5, 50), (7, 70), (9, 90)],
        );
        // However many disagree.
        check(
            &[(5, 50)],
            &[(2, 55), (3, 56), (6, 40)],
            &[(5, 50), (9, 90)],
        );
        check(&[(5, 50)], &[(4, 50), (6, 50)], &[(5, 50), (9, 90)]);
        // Changes of one commit say it again.
        check(
            &[(5, 50), (5, 50), (6, 60)],
            &[],
            &[(5, 50), (6, 60), (9, 90)],
        );
    }
}
