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

use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::authors;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::{EdgeJson, EventJson, Time, flag_names, number, whole};
use crate::listing;
use crate::output::context::CommandContext;
use crate::render::{TextPage, clipped, float, printable};
use crate::when::{self, at, long as shown_time};

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

#[derive(Serialize)]
struct GetOutput {
    as_of_lsn: Option<u64>,
    events: Vec<EventDetails>,
}

#[derive(Serialize)]
struct EventDetails {
    #[serde(flatten)]
    event: EventJson,
    /// What is believed instead of an event that was corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    believed_now: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outgoing: Option<Vec<EdgeJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming: Option<Vec<EdgeJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_edges: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<ChangeJson>>,
}

#[derive(Serialize)]
struct ChangeJson {
    lsn: u64,
    time: Time,
    principal: String,
    agent: String,
    field: &'static str,
    before: serde_json::Value,
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
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        let histories = if self.history {
            Some(self.histories(&opened.view()?, &answer.events)?)
        } else {
            None
        };
        let mut histories = histories.into_iter().flatten();
        let mut events = Vec::new();
        for event in &answer.events {
            let mut details = self.whole(event, histories.next())?;
            details.believed_now = self.believed_instead(cx, &opened, &details.event)?;
            events.push(details);
        }
        let output = GetOutput {
            as_of_lsn: self.looking.answered(moment),
            events,
        };
        let reminders = if cx.is_json() {
            BTreeMap::new()
        } else {
            self.reminders(cx, &opened, &output)?
        };
        cx.answer(Some(&opened.named(moment)), &output, |page| {
            for (at, event) in output.events.iter().enumerate() {
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

    fn whole(
        &self,
        event: &v1::Event,
        history: Option<Vec<ChangeJson>>,
    ) -> Result<EventDetails, Failure> {
        let mut is_cut = false;
        let mut edges = |is_ours: fn(&v1::Edge, u64) -> bool| {
            let mut edges = event.edges.iter().filter(|edge| is_ours(edge, event.id));
            let shown = edges.by_ref().take(self.edge_limit).map(EdgeJson::of);
            let shown = shown.collect::<Result<Vec<_>, Failure>>();
            is_cut |= edges.next().is_some();
            self.edges.then_some(shown).transpose()
        };
        let outgoing = edges(|edge, id| edge.source == id)?;
        let incoming = edges(|edge, id| edge.target == id)?;
        Ok(EventDetails {
            event: EventJson::of(event)?,
            believed_now: None,
            outgoing,
            incoming,
            more_edges: self.edges.then_some(is_cut),
            history,
        })
    }

    /// The head of an event that was corrected. Corrections alone take confidence from an event without hiding it.
    fn believed_instead(
        &self,
        cx: &mut CommandContext,
        opened: &BrainHandle,
        event: &EventJson,
    ) -> Result<Option<u64>, Failure> {
        let is_hidden = ["erased", "forgotten"]
            .iter()
            .any(|flag| event.flags.contains(flag));
        if is_hidden || event.confidence >= 1.0 {
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
        output: &GetOutput,
    ) -> Result<BTreeMap<u64, String>, Failure> {
        let edges = output
            .events
            .iter()
            .flat_map(|event| event.outgoing.iter().chain(&event.incoming).flatten());
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
            for event in &opened.ask(cx, request)?.events {
                if let Some(event) = whole(event)? {
                    out.insert(event.id, clipped(&listing::text(&event), REMINDER));
                }
            }
        }
        Ok(out)
    }
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

fn field_before(change: &PastChange<'_>) -> Result<(&'static str, serde_json::Value), Failure> {
    use serde_json::{Value, json};
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
                .map(|(weight, at)| json!({"weight": number(weight), "created_at": Time(at)}));
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

fn write(whole: &EventDetails, reminders: &BTreeMap<u64, String>, page: &mut TextPage) {
    let event = &whole.event;
    page.title(format!("event {}", event.id));
    page.field("type", event.event_type);
    if event.flags.contains(&"erased") {
        page.field("text", listing::text(event));
    } else {
        page.field_lines("text", &event.text);
    }
    if let Some(head) = whole.believed_now {
        page.field("believed now", format!("event {head}, which replaced this"));
    }
    let session = event.session_key.as_deref().map(printable);
    page.field(
        "session",
        match session {
            Some(key) => format!("{} ({key})", event.session),
            None => event.session.to_string(),
        },
    );
    page.field("recorded", shown_time(event.created_at.0));
    let author = event.author();
    if !author.is_empty() {
        page.field("by", author);
    }
    if let Some(reason) = &event.reason {
        page.field("reason", printable(reason));
    }
    if let Some(at) = event.event_time {
        page.field("happened", shown_time(at.0));
    }
    page.field("confidence", float(event.confidence));
    page.field("strength", float(event.strength));
    if event.lambda > 0.0 {
        page.field("fades by", format!("{} per day", float(event.lambda)));
    }
    if event.access_count > 0 {
        let last = shown_time(event.last_accessed.0);
        page.field(
            "accesses",
            format!("{}, the last {last}", event.access_count),
        );
    }
    if !event.flags.is_empty() {
        page.field("flags", event.flags.join(", "));
    }
    if let Some(attributes) = &event.attributes {
        // The reason has a line of its own.
        let is_shown = |key: &str| key != REASON || event.reason.is_none();
        for (key, value) in attributes.iter().filter(|(key, _)| is_shown(key)) {
            let value = match value {
                serde_json::Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            page.field(
                "attribute",
                format!("{} = {}", printable(key), printable(&value)),
            );
        }
    }
    if let Some(vector) = &event.vector {
        page.field("vector", format!("{vector:?}"));
    } else if event.has_vector {
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
    for edge in whole.outgoing.iter().flatten() {
        let (kind, other) = (edge.edge_type, edge.target);
        let line = format!(
            "─ {kind} → {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field_drawn("edge", &line);
    }
    for edge in whole.incoming.iter().flatten() {
        let (kind, other) = (edge.edge_type, edge.source);
        let line = format!(
            "← {kind} ─ {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field_drawn("edge", &line);
    }
    if whole.more_edges == Some(true) {
        page.field("edge", "… and more: see --edge-limit");
    }
}
