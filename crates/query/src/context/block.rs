//! The text of a context, line by line, within its budget.

use std::fmt::Write;

use super::counter::quarter_tokens;
use super::excerpt::{self, Excerpts, Parts};
use crate::graph::BeliefMark;
use crate::time_phrase::Clock;
use amem_format::attributes;
use amem_format::display::is_terminal_control;
use amem_format::error::Result;
use amem_format::types::{EventType, NodeId};
use amem_format::view::{Node, View};

/// Bytes of a name or reason in a line.
const NAME_BYTES_MAX: usize = 200;
/// The confidence below which a line says it.
const CERTAIN_MIN: f32 = 0.5;

/// A text that never exceeds its token budget.
pub(super) struct BudgetedText<'v> {
    view: &'v View,
    clock: &'v Clock,
    excerpts: Excerpts,
    text: String,
    /// Quarters of tokens of the text.
    quarters: usize,
    budget: usize,
    is_full: bool,
}

/// What an event adds to the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddedLine {
    pub(super) tokens: usize,
    /// The line leaves out parts of the event's text.
    pub(super) is_excerpt: bool,
}

impl<'v> BudgetedText<'v> {
    pub(super) fn new(view: &'v View, clock: &'v Clock, question: &str, budget: usize) -> Self {
        Self {
            view,
            clock,
            excerpts: Excerpts::new(question),
            text: String::new(),
            quarters: 0,
            budget,
            is_full: false,
        }
    }

    /// True if the last event did not fit whole: the text ends there.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Adds as much of an event as fits; none if that is next to nothing.
    pub(super) fn add(
        &mut self,
        node: &Node<'_>,
        explains: Option<NodeId>,
        mark: BeliefMark,
    ) -> Result<Option<AddedLine>> {
        if self.is_full {
            return Ok(None);
        }
        let text = node.text()?;
        let json = node.attributes_json()?;
        let speaker = json.as_deref().and_then(attributes::speaker);
        // Conversations are often recorded as "Ada: hello". An excerpt must not lose who spoke.
        let mut said = text.trim();
        if let Some(speaker) = &speaker {
            let rest = said.strip_prefix(speaker.as_str());
            said = rest
                .and_then(|rest| rest.strip_prefix(':'))
                .unwrap_or(said)
                .trim();
        }
        let mut start = String::new();
        if self.text.is_empty() {
            let moment = self.clock.minute_of(self.view.moment().1);
            // Writing to a string never fails.
            let _ = writeln!(start, "From memory, as of {moment}:");
        }
        self.write_start(&mut start, node, explains, mark)?;
        if let Some(speaker) = &speaker {
            push_name(&mut start, "", speaker);
            start.push_str(": ");
        }
        let room = 4 * self.budget - self.quarters;
        let line = |parts: &Parts| {
            let mut line = start.clone();
            excerpt::write(&mut line, said, parts, push_lines);
            line.push('\n');
            line
        };
        let fits = |parts: &Parts| quarter_tokens(&line(parts)) <= room;
        let whole = self.excerpts.of(said);
        self.is_full = !fits(&whole);
        let parts = match self.is_full {
            true => self.excerpts.fitting(said, fits),
            false => Some(whole),
        };
        Ok(parts.map(|parts| {
            let line = line(&parts);
            let before = self.quarters.div_ceil(4);
            self.quarters += quarter_tokens(&line);
            self.text.push_str(&line);
            AddedLine {
                tokens: self.quarters.div_ceil(4) - before,
                is_excerpt: excerpt::is_cut(said, &parts),
            }
        }))
    }

    /// The start of a line: the id, the day, and what else a reader needs to judge the text.
    fn write_start(
        &self,
        out: &mut String,
        node: &Node<'_>,
        explains: Option<NodeId>,
        mark: BeliefMark,
    ) -> Result<()> {
        let day = self.clock.day_of(node.happened()?);
        let _ = write!(out, "- [{}] {day}", node.id());
        let mut notes = Vec::new();
        if mark.is_contested {
            // Who says which of two competing statements.
            let author = self.view.actor(node.author()?)?;
            let mut note = "contested".to_owned();
            match (author.agent, author.principal) {
                ("", "") => {}
                ("", name) | (name, _) => push_name(&mut note, ", by ", name),
            }
            notes.push(note);
        }
        if mark.is_superseded {
            notes.push("superseded".to_owned());
        }
        // Of facts, corrections and episodes a reader assumes the kind.
        match node.event_type() {
            EventType::DECISION => notes.push("decision".to_owned()),
            EventType::INFERENCE => notes.push("inference".to_owned()),
            EventType::SKILL => notes.push("skill".to_owned()),
            _ => {}
        }
        let confidence = node.confidence();
        if confidence < CERTAIN_MIN {
            notes.push(format!("confidence {confidence:.2}"));
        }
        if let Some(explained) = explains {
            notes.push(format!("a reason for [{explained}]"));
        }
        if let Some(reason) = node.reason()? {
            let mut note = String::new();
            push_name(&mut note, "because: ", &reason);
            notes.push(note);
        }
        if !notes.is_empty() {
            let _ = write!(out, " ({})", notes.join(", "));
        }
        out.push_str(": ");
        Ok(())
    }

    pub(super) fn into_text(self) -> (String, usize) {
        (self.text, self.quarters.div_ceil(4))
    }
}

/// Appends a part of a text. A multi-line one must not look like several events. The context may be printed: it steers
/// no terminal.
fn push_lines(out: &mut String, text: &str) {
    for (i, line) in lines(text).enumerate() {
        if i > 0 {
            out.push_str("\n  ");
        }
        push_shown(out, line);
    }
}

/// Appends a text of a client on one line: it must not look like another event, and a long one must not take the
/// budget.
fn push_name(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    let text = text.trim();
    let mut end = text.len().min(NAME_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    for (i, line) in lines(&text[..end]).enumerate() {
        if i > 0 {
            out.push(' ');
        }
        push_shown(out, line);
    }
    if end < text.len() {
        out.push('…');
    }
}

/// Appends a line without what would steer a terminal.
fn push_shown(out: &mut String, line: &str) {
    out.extend(
        line.chars()
            .filter(|&c| c == '\t' || !is_terminal_control(c)),
    );
}

/// All line ends: also lone carriage returns, vertical tabs, form feeds, and Unicode's line and paragraph separators.
const LINE_ENDS: [char; 7] = [
    '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
];

/// The lines of a text; "\r\n" is one line end.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split("\r\n").flat_map(|part| part.split(LINE_ENDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_ends_a_line_somewhere_ends_it_here() {
        for end in [
            "\n", "\r", "\r\n", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            let text = format!("one{end}- [9] fact{end}{end}two");
            let found: Vec<&str> = lines(&text).collect();
            assert_eq!(found, ["one", "- [9] fact", "", "two"], "{end:?}");
        }
    }
}
