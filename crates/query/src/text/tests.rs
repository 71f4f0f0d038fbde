//! Scores against a naive BM25, wherever the postings stand.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::expand::{ADDED_MAX, COMPOUND, OPEN_FORM, TYPO};
use super::*;
use amem_format::analyzer::{Analyzer, TermCounts, is_aside, is_stop_word};
use amem_format::base::terms::{IndexMerge, LengthQuarter, Terms};
use amem_format::delta::DeltaTerms;

fn terms_of(text: &str) -> BTreeMap<String, u32> {
    let mut counts = TermCounts::new();
    counts.count(&Analyzer::new(), text);
    counts.iter().map(|(t, n)| (t.to_owned(), n)).collect()
}

/// True if one edit makes `b` of `a`, or an exchange of neighbours, and both start alike.
fn is_typo(a: &str, b: &str) -> bool {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut edited: Vec<Vec<char>> = Vec::new();
    for at in 1..=a.len() {
        for &letter in &b {
            let mut more = a.clone();
            more.insert(at, letter);
            edited.push(more);
            if at < a.len() {
                let mut other = a.clone();
                other[at] = letter;
                edited.push(other);
            }
        }
        if at < a.len() {
            let mut less = a.clone();
            less.remove(at);
            edited.push(less);
        }
        if at + 1 < a.len() {
            let mut exchanged = a.clone();
            exchanged.swap(at, at + 1);
            edited.push(exchanged);
        }
    }
    a != b && edited.contains(&b)
}

/// The group of a term of ASCII letters, from counts of the texts that have each term.
fn naive_group(
    term: &str,
    known: &BTreeMap<String, u32>,
    is_english: bool,
) -> BTreeMap<String, f64> {
    let mut group = BTreeMap::from([(term.to_owned(), 1.0)]);
    let is_word = term.bytes().all(|b| b.is_ascii_alphabetic());
    let mut add = |terms: Vec<String>, weight: f64| {
        for term in terms {
            group.entry(term).or_insert(weight);
        }
    };
    let with = |wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        known
            .keys()
            .filter(|known| wanted(known))
            .cloned()
            .collect()
    };
    // The words of this test are of no language but English.
    if is_word && !is_english && term.len() >= 5 {
        let start = &term[..(term.len() - 1).min(5)];
        let is_near = |known: &str| known.len().abs_diff(term.len()) <= 5;
        add(
            with(&|known| known.starts_with(start) && is_near(known)),
            OPEN_FORM.into(),
        );
        add(
            with(&|known| known.starts_with(term) && !is_near(known)),
            COMPOUND.into(),
        );
        if term.len() >= 6 {
            add(
                with(&|known| known.ends_with(term) && known.len() >= term.len() + 3),
                COMPOUND.into(),
            );
            let is_known = |part: &&str| part.len() >= 4 && known.contains_key(*part);
            let joints = 4..=term.len() - 4;
            let starts = joints.clone().rev().flat_map(|at| {
                ["", "s", "es", "n", "en", "e"].map(|link| term[..at].strip_suffix(link))
            });
            add(
                starts
                    .flatten()
                    .find(is_known)
                    .map(str::to_owned)
                    .into_iter()
                    .collect(),
                COMPOUND.into(),
            );
            let end = joints.map(|at| &term[at..]).find(is_known);
            add(
                end.map(str::to_owned).into_iter().collect(),
                COMPOUND.into(),
            );
        }
    }
    if is_word && term.len() >= 4 && !known.contains_key(term) {
        let mut typos = with(&|known| is_typo(term, known));
        typos.sort_by_key(|typo| std::cmp::Reverse(known[typo]));
        typos.truncate(3);
        add(typos, TYPO.into());
    }
    group
}

