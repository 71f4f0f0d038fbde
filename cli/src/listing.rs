//! How events and the ways between them are shown: as a line, a table, a tree; and the steps of a walk as JSON.

use amem_client::v1;
use amem_format::EdgeType;
use serde::Serialize;

use crate::command::side_edges::Ties;
use crate::failure::Failure;
use crate::json::event::{EventJson, edge_type_of, whole};
use crate::render::{Align, Branch, Page, Table, float, printable, tree};
use crate::when;

/// The time that is shown beside events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// When events were written down.
    Recorded,
    /// When they happened; when they were recorded, if that was not said.
    Happened,
}

impl By {
    /// The axis in a message.
    pub(crate) fn axis(self) -> v1::Axis {
        match self {
            Self::Recorded => v1::Axis::Recorded,
            Self::Happened => v1::Axis::Happened,
        }
    }

    /// The name of its column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Happened => "happened",
        }
    }

    /// The time of an event.
    pub(crate) fn of(self, event: &EventJson) -> amem_format::Micros {
        match self {
            Self::Recorded => event.created_at.0,
            Self::Happened => event.event_time.unwrap_or(event.created_at).0,
        }
    }
}

/// An event in one line.
pub(crate) fn line(event: &EventJson) -> String {
    line_with(event, None)
}

/// An event in one line, with what has replaced it.
fn line_with(event: &EventJson, replaced_by: Option<&u64>) -> String {
    // What is sure and as ever needs no words; the rest comes first, where no long text pushes it off the line.
    let mut marks: Vec<String> = event.flags.iter().map(|&flag| flag.to_owned()).collect();
    marks.extend(replaced_by.map(|by| format!("replaced by {by}")));
    if event.confidence < 1.0 {
        marks.push(format!("confidence {}", float(event.confidence)));
    }
    let marks = match marks.is_empty() {
        true => String::new(),
        false => format!(" [{}]", marks.join(", ")),
    };
    format!("{} {}{marks}  {}", event.id, event.event_type, text(event))
}

/// An event in one line, or that it is forgotten.
pub(crate) fn line_or_stub(event: &v1::Event) -> Result<String, Failure> {
    Ok(match whole(event)? {
        Some(event) => line(&event),
        None => format!("{} (forgotten)", event.id),
    })
}

/// What an event says, in one line.
pub(crate) fn text(event: &EventJson) -> String {
    match event.flags.contains(&"erased") {
        true => "(erased)".to_owned(),
        false => printable(&event.text),
    }
}

/// Events as a table.
pub(crate) fn table(events: &[EventJson], by: By, page: &mut Page) {
    write_table(events, by, true, page);
}

/// The same without their strengths.
pub(crate) fn table_without_strength(events: &[EventJson], by: By, page: &mut Page) {
    write_table(events, by, false, page);
}

fn write_table(events: &[EventJson], by: By, with_strength: bool, page: &mut Page) {
    let mut header = vec![
        ("id", Align::Right),
        ("type", Align::Left),
        ("session", Align::Left),
        (by.name(), Align::Left),
        ("conf", Align::Right),
    ];
    if with_strength {
        header.push(("str", Align::Right));
    }
    header.extend([("flags", Align::Left), ("text", Align::Left)]);
    let mut table = Table::new(&header);
    for event in events {
        let mut row = vec![
            event.id.to_string(),
            event.event_type.to_string(),
            event.session_name(),
            when::short(by.of(event)),
            float(event.confidence),
        ];
        if with_strength {
            row.push(float(event.strength));
        }
        row.extend([event.flags.join(","), text(event)]);
        table.row(row);
    }
    table.write(page);
}

/// The token of the next page, if there is one.
pub(crate) fn next(token: &str) -> Option<String> {
    Some(token.to_owned()).filter(|token| !token.is_empty())
}

/// Says how to go on behind a page.
pub(crate) fn write_next(token: Option<&str>, page: &mut Page) {
    if let Some(token) = token {
        page.aside(format!("there may be more: --after {token}"));
    }
}

/// A step of a walk.
#[derive(Debug, Serialize)]
pub(crate) struct StepJson {
    pub(crate) id: u64,
    pub(crate) depth: u32,
    /// The place of the step before in the list.
    pub(crate) parent: Option<u32>,
    pub(crate) edge: Option<EdgeType>,
    /// The edge was followed against its direction.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) incoming: bool,
    /// Only named: it is forgotten.
    pub(crate) stub: bool,
    /// None for a stub.
    pub(crate) event: Option<EventJson>,
}

/// The steps of a walk.
pub(crate) fn steps(steps: &[v1::Step]) -> Result<Vec<StepJson>, Failure> {
    let step = |step: &v1::Step| {
        let of = step.event.clone().unwrap_or_default();
        let event = whole(&of)?;
        Ok(StepJson {
            id: of.id,
            depth: step.depth,
            parent: step.parent,
            edge: edge_type_of(step.r#type)?,
            incoming: step.incoming,
            stub: event.is_none(),
            event,
        })
    };
    steps.iter().map(step).collect()
}

impl StepJson {
    /// The event in one line.
    fn line(&self, ties: &Ties) -> String {
        match &self.event {
            Some(event) => line_with(event, ties.replaced_by.get(&self.id)),
            None => format!("{} (forgotten)", self.id),
        }
    }
}

/// Which way edges of a tree are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ways {
    /// All in one way, which the command says.
    One,
    /// Each as it lies.
    Each,
}

/// Writes steps as a tree. Parents stand before their children, so it is put together from the end. A tie that leads to
/// a step that stands elsewhere is drawn as one line that says so.
pub(crate) fn write_tree(steps: &[StepJson], ways: Ways, ties: &Ties, page: &mut Page) {
    let mut made: Vec<Branch> = Vec::with_capacity(steps.len());
    for step in steps {
        let via = match (step.edge, ways, step.incoming) {
            (None, ..) => String::new(),
            (Some(edge), Ways::One, _) => format!("{edge}: "),
            (Some(edge), Ways::Each, false) => format!("{edge} → "),
            (Some(edge), Ways::Each, true) => format!("← {edge} "),
        };
        let elsewhere = ties.more.iter().filter(|tie| tie.from == step.id);
        let elsewhere = elsewhere.map(|tie| Branch {
            text: format!("{}: {} (shown elsewhere)", tie.edge_type, tie.to),
            children: Vec::new(),
        });
        made.push(Branch {
            text: format!("{via}{}", step.line(ties)),
            // The last comes first until all are there.
            children: elsewhere.rev().collect(),
        });
    }
    for at in (1..steps.len()).rev() {
        let Some(mut branch) = made.pop() else {
            continue;
        };
        branch.children.reverse();
        let parent = steps[at].parent.and_then(|at| made.get_mut(at as usize));
        if let Some(parent) = parent {
            parent.children.push(branch);
        }
    }
    let mut root = made.into_iter().next().unwrap_or_default();
    root.children.reverse();
    page.tree(&tree(&root));
}
