//! `amemctl verify`: every byte of a file, against its checksums and against each other.

use std::path::PathBuf;

use amem_core::foreign::Layout;
use amem_core::verify::{self, Finding, Report};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::{Page, bytes, count, plural, printable};
use crate::source::{Named, check_file};

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl verify work.amem
  amemctl verify --json copy.amem && echo whole

Ends with 0 if the file is whole, with 1 if something is wrong.")]
pub(crate) struct Verify {
    /// A brain, live or a copy, a file of the reference, or a spec-1 file.
    file: PathBuf,
}

/// Findings that are shown as text; `--json` has all that were kept.
const LINES_MAX: usize = 50;

#[derive(Serialize)]
struct Told {
    whole: bool,
    bytes: u64,
    events: u64,
    edges: u64,
    checksums: u64,
    commits: u64,
    findings: Vec<Found>,
    more: u64,
    tail: Option<Tail>,
}

/// A finding in an answer.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    part: String,
    offset: Option<u64>,
    why: String,
}

impl From<&Finding> for Found {
    fn from(finding: &Finding) -> Self {
        Self {
            part: finding.part.clone(),
            offset: finding.offset,
            why: finding.why.clone(),
        }
    }
}

/// Bytes behind the last whole commit, in an answer.
#[derive(Debug, Serialize)]
pub(crate) struct Tail {
    offset: u64,
    bytes: u64,
    why: String,
}

impl From<&verify::Tail> for Tail {
    fn from(tail: &verify::Tail) -> Self {
        Self {
            offset: tail.offset,
            bytes: tail.bytes,
            why: tail.why.clone(),
        }
    }
}

impl Verify {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        check_file(&self.file)?;
        let report = verify::file(&self.file)?;
        let told = Told {
            whole: report.is_whole(),
            bytes: report.bytes,
            events: report.events,
            edges: report.edges,
            checksums: report.checksums,
            commits: report.commits,
            findings: report.findings.iter().map(Found::from).collect(),
            more: report.more,
            tail: report.tail.as_ref().map(Tail::from),
        };
        let path = self.file.display().to_string();
        let named = Named {
            live: report.live,
            ..Named::path(&self.file, report.layout)
        };
        cx.answer(Some(&named), &told, |page| write(&path, &report, page))?;
        Ok(if report.is_whole() {
            Exit::Ok
        } else {
            Exit::Findings
        })
    }
}

fn write(path: &str, report: &Report, page: &mut Page) {
    page.title(printable(path));
    let looked_at = format!(
        "{}: {} and {} in the tables, {} in the journal",
        bytes(report.bytes),
        plural(report.events, "event"),
        plural(report.edges, "edge"),
        plural(report.commits, "commit"),
    );
    page.field("looked at", looked_at);
    let proof = match report.layout {
        Layout::Native => plural(report.checksums, "checksum"),
        Layout::Reference | Layout::Spec1 => {
            "none: this layout has no checksums, its structure was checked".to_owned()
        }
    };
    page.field("proof", proof);
    if report.live {
        page.field(
            "live",
            "a daemon writes it; what it has committed was checked",
        );
    }
    write_findings("finding", &report.findings, report.more, page);
    write_tail(report.tail.as_ref(), page);
    if report.is_whole() {
        page.field("result", "whole");
        return;
    }
    let n = report.findings.len() as u64 + report.more;
    let result = match n {
        0 => "whole up to the tail".to_owned(),
        n => format!("{} wrong", plural(n, "thing")),
    };
    page.field(
        "result",
        format!(
            "{result}; `amemctl repair {} NEW` saves what is whole",
            printable(path)
        ),
    );
}

/// A line for each of the first findings.
pub(crate) fn write_findings(name: &str, findings: &[Finding], more: u64, page: &mut Page) {
    for finding in findings.iter().take(LINES_MAX) {
        page.field(name, printable(&finding.to_string()));
    }
    let more = more + findings.len().saturating_sub(LINES_MAX) as u64;
    if more > 0 {
        page.field("", format!("and {} more", count(more)));
    }
}

/// What stands behind the last whole commit.
pub(crate) fn write_tail(tail: Option<&verify::Tail>, page: &mut Page) {
    if let Some(tail) = tail {
        page.field(
            "tail",
            format!(
                "{} bytes at {}: {}",
                count(tail.bytes),
                tail.offset,
                printable(&tail.why)
            ),
        );
        page.aside(
            "A copy that was taken while the daemon wrote ends so, and nothing acknowledged before is missing.",
        );
    }
}
