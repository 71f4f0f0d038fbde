//! Pages that the medium lost, or has in the wrong place.

use amem_tests::random::Random;

use crate::{KNOWN, all, seed, trials};

const PAGE: usize = 4096;

/// What happens to pages.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Zeroed(usize),
    /// The first stands in the place of the second as well.
    Doubled(usize, usize),
    Swapped(usize, usize),
}

impl Damage {
    fn done_to(self, bytes: &mut [u8]) {
        let page = |at: usize| at * PAGE..(at + 1) * PAGE;
        match self {
            Self::Zeroed(at) => bytes[page(at)].fill(0),
            Self::Doubled(from, to) => bytes.copy_within(page(from), to * PAGE),
            Self::Swapped(a, b) => {
                let first = bytes[page(a)].to_vec();
                bytes.copy_within(page(b), a * PAGE);
                bytes[page(b)].copy_from_slice(&first);
            }
        }
    }
}

#[test]
fn a_zeroed_doubled_or_swapped_page_is_refused_reported_or_harmless() {
    let pages = KNOWN.bytes().len() / PAGE;
    let mut chosen: Vec<_> = (0..pages).map(Damage::Zeroed).collect();
    if all() {
        let pairs = (0..pages * pages).map(|pair| (pair / pages, pair % pages));
        for (a, b) in pairs.filter(|(a, b)| a != b) {
            chosen.push(Damage::Doubled(a, b));
            chosen.extend((a < b).then_some(Damage::Swapped(a, b)));
        }
    } else {
        let random = &mut Random::new(seed());
        for at in 0..pages {
            let far = random.below(pages as u64) as usize;
            for other in [at.saturating_sub(1), (at + 1).min(pages - 1), far] {
                chosen.extend([Damage::Doubled(at, other), Damage::Swapped(at, other)]);
            }
        }
    }
    let read_each = if all() { 2 } else { 4 };
    trials::judge("pages", chosen.len(), read_each, |at| {
        let mut bytes = KNOWN.bytes().to_vec();
        chosen[at].done_to(&mut bytes);
        (format!("{:?}", chosen[at]), bytes)
    });
}
