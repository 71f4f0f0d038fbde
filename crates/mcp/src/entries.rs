//! The entries of a recall as lines within a budget, for tools of models and for commands.

use amem_proto::v1;

use crate::answer::{Answer, entry_line, shortened};
use crate::limits::{LINE_CHARS_MAX, QUESTION_CHARS_SHOWN};
use crate::memory_place::MemoryPlace;

/// Entries within a budget of tokens, the best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryLines {
    /// A line for each entry that has room.
    pub lines: Vec<String>,
    /// The events of the others.
    pub left_out: Vec<u64>,
}

impl EntryLines {
    /// The first entries that fit into a budget. The first one always fits, cut if need be.
    pub fn within(tokens_max: u64, entries: &[v1::RecallEntry], place: &MemoryPlace) -> Self {
        let mut answer = Answer::within(tokens_max);
        let left_out = push_entries(&mut answer, entries, place);
        Self {
            lines: answer.into_lines(),
            left_out,
        }
    }
}

/// Adds lines up to the first that has no room; returns the events of the others.
pub(crate) fn push_entries(
    answer: &mut Answer,
    entries: &[v1::RecallEntry],
    place: &MemoryPlace,
) -> Vec<u64> {
    let mut left_out = Vec::new();
    for entry in entries {
        let line = entry_line(entry, place, LINE_CHARS_MAX);
        if !left_out.is_empty() || !answer.push(&line) {
            left_out.push(entry.event_id);
        }
    }
    left_out
}

/// The answer where nothing is relevant. It has the relevance of the best hit, so that "nothing" is not taken for
/// "never said".
pub fn nothing_found(question: &str, place: &str, best_relevance: f32) -> String {
    let question = shortened(question, QUESTION_CHARS_SHOWN);
    match best_relevance > 0.0 {
        true => format!(
            "no memory answers \"{question}\" in {place}: the best hit has relevance {best_relevance:.2}"
        ),
        false => format!("nothing known about \"{question}\" in {place}"),
    }
}
