//! Notes in Markdown: each block becomes a fact, in the order of the document.
//!
//! Attributes say where it stood: `source` (the file), `line`, `section` ("A / B"), and if present `kind` (item, quote,
//! code, row, html), `under` (the enclosing items), `language`, `done`; `document` is the front matter. A nested item
//! is part of its parent. The event time is a day in a heading, else in the front matter (`date`), else in the file's
//! name.
//!
//! Not here: Markdown itself (`amem-sources`).

use std::io::Read;
use std::path::Path;

use amem_client::v1;
use amem_format::attributes;
use amem_format::{EdgeType, Micros, limits};
use amem_importing::EntryEdge;
use amem_sources::{PlainBlock, PlainNote};
use serde_json::{Map, Value};

use super::conversation::at_most;
use super::entry::TextEntry;
use super::input::ImportInput;
use crate::failure::Failure;
use crate::when::{self, timestamp};

const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// What the facts of a document share.
struct NoteDefaults {
    session: String,
    source: String,
    front: Map<String, Value>,
    day: Option<Micros>,
}

pub(super) fn entries(
    input: &ImportInput,
    session: Option<&str>,
) -> Result<Vec<TextEntry>, Failure> {
    let text = text(input)?;
    let bad = |line: u64, why: &str| {
        let remedy = "README.md of amemctl tells what becomes of notes";
        input.bad_line(line, why, remedy)
    };
    let note = PlainNote::read(&text);
    if let Some((line, why)) = &note.bad_line {
        return Err(bad(*line, why));
    }
    let front = note.front;
    let dated = front.get("date").and_then(Value::as_str).and_then(day_in);
    let common = NoteDefaults {
        session: session_of(input, session)?,
        source: input.name(),
        front,
        day: dated.or_else(|| day_in(&file_name(input.path()))),
    };
    let mut entries = Vec::with_capacity(note.blocks.len());
    for (number, block) in (0..).zip(note.blocks) {
        let line = block.line;
        entries.push(entry(&common, block, number).map_err(|why| bad(line, &why))?);
    }
    Ok(entries)
}

fn text(input: &ImportInput) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let mut bounded = input.reader()?.take(DOCUMENT_BYTES_MAX + 1);
    bounded
        .read_to_end(&mut bytes)
        .map_err(|e| input.failed(&e))?;
    if bytes.len() as u64 > DOCUMENT_BYTES_MAX {
        return Err(Failure::refused(
            "limit",
            format!("{} has more than {DOCUMENT_BYTES_MAX} bytes", input.name()),
            "split it",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..valid]
            .iter()
            .filter(|b| **b == b'\n')
            .count() as u64
            + 1;
        input.bad_line(line, "this is no UTF-8 text", "save it as UTF-8")
    })?;
    // A byte order mark would hide the front matter.
    Ok(match text.strip_prefix('\u{feff}') {
        Some(text) => text.to_owned(),
        None => text,
    })
}