/// The formula of `score`, event by event, in double precision.
fn naive(texts: &[String], question: &str) -> BTreeMap<u32, f64> {
    let texts: Vec<_> = texts.iter().map(|t| terms_of(t)).collect();
    let mut known: BTreeMap<String, u32> = BTreeMap::new();
    for term in texts.iter().flat_map(BTreeMap::keys) {
        *known.entry(term.clone()).or_default() += 1;
    }
    let length = |text: &BTreeMap<String, u32>| -> u32 {
        let counted = text.iter().filter(|(term, _)| !is_aside(term));
        counted
            .map(|(_, tf)| tf)
            .sum::<u32>()
            .max(u32::from(!text.is_empty()))
    };
    let lengths: Vec<u32> = texts.iter().map(length).collect();
    let n = texts.len() as f64;
    let mean = lengths.iter().sum::<u32>() as f64 / n;
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let quarter = sorted.get(sorted.len().div_ceil(4).wrapping_sub(1));
    let mean = mean.min(f64::from(quarter.copied().unwrap_or(0).max(16)));
    let mut scores = BTreeMap::new();
    let asked: Vec<_> = question.split_whitespace().collect();
    let stop_words = asked.iter().filter(|word| is_stop_word(word)).count();
    let is_english = !asked.is_empty() && stop_words * 5 >= asked.len();
    let terms: Vec<_> = terms_of(question)
        .into_iter()
        .filter(|(term, _)| !is_aside(term))
        .collect();
    for (term, times) in terms {
        let group = naive_group(&term, &known, is_english);
        let tf_of = |text: &BTreeMap<String, u32>| {
            let said = group
                .iter()
                .filter_map(|(term, weight)| Some(weight * f64::from(*text.get(term)?)));
            let tf: f64 = said.sum();
            if text.contains_key(&term) {
                tf
            } else {
                tf.min(0.9)
            }
        };
        let df = texts.iter().filter(|text| tf_of(text) > 0.0).count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for (id, text) in (0..).zip(&texts) {
            let tf = tf_of(text);
            if tf > 0.0 {
                let length = f64::from(lengths[id as usize]).max(mean);
                let norm = 1.2 * (0.25 + 0.75 * length / mean);
                *scores.entry(id).or_default() += f64::from(times) * idf * tf * 2.2 / (tf + norm);
            }
        }
    }
    scores
}

/// Texts in a base merged in steps (`cuts`), the rest in a delta.
struct Split {
    base: Option<Vec<u8>>,
    delta: DeltaTerms,
}

impl Split {
    fn new(texts: &[String], cuts: &[usize]) -> Self {
        let mut base: Option<Vec<u8>> = None;
        let mut from = 0;
        for &to in cuts {
            let old = base.as_deref().map(|b| Terms::open(b, 0).unwrap().unwrap());
            let new = (from as u32..).zip(&texts[from..to]).map(Ok);
            let mut bytes = Vec::new();
            IndexMerge::plan(old, new, &|_| false)
                .and_then(|merge| {
                    merge.write(|piece| {
                        bytes.extend_from_slice(piece);
                        Ok(())
                    })
                })
                .unwrap();
            base = Some(bytes);
            from = to;
        }
        let behind = base.as_deref().map(|b| Terms::open(b, 0).unwrap().unwrap());
        let lengths = behind.map_or_else(LengthQuarter::default, |b| b.quarter_below(from as u32));
        let delta = DeltaTerms::new(from as u32, lengths);
        let (analyzer, mut counts) = (Analyzer::new(), TermCounts::new());
        for (id, text) in (from as u32..).zip(&texts[from..]) {
            delta.add(id, text, &analyzer, &mut counts);
        }
        Self { base, delta }
    }

    fn texts(&self, bound: u32) -> Texts<'_> {
        let base = self
            .base
            .as_deref()
            .map(|b| Terms::open(b, 0).unwrap().unwrap());
        Texts::new(base, Some(&self.delta), bound)
    }
}

/// A number in few letters, so that words share starts and ends and differ by typos.
fn word(number: u32) -> String {
    let letters = format!("{:06}", number * 37 % 1000);
    letters
        .bytes()
        .map(|digit| char::from(b'a' + (digit - b'0') / 2))
        .collect::<String>()[number as usize % 3..]
        .to_owned()
}

fn short_word(number: u32) -> String {
    let letter = |number: u32| char::from(b'a' + (number % 25) as u8);
    // No language has a stop word that starts so.
    ['x', letter(number / 25), letter(number)].iter().collect()
}

