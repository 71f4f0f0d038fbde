//! The file is cut.

use crate::{KNOWN, all, share, trials};

/// One in this many lengths is tried by default: a prime, so that places within records vary.
const STRIDE: usize = 211;

#[test]
fn a_cut_is_refused_reported_with_its_offset_or_removes_only_zeros() {
    let len = KNOWN.bytes().len();
    let stride = share().map_or(STRIDE, |share| share as usize);
    let mut chosen: Vec<usize> = (0..len).step_by(stride).collect();
    if !all() {
        // Where a part ends is where a shorter file looks most like a whole one.
        let ends = KNOWN
            .parts()
            .flat_map(|(_, at)| [at.start, at.start + 1, at.end - 1]);
        chosen.extend(ends.filter(|&end| end < len));
        chosen.extend((0..len).step_by(4096));
    }
    let read_each = if all() { 3 } else { 16 };
    trials::judge("cuts", chosen.len(), read_each, |at| {
        let len = chosen[at];
        (format!("cut to {len} bytes"), KNOWN.bytes()[..len].to_vec())
    });
}
