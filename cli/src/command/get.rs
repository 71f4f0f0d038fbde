//! `amemctl get`: events, whole.

use std::path::PathBuf;

use amem_core::NodeId;
use amem_core::base::history::{Before, Change};
use amem_core::fold;
use amem_core::query::get::Got;
use amem_core::query::{self, time};
use amem_core::view::{AsOf, View};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::event::{EdgeJson, EventJson, Time, flag_names, number};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::moment::{at, parse_moment};
use crate::render::{Page, clipped, float, printable, time as shown};
use crate::source::Source;

/// Characters of a text where it only reminds of an event.
const REMINDER: usize = 60;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl get work.amem 12
  amemctl get work.amem 12 13 --edges --history
  amemctl get work.amem 12 --as-of 2026-05-01T12:00:00Z")]
pub(crate) struct Get {
    /// A brain, a file of the reference, or a spec-1 file.
    file: PathBuf,
    /// Events by id.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<u64>,
    /// With the edges that start and end there.
    #[arg(long)]
    edges: bool,
    /// At most as many edges each way.
    #[arg(long, default_value_t = 100, value_name = "N")]
    edge_limit: usize,
    /// With everything that changed about them.
    #[arg(long)]
    history: bool,
    /// With their vectors.
    #[arg(long)]
    vectors: bool,
    /// As it was then: an LSN, or a time.
    #[arg(long, value_name = "LSN|TIME", value_parser = parse_moment)]
    as_of: Option<AsOf>,
    /// Forgotten events, too.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    events: Vec<Whole>,
}

#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    event: EventJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    outgoing: Option<Vec<EdgeJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    incoming: Option<Vec<EdgeJson>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more_edges: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<Changed>>,
}

/// A change, with the value before it.
#[derive(Serialize)]
struct Changed {
    lsn: u64,
    time: Time,
    principal: String,
    agent: String,
    field: &'static str,
    before: serde_json::Value,
}

impl Get {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let source = Source::open(&self.file)?;
        let view = at(&source.view, self.as_of)?;
        let mut events = Vec::new();
        for &id in &self.ids {
            let get = query::Get {
                event: NodeId(id),
                edges: self.edge_limit,
                include_forgotten: self.include_forgotten,
                ..query::Get::default()
            };
            events.push(self.whole(&source.view, &view, get.run(&view)?)?);
        }
        let told = Told {
            as_of_lsn: self.as_of.map(|_| view.moment().0.0),
            events,
        };
        let reminders = self.reminders(&view, &told)?;
        cx.answer(Some(&source.named), &told, |page| {
            for (at, event) in told.events.iter().enumerate() {
                if at > 0 {
                    page.line("");
                }
                write(event, &reminders, page);
            }
            source.write_notes(page);
        })?;
        Ok(Exit::Ok)
    }

    fn whole(&self, now: &View, view: &View, got: Got<'_>) -> Result<Whole, Failure> {
        let edges = |list: &[_]| {
            self.edges
                .then(|| list.iter().map(EdgeJson::from).collect())
        };
        let history = match self.history {
            true => Some(history(now, got.node.id(), self.as_of.map(|_| view))?),
            false => None,
        };
        Ok(Whole {
            event: EventJson::of(view, &got.node, self.vectors)?,
            outgoing: edges(&got.outgoing),
            incoming: edges(&got.incoming),
            more_edges: self.edges.then_some(got.is_cut),
            history,
        })
    }

    /// The beginnings of the texts at the other ends of edges.
    fn reminders(
        &self,
        view: &View,
        told: &Told,
    ) -> Result<std::collections::BTreeMap<u64, String>, Failure> {
        let mut out = std::collections::BTreeMap::new();
        for event in &told.events {
            let edges = event.outgoing.iter().chain(&event.incoming).flatten();
            for id in edges.flat_map(|edge| [edge.source, edge.target]) {
                if let std::collections::btree_map::Entry::Vacant(entry) = out.entry(id) {
                    let text = view.node(NodeId(id))?.text()?;
                    entry.insert(clipped(&printable(&text), REMINDER));
                }
            }
        }
        Ok(out)
    }
}

