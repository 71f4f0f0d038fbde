//! Words in every language: a text is found by its words, however they are written on either side.
//!
//! `words.txt` has the probes, one a line: a question, and the text that answers it. The texts of a kind, and those of
//! all kinds, are the others that could come first.

use std::sync::Arc;

use amem_format::analyzer::ANALYZER_VERSION;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::{self, new_identity, write_base};
use amem_format::brain::Brain;
use amem_format::journal::op::{NewNode, Op};
use amem_format::mapping::Map;
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_format::{EventType, Micros, NodeId, Result, SessionId};
use amem_query::TextSearch;
use uuid::Uuid;

const PROBES: &str = include_str!("words.txt");
/// Probes of a kind.
const PROBES_MIN: usize = 20;
/// Hits among which the answer must be, and the share of probes for which it must.
const PLACES: usize = 3;
const SHARE_MIN: f64 = 0.95;

struct ProbeKind {
    name: &'static str,
    /// Questions and answers.
    probes: Vec<(&'static str, &'static str)>,
}

fn kinds() -> Vec<ProbeKind> {
    let parts = PROBES.split("# ").skip(1);
    let kinds = parts.map(|part| {
        let (name, rows) = part.split_once('\n').unwrap();
        let probes = rows.lines().map(|row| row.split_once(" | ").unwrap());
        ProbeKind {
            name,
            probes: probes.collect(),
        }
    });
    kinds.collect()
}

/// A brain of texts that are all in the journal.
fn brain_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<View> {
    let now = Micros(1_800_000_000_000_000);
    let identity = new_identity(Uuid::from_u128(1), Uuid::from_u128(2), Uuid::nil(), now);
    let mut build = Build::new(&identity, 0, &Default::default())?;
    for (id, text) in (0..).zip(texts) {
        build.push(&Op::Event(NewNode {
            id: NodeId(id),
            event_type: EventType::FACT,
            session: SessionId(0),
            created_at: now,
            event_time: None,
            confidence: 1.0,
            lambda: 0.0,
            text,
            attributes: "",
            vector: &[],
            carried: None,
        }))?;
    }
    build.finish()
}

/// The same brain after a checkpoint.
fn checkpointed(view: &View) -> Result<View> {
    let identity = *view.brain().base().identity();
    let options = Build::options(view, &identity);
    let mut bytes = Vec::new();
    write_base(view, &options, &mut bytes)?;
    let end = bytes.len() as u64;
    base_builder::journal(&options.identity, 0, end, &mut bytes)?;
    Ok(Arc::new(Brain::open(Map::owned(&bytes))?).view())
}

fn found(view: &View, question: &str, limit: usize) -> Vec<usize> {
    let question = question.to_owned();
    let search = TextSearch {
        question,
        limit,
        ..TextSearch::default()
    };
    let hits = search.run(view).unwrap().hits;
    hits.into_iter().map(|hit| hit.id.0 as usize).collect()
}

/// The answers among the first hits of a kind's brain.
fn check(kind: &ProbeKind, view: &View, texts: &[&str]) -> Vec<String> {
    let mut missed = Vec::new();
    for (question, answer) in &kind.probes {
        let hits = found(view, question, PLACES);
        if !hits.iter().any(|&hit| texts[hit] == *answer) {
            missed.push(format!("{}: {question} -> {answer}", kind.name));
        }
    }
    missed
}

#[test]
fn words_are_found_in_any_spelling_and_language() {
    let kinds = kinds();
    let all: Vec<_> = kinds
        .iter()
        .flat_map(|kind| &kind.probes)
        .map(|probe| probe.1)
        .collect();
    let of_all = brain_of(all.iter().copied()).unwrap();
    let of_all_in_base = checkpointed(&of_all).unwrap();
    assert_eq!(kinds.len(), 11);
    for kind in &kinds {
        let texts: Vec<_> = kind.probes.iter().map(|probe| probe.1).collect();
        let own = brain_of(texts.iter().copied()).unwrap();
        let mut missed = check(kind, &own, &texts);
        missed.extend(check(kind, &of_all, &all));
        let count = kind.probes.len();
        let share = 1.0 - missed.len() as f64 / (2 * count) as f64;
        println!(
            "{}: {count} probes, {:.1} % in the first {PLACES}",
            kind.name,
            100.0 * share
        );
        assert!(count >= PROBES_MIN, "{}: {count} probes", kind.name);
        assert!(share >= SHARE_MIN, "{}: {share:.3}: {missed:#?}", kind.name);
        for (question, _) in &kind.probes {
            let hits = [&of_all, &of_all_in_base].map(|view| found(view, question, 20));
            assert_eq!(hits[0], hits[1], "{question}: journal and base differ");
        }
    }
}

#[test]
fn a_brain_of_version_1_is_searched_by_its_rules_until_a_checkpoint() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/queries/version-1.amem");
    let old = Reader::open_copy(path).unwrap();
    assert_eq!(old.analyzer_version().unwrap(), 1);
    let new = checkpointed(&old).unwrap();
    assert_eq!(new.analyzer_version().unwrap(), ANALYZER_VERSION);
    // Seven events were in the base, two in the journal.
    for (question, by_version_1, by_version_2) in [
        ("café", &[0][..], &[1, 0][..]),
        ("cafe", &[1], &[1, 0]),
        ("max retry count", &[], &[2]),
        ("maxRetryCount", &[2], &[2]),
        ("Where is Will?", &[], &[3]),
        ("1200", &[], &[4]),
        ("黒猫", &[5], &[5]),
        ("猫", &[], &[5]),
        ("to be or not to be", &[], &[6]),
        ("Müller", &[7], &[7]),
        ("Mueller", &[], &[7]),
        ("schluessel", &[], &[7]),
        ("25.12.2022", &[8], &[8]),
        ("violns", &[], &[3]),
    ] {
        assert_eq!(
            found(&old, question, 10),
            by_version_1,
            "{question} in version 1"
        );
        assert_eq!(
            found(&new, question, 10),
            by_version_2,
            "{question} in version 2"
        );
    }
    // Nothing of the old index is in the new one: it equals that of the same texts.
    let texts: Vec<_> = (0..old.nodes())
        .map(|id| old.node(NodeId(id)).unwrap().text().unwrap().into_owned())
        .collect();
    let again = checkpointed(&brain_of(texts.iter().map(String::as_str)).unwrap()).unwrap();
    let (terms, expected) = (
        new.terms().unwrap().0.unwrap(),
        again.terms().unwrap().0.unwrap(),
    );
    assert_eq!(terms.len(), expected.len());
    for index in 0..terms.len() {
        assert_eq!(terms.term(index).unwrap(), expected.term(index).unwrap());
        assert_eq!(
            terms.postings(index).unwrap().df(),
            expected.postings(index).unwrap().df()
        );
    }
    terms.verify().unwrap();
}