fn session_of(input: &ImportInput, given: Option<&str>) -> Result<String, Failure> {
    let key = match given {
        Some(key) => key.to_owned(),
        None if input.path() == Path::new("stdin") => {
            return Err(Failure::argument(
                "notes from stdin have no file whose name could be their session's",
                "name the session with --session",
            ));
        }
        None => file_name(input.path()),
    };
    let checked = if key.trim().is_empty() {
        Err("it is empty".to_owned())
    } else {
        at_most("the session's key", key.len(), limits::NAME_BYTES_MAX)
    };
    checked.map_err(|why| Failure::argument(why, "name another session with --session"))?;
    Ok(key)
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn entry(common: &NoteDefaults, block: PlainBlock, number: u64) -> Result<TextEntry, String> {
    at_most("the text", block.text.len(), limits::TEXT_BYTES_MAX)?;
    let day = block
        .section
        .iter()
        .rev()
        .find_map(|heading| day_in(heading));
    let mut fields = Map::new();
    fields.insert("source".into(), common.source.as_str().into());
    fields.insert("line".into(), block.line.into());
    if !block.section.is_empty() {
        fields.insert("section".into(), block.section.join(" / ").into());
    }
    if let Some(kind) = block.kind {
        fields.insert("kind".into(), kind.into());
    }
    if !block.under.is_empty() {
        fields.insert("under".into(), block.under.join(" / ").into());
    }
    if let Some(language) = block.language {
        fields.insert("language".into(), language.into());
    }
    if let Some(done) = block.is_done {
        fields.insert("done".into(), done.into());
    }
    if !common.front.is_empty() {
        fields.insert("document".into(), Value::Object(common.front.clone()));
    }
    attributes::validate(&fields).map_err(|e| e.to_string())?;
    let event = v1::NewEvent {
        text: block.text,
        event_time: day.or(common.day).map(timestamp),
        attributes_json: Value::Object(fields).to_string(),
        ..Default::default()
    };
    let part_of = |parent| EntryEdge {
        to: parent as u64,
        edge_type: EdgeType::PART_OF,
        weight: 1.0,
    };
    Ok(TextEntry {
        number: Some(number),
        ties: block.parent.map(part_of).into_iter().collect(),
        ..TextEntry::fact(block.line, common.session.clone(), event)
    })
}

/// The first day in a text, as 2026-03-02.
fn day_in(text: &str) -> Option<Micros> {
    let bytes = text.as_bytes();
    for at in 0..bytes.len().saturating_sub(9) {
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let is_apart = (at == 0 || !is_digit(at - 1)) && !is_digit(at + 10);
        if is_apart && let Some(day) = text.get(at..at + 10) {
            // Impossible dates (30 February) are skipped.
            if let Ok(day) = when::parse_time(day) {
                return Some(day);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::EntrySession;
    use serde_json::json;

    fn read(name: &str, text: impl AsRef<[u8]>) -> Result<Vec<TextEntry>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        entries(&ImportInput::open(&path)?, None)
    }

    fn attribute(entry: &TextEntry, name: &str) -> Value {
        let all: Value = serde_json::from_str(&entry.event.attributes_json).unwrap();
        all[name].clone()
    }

    #[test]
    fn a_fact_says_where_it_stood_and_when_it_happened() {
        let text = "---\nproject: kitchen\n---\nfirst\n\n# Log\n## 2026-03-02, Monday\n- oven\n  - fan\n# Later\nlast\n";
        let all = read("2026-02-01.md", text).unwrap();
        let days: Vec<_> = all
            .iter()
            .map(|e| e.event.event_time.unwrap().seconds / 86_400)
            .collect();
        assert_eq!(days, [20_485, 20_514, 20_514, 20_485]);
        assert!(
            all.iter()
                .all(|e| e.session == EntrySession::Key("2026-02-01.md".into()))
        );
        assert_eq!(attribute(&all[2], "section"), "Log / 2026-03-02, Monday");
        assert_eq!(attribute(&all[2], "under"), "oven");
        assert_eq!(attribute(&all[2], "line"), 9);
        assert_eq!(all[2].line, 9);
        assert_eq!(
            (all[2].ties[0].to, all[2].ties[0].edge_type),
            (1, EdgeType::PART_OF)
        );
        assert_eq!(
            attribute(&all[0], "document"),
            json!({"project": "kitchen"})
        );
        assert_eq!(attribute(&all[0], "kind"), Value::Null);
    }

    #[test]
    fn only_days_that_are_some_count() {
        let second = Some(Micros(1_772_409_600_000_000));
        for (text, day) in [
            ("2026-03-02", second),
            ("notes 2026-03-02.md", second),
            ("2026-02-30 or 2026-03-02", second),
            ("12026-03-02", None),
            ("2026-03-021", None),
            ("2026-3-2 ä", None),
            ("äöü-äö-äö-", None),
        ] {
            assert_eq!(day_in(text), day, "{text}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named_by_its_line() {
        let failure = read("a.md", "---\ntitle: x\nnonsense\n---\ntext\n").unwrap_err();
        assert!(
            failure.message.contains("line 3 of "),
            "{}",
            failure.message
        );
        let failure = read("a.md", b"one\ntwo \xff\n").unwrap_err();
        assert!(
            failure.message.contains("line 2 of "),
            "{}",
            failure.message
        );
        let long = format!("# A\n\n{}", "y".repeat(limits::TEXT_BYTES_MAX + 1));
        let failure = read("a.md", long).unwrap_err();
        assert!(
            failure.message.contains("line 3 of "),
            "{}",
            failure.message
        );
    }
}