/// Every change of an event, oldest first; up to the moment of `until` if it is given.
fn history(now: &View, id: NodeId, until: Option<&View>) -> Result<Vec<Changed>, Failure> {
    let mut out = Vec::new();
    let erased = now.node(id)?.is_erased();
    for change in fold::changes_of(now, id)? {
        let change = change?;
        if until.is_some_and(|view| change.lsn > view.moment().0) {
            continue;
        }
        // What was erased is gone, even where its file still has it.
        if erased && matches!(change.before, Before::Attributes(_) | Before::Vector(_)) {
            continue;
        }
        let actor = now.actor(change.actor)?;
        let (field, before) = told(&change)?;
        out.push(Changed {
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

/// The field that changed, and its value before.
fn told(change: &Change<'_>) -> Result<(&'static str, serde_json::Value), Failure> {
    use serde_json::{Value, json};
    Ok(match &change.before {
        Before::Confidence(value) => ("confidence", number(*value)),
        Before::Lambda(value) => ("lambda", number(*value)),
        Before::Flags(flags) => ("flags", json!(flag_names(*flags))),
        Before::Attributes(None) | Before::Vector(None) => (name(change), Value::Null),
        Before::Attributes(Some(text)) => {
            let value = serde_json::from_str(text)
                .map_err(|e| amem_core::Error::corrupt("history", 0, format!("attributes: {e}")))?;
            (name(change), value)
        }
        Before::Vector(Some(bytes)) => {
            (name(change), json!(format!("{} numbers", bytes.len() / 4)))
        }
        Before::Edge {
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

fn name(change: &Change<'_>) -> &'static str {
    match change.before {
        Before::Attributes(_) => "attributes",
        _ => "vector",
    }
}

fn write(whole: &Whole, reminders: &std::collections::BTreeMap<u64, String>, page: &mut Page) {
    let event = &whole.event;
    page.title(format!("event {}", event.id));
    page.field("type", event.event_type);
    page.field("text", printable(&event.text));
    let session = event.session_key.as_deref().map(printable);
    page.field(
        "session",
        match session {
            Some(key) => format!("{} ({key})", event.session),
            None => event.session.to_string(),
        },
    );
    page.field("recorded", shown(event.created_at.0));
    if let Some(at) = event.event_time {
        page.field("happened", shown(at.0));
    }
    page.field("confidence", float(event.confidence));
    page.field("strength", float(event.strength));
    if event.lambda > 0.0 {
        page.field("fades by", format!("{} per day", float(event.lambda)));
    }
    if event.access_count > 0 {
        let last = shown(event.last_accessed.0);
        page.field(
            "accesses",
            format!("{}, the last {last}", event.access_count),
        );
    }
    if !event.flags.is_empty() {
        page.field("flags", event.flags.join(", "));
    }
    if let Some(attributes) = &event.attributes {
        for (key, value) in attributes {
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
        let who = match (change.principal.as_str(), change.agent.as_str()) {
            ("", "") => String::new(),
            (principal, "") => format!(" by {}", printable(principal)),
            (principal, agent) => format!(" by {} ({})", printable(agent), printable(principal)),
        };
        page.field(
            "changed",
            format!(
                "LSN {}, {}{who}: {} was {}",
                change.lsn,
                time::display(change.time.0),
                change.field,
                printable(&change.before.to_string())
            ),
        );
    }
    if whole.history.as_ref().is_some_and(Vec::is_empty) {
        page.field("changed", "never");
    }
}

fn write_edges(
    whole: &Whole,
    reminders: &std::collections::BTreeMap<u64, String>,
    page: &mut Page,
) {
    let reminder = |id: &u64| reminders.get(id).map_or("", String::as_str);
    for edge in whole.outgoing.iter().flatten() {
        let (kind, other) = (edge.edge_type, edge.target);
        let line = format!(
            "─ {kind} → {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field("edge", line);
    }
    for edge in whole.incoming.iter().flatten() {
        let (kind, other) = (edge.edge_type, edge.source);
        let line = format!(
            "← {kind} ─ {other}  {}  {}",
            float(edge.weight),
            reminder(&other)
        );
        page.field("edge", line);
    }
    if whole.more_edges == Some(true) {
        page.field("edge", "… and more: --edge-limit shows them");
    }
}
