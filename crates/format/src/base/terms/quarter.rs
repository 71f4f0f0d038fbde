//! The length that a quarter of the texts do not exceed.
//!
//! In conversations with an assistant few long answers make the mean; the shortest quarter says how long a text is that
//! a person types.

/// Texts counted by length, and the length of the last text of the shortest quarter.
#[derive(Debug, Clone, Default)]
pub struct LengthQuarter {
    /// The number of texts by length.
    counts: Vec<u32>,
    texts: u64,
    quarter: u32,
    /// Texts shorter than `quarter`.
    shorter: u64,
}

impl LengthQuarter {
    /// The lengths of these texts.
    pub fn of(lengths: impl IntoIterator<Item = u32>) -> Self {
        let mut counted = Self::default();
        for length in lengths {
            counted.count(length);
        }
        counted.settle();
        counted
    }

    /// Adds a text.
    pub fn add(&mut self, length: u32) {
        self.count(length);
        self.settle();
    }

    fn count(&mut self, length: u32) {
        let at = length as usize;
        if at >= self.counts.len() {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.texts += 1;
        self.shorter += u64::from(length < self.quarter);
    }

    /// Moves to where a quarter of the texts ends. Most moves are short: one text more shifts it by a quarter of one.
    fn settle(&mut self) {
        let needed = self.texts.div_ceil(4);
        while self.shorter >= needed && self.quarter > 0 {
            self.quarter -= 1;
            self.shorter -= u64::from(self.counts[self.quarter as usize]);
        }
        while let Some(&here) = self.counts.get(self.quarter as usize)
            && self.shorter + u64::from(here) < needed
        {
            self.shorter += u64::from(here);
            self.quarter += 1;
        }
    }

    /// The smallest length that a quarter of the texts do not exceed; 0 without texts.
    pub fn length(&self) -> u32 {
        self.quarter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_is_the_quarter_of_the_sorted_lengths(
            lengths in proptest::collection::vec(0u32..40, 0..60),
            wide in proptest::collection::vec(0u32..=65_535, 0..20),
        ) {
            let all: Vec<u32> = lengths.into_iter().chain(wide).collect();
            let mut added = LengthQuarter::default();
            for (at, &length) in all.iter().enumerate() {
                added.add(length);
                let mut sorted = all[..=at].to_vec();
                sorted.sort_unstable();
                let expected = sorted[sorted.len().div_ceil(4) - 1];
                proptest::prop_assert_eq!(added.length(), expected);
                proptest::prop_assert_eq!(LengthQuarter::of(all[..=at].iter().copied()).length(), expected);
            }
        }
    }
}
