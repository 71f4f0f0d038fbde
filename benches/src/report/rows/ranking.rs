//! Compares two rankings: scores are sums that may be added in different orders.

use super::super::measure::Outcome;

/// Maximum difference of equal scores.
const NEAR: f64 = 2e-6;

/// An error unless both have the same events in the same order, those of equal scores in any.
pub(super) fn same(what: &str, ours: &[(u64, f64)], theirs: &[(u64, f64)]) -> Outcome<()> {
    let differ =
        |why: String| Err(format!("{what}: {why}: ours {ours:?}, theirs {theirs:?}").into());
    if ours.len() != theirs.len() {
        return differ("another number of answers".into());
    }
    let Some(&(_, last)) = theirs.last() else {
        return Ok(());
    };
    let is_near = |a: f64, b: f64| (a - b).abs() <= NEAR * a.abs().max(b.abs()).max(1.0);
    for (at, (one, other)) in ours.iter().zip(theirs).enumerate() {
        if !is_near(one.1, other.1) {
            return differ(format!("the scores at {at}"));
        }
        let is_theirs = theirs.iter().any(|t| t.0 == one.0 && is_near(t.1, one.1));
        // An event whose equal was taken instead of it stands behind the last.
        if !is_theirs && !is_near(one.1, last) {
            return differ(format!("event {}", one.0));
        }
    }
    Ok(())
}

/// The best of all scores, the greatest first.
pub(super) fn best(scores: impl Iterator<Item = (u64, f64)>, limit: usize) -> Vec<(u64, f64)> {
    let mut all: Vec<_> = scores.collect();
    all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
    all.truncate(limit);
    all
}
