//! Memories that this system served and that come back in a turn: lines of a recall, and sentences that say what a
//! memory says.

use std::ops::Range;

use super::foreign::{ForeignKind, ForeignSpan};
use crate::error::Result;
use crate::hash::words_hash;

/// Sentences of a turn that are compared with what was served at once.
const SEGMENTS_AT_ONCE: usize = 2_000;

/// A line or a sentence of a turn that may be a memory that was served.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServedSegment {
    range: Range<usize>,
    /// The hash of its words.
    hash: String,
    /// True if it has the form in which memories are served: `[e43] fact 2026-11-14: …`.
    is_marked: bool,
    /// True if it has the person of a memory: "User likes tea".
    is_third_person: bool,
}

/// What of a turn was served: lines in the form of a recall, and what says the same as a memory that was served in the
/// words of one. A person who says the words of an ended memory as their own says it again.
pub(crate) fn served_spans(
    text: &str,
    is_agents: bool,
    was_served: impl Fn(&[String]) -> Result<Vec<bool>>,
) -> Result<Vec<ForeignSpan>> {
    let mut segments = served_segments(text);
    segments.retain(|one| is_agents || one.is_marked || one.is_third_person);
    let asked: Vec<String> = segments.iter().map(|one| one.hash.clone()).collect();
    let mut served = Vec::with_capacity(asked.len());
    for asked in asked.chunks(SEGMENTS_AT_ONCE) {
        served.extend(was_served(asked)?);
    }
    let found = segments.into_iter().zip(served);
    let found = found.filter(|(segment, is_served)| *is_served || segment.is_marked);
    Ok(found
        .map(|(segment, _)| ForeignSpan {
            range: segment.range,
            kind: ForeignKind::Served,
        })
        .collect())
}

/// The lines of a turn, and the sentences of lines that have several.
fn served_segments(text: &str) -> Vec<ServedSegment> {
    let mut out = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let shown = line.trim();
        if shown.is_empty() {
            continue;
        }
        let offset = start + line.len() - line.trim_start().len();
        let marked = text_behind_mark(shown);
        let said = marked
            .unwrap_or_else(|| shown.trim_start_matches(['-', '*', '\u{2022}', ' ', '"', '>']));
        out.push(segment(
            offset..offset + shown.len(),
            said,
            marked.is_some(),
        ));
        let mut from = 0;
        let ends: Vec<usize> = shown
            .match_indices(['.', '!', '?', '"', '\u{201d}'])
            .map(|(at, sign)| at + sign.len())
            .filter(|at| shown[*at..].starts_with(char::is_whitespace) || *at == shown.len())
            .collect();
        if ends.len() > 1 || ends.first().is_some_and(|end| *end < shown.len()) {
            for end in ends.into_iter().chain([shown.len()]) {
                let sentence = &shown[from..end];
                if !sentence.trim().is_empty() {
                    let said = sentence.trim();
                    out.push(segment(offset + from..offset + end, said, false));
                }
                from = end;
            }
        }
    }
    out
}

fn segment(range: Range<usize>, said: &str, is_marked: bool) -> ServedSegment {
    let said = said.trim_start_matches(['"', '\u{201c}', '(', ' ']);
    let lower = said.to_lowercase();
    ServedSegment {
        range,
        hash: words_hash(said),
        is_marked,
        is_third_person: ["user ", "user's ", "user\u{2019}s ", "assistant "]
            .iter()
            .any(|head| lower.starts_with(head)),
    }
}

/// What stands behind `[e43] fact 2026-11-14 (corrected) ← [e42]:`, in a list or not.
fn text_behind_mark(line: &str) -> Option<&str> {
    let rest = line
        .trim_start_matches(['-', '*', ' ', '>'])
        .strip_prefix("[e")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = rest.get(digits..)?.strip_prefix("] ")?;
    let (head, text) = rest.split_once(": ")?;
    let is_head = head.len() <= 200 && head.starts_with(|c: char| c.is_ascii_lowercase());
    (digits > 0 && is_head).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, served: &str) -> Vec<String> {
        let served = words_hash(served);
        let was_served = |asked: &[String]| Ok(asked.iter().map(|one| *one == served).collect());
        let spans = served_spans(text, true, was_served).unwrap();
        spans
            .into_iter()
            .map(|span| text[span.range].trim().to_owned())
            .collect()
    }

    #[test]
    fn what_was_served_is_found_in_long_lines_and_behind_many() {
        let served = "User lives in Rome.";
        let long = format!("{} {served} Noted.", "We talked about it. ".repeat(200));
        assert_eq!(found(&long, served), [served]);
        let many = format!("{}{served}\n", "a line\n".repeat(3_000));
        assert!(found(&many, served).contains(&served.to_owned()));
    }
}
