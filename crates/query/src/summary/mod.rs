//! Extractive summaries of sessions, without a model.
//!
//! The method is LexRank (Erkan and Radev, 2004). The similarity of two sentences is the cosine of their terms,
//! weighted by rarity in the session, averaged with the cosine of their events' vectors if both have one. The most
//! central sentences are those that a random walk over similarities visits most. They are chosen greedily, with a
//! penalty for similarity to chosen ones (maximal marginal relevance, Carbonell and Goldstein, 1998). First comes one
//! sentence of each current decision and correction, as far as they fit in three fifths of the length. The summary
//! keeps the order of the session.
//!
//! Promises: a session always gives the same text; it contains no forgotten, erased or replaced events, and none that
//! another episode covers; work and text are bounded (`SENTENCES_MAX`).

use std::collections::HashMap;

pub use crate::sentences::sentences;
use amem_format::analyzer::{Analyzer, TermCounts, is_aside};
use amem_format::error::Result;
use amem_format::types::{EdgeType, EventType, NodeId, SessionId};
use amem_format::view::{Direction, View};

/// Default length of a summary in bytes.
pub const SUMMARY_BYTES: usize = 1200;
/// Maximum sentences: each is compared with every other.
pub const SENTENCES_MAX: usize = 600;
/// Maximum bytes of a sentence; longer ones are skipped.
const SENTENCE_BYTES_MAX: usize = 600;
/// Minimum terms of a sentence.
const TERMS_MIN: usize = 2;
/// The probability that the walk follows a similarity instead of jumping anywhere.
const DAMPING: f32 = 0.85;
/// Minimum similarity that links two sentences.
const SIMILARITY_MIN: f32 = 0.1;
/// Steps of the walk: it converges within a few dozen.
const STEPS: usize = 30;
/// The share of the length reserved for decisions and corrections, in fifths.
const FIRST_FIFTHS: usize = 3;
/// Minimum centrality relative to the mean: sentences below it are asides.
const CENTRAL_MIN: f32 = 0.5;
/// The weight of the penalty for similarity to chosen sentences.
const NOVELTY: f32 = 0.3;

/// A sentence of an event.
struct Sentence<'v> {
    text: &'v str,
    /// Index of its event.
    event: usize,
    /// Terms with weights, normalised to length 1.
    terms: Vec<(u32, f32)>,
}

/// The text of an event of the session.
struct SessionText<'v> {
    text: std::borrow::Cow<'v, str>,
    vector: Option<&'v [f32]>,
    /// True for a decision or a correction.
    is_key: bool,
}

