//! Terms as numbers, for indexing many texts: a known word is neither stemmed again nor looked up by its term.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::analysis::WordBuffers;
use super::counts::length;
use super::{Analyzer, is_aside};

/// Words in the cache; some megabytes.
const KNOWN_WORDS_MAX: usize = 1 << 16;
/// The number of a word without a term.
const NONE: u32 = u32::MAX;

/// Numbers terms in the order of their first use, from 0.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    buffers: WordBuffers,
    known: HashMap<Box<str>, u32, WordHashBuilder>,
    terms: HashMap<Box<str>, u32, WordHashBuilder>,
    /// For each term, whether it is an aside.
    asides: Vec<bool>,
}

impl Numbers {
    /// The number of terms.
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Appends the number of each term of a text, in order, repetitions included. Returns the text's length in terms.
    pub(crate) fn read(&mut self, analyzer: &Analyzer, text: &str, out: &mut Vec<u32>) -> u32 {
        let Self {
            buffers,
            known,
            terms,
            asides,
        } = self;
        let start = out.len();
        let mut number = |term: &str| match terms.get(term) {
            Some(&number) => number,
            None => {
                let next = terms.len() as u32;
                terms.insert(term.into(), next);
                asides.push(is_aside(term));
                next
            }
        };
        analyzer.for_each_word(text, buffers, |word, term| {
            let Some(word) = word else {
                return out.push(number(term));
            };
            let found = known.get(word).copied().unwrap_or_else(|| {
                let stem = analyzer.term_of(word, term);
                let found = if stem.is_empty() { NONE } else { number(&stem) };
                if known.len() == KNOWN_WORDS_MAX {
                    known.clear();
                }
                known.insert(word.into(), found);
                found
            });
            if found != NONE {
                out.push(found);
            }
        });
        let terms = &out[start..];
        let counted = terms.iter().filter(|&&term| !asides[term as usize]).count();
        length(counted as u32, terms.is_empty())
    }

    /// Terms and their numbers, unordered.
    pub(crate) fn into_terms(self) -> impl Iterator<Item = (Box<str>, u32)> {
        self.terms.into_iter()
    }
}

/// Hashes short strings with a random seed, so that texts cannot be crafted to collide.
#[derive(Debug, Clone)]
struct WordHashBuilder(u64);

impl Default for WordHashBuilder {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for WordHashBuilder {
    type Hasher = WordHasher;

    fn build_hasher(&self) -> WordHasher {
        WordHasher(self.0)
    }
}

struct WordHasher(u64);

impl Hasher for WordHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_u8(&mut self, _: u8) {
        // `str` ends its hash with this byte; the hash covers the length already.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyzer::TermCounts;

    #[test]
    fn numbers_stand_for_the_terms_that_counting_gives() {
        let texts = [
            "The dogs' cat's dog, isn't it",
            "猫と犬",
            "",
            "Dog DOG größe the",
        ];
        let (analyzer, mut numbers) = (Analyzer::new(), Numbers::default());
        let read: Vec<Vec<u32>> = texts
            .iter()
            .map(|text| {
                let mut out = Vec::new();
                let length = numbers.read(&analyzer, text, &mut out);
                assert_eq!(TermCounts::new().count(&analyzer, text), length);
                out
            })
            .collect();
        let names: HashMap<u32, Box<str>> =
            numbers.into_terms().map(|(term, at)| (at, term)).collect();
        for (text, numbers) in texts.iter().zip(read) {
            let mut counts = TermCounts::new();
            counts.count(&analyzer, text);
            for (term, count) in counts.iter() {
                let said = numbers.iter().filter(|at| *names[at] == *term).count();
                assert_eq!(said, count as usize, "{term}");
            }
        }
    }
}
