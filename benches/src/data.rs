//! Seeded data: events of six types, three edges each, English-like texts of 50–200 bytes, vectors of 128.

/// A seeded source of numbers (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// A number within 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        (self.number() >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Different words.
const WORDS: u64 = 11_000;
const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
/// What a word ends with: no ending that a stemmer of English cuts has one of these.
const LAST: &[u8; 6] = b"bkpvxz";

/// The word of a rank: as in English, the frequent ones are short. No two ranks have the same word, and words have
/// no more in common than any others, so that texts are packed as seldom as English ones of their length.
pub(crate) fn word(rank: u64) -> String {
    // The factors are prime to the numbers of words of three, five and seven letters.
    let (syllables, mut rest) = match rank {
        0..60 => (1, rank * 77 % 600),
        60..1_000 => (2, rank * 7_919 % 60_000),
        _ => (3, rank * 1_299_709 % 6_000_000),
    };
    let mut take = |letters: &[u8]| {
        let letter = letters[(rest % letters.len() as u64) as usize];
        rest /= letters.len() as u64;
        char::from(letter)
    };
    let mut out = String::new();
    for _ in 0..syllables {
        out.push(take(CONSONANTS));
        out.push(take(VOWELS));
    }
    out.push(take(LAST));
    out
}

/// A text of 50–200 bytes, its words by Zipf's law.
pub(crate) fn text(random: &mut Random) -> String {
    let len = 50 + random.below(150) as usize;
    let mut out = String::new();
    while out.len() < len {
        let rank = ((WORDS as f32).powf(random.unit()) - 1.0) as u64;
        out.push_str(&word(rank));
        out.push(' ');
    }
    out.pop();
    out
}

/// A vector of 128 around one of 1,000 centres.
pub(crate) fn vector(random: &mut Random) -> Vec<f32> {
    let mut centre = Random::new(random.below(1_000));
    (0..128)
        .map(|_| centre.unit() - 0.5 + 0.2 * (random.unit() + random.unit() - 1.0))
        .collect()
}

/// What is asked: words from frequent to rare, and a vector.
pub(crate) struct Question {
    /// Three words.
    pub(crate) text: String,
    /// The rarest of them.
    pub(crate) rare: String,
    /// Of 128 numbers.
    pub(crate) vector: Vec<f32>,
}

impl Question {
    /// A question that has answers.
    pub(crate) fn of(random: &mut Random) -> Self {
        Self {
            text: format!("{} {} {}", word(40), word(400), word(4_000)),
            rare: word(4_000),
            vector: vector(random),
        }
    }
}
