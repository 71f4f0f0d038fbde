//! The index against a plain map of words, through any sequence of merges.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::analyzer::{Analyzer, TermCounts};
use crate::error::{Error, Result};

/// Postings by term, and the length of each text.
#[derive(Debug, Default, PartialEq)]
struct Model {
    postings: BTreeMap<String, Vec<(u32, u32)>>,
    lengths: Vec<u32>,
}

fn model(texts: &[String]) -> Model {
    let (analyzer, mut counts, mut model) = (Analyzer::new(), TermCounts::new(), Model::default());
    for (id, text) in (0..).zip(texts) {
        model.lengths.push(counts.count(&analyzer, text));
        for (term, tf) in counts.iter() {
            model
                .postings
                .entry(term.to_owned())
                .or_default()
                .push((id, tf));
        }
    }
    model
}

fn merged(base: Option<&[u8]>, from: u32, texts: &[String], dropped: &[u32]) -> Vec<u8> {
    let base = base.map(|bytes| Terms::open(bytes, 0).unwrap().unwrap());
    let texts = (from..).zip(texts).map(|(id, text)| Ok((id, text)));
    let merge = IndexMerge::plan(base, texts, &|id| dropped.contains(&id)).unwrap();
    let mut out = Vec::new();
    merge
        .write(|bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    assert_eq!(out.len() as u64, merge.len());
    Terms::open(&out, 0).unwrap().unwrap().verify().unwrap();
    out
}

/// All that the index says, read through cursors.
fn read(terms: &Terms<'_>) -> Result<Model> {
    let mut model = Model::default();
    for index in 0..terms.len() {
        let term = String::from_utf8_lossy(terms.term(index)?).into_owned();
        let mut cursor = PostingCursor::new(terms.postings(index)?)?;
        let list = model.postings.entry(term).or_default();
        while cursor.id() != END {
            list.push((cursor.id(), cursor.tf()));
            cursor.advance()?;
        }
    }
    model.lengths = (0..terms.events()).map(|id| terms.length_of(id)).collect();
    Ok(model)
}

fn texts(count: usize) -> impl Strategy<Value = Vec<String>> {
    // A skewed choice of words: some fill many blocks, most are rare.
    let word = (0u32..1000, 1u32..40).prop_map(|(a, b)| format!("w{}", a / b / b));
    let text = prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn merging_in_steps_gives_the_bytes_of_merging_at_once(
        mut texts in texts(900),
        cuts in prop::collection::vec(0.0f64..1.0, 0..4),
        drops in prop::collection::vec((0.0f64..1.0, 0usize..4), 0..6),
    ) {
        let place = |part: f64| (part * texts.len() as f64) as usize;
        let mut cuts: Vec<_> = cuts.into_iter().map(place).chain([0, texts.len()]).collect();
        cuts.sort_unstable();
        let drops: Vec<_> = drops.into_iter().map(|(part, step)| (place(part), step)).collect();
        let mut bytes: Option<Vec<u8>> = None;
        for (step, pair) in cuts.windows(2).enumerate() {
            // An event that is dropped in one step is dropped in all that follow, as erased ones are.
            let dropped: Vec<u32> = drops
                .iter()
                .filter(|&&(_, first)| first <= step)
                .map(|&(id, _)| id as u32)
                .collect();
            bytes = Some(merged(bytes.as_deref(), pair[0] as u32, &texts[pair[0]..pair[1]], &dropped));
        }
        for &(id, first) in &drops {
            if first < cuts.len() - 1 && id < texts.len() {
                texts[id].clear();
            }
        }
        let bytes = bytes.unwrap();
        prop_assert_eq!(&bytes, &merged(None, 0, &texts, &[]));
        let terms = Terms::open(&bytes, 0).unwrap().unwrap();
        prop_assert_eq!(read(&terms).unwrap(), model(&texts));
    }

    #[test]
    fn prefixes_and_jumps_equal_the_model(texts in texts(900), probes in prop::collection::vec(0u32..1000, 20)) {
        let (bytes, model) = (merged(None, 0, &texts, &[]), model(&texts));
        let terms = Terms::open(&bytes, 0).unwrap().unwrap();
        prop_assert!(terms.find("nobody").unwrap().is_none());
        for &bound in &probes {
            let total: u32 = model.lengths.iter().take(bound as usize).sum();
            prop_assert_eq!(terms.total_length_below(bound), u64::from(total));
        }
        for (term, list) in &model.postings {
            let postings = terms.find(term).unwrap().unwrap();
            prop_assert_eq!(postings.df() as usize, list.len());
            let mut cursor = PostingCursor::new(postings).unwrap();
            let mut rising = probes.clone();
            rising.sort_unstable();
            for &id in &rising {
                let below = list.partition_point(|p| p.0 < id);
                prop_assert_eq!(postings.df_below(id).unwrap() as usize, below);
                cursor.seek(id).unwrap();
                let expected = list.get(below).copied().unwrap_or((END, 0));
                prop_assert_eq!((cursor.id(), cursor.tf()), expected);
            }
        }
    }
}

#[test]
fn an_empty_index_is_an_index() {
    let bytes = merged(None, 0, &[], &[]);
    let terms = Terms::open(&bytes, 0).unwrap().unwrap();
    assert!(terms.is_empty());
    assert_eq!(terms.events(), 0);
    assert_eq!(terms.total_length_below(9), 0);
    assert_eq!(
        merged(Some(&bytes), 0, &["dog".into()], &[]),
        merged(None, 0, &["dog".into()], &[])
    );
}

#[test]
fn counts_past_sixteen_bits_are_capped() {
    let long = "dog cat ".repeat(70_000);
    let bytes = merged(None, 0, &[long, "dog".into()], &[]);
    let terms = Terms::open(&bytes, 0).unwrap().unwrap();
    assert_eq!(terms.length_of(0), COUNT_MAX);
    let cursor = PostingCursor::new(terms.find("dog").unwrap().unwrap()).unwrap();
    assert_eq!(cursor.tf(), COUNT_MAX);
}

#[test]
fn nothing_of_an_erased_event_is_left() {
    let texts = ["the xylophone sings".into(), "a dog sings".into()];
    let bytes = merged(None, 0, &texts, &[]);
    let bytes = merged(Some(&bytes), 2, &[], &[0]);
    assert!(!bytes.windows(9).any(|w| w == b"xylophon"));
    let terms = Terms::open(&bytes, 0).unwrap().unwrap();
    assert!(terms.find("xylophon").unwrap().is_none());
    assert_eq!(terms.find("sing").unwrap().unwrap().df(), 1);
    assert_eq!((terms.length_of(0), terms.total_length_below(2)), (0, 2));
}

#[test]
fn an_index_of_another_analyzer_is_none() {
    let mut bytes = merged(None, 0, &["dog".into()], &[]);
    bytes[0] ^= 0xff;
    assert!(Terms::open(&bytes, 0).unwrap().is_none());
}

#[test]
fn an_error_of_a_text_or_of_the_output_is_passed_on() {
    let texts = [Ok((0, "dog")), Err(Error::corrupt("content", 7, "bad"))];
    assert!(matches!(
        IndexMerge::plan(None, texts, &|_| false),
        Err(Error::Corrupt { offset: 7, .. })
    ));
    let merge = IndexMerge::plan(None, [Ok((0, "dog"))], &|_| false).unwrap();
    let full = |_: &[u8]| Err(Error::corrupt("disk", 9, "full"));
    assert!(merge.write(full).is_err());
}

/// Uses an index in every way there is.
fn use_it(bytes: &[u8]) -> Result<()> {
    let Some(terms) = Terms::open(bytes, 4096)? else {
        return Ok(());
    };
    let verified = terms.verify();
    for bound in [0, 1, 100, 1000] {
        terms.total_length_below(bound);
    }
    let looked_up = (|| {
        for word in ["w0", "w1", "w500", "zzz"] {
            if let Some(postings) = terms.find(word)? {
                postings.df_below(77)?;
                let mut cursor = PostingCursor::new(postings)?;
                cursor.seek(140)?;
                cursor.advance()?;
            }
        }
        read(&terms).map(|_| ())
    })();
    let merge = IndexMerge::plan(Some(terms), [Ok((terms.events(), "w0 w1 new"))], &|id| {
        id == 3
    });
    let written = merge.and_then(|m| m.write(|_| Ok(())));
    verified.and(looked_up).and(written)
}

#[test]
fn damage_is_an_error_or_harmless_and_never_a_panic() {
    let texts: Vec<_> = (0..160)
        .map(|i| format!("w0 w{} w{} w{}", i % 3, i % 50, i))
        .collect();
    let good = merged(None, 0, &texts, &[]);
    use_it(&good).unwrap();
    let mut reported = 0;
    for at in 0..good.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            reported += u32::from(use_it(&bytes).is_err());
        }
    }
    assert!(
        reported as usize > good.len(),
        "only {reported} of {} reported",
        3 * good.len()
    );
    for len in 0..good.len() {
        assert!(use_it(&good[..len]).is_err(), "cut to {len}");
    }
}
