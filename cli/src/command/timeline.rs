//! `amemctl timeline`: events in order of time, day by day.

use amem_client::v1;
use amem_format::Micros;
use clap::Args;
use serde::Serialize;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{EventJson, Time};
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, plural, printable, spark};
use crate::when;

const SPARK_COLUMNS: usize = 60;
const DAY: u64 = amem_format::Micros::DAY as u64;
/// Fewer entries get no sparkline.
const SPARK_ENTRIES: usize = 8;

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl timeline work
  amemctl timeline work --since \"a week ago\" --newest
  amemctl timeline work --axis recorded --session standup

{}", when::HELP))]
pub(crate) struct TimelineArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The time to order by.
    #[arg(long, value_enum, default_value_t = TimeAxis::Happened)]
    axis: TimeAxis,
    /// Newest first.
    #[arg(long)]
    newest: bool,
    /// At most this many.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Continue after a page, with the token at its end.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

#[derive(Serialize)]
struct TimelineOutput {
    as_of_lsn: Option<u64>,
    entries: Vec<TimelineEntryJson>,
    next: Option<String>,
}

#[derive(Serialize)]
struct TimelineEntryJson {
    time: Time,
    event: EventJson,
}

impl TimelineArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::TimelineRequest {
            selection: Some(selection),
            axis: self.axis.axis().into(),
            newest_first: self.newest,
            page_size: self.limit,
            page_token: self.after.clone().unwrap_or_default(),
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        let entry = |entry: &v1::TimelineEntry| {
            Ok(TimelineEntryJson {
                time: Time::of(entry.time)?,
                event: EventJson::of(&entry.event.clone().unwrap_or_default())?,
            })
        };
        let output = TimelineOutput {
            as_of_lsn: self.looking.answered(moment),
            entries: answer
                .entries
                .iter()
                .map(entry)
                .collect::<Result<_, Failure>>()?,
            next: listing::next(&answer.next_page_token),
        };
        cx.answer(Some(&opened.named(moment)), &output, |page| {
            write(&output, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn write(output: &TimelineOutput, page: &mut TextPage) {
    write_spark(&output.entries, page);
    let mut from = 0;
    while let Some(first) = output.entries.get(from) {
        let day = when::day(first.time.0);
        let same = output.entries[from..]
            .iter()
            .take_while(|entry| when::day(entry.time.0) == day)
            .count();
        page.title(day);
        write_day(&output.entries[from..from + same], page);
        from += same;
    }
    page.aside(plural(output.entries.len() as u64, "event"));
    listing::write_next(output.next.as_deref(), page);
}

/// A sparkline of entries over time.
fn write_spark(entries: &[TimelineEntryJson], page: &mut TextPage) {
    let times = || entries.iter().map(|entry| entry.time.0.0);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        return;
    };
    let span = last.abs_diff(first);
    // A few events need no bars, and one day fits its table.
    if span < DAY || entries.len() < SPARK_ENTRIES {
        return;
    }
    let mut counts = vec![0; SPARK_COLUMNS.min(entries.len())];
    let parts = counts.len() as u128;
    for time in times() {
        let at = u128::from(time.abs_diff(first)) * parts / (u128::from(span) + 1);
        counts[at as usize] += 1;
    }
    let line = spark(&counts, page.style());
    let (first, last) = (when::day(Micros(first)), when::day(Micros(last)));
    page.aside(if first == last {
        format!("{line}  {first}")
    } else {
        format!("{first} {line} {last}")
    });
}

fn write_day(entries: &[TimelineEntryJson], page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for entry in entries {
        table.row(vec![
            format!("  {}", when::hour_and_minute(entry.time.0)),
            entry.event.id.to_string(),
            entry.event.event_type.to_string(),
            printable(&entry.event.session_name()),
            listing::text(&entry.event),
        ]);
    }
    table.write_rows(page);
}
