//! `amemctl ls`: events that meet conditions, in an order.

use std::path::PathBuf;

use amem_core::query::filter::Filter;
use amem_core::query::{Axis, Bounds, Order, Pattern, Selection, Window};
use amem_core::types::EventType;
use amem_core::view::{AsOf, View};
use amem_core::{Micros, NodeId, SessionId};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::context::Context;
use crate::event::EventJson;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment::{at, parse_moment, parse_time};
use crate::render::{Align, Page, Table, count, float, plural, printable, time};
use crate::source::Source;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl ls work.amem
  amemctl ls work.amem --type decision --type skill --limit 10
  amemctl ls work.amem --session 7 --order oldest
  amemctl ls work.amem --since 2026-05-01 --until 2026-06-01 --axis happened
  amemctl ls work.amem --keyword database --where '{\"speaker\":{\"eq\":\"Ada\"}}'")]
pub(crate) struct Ls {
    /// A brain, a file of the reference, or a spec-1 file.
    file: PathBuf,
    /// Only events of this type (fact, decision, inference, correction, skill, episode); more than once for any of them.
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_type)]
    types: Vec<EventType>,
    /// Only events of this session, by number or key; more than once for any of them.
    #[arg(long = "session", value_name = "SESSION")]
    sessions: Vec<String>,
    /// Not before this time (RFC 3339, or a day).
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Micros>,
    /// Before this time.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    until: Option<Micros>,
    /// The time that --since, --until and the order are about.
    #[arg(long, value_enum, default_value_t = By::Recorded)]
    axis: By,
    /// Only events whose text says all these words, in whatever form.
    #[arg(long, value_name = "WORDS")]
    keyword: Option<String>,
    /// Only events that meet a condition on their attributes, as JSON.
    #[arg(long = "where", value_name = "JSON")]
    condition: Option<String>,
    /// Only events at least as strong.
    #[arg(long, value_name = "0..1")]
    min_strength: Option<f32>,
    /// The order.
    #[arg(long, value_enum, default_value_t = Ordered::Newest)]
    order: Ordered,
    /// At most as many.
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Goes on behind a page: what it said is next.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    /// Forgotten events, too.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
    /// Events that an episode summarises, too.
    #[arg(long, visible_alias = "compressed")]
    include_compressed: bool,
    /// As it was then: an LSN, or a time.
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum By {
    /// When events were written down.
    Recorded,
    /// When they happened; when they were recorded, if that was not said.
    Happened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ordered {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
    /// The strongest first.
    Strongest,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    events: Vec<EventJson>,
    next: Option<String>,
}

fn parse_type(name: &str) -> Result<EventType, String> {
    let opaque = || {
        let number = name.strip_prefix("type-")?.parse().ok()?;
        Some(EventType(number))
    };
    EventType::from_name(name).or_else(opaque).ok_or_else(|| {
        "no such type (fact, decision, inference, correction, skill, episode)".to_owned()
    })
}

impl Ls {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let source = Source::open(&self.file)?;
        let view = at(&source.view, self.as_of)?;
        let pattern = Pattern {
            selection: self.selection(&view)?,
            order: self.order(),
            limit: self.limit,
            cursor: self.after.clone(),
        };
        let matches = pattern.run(&view)?;
        let event = |&id: &NodeId| EventJson::of(&view, &view.node(id)?, false);
        let events: Result<Vec<_>, _> = matches.ids.iter().map(event).collect();
        let told = Told {
            as_of_lsn: self.as_of.map(|_| view.moment().0.0),
            events: events?,
            next: matches.next,
        };
        cx.answer(Some(&source.named), &told, |page| {
            self.write(&told, &view, page);
            source.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }

    fn order(&self) -> Order {
        let axis = match self.axis {
            By::Recorded => Axis::Recorded,
            By::Happened => Axis::Happened,
        };
        match self.order {
            Ordered::Newest => Order::Newest(axis),
            Ordered::Oldest => Order::Oldest(axis),
            Ordered::Strongest => Order::Strongest,
        }
    }

    fn selection(&self, view: &View) -> Result<Selection, Failure> {
        let window = Window {
            from: self.since,
            until: self.until,
        };
        let (recorded, happened) = match self.axis {
            By::Recorded => (window, Window::default()),
            By::Happened => (Window::default(), window),
        };
        let session = |name: &String| session(view, name);
        let filter = match &self.condition {
            None => None,
            Some(json) => Some(Filter::parse(&serde_json::from_str(json).map_err(
                |e| {
                    Failure::argument(
                        format!("--where is no JSON: {e}"),
                        "write it as '{\"speaker\":{\"eq\":\"Ada\"}}'",
                    )
                },
            )?)?),
        };
        Ok(Selection {
            types: self.types.clone(),
            sessions: self
                .sessions
                .iter()
                .map(session)
                .collect::<Result<_, _>>()?,
            recorded,
            happened,
            strength: Bounds {
                min: self.min_strength,
                max: None,
            },
            keyword: self.keyword.clone(),
            filter,
            include_forgotten: self.include_forgotten,
            include_compressed: self.include_compressed,
            ..Selection::default()
        })
    }

    fn write(&self, told: &Told, view: &View, page: &mut Page) {
        let mut table = Table::new(&[
            ("id", Align::Right),
            ("type", Align::Left),
            ("session", Align::Right),
            (self.time_name(), Align::Left),
            ("conf", Align::Right),
            ("str", Align::Right),
            ("flags", Align::Left),
            ("text", Align::Left),
        ]);
        for event in &told.events {
            let when = match self.axis {
                By::Recorded => event.created_at,
                By::Happened => event.event_time.unwrap_or(event.created_at),
            };
            table.row(vec![
                event.id.to_string(),
                event.event_type.to_string(),
                event.session.to_string(),
                time(when.0),
                float(event.confidence),
                float(event.strength),
                event.flags.join(","),
                printable(&event.text),
            ]);
        }
        table.write(page);
        let shown = plural(told.events.len() as u64, "event");
        page.aside(format!("{shown} of {}", count(view.nodes())));
        if let Some(next) = &told.next {
            page.aside(format!("there may be more: --after {next}"));
        }
    }

    fn time_name(&self) -> &'static str {
        match self.axis {
            By::Recorded => "recorded",
            By::Happened => "happened",
        }
    }
}

/// A session by number, else by the client's key.
fn session(view: &View, name: &str) -> Result<SessionId, Failure> {
    if let Ok(number) = name.parse() {
        return Ok(SessionId(number));
    }
    view.session_by_key(name)?.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            "unknown_session",
            format!("there is no session with the key {name:?}"),
            "`amemctl ls --json FILE` shows the sessions of events",
        )
    })
}
