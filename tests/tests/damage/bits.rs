//! One bit is flipped.

use amem_tests::random::Random;

use crate::{KNOWN, all, seed, share, trials};

/// One in this many bits is tried by default.
const SHARE: u64 = 100;

#[test]
fn a_flipped_bit_is_refused_reported_with_its_offset_or_harmless() {
    let (count, share) = (KNOWN.bytes().len() * 8, share().unwrap_or(SHARE));
    let random = &mut Random::new(seed());
    let chosen: Vec<usize> = (0..count).filter(|_| random.below(share) == 0).collect();
    // Numbers that have nothing in common with the bits of a byte.
    let read_each = if all() { 7 } else { 33 };
    trials::judge("bits", chosen.len(), read_each, |at| {
        let bit = chosen[at];
        let mut bytes = KNOWN.bytes().to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        (format!("bit {} of byte {}", bit % 8, bit / 8), bytes)
    });
}
