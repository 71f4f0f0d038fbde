//! Notes in the flavour of Basic Memory: a file for each chain of events.
//!
//! A text of one line is an observation, `- [fact] text`; any other text is a block of code whose language is the type.
//! Versions before are below the heading "Before"; edges to other chains are relations.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::chains::EventChain;
use super::event::{ExportLoss, ExportedEvent};
use crate::notes::{is_property, observed};

/// A note to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// Below the folder: type, title and id.
    pub path: String,
    /// All of it.
    pub text: String,
}

/// Characters of a file's name, without the id.
const NAME_CHARS_MAX: usize = 48;
/// Properties that the writer sets itself.
const OWN: [&str; 8] = [
    "title",
    "type",
    "permalink",
    "created",
    "session",
    "aliases",
    "date",
    "tag",
];

/// The note of a chain; none if all of it is erased. `heads` has the head of each event's chain.
#[must_use]
pub fn note_file(
    chain: &EventChain<'_>,
    heads: &HashMap<u64, u64>,
    loss: &mut ExportLoss,
) -> Option<NoteFile> {
    let head = chain.head;
    let before: Vec<_> = chain
        .before
        .iter()
        .filter(|event| !event.text.trim().is_empty())
        .collect();
    loss.add("erased events", (chain.before.len() - before.len()) as u64);
    if head.text.trim().is_empty() && before.is_empty() {
        loss.add("erased events", 1);
        return None;
    }
    let mut text = format!(
        "---\ntitle: \"{}\"\ntype: {}\npermalink: {}\n",
        chain.title,
        head.event_type,
        permalink(head.id)
    );
    if let Some(time) = &head.time {
        text.push_str(&format!("created: {time}\n"));
    }
    if let Some(session) = &head.session {
        property(&mut text, "session", &Value::from(session.as_str()), loss);
    }
    for (name, value) in &head.attributes {
        property(&mut text, name, value, loss);
    }
    let lost = before
        .iter()
        .map(|event| event.attributes.len() as u64)
        .sum();
    loss.add("attributes", lost);
    text.push_str(&format!("---\n\n# {}\n\n## Observations\n", chain.title));
    said(&mut text, head, None);
    if !before.is_empty() {
        text.push_str("\n## Before\n");
    }
    for event in before {
        said(
            &mut text,
            event,
            Some(event.time.as_deref().unwrap_or("before")),
        );
    }
    let mut known = HashSet::new();
    let mut relations = String::new();
    for event in std::iter::once(&head).chain(&chain.before) {
        for edge in &event.edges {
            match heads.get(&edge.target) {
                Some(target) if *target == head.id => {}
                Some(target) if known.insert((&edge.edge_type, *target)) => {
                    let line = format!("- {} [[{}]]\n", edge.edge_type, permalink(*target));
                    relations.push_str(&line);
                }
                Some(_) => {}
                None => loss.add("edges to events that are not exported", 1),
            }
        }
    }
    if !relations.is_empty() {
        text.push_str(&format!("\n## Relations\n{relations}"));
    }
    Some(NoteFile {
        path: format!("{}/{}-{}.md", head.event_type, name(&chain.title), head.id),
        text,
    })
}

fn permalink(id: u64) -> String {
    format!("event-{id}")
}

/// Letters and digits of a title.
fn name(title: &str) -> String {
    let mut out = String::new();
    for c in title.chars().take(NAME_CHARS_MAX) {
        if c.is_alphanumeric() {
            out.extend(c.to_lowercase());
        } else if !out.ends_with('-') && !out.is_empty() {
            out.push('-');
        }
    }
    match out.trim_end_matches('-') {
        "" => "event".to_owned(),
        name => name.to_owned(),
    }
}

/// Adds a text, so that reading it gives it again.
fn said(out: &mut String, event: &ExportedEvent, context: Option<&str>) {
    let context = context.map_or(String::new(), |context| format!(" ({context})"));
    let line = format!("- [{}] {}{context}\n", event.event_type, event.text);
    if observed(&line)
        .is_some_and(|(category, text)| category == event.event_type && text == event.text)
    {
        out.push_str(&line);
        return;
    }
    let mut fence = "```".to_owned();
    while event.text.contains(&fence) {
        fence.push('`');
    }
    let blank = if out.ends_with("\n\n") { "" } else { "\n" };
    out.push_str(&format!(
        "{blank}{fence}{}\n{}\n{fence}\n\n",
        event.event_type, event.text
    ));
}

/// Adds a property if a line can hold it.
fn property(out: &mut String, name: &str, value: &Value, loss: &mut ExportLoss) {
    let is_free = name == "session" || !OWN.iter().any(|own| own.eq_ignore_ascii_case(name));
    let line = match value {
        Value::String(text) => quoted(text).map(|text| format!("{name}: {text}\n")),
        Value::Array(list) => {
            let items: Option<Vec<_>> = list.iter().map(|item| quoted(item.as_str()?)).collect();
            let items = items.filter(|items| !items.is_empty());
            items.map(|items| format!("{name}: [{}]\n", items.join(", ")))
        }
        _ => None,
    };
    match line.filter(|line| is_free && is_property(line, name, value)) {
        Some(line) => out.push_str(&line),
        None => loss.add("attributes", 1),
    }
}

fn quoted(text: &str) -> Option<String> {
    let is_plain = !text.contains(['\\', '\n', '\r']);
    let quote = ['"', '\''].into_iter().find(|quote| !text.contains(*quote));
    quote
        .filter(|_| is_plain)
        .map(|quote| format!("{quote}{text}{quote}"))
}