/// True if a session has an event that a summary can cover: shown, no episode, and not covered by one.
pub fn has_uncovered(view: &View, session: SessionId) -> Result<bool> {
    for id in view.of_session(session)?.iter() {
        let node = view.node(id)?;
        let is_covered = node.is_compressed() || node.event_type() == EventType::EPISODE;
        if !is_covered && !node.is_forgotten() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The current events of a session that no summary covers, in order: what a summary is made of.
pub fn summarised(view: &View, session: SessionId) -> Result<Vec<NodeId>> {
    let mut found = Vec::new();
    for id in view.of_session(session)?.iter() {
        let node = view.node(id)?;
        let is_out = node.is_forgotten()
            || node.is_erased()
            || node.is_compressed()
            || node.event_type() == EventType::EPISODE
            || is_replaced(view, id)?;
        if !is_out {
            found.push(id);
        }
    }
    Ok(found)
}

/// A summary of at most `bytes` bytes; `None` if there is no sentence.
pub fn summary(view: &View, session: SessionId, bytes: usize) -> Result<Option<String>> {
    let events = events(view, session)?;
    let sentences = weighted(&events);
    if sentences.is_empty() {
        return Ok(None);
    }
    let similarity = similarities(&events, &sentences);
    let central = centrality(&similarity);
    let taken = take(&events, &sentences, &similarity, &central, bytes);
    let texts: Vec<_> = taken
        .into_iter()
        .map(|at| closed(sentences[at].text))
        .collect();
    Ok((!texts.is_empty()).then(|| texts.join(" ")))
}

/// Their texts.
fn events(view: &View, session: SessionId) -> Result<Vec<SessionText<'_>>> {
    let mut events = Vec::new();
    for id in summarised(view, session)? {
        let node = view.node(id)?;
        let kind = node.event_type();
        events.push(SessionText {
            text: node.text()?,
            vector: node.vector()?,
            is_key: kind == EventType::DECISION || kind == EventType::CORRECTION,
        });
    }
    Ok(events)
}

fn is_replaced(view: &View, id: NodeId) -> Result<bool> {
    for tie in view.edges_of(id, Direction::Incoming)?.iter() {
        if tie.edge_type == EdgeType::SUPERSEDES && !view.node(tie.other)?.is_forgotten() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The sentences with weighted terms.
fn weighted<'s>(events: &'s [SessionText<'_>]) -> Vec<Sentence<'s>> {
    let (analyzer, mut counts) = (Analyzer::new(), TermCounts::new());
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut found: Vec<Sentence<'_>> = Vec::new();
    for (event, events) in events.iter().enumerate() {
        for text in sentences(&events.text).filter(|text| text.len() <= SENTENCE_BYTES_MAX) {
            counts.count(&analyzer, text);
            let terms: Vec<_> = counts
                .iter()
                .filter(|(term, _)| !is_aside(term))
                .map(|(term, count)| {
                    let next = numbers.len() as u32;
                    let number = *numbers.entry(term.to_owned()).or_insert(next);
                    (number, count as f32)
                })
                .collect();
            if terms.len() >= TERMS_MIN {
                found.push(Sentence { text, event, terms });
            }
        }
    }
    let mut found = thinned(found, events);
    let mut in_sentences = vec![0u32; numbers.len()];
    for sentence in &found {
        for &(term, _) in &sentence.terms {
            in_sentences[term as usize] += 1;
        }
    }
    let all = found.len() as f32;
    for sentence in &mut found {
        let mut length = 0.0;
        for (term, weight) in &mut sentence.terms {
            *weight *= (1.0 + all / in_sentences[*term as usize] as f32).ln();
            length += *weight * *weight;
        }
        let length = length.sqrt().max(f32::MIN_POSITIVE);
        sentence
            .terms
            .iter_mut()
            .for_each(|(_, weight)| *weight /= length);
        sentence.terms.sort_unstable_by_key(|(term, _)| *term);
    }
    found
}

/// At most `SENTENCES_MAX` sentences: those of decisions and corrections first, evenly thinned.
fn thinned<'s>(found: Vec<Sentence<'s>>, events: &[SessionText<'_>]) -> Vec<Sentence<'s>> {
    if found.len() <= SENTENCES_MAX {
        return found;
    }
    let is_key = |sentence: &Sentence<'_>| events[sentence.event].is_key;
    let heavy = found.iter().filter(|sentence| is_key(sentence)).count();
    let room_heavy = heavy.min(SENTENCES_MAX / 2);
    let room_light = SENTENCES_MAX - room_heavy;
    let (mut seen_heavy, mut seen_light) = (0, 0);
    let light = found.len() - heavy;
    let keep = |seen: &mut usize, of: usize, room: usize| {
        let at = *seen;
        *seen += 1;
        // Evenly: keeps a sentence where another of `room` equal parts begins.
        at * room / of.max(1) != (at + 1) * room / of.max(1)
    };
    found
        .into_iter()
        .filter(|sentence| {
            if is_key(sentence) {
                keep(&mut seen_heavy, heavy, room_heavy)
            } else {
                keep(&mut seen_light, light, room_light)
            }
        })
        .collect()
}

/// The similarity of each pair of sentences, 0..=1.
fn similarities(events: &[SessionText<'_>], sentences: &[Sentence<'_>]) -> Vec<Vec<f32>> {
    let count = sentences.len();
    let mut similarity = vec![vec![0.0; count]; count];
    for a in 0..count {
        for b in a + 1..count {
            let words = dot(&sentences[a].terms, &sentences[b].terms);
            let (x, y) = (sentences[a].event, sentences[b].event);
            let value = match (events[x].vector, events[y].vector) {
                (Some(v), Some(w)) if x != y => f32::midpoint(words, cosine(v, w).max(0.0)),
                _ => words,
            };
            similarity[a][b] = value;
            similarity[b][a] = value;
        }
    }
    similarity
}

fn dot(a: &[(u32, f32)], b: &[(u32, f32)]) -> f32 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.0.cmp(&y.0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += x.1 * y.1;
                i += 1;
                j += 1;
            }
        }
    }
    sum
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    let lengths = (product(a, a) * product(b, b)).sqrt();
    if lengths > 0.0 {
        product(a, b) / lengths
    } else {
        0.0
    }
}

/// How often a random walk over similarities visits each sentence.
fn centrality(similarity: &[Vec<f32>]) -> Vec<f32> {
    let count = similarity.len();
    let linked = |value: f32| if value >= SIMILARITY_MIN { value } else { 0.0 };
    let sums: Vec<f32> = similarity
        .iter()
        .map(|row| row.iter().map(|v| linked(*v)).sum())
        .collect();
    let mut rank = vec![1.0 / count as f32; count];
    for _ in 0..STEPS {
        let mut next = vec![(1.0 - DAMPING) / count as f32; count];
        // A sentence without links jumps anywhere.
        let lost: f32 = (0..count)
            .filter(|at| sums[*at] == 0.0)
            .map(|at| rank[at])
            .sum();
        for (at, row) in similarity.iter().enumerate() {
            if sums[at] > 0.0 {
                let share = DAMPING * rank[at] / sums[at];
                for (to, value) in row.iter().enumerate() {
                    next[to] += share * linked(*value);
                }
            }
        }
        next.iter_mut()
            .for_each(|value| *value += DAMPING * lost / count as f32);
        rank = next;
    }
    rank
}

/// The chosen sentences, in the order of the session.
fn take(
    events: &[SessionText<'_>],
    sentences: &[Sentence<'_>],
    similarity: &[Vec<f32>],
    central: &[f32],
    bytes: usize,
) -> Vec<usize> {
    let max = central.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let mut taken: Vec<usize> = Vec::new();
    let mut left = bytes;
    let mut pick = |first: bool, until: usize| {
        loop {
            let fits = |at: &usize| {
                let sentence = &sentences[*at];
                let is_known = |other: &usize| sentences[*other].event == sentence.event;
                let is_wanted = if first {
                    events[sentence.event].is_key && !taken.iter().any(is_known)
                } else {
                    central[*at] * sentences.len() as f32 >= CENTRAL_MIN
                };
                is_wanted && !taken.contains(at) && sentence.text.len() + 2 <= left
            };
            let value = |at: usize| {
                let same = taken
                    .iter()
                    .map(|other| similarity[at][*other])
                    .fold(0.0, f32::max);
                (1.0 - NOVELTY) * central[at] / max + NOVELTY * (1.0 - same)
            };
            // Of equals, the earlier.
            let best = (0..sentences.len())
                .filter(fits)
                .reduce(|a, b| if value(b) > value(a) { b } else { a });
            let Some(best) = best else { return };
            taken.push(best);
            left -= sentences[best].text.len() + 2;
            if left <= until {
                return;
            }
        }
    };
    pick(true, bytes - bytes / 5 * FIRST_FIFTHS);
    pick(false, 0);
    taken.sort_unstable();
    taken
}

/// Adds a full stop if the sentence has no end mark.
fn closed(text: &str) -> String {
    let is_ended = text.ends_with(['.', '!', '?', '…', '。', '！', '？', ':']);
    if is_ended {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

#[cfg(test)]
mod tests;
