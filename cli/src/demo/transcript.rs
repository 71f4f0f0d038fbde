//! What the demo prints: numbered steps, what is seen in each, and what was checked.
//!
//! Promises: no line is wider than `COLUMNS` (a longer one is wrapped, a row is clipped), unless a single word is; the
//! JSON has all of it.
//! Not here: what the steps are.

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Style, clipped, printable};

/// Columns of a line, whatever the terminal has.
const COLUMNS: usize = 100;
/// Where the words of a step begin.
const INDENT: usize = 16;
/// Where what is seen begins.
const SEEN: usize = 6;
/// The code of a claim that does not hold.
const WRONG: &str = "demo";

/// A claim that does not hold; the stage says in which step.
pub(super) fn wrong(claim: impl Into<String>) -> Failure {
    Failure::new(
        Exit::Findings,
        WRONG,
        claim,
        "report it, with what was shown before",
    )
}

/// What was shown, for programs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Story {
    steps: Vec<StepStory>,
    /// All of them held.
    checks: usize,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct StepStory {
    name: String,
    line: String,
    seen: Vec<String>,
    checked: Vec<String>,
}

/// Where the steps are shown.
pub(super) struct Stage<'o> {
    out: &'o mut dyn Write,
    style: Style,
    began: Instant,
    story: Story,
}

impl<'o> Stage<'o> {
    pub(super) fn new(out: &'o mut dyn Write, style: Style) -> Self {
        Self {
            out,
            style,
            began: Instant::now(),
            story: Story::default(),
        }
    }

    pub(super) fn introduce(&mut self, words: &str) -> Result<(), Failure> {
        for line in wrapped(words, COLUMNS) {
            self.print(line)?;
        }
        Ok(())
    }

    /// Begins a step: its name, and one line about what happens in it.
    pub(super) fn step(&mut self, name: &str, line: &str) -> Result<(), Failure> {
        self.story.steps.push(StepStory {
            name: name.into(),
            line: line.into(),
            seen: Vec::new(),
            checked: Vec::new(),
        });
        let number = self.story.steps.len();
        let mut first = self
            .style
            .strong(&format!("{number:>2}  {name:<width$}", width = INDENT - 4));
        self.print("")?;
        for words in wrapped(line, COLUMNS - INDENT) {
            self.print(format_args!("{first}{words}"))?;
            first = " ".repeat(INDENT);
        }
        Ok(())
    }

    /// Shows what is seen in the step.
    pub(super) fn show(&mut self, line: impl Display) -> Result<(), Failure> {
        let line = printable(&line.to_string());
        for words in wrapped(&line, COLUMNS - SEEN) {
            self.print(format_args!("{:SEEN$}{words}", ""))?;
        }
        self.saw(line);
        Ok(())
    }

    /// Shows one row of several, of which the end matters least.
    pub(super) fn row(&mut self, line: impl Display) -> Result<(), Failure> {
        let line = printable(&line.to_string());
        self.print(format_args!(
            "{:SEEN$}{}",
            "",
            clipped(&line, COLUMNS - SEEN)
        ))?;
        self.saw(line);
        Ok(())
    }

    fn saw(&mut self, line: String) {
        if let Some(step) = self.story.steps.last_mut() {
            step.seen.push(line);
        }
    }

    /// Goes on if `holds`; ends the demo if not.
    pub(super) fn check(&mut self, claim: impl Display, holds: bool) -> Result<(), Failure> {
        let claim = claim.to_string();
        if !holds {
            return Err(wrong(claim));
        }
        let mut mark = format!("    {} ", self.style.strong("✓"));
        for words in wrapped(&claim, COLUMNS - SEEN) {
            self.print(format_args!("{mark}{words}"))?;
            mark = " ".repeat(SEEN);
        }
        self.story.checks += 1;
        if let Some(step) = self.story.steps.last_mut() {
            step.checked.push(claim);
        }
        Ok(())
    }

    /// Says in which step a claim does not hold.
    pub(super) fn failed(&self, failure: Failure) -> Failure {
        let number = self.story.steps.len();
        let name = self.story.steps.last().map_or("", |step| &step.name);
        let message = match failure.code {
            WRONG => format!(
                "this should hold and does not: step {number}, {name}: {}",
                failure.message
            ),
            _ => failure.message,
        };
        Failure { message, ..failure }
    }

    /// The last line, and all that was shown.
    pub(super) fn end(mut self) -> Result<Story, Failure> {
        self.story.seconds = self.began.elapsed().as_secs_f64();
        let (steps, checks) = (self.story.steps.len(), self.story.checks);
        let seconds = self.story.seconds;
        let last = format!(
            "{steps} steps, {checks} checks, all true, in {seconds:.1} s. Nothing was left behind."
        );
        let last = self.style.strong(&last);
        self.print(format_args!("\n{last}"))?;
        Ok(self.story)
    }

    fn print(&mut self, line: impl Display) -> Result<(), Failure> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .map_err(|e| Failure::output(&e))
    }
}

/// Wraps text between words. Its leading spaces stand before every line.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let indent = &text[..text.len() - words.len()];
    let mut lines = vec![indent.to_owned()];
    let mut used = indent.len();
    for word in words.split(' ') {
        let width = word.chars().count();
        let begins = used == indent.len();
        if !begins && used + 1 + width > columns {
            lines.push(indent.to_owned());
            used = indent.len();
        }
        let Some(line) = lines.last_mut() else {
            continue;
        };
        if used > indent.len() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += width;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words_and_nothing_of_it_is_lost() {
        let text = "  three short words and onethatistoolong é";
        let lines = wrapped(text, 12);
        let expected = [
            "  three",
            "  short",
            "  words and",
            "  onethatistoolong",
            "  é",
        ];
        assert_eq!(lines, expected);
        assert_eq!(wrapped("", 12), [""]);
        assert_eq!(wrapped("123456 78901", 12), ["123456 78901"]);
    }

    #[test]
    fn what_is_told_fits_and_a_story_has_all_of_it() {
        let mut out = Vec::new();
        let mut stage = Stage::new(&mut out, Style::of(false));
        let long = "a word ".repeat(50);
        stage.introduce(&long).unwrap();
        stage.step("begin", &long).unwrap();
        stage.show(&long).unwrap();
        stage.row(&long).unwrap();
        stage.check(&long, true).unwrap();
        let story = stage.end().unwrap();
        let step = &story.steps[0];
        assert_eq!((&step.line, &step.checked[0]), (&long, &long));
        assert_eq!(step.seen, [long.clone(), long]);
        let told = String::from_utf8(out).unwrap();
        let widest = told.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(COLUMNS), "{told}");
    }

    #[test]
    fn a_claim_that_does_not_hold_ends_the_demo_and_is_not_told_as_one_that_does() {
        let mut out = Vec::new();
        let mut stage = Stage::new(&mut out, Style::of(false));
        stage.step("begin", "It begins.").unwrap();
        let failure = stage.check("the moon is full", false).unwrap_err();
        let message = stage.failed(failure).message;
        assert_eq!(
            message,
            "this should hold and does not: step 1, begin: the moon is full"
        );
        assert!(!String::from_utf8(out).unwrap().contains("moon"));
    }
}
