//! The text of a context, event by event, within its budget.

use std::fmt::Write;

use super::counter::TokenCounter;
use crate::graph::BeliefMark;
use crate::time;
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::{Node, View};

/// A text that never exceeds its token budget.
pub(super) struct BudgetedText<'v> {
    view: &'v View,
    heading: String,
    text: String,
    tokens: usize,
    budget: usize,
    counter: &'v dyn TokenCounter,
}

impl<'v> BudgetedText<'v> {
    pub(super) fn new(view: &'v View, budget: usize, counter: &'v dyn TokenCounter) -> Self {
        Self {
            view,
            heading: format!("From memory, as of {}:\n", time::display(view.moment().1)),
            text: String::new(),
            tokens: 0,
            budget,
            counter,
        }
    }

    /// Adds an event if it fits. Returns the tokens that it adds, or would add, and whether it fits.
    pub(super) fn add(
        &mut self,
        node: &Node<'_>,
        explains: Option<NodeId>,
        mark: BeliefMark,
    ) -> Result<(usize, bool)> {
        let before = self.text.len();
        if before == 0 {
            self.text.push_str(&self.heading);
        }
        self.write(node, explains, mark)?;
        let tokens = self.counter.tokens(&self.text);
        let added = tokens.saturating_sub(self.tokens);
        if tokens > self.budget {
            self.text.truncate(before);
            return Ok((added, false));
        }
        self.tokens = tokens;
        Ok((added, true))
    }

    fn write(&mut self, node: &Node<'_>, explains: Option<NodeId>, mark: BeliefMark) -> Result<()> {
        let date = time::display(node.happened()?).to_string();
        let date = date.split('T').next().unwrap_or_default();
        let (id, event_type, confidence) = (node.id(), node.event_type(), node.confidence());
        let out = &mut self.text;
        // Writing to a string never fails.
        let _ = write!(
            out,
            "- [{id}] {event_type}, {date}, confidence {confidence:.2}"
        );
        let author = self.view.actor(node.author()?)?;
        match (author.agent, author.principal) {
            ("", "") => {}
            ("", name) | (name, _) => push_name(out, ", by ", name),
        }
        if mark.is_contested {
            out.push_str(", contested");
        }
        if mark.is_superseded {
            out.push_str(", superseded");
        }
        if let Some(reason) = node.reason()? {
            push_name(out, ", because: ", &reason);
        }
        if let Some(explained) = explains {
            let _ = write!(out, ", a reason for [{explained}]");
        }
        out.push_str(": ");
        // A multi-line text must not look like several events.
        let text = node.text()?;
        for (i, line) in lines(text.trim()).enumerate() {
            if i > 0 {
                out.push_str("\n  ");
            }
            out.push_str(line);
        }
        out.push('\n');
        Ok(())
    }

    pub(super) fn into_text(self) -> (String, usize) {
        (self.text, self.tokens)
    }
}

/// Appends a text of a client on one line: it must not look like another event.
fn push_name(out: &mut String, before: &str, text: &str) {
    out.push_str(before);
    for (i, line) in lines(text.trim()).enumerate() {
        if i > 0 {
            out.push(' ');
        }
        out.push_str(line);
    }
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
