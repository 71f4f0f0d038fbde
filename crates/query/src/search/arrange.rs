//! The order in which hits are shown: equal texts once, near ties and outdated values after the newest.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use xxhash_rust::xxh3::xxh3_64;

use super::request::{Hit, Search};
use amem_format::error::Result;
use amem_format::types::Micros;
use amem_format::view::View;

/// Bytes of a text that is compared with others but for one value: each of its values is a comparison of all of it.
const VALUE_TEXT_BYTES_MAX: usize = 4 << 10;
/// Hits with the text of an earlier one that a search passes over; behind them it ends.
const DUPLICATES_MAX: usize = 4_096;
/// Hits past the limit that may tie with the last one.
const TIED_MAX: usize = 16;
/// Words of a text that may differ from another in one value.
const VALUE_WORDS: std::ops::RangeInclusive<usize> = 3..=64;

/// Hits as they come, the best first.
pub(super) struct Arrangement<'v> {
    view: &'v View,
    limit: usize,
    margin: f32,
    keeps_duplicates: bool,
    /// The words of the question, in lower case: a value that it names is the one that it asks for.
    asked: Vec<String>,
    hits: Vec<ArrangedHit>,
    /// Hits by their text.
    texts: HashMap<u64, usize>,
    duplicates: usize,
    /// The greatest score of the current group of near ties.
    leader: f32,
    group: u32,
}

struct ArrangedHit {
    hit: Hit,
    happened: Micros,
    group: u32,
    /// Hashes of its text with one value left out.
    without_a_value: Vec<u64>,
}

impl<'v> Arrangement<'v> {
    pub(super) fn new(view: &'v View, search: &Search, limit: usize) -> Self {
        Self {
            view,
            limit,
            margin: search.tie_margin,
            keeps_duplicates: search.include_duplicates,
            asked: words(&search.question).map(str::to_lowercase).collect(),
            hits: Vec::new(),
            texts: HashMap::new(),
            duplicates: 0,
            leader: f32::INFINITY,
            group: 0,
        }
    }

    pub(super) fn may_take_more(&self) -> bool {
        let more = if self.margin > 0.0 { TIED_MAX } else { 0 };
        self.hits.len() < self.limit + more && self.duplicates < DUPLICATES_MAX
    }

    /// Hits below this score are not taken.
    pub(super) fn floor(&self) -> f32 {
        match self.hits.len() < self.limit {
            true => f32::NEG_INFINITY,
            false => self.leader * (1.0 - self.margin),
        }
    }

    /// True if a hit of this score, at most that of the hit before, is shown or ties with the last that is.
    pub(super) fn takes(&self, score: f32) -> bool {
        self.hits.len() < self.limit || self.is_tied(score)
    }

    fn is_tied(&self, score: f32) -> bool {
        score >= self.leader * (1.0 - self.margin)
    }

    /// Adds a hit, or counts it with the hit of the same text.
    pub(super) fn push(&mut self, hit: Hit) -> Result<()> {
        let node = self.view.node(hit.id)?;
        let (happened, text) = (node.happened()?, node.text()?);
        if !self.keeps_duplicates
            && let Some(hash) = text_hash(&text)
        {
            match self.texts.entry(hash) {
                Entry::Vacant(entry) => {
                    entry.insert(self.hits.len());
                }
                Entry::Occupied(entry) => {
                    self.duplicates += 1;
                    let first = &mut self.hits[*entry.get()];
                    first.hit.equal_texts += 1;
                    if (happened, hit.id) > (first.happened, first.hit.id) {
                        (first.happened, first.hit.id) = (happened, hit.id);
                    }
                    return Ok(());
                }
            }
        }
        if !self.is_tied(hit.score) || self.hits.is_empty() {
            self.leader = hit.score;
            self.group += 1;
        }
        self.hits.push(ArrangedHit {
            hit,
            happened,
            group: self.group,
            // Without a margin nothing is compared.
            without_a_value: match self.margin > 0.0 && text.len() <= VALUE_TEXT_BYTES_MAX {
                true => without_a_value(&text, &self.asked),
                false => Vec::new(),
            },
        });
        Ok(())
    }

