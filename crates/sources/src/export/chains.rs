//! Events that replace each other, as one thing with versions.

use std::collections::{HashMap, HashSet};

use super::event::ExportedEvent;

const SUPERSEDES: &str = "supersedes";
/// Characters of a title that is the beginning of a text.
const TITLE_CHARS_MAX: usize = 60;

/// An event and those that it replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct EventChain<'e> {
    /// Unique among the chains.
    pub title: String,
    /// The newest one that nothing replaces.
    pub head: &'e ExportedEvent,
    /// Those before, the newest first.
    pub before: Vec<&'e ExportedEvent>,
}

/// The chains of all events, by the id of their heads. Events that replace each other in a circle are one chain.
#[must_use]
pub fn chains(events: &[ExportedEvent]) -> Vec<EventChain<'_>> {
    let places: HashMap<u64, usize> = events.iter().zip(0..).map(|(e, at)| (e.id, at)).collect();
    let mut sets = ChainSets((0..events.len()).collect());
    let mut is_replaced = vec![false; events.len()];
    for (at, event) in events.iter().enumerate() {
        for edge in event
            .edges
            .iter()
            .filter(|edge| edge.edge_type == SUPERSEDES)
        {
            if let Some(target) = places.get(&edge.target) {
                sets.join(at, *target);
                is_replaced[*target] = true;
            }
        }
    }
    let mut members: HashMap<usize, Vec<usize>> = HashMap::new();
    for at in 0..events.len() {
        members.entry(sets.root(at)).or_default().push(at);
    }
    let mut out: Vec<EventChain<'_>> = Vec::with_capacity(members.len());
    for list in members.into_values() {
        let newest = |at: &&usize| (!is_replaced[**at], events[**at].id);
        let Some(head) = list.iter().max_by_key(newest).copied() else {
            continue;
        };
        let mut before: Vec<_> = list
            .iter()
            .filter(|at| **at != head)
            .map(|at| &events[*at])
            .collect();
        before.sort_by_key(|event| std::cmp::Reverse(event.id));
        out.push(EventChain {
            title: title(&events[head]),
            head: &events[head],
            before,
        });
    }
    out.sort_by_key(|chain| chain.head.id);
    let mut seen: HashSet<String> = HashSet::new();
    for chain in &mut out {
        while !seen.insert(chain.title.to_lowercase()) {
            chain.title.push_str(&format!(" ({})", chain.head.id));
        }
    }
    out
}

/// The first line of the text, cut between words.
fn title(event: &ExportedEvent) -> String {
    let line = event
        .text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let line = line.unwrap_or("(erased)");
    // Links and properties give these a meaning.
    let plain: String = line
        .chars()
        .map(|c| {
            if "[]|#^\"\\".contains(c) || c.is_control() {
                ' '
            } else {
                c
            }
        })
        .collect();
    let mut out = String::new();
    for word in plain.split_whitespace() {
        if !out.is_empty() && out.chars().count() + word.chars().count() >= TITLE_CHARS_MAX {
            out.push('…');
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().take(TITLE_CHARS_MAX));
    }
    match out.trim() {
        "" => format!("event {}", event.id),
        title => title.to_owned(),
    }
}

/// Sets that are joined; each entry is its parent, or itself.
struct ChainSets(Vec<usize>);

impl ChainSets {
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a] = b;
    }
}
