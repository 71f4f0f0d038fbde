//! `amemctl get`: events in full.

use std::collections::BTreeMap;

use amem_client::v1;
use amem_format::NodeId;
use amem_format::attributes::REASON;
use amem_format::base::history::{PastChange, PriorValue};
use amem_format::base_builder;
use amem_format::view::View;
use clap::Args;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::authors;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{
    Time, author, edge_name, flag_names, flags_of, is_stub, number, type_name,
};
use crate::listing;
use crate::output::context::{CommandContext, message_json};
use crate::render::{Detail, TextPage, clipped, float, printable};
use crate::when::{self, at};

/// Characters of the text at the other end of an edge.
const REMINDER: usize = 60;
/// Events per request.
const REMINDED_AT_ONCE: usize = 1_000;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl get work 12
  amemctl get work last
  amemctl get work 12 13 --edges --history
  amemctl get work.amem 12 --as-of 2026-05-01T12:00:00Z")]
pub(crate) struct GetArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// Events: ids, or "last".
    #[arg(required = true, value_name = "ID")]
    ids: Vec<EventId>,
    /// Show the edges of each event.
    #[arg(long)]
    edges: bool,
    /// At most this many edges in each direction.
    #[arg(long, default_value_t = 100, value_name = "N")]
    edge_limit: usize,
    /// Show every change of each event.
    #[arg(long)]
    history: bool,
    /// Show vectors.
    #[arg(long)]
    vectors: bool,
    /// Do not count this as a use of the events.
    #[arg(long)]
    no_touch: bool,
    #[command(flatten)]
    looking: MomentArgs,
}

/// An event, and what is read beside it.
#[derive(Default)]
struct EventDetails {
    event: v1::Event,
    /// What is believed instead of an event that was corrected.
    believed_now: Option<u64>,
    /// There are more edges than were asked for.
    has_more_edges: bool,
    history: Option<Vec<ChangeJson>>,
}

#[derive(Serialize)]
struct ChangeJson {
    lsn: u64,
    time: Time,
    principal: String,
    agent: String,
    field: &'static str,
    before: Value,
}

impl GetArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let request = v1::GetEventsRequest {
            event_ids: EventId::numbers(&self.ids, cx, &opened, self.looking.as_of())?,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            include_vectors: self.vectors,
            include_edges: self.edges,
            touch: self.no_touch.then_some(false),
            ..Default::default()
        };
        let mut answer = opened.ask(cx, request)?;
        let histories = if self.history {
            Some(self.histories(&opened.view()?, &answer.events)?)
        } else {
            None
        };
        let mut histories = histories.into_iter().flatten();
        let mut events = Vec::new();
        for event in &mut answer.events {
            let has_more_edges = self.cut_edges(event);
            events.push(EventDetails {
                believed_now: self.believed_instead(cx, &opened, event)?,
                has_more_edges,
                history: histories.next(),
                event: event.clone(),
            });
        }
        let named = opened.named(answer.moment.as_ref());
        let reminders = match cx.is_json() {
            true => BTreeMap::new(),
            false => self.reminders(cx, &opened, &answer.events)?,
        };
        let object = || json_of(&answer, &events);
        cx.object(Some(&named), object, |page| {
            for (at, event) in events.iter().enumerate() {
                if at > 0 {
                    page.line("");
                }
                write(event, &reminders, page);
            }
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }

    /// Takes the edges of each direction beyond the limit away; true if there were some.
    fn cut_edges(&self, event: &mut v1::Event) -> bool {
        let (id, before) = (event.id, event.edges.len());
        let (mut outgoing, mut incoming) = (0, 0);
        event.edges.retain(|edge| {
            // An edge from an event to itself is of both directions.
            let is_outgoing = edge.source == id && outgoing < self.edge_limit;
            let is_incoming = edge.target == id && incoming < self.edge_limit;
            outgoing += usize::from(is_outgoing);
            incoming += usize::from(is_incoming);
            is_outgoing || is_incoming
        });
        event.edges.len() < before
    }

    /// The head of an event that was corrected. Corrections alone take confidence from an event without hiding it.
    fn believed_instead(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        event: &v1::Event,
    ) -> Result<Option<u64>, Failure> {
        if event.erased || event.forgotten || event.confidence >= 1.0 {
            return Ok(None);
        }
        let request = v1::ResolveRequest {
            event_id: event.id,
            as_of: self.looking.as_of(),
            limit: 1,
            touch: Some(false),
            ..Default::default()
        };
        let head = opened.ask(cx, request)?.head;
        Ok(head.map(|head| head.id).filter(|head| *head != event.id))
    }

    /// Up to the moment that was asked for.
    fn histories(&self, now: &View, events: &[v1::Event]) -> Result<Vec<Vec<ChangeJson>>, Failure> {
        let moment = self.looking.moment();
        let until = moment.map(|_| at(now, moment)).transpose()?;
        let history = |event: &v1::Event| history(now, NodeId(event.id), until.as_ref());
        events.iter().map(history).collect()
    }

    /// The beginnings of the texts at the other ends of edges.
    fn reminders(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        events: &[v1::Event],
    ) -> Result<BTreeMap<u64, String>, Failure> {
        let edges = events.iter().flat_map(|event| &event.edges);
        let mut ids: Vec<u64> = edges.flat_map(|edge| [edge.source, edge.target]).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut out = BTreeMap::new();
        for some in ids.chunks(REMINDED_AT_ONCE) {
            let request = v1::GetEventsRequest {
                event_ids: some.to_vec(),
                as_of: self.looking.as_of(),
                include_forgotten: true,
                touch: Some(false),
                ..Default::default()
            };
            let events = opened.ask(cx, request)?.events;
            for event in events.iter().filter(|event| !is_stub(event)) {
                out.insert(event.id, clipped(&listing::text(event), REMINDER));
            }
        }
        Ok(out)
    }
}

