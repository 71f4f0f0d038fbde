//! The systematic part of the enumeration: which of a few writes survive, counted so that one can be picked.

use super::choice::Survival;

/// The newest uncertain writes, or changes of names, up to this number, are tried in all subsets.
pub(super) const SUBSET_ITEMS: usize = 6;
/// So many cuts of a long write are tried.
const CUTS: usize = 8;

/// An uncertain write, as the tiers see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    pub(super) op: usize,
    pub(super) sectors: u32,
}

/// One kind of choice.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tier {
    /// Nothing, everything, only the lengths.
    Whole,
    /// One write alone there, alone missing, alone there by its length only.
    Singles,
    /// All subsets of the newest, with none or all of the older.
    Subsets,
    /// One write torn, with none or all of the others.
    Tears,
}

/// In the order in which they are tried.
pub(super) const TIERS: [Tier; 4] = [Tier::Whole, Tier::Singles, Tier::Subsets, Tier::Tears];

impl Tier {
    /// How many choices it has for these writes.
    pub(super) fn variants(self, items: &[Item]) -> usize {
        let n = items.len();
        match self {
            Self::Whole => 3,
            Self::Singles => 3 * n,
            Self::Subsets if n > SUBSET_ITEMS => 2 << SUBSET_ITEMS,
            Self::Subsets => 1 << n,
            Self::Tears => items.iter().map(|item| tears(*item)).sum(),
        }
    }

    /// One of them.
    pub(super) fn variant(self, items: &[Item], index: usize) -> Vec<(usize, Survival)> {
        let whole = |item: &Item| (item.op, Survival::All);
        let n = items.len();
        match self {
            Self::Whole => match index {
                0 => Vec::new(),
                1 => items.iter().map(whole).collect(),
                _ => items.iter().map(|item| (item.op, only_length())).collect(),
            },
            Self::Singles => {
                let one = items[index / 3];
                let others = items.iter().filter(|item| item.op != one.op).map(whole);
                match index % 3 {
                    0 => vec![(one.op, Survival::All)],
                    1 => others.collect(),
                    _ => sorted(others.chain([(one.op, only_length())])),
                }
            }
            Self::Subsets => {
                let (older, newest) = items.split_at(n - n.min(SUBSET_ITEMS));
                let bits = index % (1 << newest.len());
                let older = if index >> newest.len() == 0 {
                    &[]
                } else {
                    older
                };
                let chosen = newest.iter().enumerate();
                let chosen = chosen.filter(|(i, _)| bits >> i & 1 == 1);
                let chosen = chosen.map(|(_, item)| item);
                older.iter().chain(chosen).map(whole).collect()
            }
            Self::Tears => {
                let mut index = index;
                let Some(one) = items.iter().find(|item| {
                    let its = index < tears(**item);
                    if !its {
                        index -= tears(**item);
                    }
                    its
                }) else {
                    return Vec::new();
                };
                let torn = (one.op, tear(*one, index / 2));
                let others = items.iter().filter(|item| item.op != one.op).map(whole);
                match index % 2 {
                    0 => vec![torn],
                    _ => sorted(others.chain([torn])),
                }
            }
        }
    }
}

/// The number of tears of a write to try, each with all other writes and with none.
fn tears(item: Item) -> usize {
    match item.sectors {
        1 => 0,
        sectors => 2 * 8 * (sectors as usize).min(CUTS),
    }
}

/// One of half as many: at one of the cuts, the first part, the last, all but one sector, only one; each with
/// the length and without.
fn tear(item: Item, index: usize) -> Survival {
    let last = item.sectors - 1;
    let cuts = item.sectors.min(CUTS as u32);
    let at = (index / 8) as u32 * last / (cuts - 1).max(1);
    let sectors = match index / 2 % 4 {
        0 => vec![(0, at.min(last - 1))],
        1 => vec![(at.max(1), last)],
        2 if at == 0 => vec![(1, last)],
        2 if at == last => vec![(0, last - 1)],
        2 => vec![(0, at - 1), (at + 1, last)],
        _ => vec![(at, at)],
    };
    let length = index % 2 == 1;
    Survival::Some { sectors, length }
}

/// Of a write, only that the file grew by it.
pub(super) fn only_length() -> Survival {
    Survival::Some {
        sectors: Vec::new(),
        length: true,
    }
}

fn sorted(data: impl Iterator<Item = (usize, Survival)>) -> Vec<(usize, Survival)> {
    let mut data: Vec<_> = data.collect();
    data.sort_unstable_by_key(|(op, _)| *op);
    data
}
