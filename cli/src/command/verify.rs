//! `amemctl verify`: checks every byte of a file against its checksums, and its parts against each other.

use std::path::Path;
use std::time::Duration;

use amem_client::v1;
use amem_doctor::verify;
use amem_doctor::verify::{Finding, VerifyReport};
use amem_interop::Layout;
use clap::Args;
use serde_json::{Value, json};

use crate::brain::opened::DaemonBrain;
use crate::brain::source::check_file;
use crate::brain::target::BrainTarget;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::BrainName;
use crate::output::context::{CommandContext, message_json, messages_json};
use crate::output::progress::{Progress, Unit};
use crate::render::{TextPage, bytes, count, plural, printable};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl verify work                         a brain of amemd, while it is written
  amemctl verify work.amem
  amemctl verify --json copy.amem && echo whole

The exit code is 0 if the file is intact, else 1.")]
pub(crate) struct VerifyArgs {
    /// A brain of amemd, by name, or a file: a brain, live or a copy, one of the reference, or a spec-1 file.
    brain: BrainTarget,
}

/// Findings printed as text; `--json` has all.
const LINES_MAX: usize = 50;

pub(crate) fn findings_json(findings: &[Finding]) -> Result<Value, Failure> {
    let messages = findings.iter().map(|finding| v1::Finding {
        part: finding.part.clone(),
        offset: finding.offset,
        message: finding.why.clone(),
    });
    messages_json(&messages.collect::<Vec<_>>())
}

/// Bytes after the last complete commit.
pub(crate) fn tail_json(tail: Option<&verify::Tail>) -> Value {
    let tail = tail.map(|tail| json!({"offset": tail.offset.to_string(), "bytes": tail.bytes.to_string(), "why": tail.why}));
    tail.unwrap_or_default()
}

impl VerifyArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let (named, report) = match &self.brain {
            BrainTarget::Path(path) => of_file(cx, path)?,
            BrainTarget::Name(name) => of_daemon(cx, name)?,
        };
        // What the daemon answers for a brain of its own, and what only this program sees.
        let mut data = message_json(&v1::VerifyBrainResponse {
            whole: report.is_whole(),
            more_findings: report.more,
            file_bytes: report.bytes,
            checksums: report.checksums,
            commits: report.commits,
            ..Default::default()
        })?;
        data["findings"] = findings_json(&report.findings)?;
        data["events"] = report.events.to_string().into();
        data["edges"] = report.edges.to_string().into();
        data["tail"] = tail_json(report.tail.as_ref());
        cx.answer(Some(&named), &data, |page| write(&named, &report, page))?;
        Ok(if report.is_whole() {
            Exit::Ok
        } else {
            Exit::Findings
        })
    }
}

fn of_file(cx: &CommandContext, path: &Path) -> Result<(BrainName, VerifyReport), Failure> {
    check_file(path)?;
    let mut progress = Progress::new(cx, Unit::Bytes);
    if let Ok(meta) = path.metadata() {
        progress.say(&format!("checking {} …", bytes(meta.len())));
    }
    let report = verify::file(path).map_err(|e| Failure::from(e).of_verify())?;
    let named = BrainName {
        live: report.live,
        ..BrainName::path(path, report.layout)
    };
    Ok((named, report))
}

/// Has the daemon verify its own file.
fn of_daemon(cx: &mut CommandContext, name: &str) -> Result<(BrainName, VerifyReport), Failure> {
    let served = DaemonBrain::open(cx.daemon()?, name)?;
    let mut named = served.named().clone();
    let mut progress = Progress::new(cx, Unit::Bytes);
    let remote = cx.daemon()?;
    let brain = || name.to_owned();
    let request = v1::GetBrainRequest { brain: brain() };
    let status = remote.call(remote.client.brains().get_brain(request))?;
    let status = status.status.unwrap_or_default();
    let size = bytes(status.base_bytes + status.journal_bytes);
    let mut brains = remote.client.brains();
    let asked = brains.verify_brain(v1::VerifyBrainRequest { brain: brain() });
    let verified = remote.watched(asked, Duration::from_millis(100), || {
        progress.say(&format!("checking {size} …"));
    })?;
    if let Some(moment) = &verified.moment {
        named.saw(moment);
    }
    let finding = |found: v1::Finding| Finding {
        part: found.part,
        offset: found.offset,
        why: found.message,
    };
    let report = VerifyReport {
        layout: Layout::Native,
        bytes: verified.file_bytes,
        events: status.events,
        edges: status.edges,
        checksums: verified.checksums,
        commits: verified.commits,
        live: true,
        findings: verified.findings.into_iter().map(finding).collect(),
        more: verified.more_findings,
        tail: None,
    };
    Ok((named, report))
}

fn write(named: &BrainName, report: &VerifyReport, page: &mut TextPage) {
    let path = &named.path;
    page.title(printable(named.name.as_ref().unwrap_or(path)));
    let looked_at = format!(
        "{}: {} and {}, {} in the journal",
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
            "a daemon writes it; everything committed was checked",
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

pub(crate) fn write_findings(name: &str, findings: &[Finding], more: u64, page: &mut TextPage) {
    for finding in findings.iter().take(LINES_MAX) {
        page.field(name, printable(&finding.to_string()));
    }
    let more = more + findings.len().saturating_sub(LINES_MAX) as u64;
    if more > 0 {
        page.field("", format!("and {} more", count(more)));
    }
}

pub(crate) fn write_tail(tail: Option<&verify::Tail>, page: &mut TextPage) {
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
            "A copy taken while the daemon wrote ends like this; it lacks nothing that was acknowledged before.",
        );
    }
}
