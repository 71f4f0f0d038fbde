//! Text: the ten events that answer three words best, one rare, one not, one frequent.
//!
//! The words occur in 0.3 %, 3 % and 15 % of all events. The two scores differ: ours gives no bonus to texts shorter
//! than usual. So ours is compared with its own formula over the reference's postings and lengths, which proves that
//! both see the same words in the same events; and the reference returns the requested number. What is compared is an
//! English question, of whose words no other forms are searched; what is timed are the words alone.

use std::collections::HashMap;

use agentic_memory::{DocLengths, MemoryGraph, QueryEngine, TermIndex, TextSearchParams};
use amem_format::view::View;
use amem_query::TextSearch;

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::ranking;
use crate::data;

const LIMIT: usize = 10;
/// The share of all events that contain each word of a question.
const SHARES: [f64; 3] = [0.003, 0.03, 0.15];
/// Questions that are asked in turn.
const QUESTIONS: usize = 4;
/// Ranks of words that are looked at.
const RANKS: u64 = 10_000;
/// Of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// The row.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let (held, graph) = (world.clustered()?, world.graph()?);
    let index = graph
        .term_index()
        .ok_or("the reference has no index of terms")?;
    let questions = questions(index);
    let view = held.reader.view()?;
    for question in &questions {
        ranking::same(
            list::TEXT,
            &ours(&view, &format!("what is the {question}"))?,
            &by_formula(graph, index, question)?,
        )?;
        same(list::TEXT, &LIMIT, &theirs(graph, question)?)?;
    }
    let (mut at, mut there) = (0, 0);
    let medians = Contest::new()
        .again("ours", || {
            at += 1;
            ours(&held.reader.view()?, &questions[at % QUESTIONS])
        })
        .again("reference", || {
            there += 1;
            theirs(graph, &questions[there % QUESTIONS])
        })
        .run()?;
    let postings: Vec<_> = questions[0]
        .split(' ')
        .map(|word| index.doc_frequency(word).to_string())
        .collect();
    findings.add(Measurement {
        row: list::TEXT,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        note: format!("{} postings", postings.join(" + ")),
        ..Measurement::default()
    });
    Ok(())
}

/// Questions of three words, each in about the wanted share of events.
pub(super) fn questions(index: &TermIndex) -> Vec<String> {
    let words: Vec<_> = (0..RANKS).map(data::word).collect();
    let nearest = |share: f64| {
        let wanted = share * index.doc_count() as f64;
        let mut all: Vec<&String> = words.iter().collect();
        all.sort_by_cached_key(|word| (index.doc_frequency(word) as f64 - wanted).abs() as u64);
        all.into_iter().take(QUESTIONS).cloned().collect::<Vec<_>>()
    };
    let columns = SHARES.map(nearest);
    let question = |n: usize| {
        columns
            .each_ref()
            .map(|column| column[n].as_str())
            .join(" ")
    };
    (0..QUESTIONS).map(question).collect()
}

fn ours(view: &View, question: &str) -> Outcome<Vec<(u64, f64)>> {
    let text = TextSearch {
        question: question.into(),
        limit: LIMIT,
        ..TextSearch::default()
    };
    let hits = text.run(view)?.hits.into_iter();
    Ok(hits.map(|hit| (hit.id.0, hit.score.into())).collect())
}

fn theirs(graph: &MemoryGraph, question: &str) -> Outcome<usize> {
    let params = TextSearchParams {
        query: question.into(),
        max_results: LIMIT,
        event_types: Vec::new(),
        session_ids: Vec::new(),
        min_score: 0.0,
    };
    let found =
        QueryEngine::new().text_search(graph, graph.term_index(), graph.doc_lengths(), params)?;
    Ok(found.len())
}

/// The mean length of a text, or what a quarter of them do not exceed, if that is less; 16 at least.
fn usual_length(index: &TermIndex, lengths: &DocLengths) -> f64 {
    let mut all: Vec<u32> = (0..index.doc_count()).map(|id| lengths.get(id)).collect();
    all.sort_unstable();
    let quarter = all.get(all.len().div_ceil(4).saturating_sub(1)).copied();
    f64::from(index.avg_doc_length()).min(f64::from(quarter.unwrap_or_default().max(16)))
}

/// The best by our formula, as `amem_query::text` states it.
fn by_formula(graph: &MemoryGraph, index: &TermIndex, question: &str) -> Outcome<Vec<(u64, f64)>> {
    let lengths = graph
        .doc_lengths()
        .ok_or("the reference has no lengths of texts")?;
    let n = index.doc_count() as f64;
    let usual = usual_length(index, lengths);
    let mut scores: HashMap<u64, f64> = HashMap::new();
    for word in question.split(' ') {
        let postings = index.get(word);
        let df = postings.len() as f64;
        let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
        for &(id, tf) in postings {
            let (tf, length) = (f64::from(tf), f64::from(lengths.get(id)));
            let norm = (1.0 - B + B * length / usual).max(1.0);
            *scores.entry(id).or_default() += idf * tf * (K1 + 1.0) / (tf + K1 * norm);
        }
    }
    Ok(ranking::best(scores.into_iter(), LIMIT))
}
