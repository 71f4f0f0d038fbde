//! What is written for other programs, and read again.

use std::collections::{BTreeSet, HashMap};
use std::io;

use amem_sources::export::{
    CsvWriter, ExportLoss, ExportedEvent, SqliteWriter, chains, is_csv_export, is_sqlite_export,
    note_file, read_csv, read_sqlite, write_server_memory,
};
use amem_sources::{ItemType, SkipReason, SourceError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::support::{Shelf, SourceReading};

type Line = Map<String, Value>;

fn line(value: Value) -> Line {
    match value {
        Value::Object(line) => line,
        other => panic!("{other}"),
    }
}

/// As `amemctl export --vectors` writes them.
fn samples() -> Vec<Line> {
    let origin = json!({"instance": "018f2e6e-7b5a-7cc0-8000-000000000001", "event": 7});
    let edge = |target: u64, edge_type: &str| json!({"target": target, "type": edge_type, "weight": 0.25, "created_at": "2026-03-02T09:00:00Z"});
    [
        json!({"id": 0, "type": "fact", "created_at": "2026-03-02T09:00:00Z", "session": 0, "confidence": 1.0,
            "decay_score": 0.1, "lambda": 0.0, "access_count": 3, "last_accessed": "2026-03-02T09:00:00.000001Z",
            "flags": [], "text": "Uses npm", "origin": origin, "edges": []}),
        json!({"id": 1, "type": "correction", "created_at": "2026-03-03T09:00:00Z",
            "event_time": "0001-01-01T00:00:00Z", "session": 4, "session_key": "trip/1, \"x\"", "agent": "codex",
            "confidence": 0.9, "decay_score": 0.9, "lambda": 0.5, "access_count": 0,
            "last_accessed": 9_223_372_036_854_775_i64, "flags": ["pinned", "compressed"],
            "text": "Uses pnpm,\r\nnot \"npm\"\n\n```sh\npnpm i\n```\nä 😀\0 ", "by": "ada", "by_agent": "cli", "reason": "=1+1",
            "attributes": {"tags": ["tools", "a, b"], "n": 1.0, "big": u64::MAX, "deep": {"x": [null, true]},
                "who": "Ada: \"Low\"", "both": "it's \"x\""},
            "origin": origin, "vector": [0.1, -1.0, 0.0], "space": "018f2e6e-7b5a-7cc0-8000-000000000002",
            "edges": [edge(0, "supersedes"), edge(2, "supports"), edge(99, "part-of")]}),
        json!({"id": 2, "type": "type-9", "created_at": "2026-03-04T09:00:00Z", "session": 0, "confidence": 1.0,
            "decay_score": 1.0, "lambda": 0.0, "access_count": 0, "last_accessed": "2026-03-04T09:00:00Z", "flags": [],
            "text": " leading, and a #tag (a context)", "edges": [edge(0, "related-to"), edge(2, "part-of")]}),
        json!({"id": 3, "type": "fact", "created_at": "2026-03-04T09:00:00Z", "session": 0, "confidence": 1.0,
            "decay_score": 1.0, "lambda": 0.0, "access_count": 0, "last_accessed": "2026-03-04T09:00:00Z",
            "flags": ["erased"], "text": "", "edges": []}),
    ]
    .map(line)
    .to_vec()
}

fn csv(lines: &[Line]) -> Vec<u8> {
    let mut table = CsvWriter::new(Vec::new()).unwrap();
    for line in lines {
        table.row(line).unwrap();
    }
    table.into_inner()
}

fn of_csv(bytes: &[u8]) -> Vec<(u64, Result<Line, String>)> {
    let mut rows = Vec::new();
    read_csv(bytes, |at, row| {
        rows.push((at, row));
        Ok::<(), io::Error>(())
    })
    .unwrap();
    rows
}

#[test]
fn tables_give_the_same_lines_back() {
    let lines = samples();
    let bytes = csv(&lines);
    assert!(is_csv_export(&bytes));
    let rows: Vec<_> = of_csv(&bytes)
        .into_iter()
        .map(|(_, row)| row.unwrap())
        .collect();
    assert_eq!(rows, lines);
    let shelf = Shelf::new();
    let path = shelf.path().join("all.sqlite");
    let mut database = SqliteWriter::create(&path).unwrap();
    lines.iter().for_each(|line| database.row(line).unwrap());
    database.finish().unwrap();
    assert!(is_sqlite_export(&path));
    let mut rows = Vec::new();
    read_sqlite(&path, |_, row| {
        rows.push(row.unwrap());
        Ok::<(), SourceError>(())
    })
    .unwrap();
    assert_eq!(rows, lines);
    let again = SqliteWriter::create(&path).map(|_| ()).unwrap_err();
    assert!(again.to_string().contains("already exists"), "{again}");
}

proptest! {
    #[test]
    fn cells_keep_every_text(text in any::<String>(), key in "[ -~\n\r]{1,20}", number in any::<i64>()) {
        let of = json!({"id": 0, "text": text, "session_key": key, "attributes": {"a": [text, number]}, "edges": []});
        let lines = [line(of)];
        let rows: Vec<_> = of_csv(&csv(&lines)).into_iter().map(|(_, row)| row.unwrap()).collect();
        prop_assert_eq!(&rows[..], &lines[..]);
    }

    #[test]
    fn bytes_of_any_kind_end_in_words(bytes in prop::collection::vec(any::<u8>(), 0..200), body in "[\",\na1]{0,60}") {
        let _rows = of_csv(&bytes);
        let _rows = of_csv(format!("id,text\n{body}").as_bytes());
    }
}

#[test]
fn rows_that_are_none_are_named_by_their_line() {
    let rows = of_csv(
        b"\xef\xbb\xbfid,text\n0,\"two\nlines\"\n\n1\n2,a,b\nx,y\n3,\"z\"w\n4,caf\xe9\n5,\"open\n",
    );
    let got: Vec<_> = rows
        .iter()
        .map(|(at, row)| {
            (
                *at,
                row.as_ref().map(|line| line.len()).map_err(String::as_str),
            )
        })
        .collect();
    let bad = |why| Err(why);
    assert_eq!(got[0], (2, Ok(2)));
    assert_eq!(got[1], (5, bad("a row of 1 cells, and the header has 2")));
    assert_eq!(got[2], (6, bad("a row of 3 cells, and the header has 2")));
    assert!(got[3].1.unwrap_err().contains("column id: "), "{got:?}");
    assert_eq!(got[4], (8, bad("text behind a quoted cell")));
    assert_eq!(got[5], (9, bad("the row is not UTF-8")));
    assert_eq!(got[6], (10, bad("a quote that does not end")));
    for (head, is) in [
        ("id,text\n", true),
        ("text\n", false),
        ("id,text,colour\n", false),
        ("text,id", true),
        ("", false),
    ] {
        assert_eq!(is_csv_export(head.as_bytes()), is, "{head}");
    }
}

fn events(lines: &[Line], loss: &mut ExportLoss) -> Vec<ExportedEvent> {
    lines
        .iter()
        .map(|line| ExportedEvent::of_line(line.clone(), loss))
        .collect()
}

/// Writes notes below `v`, and reads them.
fn noted(shelf: &Shelf, events: &[ExportedEvent], loss: &mut ExportLoss) -> SourceReading {
    let all = chains(events);
    let mut heads = HashMap::new();
    for chain in &all {
        for event in std::iter::once(&chain.head).chain(&chain.before) {
            heads.insert(event.id, chain.head.id);
        }
    }
    for note in all
        .iter()
        .filter_map(|chain| note_file(chain, &heads, loss))
    {
        shelf.file(&format!("v/{}", note.path), note.text);
    }
    shelf.read("v")
}

/// Type and text of what notes say.
fn said(reading: &SourceReading) -> BTreeSet<(String, String)> {
    let shape = |item: &amem_sources::SourceItem, name: &str| {
        item.attributes
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let said = reading.items().iter().filter_map(|item| {
        let of = shape(item, "category").or_else(|| shape(item, "language"))?;
        Some((of, item.text.clone()))
    });
    said.collect()
}

#[test]
fn a_chain_is_a_note_and_the_note_says_the_same() {
    let mut loss = ExportLoss::default();
    let events = events(&samples(), &mut loss);
    let shelf = Shelf::new();
    let reading = noted(&shelf, &events, &mut loss);
    let texts: BTreeSet<_> = events
        .iter()
        .filter(|event| !event.text.is_empty())
        .map(|event| {
            (
                event.event_type.clone(),
                event
                    .text
                    .trim()
                    .replace("\r\n", "\n")
                    .replace('\0', "\u{fffd}"),
            )
        })
        .collect();
    assert_eq!(said(&reading), texts);
    assert_eq!(reading.faults(), Vec::<String>::new());
    let documents: Vec<_> = reading
        .items()
        .iter()
        .filter(|item| item.item_type == ItemType::Document)
        .collect();
    assert_eq!(documents.len(), 2, "{:?}", reading.texts());
    let pnpm = reading.item("Uses pnpm,\n");
    assert_eq!(
        pnpm.attributes["tags"],
        json!(["tools", "a,", "b"]),
        "{pnpm:?}"
    );
    assert_eq!(pnpm.time.unwrap().0, -62_135_596_800_000_000);
    let document = documents
        .iter()
        .find(|item| item.text.contains("session"))
        .unwrap();
    let properties = &document.attributes["properties"];
    assert_eq!(
        (&properties["session"], &properties["who"]),
        (&json!("trip/1, \"x\""), &json!("Ada: \"Low\""))
    );
    let supports = reading.relations("supports");
    assert!(supports[1].1.ends_with("-2.md"), "{supports:?}");
    let expected = [
        ("attributes", 4),
        ("confidences", 1),
        ("edges to events that are not exported", 1),
        ("erased events", 1),
        ("flags", 3),
        ("vectors", 1),
    ];
    assert_eq!(loss.0.into_iter().collect::<Vec<_>>(), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn notes_keep_texts_of_any_kind(texts in prop::collection::vec("[-#*>`~|\\[\\]()^!: \n\ta-c1.é<&\\\\]{1,40}", 1..4)) {
        let texts: Vec<String> = texts.into_iter().filter(|text| !text.trim().is_empty()).collect();
        prop_assume!(!texts.is_empty());
        let lines: Vec<_> = (0..).zip(&texts).map(|(id, text)| line(json!({"id": id, "text": text}))).collect();
        let shelf = Shelf::new();
        let mut loss = ExportLoss::default();
        let reading = noted(&shelf, &events(&lines, &mut loss), &mut loss);
        let got = said(&reading);
        for text in &texts {
            let is_there = got.iter().any(|(_, said)| said.trim() == text.trim());
            prop_assert!(is_there, "{text:?} is not among {got:?}");
        }
    }
}

#[test]
fn a_graph_is_written_as_it_was_read() {
    let shelf = Shelf::new();
    let graph = [
        json!({"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea", "works at the shop"]}),
        json!({"type": "entity", "name": "Shop", "entityType": "place", "observations": []}),
        json!({"type": "relation", "from": "Ada", "to": "Shop", "relationType": "works_at"}),
    ];
    let text = crate::support::lines(&graph);
    let reading = shelf.read(shelf.file("memory.jsonl", &text));
    // As an importer would write its items: attributes as they are, edges by the ids of the store.
    let place = |id: &amem_sources::SourceId| {
        reading
            .items()
            .iter()
            .position(|item| item.id == *id)
            .unwrap()
    };
    let lines: Vec<Line> = (0..)
        .zip(reading.items())
        .map(|(id, item)| {
            let edges: Vec<_> = item
                .relations
                .iter()
                .map(|to| json!({"target": place(&to.to), "type": "related-to"}))
                .collect();
            line(json!({"id": id, "type": "fact", "text": item.text, "attributes": item.attributes, "edges": edges}))
        })
        .collect();
    let mut loss = ExportLoss::default();
    let mut out = Vec::new();
    write_server_memory(&events(&lines, &mut loss), &mut out, &mut loss).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), text);
}

#[test]
fn other_events_are_entities_with_what_they_say_now() {
    let mut loss = ExportLoss::default();
    let events = events(&samples(), &mut loss);
    let mut out = Vec::new();
    write_server_memory(&events, &mut out, &mut loss).unwrap();
    let shelf = Shelf::new();
    let reading = shelf.read(shelf.file("memory.jsonl", &out));
    assert_eq!(reading.lines(SkipReason::Dangling), Vec::<u64>::new());
    let entities: Vec<_> = reading
        .items()
        .iter()
        .filter(|item| item.item_type == ItemType::Entity)
        .map(|item| item.text.as_str())
        .collect();
    assert_eq!(
        entities,
        [
            "Uses pnpm, (correction)",
            "leading, and a tag (a context) (type-9)",
            "(erased) (fact)"
        ]
    );
    assert!(
        reading
            .texts()
            .iter()
            .any(|text| text.starts_with("Uses pnpm,\r\n"))
    );
    assert!(
        !reading.texts().contains(&"Uses npm"),
        "a version that is replaced"
    );
    assert!(
        reading.texts().iter().any(|text| text.contains("supports")),
        "{:?}",
        reading.texts()
    );
    assert_eq!(loss.0["earlier versions"], 1);
}