    /// The hits in the order in which they are shown, and perhaps more than the limit.
    pub(super) fn into_hits(mut self) -> Vec<Hit> {
        if self.margin > 0.0 {
            self.hits.sort_by(|a, b| {
                let newest = (b.happened, b.hit.id).cmp(&(a.happened, a.hit.id));
                a.group.cmp(&b.group).then(newest)
            });
            self.order_values();
        }
        self.hits.into_iter().map(|hit| hit.hit).collect()
    }

    /// Puts hits that differ in one value in the order of their time, in the places that they have.
    fn order_values(&mut self) {
        let mut of_key: HashMap<u64, usize> = HashMap::new();
        let mut alike: Vec<Vec<usize>> = Vec::new();
        for (at, hit) in self.hits.iter().enumerate() {
            let known = hit.without_a_value.iter().find_map(|key| of_key.get(key));
            let group = *known.unwrap_or(&alike.len());
            if group == alike.len() {
                alike.push(Vec::new());
            }
            alike[group].push(at);
            for &key in &hit.without_a_value {
                of_key.entry(key).or_insert(group);
            }
        }
        for places in alike.iter().filter(|places| places.len() > 1) {
            let time = |at: &usize| (self.hits[*at].happened, self.hits[*at].hit.id);
            let mut by_time = places.clone();
            by_time.sort_by_key(|at| std::cmp::Reverse(time(at)));
            let newest = self.hits[by_time[0]].hit.id;
            let mut moved: Vec<Hit> = by_time.iter().map(|&at| self.hits[at].hit).collect();
            for hit in &mut moved[1..] {
                hit.newer_value = Some(newest);
            }
            for (&place, hit) in places.iter().zip(moved) {
                self.hits[place].hit = hit;
            }
        }
    }
}

/// The words of a text, without the punctuation around them. A question mark is part of the word before it: a question
/// says something else than the statement of the same words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    const PUNCTUATION: &[char] = &[
        '.', ',', ';', ':', '!', '"', '\'', '(', ')', '[', ']', '\u{2026}', '\u{201c}', '\u{201d}',
        '\u{201e}', '\u{2018}', '\u{2019}', '\u{ab}', '\u{bb}',
    ];
    let trimmed = text.split_whitespace();
    trimmed
        .map(|word| word.trim_matches(PUNCTUATION))
        .filter(|word| !word.is_empty())
}

/// The hash of a text without case, punctuation and articles; `None` if that leaves nothing.
fn text_hash(text: &str) -> Option<u64> {
    let mut form = String::with_capacity(text.len());
    for word in words(text) {
        let lower = word.to_lowercase();
        if !matches!(lower.as_str(), "a" | "an" | "the") {
            form.push_str(&lower);
            form.push(' ');
        }
    }
    (!form.is_empty()).then(|| xxh3_64(form.as_bytes()))
}

/// For each value that a text may state, the hash of the text without it. A word is such a value if it has a digit,
/// ends the text, or is written as a name inside it; not if it is among the words of the question.
fn without_a_value(text: &str, asked: &[String]) -> Vec<u64> {
    let words: Vec<&str> = words(text).take(VALUE_WORDS.end() + 1).collect();
    if !VALUE_WORDS.contains(&words.len()) {
        return Vec::new();
    }
    let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    let is_value = |at: &usize| {
        let is_name = *at > 0 && words[*at].starts_with(char::is_uppercase);
        let has_digit = words[*at].contains(|c: char| c.is_ascii_digit());
        (has_digit || is_name || *at + 1 == words.len()) && !asked.contains(&lower[*at])
    };
    let without = |left_out: usize| {
        let mut form = String::new();
        for (at, word) in lower.iter().enumerate() {
            form.push_str(if at == left_out { "\0" } else { word });
            form.push(' ');
        }
        xxh3_64(form.as_bytes())
    };
    (0..words.len()).filter(is_value).map(without).collect()
}