/// The answer, and what only amemctl reads beside each event.
fn json_of(answer: &v1::GetEventsResponse, events: &[EventDetails]) -> Result<Value, Failure> {
    let mut data = message_json(answer)?;
    for (at, details) in events.iter().enumerate() {
        let event = &mut data["events"][at];
        if let Some(head) = details.believed_now {
            event["believedNow"] = head.to_string().into();
        }
        if details.has_more_edges {
            event["moreEdges"] = true.into();
        }
        if let Some(history) = &details.history {
            event["history"] = json!(history);
        }
    }
    Ok(data)
}

/// Oldest first; up to the moment of `until`.
fn history(now: &View, id: NodeId, until: Option<&View>) -> Result<Vec<ChangeJson>, Failure> {
    let mut out = Vec::new();
    let erased = now.node(id)?.is_erased();
    for change in base_builder::changes_of(now, id)? {
        let change = change?;
        if until.is_some_and(|view| change.lsn > view.moment().0) {
            continue;
        }
        // An erased value is not shown, even if the file still has it.
        if erased
            && matches!(
                change.before,
                PriorValue::Attributes(_) | PriorValue::Vector(_)
            )
        {
            continue;
        }
        let actor = now.actor(change.actor)?;
        let (field, before) = field_before(&change)?;
        out.push(ChangeJson {
            lsn: change.lsn.0,
            time: Time(change.time),
            principal: actor.principal.to_owned(),
            agent: actor.agent.to_owned(),
            field,
            before,
        });
    }
    Ok(out)
}

fn field_before(change: &PastChange<'_>) -> Result<(&'static str, Value), Failure> {
    Ok(match &change.before {
        PriorValue::Confidence(value) => ("confidence", number(*value)),
        PriorValue::Lambda(value) => ("lambda", number(*value)),
        PriorValue::Flags(flags) => ("flags", json!(flag_names(*flags))),
        PriorValue::Attributes(None) | PriorValue::Vector(None) => (name(change), Value::Null),
        PriorValue::Attributes(Some(text)) => {
            let value = serde_json::from_str(text).map_err(|e| {
                amem_format::Error::corrupt("history", 0, format!("attributes: {e}"))
            })?;
            (name(change), value)
        }
        PriorValue::Vector(Some(bytes)) => {
            (name(change), json!(format!("{} numbers", bytes.len() / 4)))
        }
        PriorValue::Edge {
            target,
            edge_type,
            existed,
        } => {
            let was = existed
                .map(|(weight, at)| json!({"weight": number(weight), "createdAt": Time(at)}));
            let edge = json!({
                "source": change.target.0,
                "target": target.0,
                "type": edge_type,
                "was": was,
            });
            ("edge", edge)
        }
    })
}

