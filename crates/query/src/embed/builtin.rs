//! The built-in embedder: words to 128 numbers, without a model.
//!
//! It hashes each term to eight of the 128 dimensions, with signs, so that different words seldom share more than one.
//! Letter groups (three and four letters) add a little, so that spelling variants are close. Words of a small table of
//! everyday subjects add their subject (`groups`), so that "puppy" is closer to "dog" than to "invoice". Repeated words
//! count by the square root, short ones less. The sum is scaled to length 1.
//!
//! Promises: the same text gives the same bits everywhere; a different result needs a new `SPACE_NAME`.
//! Not here: meaning. The embedder sees words, spelling and the table; no word order, no negation, and of languages
//! other than English only spelling. Texts without a common word are close only by the table or by chance: the cosine
//! of unrelated texts scatters by about 0.09 around 0.

use std::collections::HashMap;
use std::sync::OnceLock;

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::groups::GROUPS;
use super::vector_space;
use amem_format::analyzer::{ANALYZER_VERSION_MIN, Analyzer, TermCounts};
use amem_format::event::MemoryGraph;
use amem_format::types::Flags;

/// Dimension of the built-in embedder's vectors.
pub const DIMENSION: u32 = 128;
/// The name of the built-in embedder's vector space.
pub const SPACE_NAME: &str = "amem-builtin-1";

/// The weights of a term, of all its letter groups, and of all its subjects.
const TERM_WEIGHT: f32 = 1.0;
const LETTERS_WEIGHT: f32 = 0.4;
const GROUPS_WEIGHT: f32 = 0.5;
/// Dimensions per term and subject; letter groups are many and use fewer.
const PLACES: usize = 8;
const LETTERS_PLACES: usize = 2;
/// Seeds: equal bytes hash differently as a term, a letter group and a subject.
const TERM_SEED: u64 = 1;
const LETTERS_SEED: u64 = 2;
const GROUP_SEED: u64 = 3;

// A dimension is seven bits of a hash.
const _: () = assert!(DIMENSION == 128);

/// Makes vectors from texts.
#[derive(Debug)]
pub struct Embedder {
    analyzer: Analyzer,
    /// The subjects of a term.
    groups: HashMap<Box<str>, Vec<u16>>,
}

/// Vectors are stored, so that the space keeps the terms that it was made with.
fn analyzer() -> Analyzer {
    Analyzer::of_version(ANALYZER_VERSION_MIN).unwrap_or_default()
}

impl Embedder {
    /// The built-in embedder.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Embedder> = OnceLock::new();
        BUILTIN.get_or_init(Self::new)
    }

    fn new() -> Self {
        let (analyzer, mut counts) = (analyzer(), TermCounts::new());
        let mut groups: HashMap<Box<str>, Vec<u16>> = HashMap::new();
        for (group, words) in (0..).zip(GROUPS) {
            counts.count(&analyzer, words);
            for (term, _) in counts.iter() {
                groups.entry(term.into()).or_default().push(group);
            }
        }
        Self { analyzer, groups }
    }

    /// The vector space.
    pub fn space(&self) -> Uuid {
        vector_space(SPACE_NAME, DIMENSION)
    }

    /// The vector of a text, of length 1; `None` if the text has no terms.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        self.embed_with(text, &mut TermCounts::new())
    }

    /// `embed` with reused buffers: faster for many texts.
    pub fn embed_with(&self, text: &str, counts: &mut TermCounts) -> Option<Vec<f32>> {
        counts.count(&self.analyzer, text);
        let mut sum = [0.0f32; DIMENSION as usize];
        for (term, tf) in counts.iter() {
            let weight = (tf as f32).sqrt() * length_weight(term);
            self.add_term(&mut sum, term, weight);
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        (length > 0.0).then(|| sum.iter().map(|x| x / length).collect())
    }

    /// Embeds every event of a graph whose text has terms; returns their number.
    pub fn embed_graph(&self, graph: &mut MemoryGraph) -> u64 {
        let (mut counts, mut embedded) = (TermCounts::new(), 0);
        for event in &mut graph.events {
            event.vector = self.embed_with(&event.text, &mut counts);
            event.flags = event.flags.set(Flags::VECTOR, event.vector.is_some());
            embedded += u64::from(event.vector.is_some());
        }
        embedded
    }

    fn add_term(&self, sum: &mut [f32; DIMENSION as usize], term: &str, weight: f32) {
        add(
            sum,
            term.as_bytes(),
            TERM_SEED,
            weight * TERM_WEIGHT,
            PLACES,
        );
        let marked: Vec<char> = format!("<{term}>").chars().collect();
        let letters = || (3..=4).flat_map(|n| marked.windows(n));
        let share = weight * LETTERS_WEIGHT / (letters().count().max(1) as f32).sqrt();
        for letters in letters() {
            let letters: String = letters.iter().collect();
            add(sum, letters.as_bytes(), LETTERS_SEED, share, LETTERS_PLACES);
        }
        let groups = self.groups.get(term).map_or(&[][..], |groups| groups);
        let share = weight * GROUPS_WEIGHT / (groups.len().max(1) as f32).sqrt();
        for group in groups {
            add(sum, &group.to_le_bytes(), GROUP_SEED, share, PLACES);
        }
    }
}

