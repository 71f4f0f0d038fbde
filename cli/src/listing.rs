//! Events as a line or a table.

use amem_client::v1;

use crate::json::event::{author_short, flags_of, is_stub, session_name, type_name};
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

    /// The time of an event, for a table.
    pub(crate) fn short(self, event: &v1::Event) -> String {
        when::short_of(match self {
            Self::Recorded => event.created_at,
            Self::Happened => event.event_time.or(event.created_at),
        })
    }
}

pub(crate) fn line(event: &v1::Event) -> String {
    line_with(event, [])
}

/// With who recorded it, and why.
pub(crate) fn line_with_author(event: &v1::Event) -> String {
    let author = author_short(event);
    let marks = [("by ", author), ("because: ", printable(&event.reason))];
    let marks = marks.into_iter().filter(|(_, text)| !text.is_empty());
    line_with(event, marks.map(|(name, text)| format!("{name}{text}")))
}

/// With marks in front of the text.
pub(crate) fn line_with(event: &v1::Event, more: impl IntoIterator<Item = String>) -> String {
    // Marks precede the text, which may be long; a certain event without flags has none.
    let mut marks: Vec<String> = flags_of(event).into_iter().map(str::to_owned).collect();
    marks.extend(more);
    if event.confidence < 1.0 {
        marks.push(format!("confidence {}", float(event.confidence)));
    }
    let marks = if marks.is_empty() {
        String::new()
    } else {
        format!(" [{}]", marks.join(", "))
    };
    format!(
        "{} {}{marks}  {}",
        event.id,
        type_name(event.r#type),
        text(event)
    )
}

/// With who recorded it, and why.
pub(crate) fn line_with_author_or_stub(event: &v1::Event) -> String {
    match is_stub(event) {
        false => line_with_author(event),
        true => format!("{} (forgotten)", event.id),
    }
}

pub(crate) fn text(event: &v1::Event) -> String {
    if event.erased {
        "(erased)".to_owned()
    } else {
        printable(&event.text)
    }
}

pub(crate) fn table(events: &[v1::Event], by: TimeAxis, page: &mut TextPage) {
    write_table(events, by, true, page);
}

pub(crate) fn table_without_strength(events: &[v1::Event], by: TimeAxis, page: &mut TextPage) {
    write_table(events, by, false, page);
}

fn write_table(events: &[v1::Event], by: TimeAxis, with_strength: bool, page: &mut TextPage) {
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
        .any(|pair| (&pair[0].by, &pair[0].agent) != (&pair[1].by, &pair[1].agent));
    if is_by_several {
        header.push(("by", Align::Left));
    }
    header.extend([("flags", Align::Left), ("text", Align::Left)]);
    let mut table = TextTable::new(&header);
    for event in events {
        let mut row = vec![
            event.id.to_string(),
            type_name(event.r#type),
            session_name(event),
            by.short(event),
            float(event.confidence),
        ];
        if with_strength {
            row.push(float(event.strength));
        }
        if is_by_several {
            row.push(author_short(event));
        }
        row.extend([flags_of(event).join(","), text(event)]);
        table.row(row);
    }
    table.write(page);
}

/// How to see the next page; nothing if there is none.
pub(crate) fn write_next(token: &str, page: &mut TextPage) {
    if !token.is_empty() {
        page.aside(format!("there may be more: --after {token}"));
    }
}