fn name(change: &PastChange<'_>) -> &'static str {
    match change.before {
        PriorValue::Attributes(_) => "attributes",
        _ => "vector",
    }
}

const DETAILS: [Detail<v1::Event>; 9] = [
    ("session", |event| match event.session_key.as_str() {
        "" => event.session_id.to_string(),
        key => format!("{} ({key})", event.session_id),
    }),
    ("recorded", |event| when::long_of(event.created_at)),
    ("by", author),
    ("reason", |event| event.reason.clone()),
    ("happened", |event| when::long_of(event.event_time)),
    ("confidence", |event| float(event.confidence)),
    ("strength", |event| float(event.strength)),
    ("fades by", |event| match event.lambda > 0.0 {
        true => format!("{} per day", float(event.lambda)),
        false => String::new(),
    }),
    ("accesses", |event| match event.access_count {
        0 => String::new(),
        n => format!("{n}, the last {}", when::long_of(event.last_accessed)),
    }),
];

fn write(whole: &EventDetails, reminders: &BTreeMap<u64, String>, page: &mut TextPage) {
    let event = &whole.event;
    page.title(format!("event {}", event.id));
    page.field("type", type_name(event.r#type));
    if event.erased {
        page.field("text", listing::text(event));
    } else {
        page.field_lines("text", &event.text);
    }
    if let Some(head) = whole.believed_now {
        page.field("believed now", format!("event {head}, which replaced this"));
    }
    page.details(&DETAILS, event);
    let flags = flags_of(event);
    if !flags.is_empty() {
        page.field("flags", flags.join(", "));
    }
    // The reason has a line of its own.
    let is_shown = |key: &str| key != REASON || event.reason.is_empty();
    let attributes: Map<String, Value> = match event.attributes_json.as_str() {
        "" => Map::new(),
        // What no version writes is shown as it is.
        json => serde_json::from_str(json)
            .unwrap_or_else(|_| Map::from_iter([("invalid".to_owned(), json.into())])),
    };
    for (key, value) in attributes.iter().filter(|(key, _)| is_shown(key)) {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        page.field("attribute", format!("{key} = {value}"));
    }
    if let Some(vector) = &event.vector {
        page.field("vector", format!("{:?}", vector.values));
    } else if event.vector_present {
        page.field("vector", "yes");
    }
    write_edges(whole, reminders, page);
    for change in whole.history.iter().flatten() {
        let who = match authors::author(&change.principal, &change.agent, true) {
            who if who.is_empty() => who,
            who => format!(" by {who}"),
        };
        page.field(
            "changed",
            format!(
                "LSN {}, {}{who}: {} was {}",
                change.lsn,
                when::exact(change.time.0),
                change.field,
                printable(&change.before.to_string())
            ),
        );
    }
    if whole.history.as_ref().is_some_and(Vec::is_empty) {
        page.field("changed", "never");
    }
}

fn write_edges(whole: &EventDetails, reminders: &BTreeMap<u64, String>, page: &mut TextPage) {
    let reminder = |id: &u64| reminders.get(id).map_or("", String::as_str);
    let (id, edges) = (whole.event.id, &whole.event.edges);
    let name = |edge: &v1::Edge| edge_name(edge.r#type).unwrap_or_default();
    for edge in edges.iter().filter(|edge| edge.source == id) {
        let (kind, other) = (name(edge), edge.target);
        let line = format!(
            "─ {kind} → {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field_drawn("edge", &line);
    }
    for edge in edges.iter().filter(|edge| edge.target == id) {
        let (kind, other) = (name(edge), edge.source);
        let line = format!(
            "← {kind} ─ {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field_drawn("edge", &line);
    }
    if whole.has_more_edges {
        page.field("edge", "… and more: see --edge-limit");
    }
}