/// Very short words carry less meaning.
fn length_weight(term: &str) -> f32 {
    match term.chars().count() {
        0..=3 if term.is_ascii() => 0.6,
        4 if term.is_ascii() => 0.8,
        _ => 1.0,
    }
}

/// Spreads `weight` over `places` (at most 8) dimensions chosen by the hash of `key`: in each byte, seven bits are the
/// dimension and one the sign.
fn add(sum: &mut [f32; DIMENSION as usize], key: &[u8], seed: u64, weight: f32, places: usize) {
    let share = weight / (places as f32).sqrt();
    for byte in &xxh3_64_with_seed(key, seed).to_le_bytes()[..places] {
        let signed = if byte & 0x80 == 0 { share } else { -share };
        sum[usize::from(byte & 0x7f)] += signed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use xxhash_rust::xxh3::xxh3_64;

    fn embed(text: &str) -> Vec<f32> {
        Embedder::builtin().embed(text).unwrap()
    }

    fn cosine(a: &str, b: &str) -> f32 {
        embed(a).iter().zip(embed(b)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn vectors_are_these_bits_and_no_others() {
        // A change here makes every stored vector one of another space: change SPACE_NAME with it.
        for (text, bits) in [
            (
                "Teresa: we sold the old boat last spring",
                0x0df38c8282c9c864,
            ),
            ("the deploy of the Rust server failed", 0x4d95a65d8f569321),
            ("Überraschung 猫が好き", 0xdca75e08405fa3b3),
            ("x", 0x6113e798b325ee1c),
        ] {
            let vector = embed(text);
            assert_eq!(vector.len(), DIMENSION as usize);
            let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
            assert_eq!(xxh3_64(&bytes), bits, "{text:?}: {:#018x}", xxh3_64(&bytes));
        }
        let space = Embedder::builtin().space().to_string();
        assert_eq!(space, "27474631-95f0-58fb-afa9-1c6378a678e0");
    }

    #[test]
    fn a_text_without_terms_has_no_vector() {
        for text in ["", "  ", "?!", "what was that", "don't"] {
            assert_eq!(Embedder::builtin().embed(text), None, "{text:?}");
        }
    }

    #[test]
    fn vectors_have_length_one() {
        for text in ["dog", "a dog and a cat", "猫", &"word ".repeat(10_000)] {
            let length: f32 = embed(text).iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text:.20}: {length}");
        }
    }

    #[test]
    fn buffers_do_not_change_the_result() {
        let mut counts = TermCounts::new();
        for text in ["first the dog", "then a cat", "first the dog"] {
            let again = Embedder::builtin().embed_with(text, &mut counts);
            assert_eq!(again, Some(embed(text)));
        }
    }

    #[test]
    fn forms_spelling_and_subject_bring_texts_nearer() {
        assert_eq!(embed("running dogs"), embed("the dog ran"));
        assert!(cosine("optimisation", "optimization") > cosine("optimisation", "breakfast") + 0.1);
        let pairs = [
            ("puppy", "dog"),
            ("doctor", "hospital"),
            ("salary", "job"),
            ("violin", "guitar"),
            ("snow", "rain"),
            ("database", "sqlite"),
        ];
        let mean = |other: &dyn Fn(usize) -> &'static str| {
            let cosines = pairs.iter().enumerate();
            cosines.map(|(i, p)| cosine(p.0, other(i))).sum::<f32>() / pairs.len() as f32
        };
        let (same, shifted) = (mean(&|i| pairs[i].1), mean(&|i| pairs[(i + 1) % 6].1));
        assert!(same > shifted + 0.1, "{same} {shifted}");
        assert!(cosine("my dog ate the cake", "the dog eats") > 0.5);
    }

    #[test]
    fn unrelated_words_scatter_around_zero() {
        let word = |i: u32| format!("{:x}", i.wrapping_mul(0x9e37_79b9));
        let cosines: Vec<f32> = (0..2000)
            .map(|i| cosine(&word(2 * i), &word(2 * i + 1)))
            .collect();
        let mean = cosines.iter().sum::<f32>() / 2000.0;
        let spread = (cosines.iter().map(|c| c * c).sum::<f32>() / 2000.0).sqrt();
        assert!(mean.abs() < 0.02, "mean {mean}");
        assert!((0.06..0.12).contains(&spread), "spread {spread}");
    }
}
