//! Merges two sorted lists: runs of the older one, single entries of the newer one.

use std::ops::Range;

/// The next part of the merged list.
pub(crate) enum MergeRun<T> {
    /// Entries of the older list, by index.
    Older(Range<usize>),
    /// One entry of the newer list.
    Newer(T),
}

/// Passes `len` older entries and the newer ones to `out` in order; equal keys: the older ones first.
pub(crate) fn merge<K: Ord, T, E>(
    len: usize,
    older: impl Fn(usize) -> K,
    newer: impl IntoIterator<Item = (K, T)>,
    mut out: impl FnMut(MergeRun<T>) -> Result<(), E>,
) -> Result<(), E> {
    let mut from = 0;
    for (key, value) in newer {
        let to = after(from, len, |at| older(at) <= key);
        if from < to {
            out(MergeRun::Older(from..to))?;
        }
        from = to;
        out(MergeRun::Newer(value))?;
    }
    if from < len {
        out(MergeRun::Older(from..len))?;
    }
    Ok(())
}

/// The first index from `from` on for which `before` is false.
fn after(from: usize, len: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (from, len);
    while from < to {
        let middle = from + (to - from) / 2;
        if before(middle) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    from
}

/// An ascending list without the entries in `gone`, plus those in `newer`. All three ascend.
pub(crate) fn edited<T: Ord + Copy>(older: &[T], gone: &[T], newer: &[T]) -> Vec<T> {
    let mut kept = Vec::with_capacity(older.len() + newer.len());
    let mut from = 0;
    for entry in gone {
        if let Ok(at) = older[from..].binary_search(entry) {
            kept.extend_from_slice(&older[from..from + at]);
            from += at + 1;
        }
    }
    kept.extend_from_slice(&older[from..]);
    if newer.is_empty() {
        return kept;
    }
    let mut out = Vec::with_capacity(kept.len() + newer.len());
    let pairs = newer.iter().map(|&entry| (entry, entry));
    let Ok(()) = merge(
        kept.len(),
        |at| kept[at],
        pairs,
        |piece| -> Result<(), std::convert::Infallible> {
            match piece {
                MergeRun::Older(range) => out.extend_from_slice(&kept[range]),
                MergeRun::Newer(entry) => out.push(entry),
            }
            Ok(())
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_edited_list_equals_a_set_with_the_same_edits() {
        let older: Vec<u32> = (0..100).map(|i| i * 3).collect();
        for step in [1usize, 2, 7, 50] {
            let gone: Vec<u32> = older.iter().copied().step_by(step).collect();
            let newer: Vec<u32> = (0..400u32).filter(|i| i % 3 == 1).step_by(step).collect();
            let mut expected: BTreeSet<u32> = older.iter().copied().collect();
            expected.retain(|i| !gone.contains(i));
            expected.extend(&newer);
            let expected: Vec<u32> = expected.into_iter().collect();
            assert_eq!(edited(&older, &gone, &newer), expected, "{step}");
        }
        assert_eq!(edited(&[1, 2], &[9], &[]), [1, 2]);
    }

    #[test]
    fn equal_entries_of_the_older_list_come_first() {
        let mut out = String::new();
        let newer = [(2, 'x'), (9, 'y')];
        let Ok(()) = merge(
            3,
            |at| at + 1,
            newer,
            |piece| -> Result<(), std::convert::Infallible> {
                match piece {
                    MergeRun::Older(range) => out.push_str(&format!("{range:?} ")),
                    MergeRun::Newer(c) => out.push(c),
                }
                Ok(())
            },
        );
        assert_eq!(out, "0..2 x2..3 y");
    }
}
