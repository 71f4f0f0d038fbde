//! Scores against a naive BM25, wherever the postings stand.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use amem_format::analyzer::{Analyzer, TermCounts};
use amem_format::base::terms::{IndexMerge, LengthQuarter, Terms};
use amem_format::delta::DeltaTerms;

fn terms_of(text: &str) -> BTreeMap<String, u32> {
    let mut counts = TermCounts::new();
    counts.count(&Analyzer::new(), text);
    counts.iter().map(|(t, n)| (t.to_owned(), n)).collect()
}

/// The formula of `score`, event by event, in double precision.
fn naive(texts: &[String], question: &str) -> BTreeMap<u32, f64> {
    let texts: Vec<_> = texts.iter().map(|t| terms_of(t)).collect();
    let lengths: Vec<u32> = texts.iter().map(|t| t.values().sum()).collect();
    let n = texts.len() as f64;
    let mean = lengths.iter().sum::<u32>() as f64 / n;
    let mut sorted = lengths.clone();
    sorted.sort_unstable();
    let quarter = sorted.get(sorted.len().div_ceil(4).wrapping_sub(1));
    let mean = mean.min(f64::from(quarter.copied().unwrap_or(0).max(16)));
    let mut scores = BTreeMap::new();
    for (term, times) in terms_of(question) {
        let df = texts.iter().filter(|t| t.contains_key(&term)).count() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for (id, text) in (0..).zip(&texts) {
            if let Some(&tf) = text.get(&term) {
                let tf = f64::from(tf);
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

fn words(max: usize) -> impl Strategy<Value = String> {
    // A skewed choice: some words are in most texts, most in few.
    let word = (0u32..600, 1u32..30).prop_map(|(a, b)| format!("w{}", a / b / b));
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
        hidden in prop::collection::btree_set(0u32..700, 0..100),
        limit in 0usize..30,
    ) {
        let place = |part: f64| (part * texts.len() as f64) as usize;
        let mut cuts: Vec<_> = cuts.into_iter().map(place).collect();
        cuts.sort_unstable();
        let bound = place(bound);
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
    for question in ["", "who are you?", "elephant"] {
        let query = TextQuery::new(question);
        let texts = split.texts(2);
        assert_eq!(texts.search(&query, 10, |_| false).unwrap(), []);
        assert_eq!(texts.scores(&query, |_| false).unwrap(), Scores::default());
    }
    assert!(TextQuery::new("who are you?").is_empty());
    assert_eq!(
        Texts::new(None, None, 0)
            .search(&TextQuery::new("dog"), 5, |_| false)
            .unwrap(),
        []
    );
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
fn a_long_question_is_cut_to_its_weightiest_terms() {
    let count = 2 * QUERY_TERMS_MAX;
    let mut texts: Vec<_> = (0..count).map(|i| format!("rare{i}")).collect();
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
