//! Other bytes made of a seed: what a fuzzer does, without coverage, and the same each time.

use crate::random::Random;

/// Numbers at which code tends to be wrong.
const ODD: [u64; 10] = [
    0,
    1,
    0x7F,
    0xFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    0xFFFF_FFFF_FFFF_FFFF,
    1 << 62,
];

/// A few changes at random places.
pub fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(6) {
        let len = bytes.len() as u64;
        let at = random.below(len.max(1)) as usize;
        let rest = bytes.len() - at.min(bytes.len());
        let part = rest.min(random.below(32) as usize);
        match random.below(8) {
            0 | 1 if rest > 0 => bytes[at] ^= 1 << random.below(8),
            2 if rest > 0 => bytes[at] = random.number() as u8,
            3 | 4 => {
                let width = random.pick(&[1, 2, 4, 8]).min(rest);
                let number = random
                    .pick(&ODD)
                    .wrapping_add(random.below(3))
                    .wrapping_sub(1);
                bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            }
            5 => drop(bytes.drain(at..at + part)),
            6 => {
                let again = bytes[at..at + part].to_vec();
                let to = random.below(len + 1) as usize;
                drop(bytes.splice(to..to, again));
            }
            _ => bytes.truncate(bytes.len() - part),
        }
    }
    bytes
}
