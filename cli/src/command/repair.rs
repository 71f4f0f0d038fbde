//! `amemctl repair`: what is whole of a damaged file, in a new one.

use std::path::PathBuf;

use amem_core::base::settings::Settings;
use amem_core::event::Graph;
use amem_core::fold::{Options, new_identity};
use amem_core::foreign::{Foreign, Layout, detect, to_dense};
use amem_core::repair::{self, Report};
use amem_core::spec1::Spec1;
use amem_core::view::View;
use clap::Args;
use serde::Serialize;
use uuid::Uuid;

use super::verify::{Found, Tail, write_findings, write_tail};
use crate::context::Context;
use crate::convert;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::new_file::{check_free, publish_brain};
use crate::render::{Page, bytes, plural, printable};
use crate::source::{self, Named, in_file};
use crate::when::now;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl repair damaged.amem saved.amem

The damaged file is not touched. Ids stay; an event whose record is lost leaves an empty one in its place.
Ends with 0 if nothing was lost, with 1 if something was.")]
pub(crate) struct Repair {
    /// The damaged file.
    file: PathBuf,
    /// The new file; nothing may stand there.
    new: PathBuf,
}

#[derive(Serialize)]
struct Told {
    bytes: u64,
    events: u64,
    edges: u64,
    lost_nothing: bool,
    healed: Vec<Found>,
    lost: Vec<Found>,
    doubtful: Vec<Found>,
    tail: Option<Tail>,
}

impl Repair {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        check_free(&self.new)?;
        let damaged = source::read(&self.file)?;
        let (view, options, report) = saved(&damaged)?;
        let len = publish_brain(&view, &options, &self.new)?;
        let found = |list: &[_]| list.iter().map(Found::from).collect();
        let told = Told {
            bytes: len,
            events: view.nodes(),
            edges: view.edges(),
            lost_nothing: report.lost_nothing(),
            healed: found(&report.healed),
            lost: found(&report.lost),
            doubtful: found(&report.doubtful),
            tail: report.tail.as_ref().map(Tail::from),
        };
        let named = Named::made(&self.new, &options.identity);
        cx.answer(Some(&named), &told, |page| {
            write(&named, &told, &report, page)
        })?;
        Ok(if report.lost_nothing() {
            Exit::Ok
        } else {
            Exit::Findings
        })
    }
}

fn saved(damaged: &[u8]) -> Result<(View, Options, Report), Failure> {
    let error = match repair::repair(damaged, Uuid::new_v4(), now()) {
        Ok(repaired) => return Ok((repaired.view, repaired.options, repaired.report)),
        Err(error) => error,
    };
    let readable = match detect(damaged) {
        Ok(Layout::Reference) => readable(&Foreign::open(damaged).map_err(in_file)?.as_written())?,
        Ok(Layout::Spec1) => readable(&Spec1::open(damaged).map_err(in_file)?)?,
        Ok(Layout::Native) => return Err(beyond(Failure::from(error))),
        Err(other) => return Err(beyond(Failure::from(other))),
    };
    Ok(readable)
}

/// There is nothing further to advise than a copy.
fn beyond(failure: Failure) -> Failure {
    Failure {
        remedy: "nothing can be found in this file: take an older copy".to_owned(),
        ..failure
    }
}

/// A file of others becomes a brain of ours, made of the events that can be read.
fn readable(graph: &dyn Graph) -> Result<(View, Options, Report), Failure> {
    let (graph, lost) = repair::readable(graph);
    let (dense, _) = to_dense(&graph)?;
    let identity = new_identity(Uuid::new_v4(), Uuid::new_v4(), Uuid::nil(), now());
    let made = convert::brain(&dense, &[], &identity, &Settings::default())?;
    let report = Report {
        lost,
        ..Report::default()
    };
    Ok((made.view, made.options, report))
}

fn write(named: &Named, told: &Told, report: &Report, page: &mut Page) {
    page.title(printable(&named.path));
    page.field(
        "saved",
        format!(
            "{} and {}, up to LSN {}, {}",
            plural(told.events, "event"),
            plural(told.edges, "edge"),
            named.lsn,
            bytes(told.bytes)
        ),
    );
    if let Some(instance) = named.instance {
        page.field(
            "instance",
            format!("{instance} (not that of the damaged file)"),
        );
    }
    write_findings("healed", &report.healed, 0, page);
    write_findings("lost", &report.lost, 0, page);
    write_findings("doubtful", &report.doubtful, 0, page);
    write_tail(report.tail.as_ref(), page);
    let result = if report.lost_nothing() {
        "nothing was lost"
    } else {
        "what is listed was lost or may have changed"
    };
    page.field("result", result);
}
