//! Events as a line or a table.

use amem_client::v1;

use crate::failure::Failure;
use crate::json::event::{EventJson, whole};
use crate::render::{Align, TextPage, TextTable, float, printable};
use crate::when;

/// Which time of an event is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TimeAxis {
    /// When events were recorded.
    Recorded,
    /// When they happened; when they were recorded, if unknown.
    Happened,
}

impl TimeAxis {
    pub(crate) fn axis(self) -> v1::Axis {
        match self {
            Self::Recorded => v1::Axis::Recorded,
            Self::Happened => v1::Axis::Happened,
        }
    }

    /// The header of its column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Recorded => "recorded",
            Self::Happened => "happened",
        }
    }

    pub(crate) fn of(self, event: &EventJson) -> amem_format::Micros {
        match self {
            Self::Recorded => event.created_at.0,
            Self::Happened => event.event_time.unwrap_or(event.created_at).0,
        }
    }
}

pub(crate) fn line(event: &EventJson) -> String {
    line_with(event, [])
}

/// With who recorded it, and why.
pub(crate) fn line_with_author(event: &EventJson) -> String {
    let author = Some(event.author_short()).filter(|author| !author.is_empty());
    let author = author.map(|author| format!("by {author}"));
    let reason = event.reason.as_deref().map(printable);
    let reason = reason.map(|reason| format!("because: {reason}"));
    line_with(event, author.into_iter().chain(reason))
}

/// With marks in front of the text.
pub(crate) fn line_with(event: &EventJson, more: impl IntoIterator<Item = String>) -> String {
    // Marks precede the text, which may be long; a certain event without flags has none.
    let mut marks: Vec<String> = event.flags.iter().map(|&flag| flag.to_owned()).collect();
    marks.extend(more);
    if event.confidence < 1.0 {
        marks.push(format!("confidence {}", float(event.confidence)));
    }
    let marks = if marks.is_empty() {
        String::new()
    } else {
        format!(" [{}]", marks.join(", "))
    };
    format!("{} {}{marks}  {}", event.id, event.event_type, text(event))
}

/// With who recorded it, and why.
pub(crate) fn line_with_author_or_stub(event: &v1::Event) -> Result<String, Failure> {
    Ok(match whole(event)? {
        Some(event) => line_with_author(&event),
        None => format!("{} (forgotten)", event.id),
    })
}

pub(crate) fn text(event: &EventJson) -> String {
    if event.flags.contains(&"erased") {
        "(erased)".to_owned()
    } else {
        printable(&event.text)
    }
}

pub(crate) fn table(events: &[EventJson], by: TimeAxis, page: &mut TextPage) {
    write_table(events, by, true, page);
}

pub(crate) fn table_without_strength(events: &[EventJson], by: TimeAxis, page: &mut TextPage) {
    write_table(events, by, false, page);
}

fn write_table(events: &[EventJson], by: TimeAxis, with_strength: bool, page: &mut TextPage) {
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
    // One author of all events is the rule, and needs no column.
    let is_by_several = events
        .windows(2)
        .any(|pair| pair[0].author_names() != pair[1].author_names());
    if is_by_several {
        header.push(("by", Align::Left));
    }
    header.extend([("flags", Align::Left), ("text", Align::Left)]);
    let mut table = TextTable::new(&header);
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
        if is_by_several {
            row.push(event.author_short());
        }
        row.extend([event.flags.join(","), text(event)]);
        table.row(row);
    }
    table.write(page);
}

pub(crate) fn next(token: &str) -> Option<String> {
    Some(token.to_owned()).filter(|token| !token.is_empty())
}

pub(crate) fn write_next(token: Option<&str>, page: &mut TextPage) {
    if let Some(token) = token {
        page.aside(format!("there may be more: --after {token}"));
    }
}
