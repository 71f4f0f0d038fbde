//! Corrects the recorded times of a damaged node table.

use amem_format::types::Micros;

/// A time for each event, non-decreasing and at most `newest`. `read` has `None` for unreadable records, which get the
/// time of the previous event.
///
/// Recorded times never decrease with ids, and damage is assumed to be rare: the longest non-decreasing subsequence is
/// trusted (of two equally long ones, the one that ends earlier). Any other time becomes the nearest one that its
/// neighbours allow. Damage that keeps the order is not detected.
pub(super) fn in_order(read: &[Option<Micros>], newest: Micros) -> Vec<Micros> {
    let newest = newest.max(Micros(0));
    let mut trusted = longest_run(read, newest).into_iter().peekable();
    let mut last = Micros(0);
    let mut out = Vec::with_capacity(read.len());
    for (at, time) in read.iter().enumerate() {
        while trusted.next_if(|&next| next < at).is_some() {}
        let next = trusted.peek().and_then(|&next| read[next]);
        let next = next.unwrap_or(newest);
        last = time.map_or(last, |time| time.clamp(last, next));
        out.push(last);
    }
    out
}

/// Positions of the longest non-decreasing subsequence, ascending.
pub(super) fn longest_run(read: &[Option<Micros>], newest: Micros) -> Vec<usize> {
    // For each length, the end of the subsequence with the smallest last time; and the predecessor of each time.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; read.len()];
    for (at, time) in read.iter().enumerate() {
        if !time.is_some_and(|time| (Micros(0)..=newest).contains(&time)) {
            continue;
        }
        let len = ends.partition_point(|&end| read[end] <= *time);
        before[at] = len.checked_sub(1).map(|last| ends[last]);
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let mut run: Vec<usize> = std::iter::successors(last, |&at| before[at]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time; `None` where the record cannot be read.
    fn check(read: &[i64], expected: &[i64]) {
        let times: Vec<_> = read
            .iter()
            .map(|&t| (t != NONE).then_some(Micros(t)))
            .collect();
        let found: Vec<i64> = in_order(&times, Micros(1000)).iter().map(|t| t.0).collect();
        assert_eq!(found, expected, "of {read:?}");
    }

    const NONE: i64 = -1_000_000;

    #[test]
    fn one_damaged_time_moves_between_its_neighbours_and_the_others_stay() {
        check(&[], &[]);
        check(&[5, 5, 7, 9], &[5, 5, 7, 9]);
        // Upwards, downwards, at both ends, past the newest, before 1970.
        check(&[10, 900, 30, 40], &[10, 30, 30, 40]);
        check(&[10, 20, 3, 40], &[10, 20, 20, 40]);
        check(&[900, 20, 30], &[20, 20, 30]);
        check(&[10, 20, 3], &[10, 20, 20]);
        check(&[10, 20, 5000], &[10, 20, 1000]);
        check(&[10, -7, 30], &[10, 10, 30]);
        // Of two readings of the same damage the one that ends earlier.
        check(&[10, 900, 20], &[10, 20, 20]);
    }

    #[test]
    fn several_damaged_times_beside_each_other_stay_in_order() {
        check(&[10, 20, 900, 3, 40, 50], &[10, 20, 40, 40, 40, 50]);
        check(&[10, NONE, 900, NONE, 40, 50], &[10, 10, 40, 40, 40, 50]);
        check(&[NONE, 900, 5000, NONE], &[0, 900, 1000, 1000]);
        check(&[5000, 6000], &[1000, 1000]);
    }

    #[test]
    fn a_brain_whose_own_time_is_damaged_has_no_time_that_can_be() {
        let read = [Some(Micros(5)), None, Some(Micros(0))];
        assert_eq!(in_order(&read, Micros(-4)), [Micros(0); 3]);
    }
}
