//! `amemctl timeline`: events in order of time, day by day.

use amem_client::v1;
use amem_format::Micros;
use clap::Args;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{session_name, type_name};
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, plural, spark};
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
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            write(&answer, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn write(answer: &v1::TimelineResponse, page: &mut TextPage) {
    write_spark(&answer.entries, page);
    let mut from = 0;
    while let Some(first) = answer.entries.get(from) {
        let day = when::day(time_of(first));
        let same = answer.entries[from..]
            .iter()
            .take_while(|entry| when::day(time_of(entry)) == day)
            .count();
        page.title(day);
        write_day(&answer.entries[from..from + same], page);
        from += same;
    }
    page.aside(plural(answer.entries.len() as u64, "event"));
    listing::write_next(&answer.next_page_token, page);
}

/// A sparkline of entries over time.
fn write_spark(entries: &[v1::TimelineEntry], page: &mut TextPage) {
    let times = || entries.iter().map(|entry| time_of(entry).0);
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

fn time_of(entry: &v1::TimelineEntry) -> Micros {
    when::micros_of(entry.time.unwrap_or_default())
}

fn write_day(entries: &[v1::TimelineEntry], page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("", Align::Left),
        ("", Align::Right),
        ("", Align::Left),
        ("", Align::Left),
        ("", Align::Left),
    ]);
    for entry in entries {
        let event = entry.event.clone().unwrap_or_default();
        table.row(vec![
            format!("  {}", when::hour_and_minute(time_of(entry))),
            event.id.to_string(),
            type_name(event.r#type),
            session_name(&event),
            listing::text(&event),
        ]);
    }
    table.write_rows(page);
}