fn words(max: usize) -> impl Strategy<Value = String> {
    // A skewed choice: some words are in most texts, most in few. To short ones nothing is added.
    let word = (0u32..600, 1u32..30, 0u32..2).prop_map(|(a, b, kind)| match kind {
        0 => short_word(a / b / b),
        _ => word(a / b),
    });
    let words = prop::collection::vec(word, 0..max).prop_map(|words| words.join(" "));
    // One text in four is long: the mean then lies above what a quarter is.
    (words, 0u32..4).prop_map(|(words, part)| match part {
        0 => [words.as_str(); 8].join(" "),
        _ => words,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_score_equals_the_naive_one(
        texts in prop::collection::vec(words(14), 1..700),
        cuts in prop::collection::vec(0.0f64..=1.0, 0..4),
        bound in 0.0f64..=1.0,
        question in words(8),
        is_english in proptest::bool::ANY,
        hidden in prop::collection::btree_set(0u32..700, 0..100),
        limit in 0usize..30,
    ) {
        let place = |part: f64| (part * texts.len() as f64) as usize;
        let mut cuts: Vec<_> = cuts.into_iter().map(place).collect();
        cuts.sort_unstable();
        let bound = place(bound);
        let question = if is_english { format!("what is the {question}") } else { question };
        let query = TextQuery::new(&question);
        let split = Split::new(&texts, &cuts);
        let texts_below = split.texts(bound as u32);

        let all = texts_below.scores(&query, |id| hidden.contains(&id)).unwrap();
        let mut expected = naive(&texts[..bound], &question);
        expected.retain(|id, _| !hidden.contains(id));
        prop_assert!(all.events.iter().map(|e| e.0).eq(expected.keys().copied()));
        for &(id, score) in &all.events {
            let off = (f64::from(score) - expected[&id]).abs();
            prop_assert!(off <= 1e-5 * expected[&id], "{id}: {score} {}", expected[&id]);
            prop_assert_eq!(all.of(id), score);
        }
        prop_assert_eq!(all.max, all.events.iter().map(|e| e.1).fold(0.0, f32::max));

        let mut best = all.events.clone();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        best.truncate(limit);
        let found = texts_below.search(&query, limit, |id| hidden.contains(&id)).unwrap();
        prop_assert_eq!(found, best);

        // Before a checkpoint everything stands in the delta, after it in the base.
        for cuts in [&[][..], &[texts.len()]] {
            let other = Split::new(&texts, cuts);
            let other = other.texts(bound as u32);
            prop_assert_eq!(&all, &other.scores(&query, |id| hidden.contains(&id)).unwrap());
        }
    }
}

#[test]
fn a_question_without_terms_has_no_answer() {
    let split = Split::new(&["who are you".into(), "a dog".into()], &[1]);
    for question in ["", "...", "elephant"] {
        let query = TextQuery::new(question);
        let texts = split.texts(2);
        assert_eq!(texts.search(&query, 10, |_| false).unwrap(), []);
        assert_eq!(texts.scores(&query, |_| false).unwrap(), Scores::default());
    }
    assert!(TextQuery::new("...").is_empty());
    assert_eq!(
        Texts::new(None, None, 0)
            .search(&TextQuery::new("dog"), 5, |_| false)
            .unwrap(),
        []
    );
}

#[test]
fn a_question_of_stop_words_alone_finds_them() {
    let texts = ["he is who he is", "to be or not to be", "a dog", "the WHO"].map(str::to_owned);
    let split = Split::new(&texts, &[2]);
    let found = |question: &str| -> Vec<u32> {
        let hits = split
            .texts(4)
            .search(&TextQuery::new(question), 10, |_| false)
            .unwrap();
        hits.into_iter().map(|hit| hit.0).collect()
    };
    assert_eq!(found("to be or not to be"), [1]);
    assert_eq!(found("who"), [3, 0]);
    assert_eq!(found("WHO"), [3, 0]);
    assert_eq!(found("TO BE"), [1]);
    assert_eq!(found("where is the dog"), [2]);
}

#[test]
fn of_equal_texts_the_newest_comes_first() {
    let texts: Vec<_> = (0..300).map(|_| "dog".to_owned()).collect();
    let found = |cuts: &[usize]| {
        let split = Split::new(&texts, cuts);
        let best = split
            .texts(290)
            .search(&TextQuery::new("dogs"), 3, |id| id == 288);
        best.unwrap().into_iter().map(|e| e.0).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [289, 287, 286]);
    assert_eq!(found(&[150, 300]), [289, 287, 286]);
    assert_eq!(found(&[200]), [289, 287, 286]);
}

#[test]
fn what_is_said_later_takes_no_form_of_a_word_from_an_earlier_moment() {
    let letter = |number: usize| char::from(b'a' + (number % 26) as u8);
    let later = |at: usize| format!("garten{}{}a", letter(at / 26), letter(at));
    let mut texts = vec!["gartenzwerg".to_owned()];
    texts.extend((0..2 * ADDED_MAX).map(later));
    let query = TextQuery::new("garten");
    let alone = Split::new(&texts[..1], &[]);
    let expected = alone.texts(1).scores(&query, |_| false).unwrap();
    assert_eq!(expected.events.len(), 1);
    let split = Split::new(&texts, &[]);
    assert_eq!(split.texts(1).scores(&query, |_| false).unwrap(), expected);
}

#[test]
fn a_long_question_is_cut_to_its_weightiest_terms() {
    let count = 2 * QUERY_TERMS_MAX;
    // Four letters: neither forms nor typos of one another are added.
    let letter = |digit: usize| char::from(b"bcdfg"[digit % 5]);
    let word = |i: usize| {
        [i, i / 5, i / 25, i / 125]
            .map(letter)
            .iter()
            .collect::<String>()
    };
    let mut texts: Vec<_> = (0..count).map(word).collect();
    texts.push("zebra".into());
    let split = Split::new(&texts, &[100]);
    let query = TextQuery::new(&format!("{} zebra", texts.join(" ")));
    assert_eq!(query.terms().count(), count + 1);
    let found = split.texts(texts.len() as u32).scores(&query, |_| false);
    let found = found.unwrap();
    assert_eq!(found.events.len(), QUERY_TERMS_MAX);
    assert_eq!(
        found.of(count as u32),
        found.max,
        "the word said twice is kept"
    );
}
