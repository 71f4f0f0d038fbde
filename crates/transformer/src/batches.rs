//! A batch of texts: grouped by length, run on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::encoder::{Encoder, ForwardPass};

/// Tokens of a group: enough to use the packed matrices often, few enough for the states to stay in the cache.
const GROUP_TOKENS_MIN: usize = 64;
const GROUP_TOKENS_MAX: usize = 384;
/// Groups for each thread, so that none waits long for the last one.
const GROUPS_PER_THREAD: usize = 4;

/// The vectors of texts, in their order; `threads` is at least 1.
pub(crate) fn embed(encoder: &Encoder, texts: &[Vec<u32>], threads: usize) -> Vec<Vec<f32>> {
    let groups = groups(texts, threads);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut out, mut pass) = (Vec::new(), ForwardPass::new(encoder));
        while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
            let tokens: Vec<&[u32]> = group.iter().map(|at| &texts[*at][..]).collect();
            out.extend(group.iter().copied().zip(pass.embed(&tokens)));
        }
        out
    };
    let mut vectors = vec![Vec::new(); texts.len()];
    let helpers = threads.min(groups.len()).saturating_sub(1);
    let found = thread::scope(|scope| {
        let handles: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for handle in handles {
            found.extend(handle.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        found
    });
    for (at, vector) in found {
        vectors[at] = vector;
    }
    vectors
}

/// Groups of texts of similar lengths, the longest first.
fn groups(texts: &[Vec<u32>], threads: usize) -> Vec<Vec<usize>> {
    let total: usize = texts.iter().map(Vec::len).sum();
    let share = total.div_ceil(threads * GROUPS_PER_THREAD);
    let most = share.clamp(GROUP_TOKENS_MIN, GROUP_TOKENS_MAX);
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(texts[*at].len()));
    let (mut groups, mut tokens): (Vec<Vec<usize>>, usize) = (Vec::new(), 0);
    for at in order {
        let count = texts[at].len();
        match groups.last_mut() {
            Some(group) if tokens + count <= most => {
                group.push(at);
                tokens += count;
            }
            _ => {
                groups.push(vec![at]);
                tokens = count;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lengths: &[usize], threads: usize, expected: &[&[usize]]) {
        let texts: Vec<_> = lengths.iter().map(|count| vec![0; *count]).collect();
        assert_eq!(groups(&texts, threads), expected, "{lengths:?}");
    }

    #[test]
    fn texts_of_similar_lengths_are_in_one_group() {
        check(&[], 2, &[]);
        check(&[3, 500, 2], 2, &[&[1], &[0, 2]]);
        check(&[20, 60, 20, 24], 1, &[&[1], &[3, 0, 2]]);
        check(&[400, 400], 1, &[&[0], &[1]]);
    }
}
