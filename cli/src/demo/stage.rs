//! What the demo says: numbered steps, what is seen in each, and what was checked.
//!
//! Promises: no line is wider than `COLUMNS` (what is longer goes on below, a row is cut off with an ellipsis), but
//! for a word that is wider itself; what a story for programs tells is never cut off.
//! Not here: what the steps are (`run`).

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use crate::remote::RemoteError;
use crate::render::{Style, clipped, printable};

/// Columns of a line, whatever the terminal has.
const COLUMNS: usize = 100;
/// Where the words of a step begin.
const INDENT: usize = 16;
/// Where what is seen begins.
const SEEN: usize = 6;

/// The result of a step.
pub(crate) type Result<T, E = DemoError> = std::result::Result<T, E>;

/// Why the demo ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// Something that must hold did not.
    #[error("this does not hold: {0}")]
    Wrong(String),
    /// The operating system refused.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was tried.
        action: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A call to the daemon failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The file could not be read.
    #[error(transparent)]
    Core(#[from] amem_format::Error),
    /// What was seen could not be written.
    #[error("cannot write what is seen: {0}")]
    Output(std::io::Error),
    /// There is no daemon to start.
    #[error("{0}")]
    NoDaemon(String),
}

impl DemoError {
    /// A failed operation.
    pub(crate) fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let action = action.into();
        |source| Self::Io { action, source }
    }
}

/// What was told, for programs.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Story {
    /// The steps, in order.
    steps: Vec<Step>,
    /// How many checks there were, all of which held.
    checks: usize,
    /// How long it took.
    seconds: f64,
}

/// A step that was told.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    line: String,
    seen: Vec<String>,
    checked: Vec<String>,
}

/// Where the steps are told.
pub(crate) struct Stage<'o> {
    out: &'o mut dyn Write,
    style: Style,
    began: Instant,
    story: Story,
}

impl<'o> Stage<'o> {
    /// A stage before the first step.
    pub(crate) fn new(out: &'o mut dyn Write, style: Style) -> Self {
        Self {
            out,
            style,
            began: Instant::now(),
            story: Story::default(),
        }
    }

    /// Tells what there is to know before the first step.
    pub(crate) fn introduce(&mut self, words: &str) -> Result<()> {
        for line in wrapped(words, COLUMNS) {
            self.print(line)?;
        }
        Ok(())
    }

    /// Begins a step: its name, and in one line what happens in it.
    pub(crate) fn step(&mut self, name: &str, line: &str) -> Result<()> {
        self.story.steps.push(Step {
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
    pub(crate) fn show(&mut self, line: impl Display) -> Result<()> {
        let line = printable(&line.to_string());
        for words in wrapped(&line, COLUMNS - SEEN) {
            self.print(format_args!("{:SEEN$}{words}", ""))?;
        }
        self.saw(line);
        Ok(())
    }

    /// Shows one row of several, of which the end matters least.
    pub(crate) fn row(&mut self, line: impl Display) -> Result<()> {
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
    pub(crate) fn check(&mut self, claim: impl Display, holds: bool) -> Result<()> {
        let claim = claim.to_string();
        if !holds {
            return Err(DemoError::Wrong(claim));
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

    /// The same error; of a claim that does not hold, it says in which step.
    pub(crate) fn placed(&self, error: DemoError) -> DemoError {
        match (error, self.story.steps.last()) {
            (DemoError::Wrong(claim), Some(step)) => {
                let number = self.story.steps.len();
                DemoError::Wrong(format!("step {number}, {}: {claim}", step.name))
            }
            (error, _) => error,
        }
    }

    /// The last line, and all that was told.
    pub(crate) fn end(mut self) -> Result<Story> {
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

    fn print(&mut self, line: impl Display) -> Result<()> {
        writeln!(self.out, "{line}")
            .and_then(|()| self.out.flush())
            .map_err(DemoError::Output)
    }
}

/// Text in lines of so many columns, broken between words. Spaces at its beginning stand before every line.
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
        let ended = stage.check("the moon is full", false);
        assert!(matches!(ended, Err(DemoError::Wrong(claim)) if claim == "the moon is full"));
        assert!(!String::from_utf8(out).unwrap().contains("moon"));
    }
}
