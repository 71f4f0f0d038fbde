//! Prints the demo: numbered steps, what each shows, and what it has checked.
//!
//! Promises: no line is wider than `COLUMNS`, unless a single word is. Longer text is wrapped, a longer row is cut off;
//! the report has all of it.

use std::fmt::Display;
use std::io::Write;
use std::time::Instant;

use serde::Serialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Style, clipped, printable};

/// The width of the output, whatever the terminal has.
const COLUMNS: usize = 100;
/// The column of a step's summary.
const SUMMARY: usize = 16;
/// The column of what a step shows.
const SHOWN: usize = 6;
/// The code of a claim that does not hold.
const WRONG: &str = "demo";

/// The failure of a claim that does not hold.
pub(super) fn wrong(claim: impl Into<String>) -> Failure {
    let remedy = "report it, with the output above";
    Failure::new(Exit::Findings, WRONG, claim, remedy)
}

/// The demo as JSON.
#[derive(Debug, Default, Serialize)]
pub(crate) struct DemoReport {
    steps: Vec<StepReport>,
    /// All of them held.
    checks: usize,
    seconds: f64,
}

#[derive(Debug, Default, Serialize)]
struct StepReport {
    name: String,
    line: String,
    seen: Vec<String>,
    checked: Vec<String>,
}

pub(super) struct Transcript<'o> {
    out: &'o mut dyn Write,
    style: Style,
    began: Instant,
    report: DemoReport,
}

impl<'o> Transcript<'o> {
    pub(super) fn new(out: &'o mut dyn Write, style: Style) -> Self {
        Self {
            out,
            style,
            began: Instant::now(),
            report: DemoReport::default(),
        }
    }

    pub(super) fn introduce(&mut self, text: &str) -> Result<(), Failure> {
        self.print("", 0, &wrapped(text, COLUMNS))
    }

    pub(super) fn step(&mut self, name: &str, line: &str) -> Result<(), Failure> {
        let title = format!("\n{:>2}  {name:<12}", self.report.steps.len() + 1);
        let title = self.style.strong(&title);
        self.print(&title, SUMMARY, &wrapped(line, COLUMNS - SUMMARY))?;
        self.report.steps.push(StepReport {
            name: name.to_owned(),
            line: line.to_owned(),
            ..StepReport::default()
        });
        Ok(())
    }

    /// Shows text, wrapped.
    pub(super) fn show(&mut self, text: impl Display) -> Result<(), Failure> {
        let text = printable(&text.to_string());
        let lines = wrapped(&text, COLUMNS - SHOWN);
        self.show_lines(text, &lines)
    }

    /// Shows one line, cut off at the right edge.
    pub(super) fn row(&mut self, text: impl Display) -> Result<(), Failure> {
        let text = printable(&text.to_string());
        let line = clipped(&text, COLUMNS - SHOWN);
        self.show_lines(text, &[line])
    }

    fn show_lines(&mut self, text: String, lines: &[String]) -> Result<(), Failure> {
        self.print(&" ".repeat(SHOWN), SHOWN, lines)?;
        if let Some(step) = self.report.steps.last_mut() {
            step.seen.push(text);
        }
        Ok(())
    }

    /// Fails if the claim does not hold.
    pub(super) fn check(&mut self, claim: impl Display, holds: bool) -> Result<(), Failure> {
        let claim = claim.to_string();
        if !holds {
            return Err(wrong(claim));
        }
        let mark = format!("    {} ", self.style.strong("✓"));
        self.print(&mark, SHOWN, &wrapped(&claim, COLUMNS - SHOWN))?;
        self.report.checks += 1;
        if let Some(step) = self.report.steps.last_mut() {
            step.checked.push(claim);
        }
        Ok(())
    }

    /// Adds the step to the failure of a claim.
    pub(super) fn failed(&self, mut failure: Failure) -> Failure {
        let (number, last) = (self.report.steps.len(), self.report.steps.last());
        if failure.code == WRONG {
            let (name, claim) = (last.map_or("", |step| &step.name), failure.message);
            failure.message =
                format!("this should hold and does not: step {number}, {name}: {claim}");
        }
        failure
    }

    /// Prints the last line.
    pub(super) fn end(mut self) -> Result<DemoReport, Failure> {
        let seconds = self.began.elapsed().as_secs_f64();
        let (steps, checks) = (self.report.steps.len(), self.report.checks);
        let last = format!("{steps} steps, {checks} checks, all true, in {seconds:.1} s.");
        let last = self.style.strong(&(last + " Nothing was left behind."));
        self.print("", 0, &[String::new(), last])?;
        self.report.seconds = seconds;
        Ok(self.report)
    }

    /// Prints lines: the first behind `mark`, the others behind `indent` spaces.
    fn print(&mut self, mark: &str, indent: usize, lines: &[String]) -> Result<(), Failure> {
        let indent = " ".repeat(indent);
        for (at, line) in lines.iter().enumerate() {
            let before = if at == 0 { mark } else { &indent };
            writeln!(self.out, "{before}{line}").map_err(|e| Failure::output(&e))?;
        }
        self.out.flush().map_err(|e| Failure::output(&e))
    }
}

/// Wraps text between words. Its leading spaces begin every line.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let words = text.trim_start_matches(' ');
    let indent = &text[..text.len() - words.len()];
    let mut lines: Vec<String> = Vec::new();
    for word in words.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(format!("{indent}{word}")),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_no_word_is_lost() {
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
    fn printed_lines_fit_and_the_report_has_the_whole_text() {
        let mut out = Vec::new();
        let mut page = Transcript::new(&mut out, Style::of(false));
        let long = "a word ".repeat(50);
        page.introduce(&long).unwrap();
        page.step("begin", &long).unwrap();
        page.show(&long).unwrap();
        page.row(&long).unwrap();
        page.check(&long, true).unwrap();
        let report = page.end().unwrap();
        let step = &report.steps[0];
        assert_eq!((&step.line, &step.checked[0]), (&long, &long));
        assert_eq!(step.seen, [long.clone(), long]);
        let printed = String::from_utf8(out).unwrap();
        let widest = printed.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(COLUMNS), "{printed}");
    }

    #[test]
    fn a_claim_that_does_not_hold_ends_the_demo_and_is_not_printed() {
        let mut out = Vec::new();
        let mut page = Transcript::new(&mut out, Style::of(false));
        page.step("begin", "It begins.").unwrap();
        let failure = page.check("the moon is full", false).unwrap_err();
        let message = page.failed(failure).message;
        assert_eq!(
            message,
            "this should hold and does not: step 1, begin: the moon is full"
        );
        assert!(!String::from_utf8(out).unwrap().contains("moon"));
    }
}
