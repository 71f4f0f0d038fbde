//! Which beliefs are contested, worked out from what replaced what, in the plainest way.

use std::collections::{BTreeMap, BTreeSet};

/// Each contested belief with its heads, the newest first, of (what replaces, what is replaced): it was replaced by
/// more than one event itself, and of what replaced it more than one was not replaced again.
pub(crate) fn contested(pairs: &[(u64, u64)]) -> Vec<(u64, Vec<u64>)> {
    let mut by: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &(source, target) in pairs {
        by.entry(target).or_default().insert(source);
    }
    let twice = by.iter().filter(|(_, sources)| sources.len() > 1);
    let heads = twice.map(|(&belief, _)| (belief, heads(&by, belief)));
    heads.filter(|(_, heads)| heads.len() > 1).collect()
}

fn heads(by: &BTreeMap<u64, BTreeSet<u64>>, belief: u64) -> Vec<u64> {
    let mut seen = BTreeSet::from([belief]);
    let mut left = vec![belief];
    while let Some(event) = left.pop() {
        let sources = by.get(&event).into_iter().flatten();
        left.extend(sources.filter(|&&source| seen.insert(source)));
    }
    let is_head = |event: &u64| *event != belief && !by.contains_key(event);
    seen.into_iter().rev().filter(is_head).collect()
}

/// What replaced what, and the contested beliefs of it.
type Row<'a> = (&'a [(u64, u64)], &'a [(u64, Vec<u64>)]);

#[test]
fn a_belief_is_contested_until_its_heads_are_merged() {
    let rows: [Row<'_>; 5] = [
        (&[(1, 0)], &[]),
        (&[(1, 0), (2, 1)], &[]),
        (&[(1, 0), (2, 0)], &[(0, vec![2, 1])]),
        (&[(1, 0), (2, 0), (3, 1)], &[(0, vec![3, 2])]),
        (&[(1, 0), (2, 0), (3, 1), (3, 2)], &[]),
    ];
    for (pairs, expected) in rows {
        assert_eq!(contested(pairs), expected, "{pairs:?}");
    }
}
