//! Bytes that are wrong: cut, changed, huge, of another program.

use std::ops::ControlFlow;

use amem_sources::{
    CollectedItems, ReadOptions, SecretPolicy, SkipReason, SkippedEntry, SourceError, SourceItem,
    SourceSink, limits, read,
};
use proptest::prelude::*;
use serde_json::json;

use crate::support::{Shelf, lines};
use crate::zip_writer::ZipWriter;

/// A small file of each kind.
fn samples() -> Vec<(&'static str, Vec<u8>)> {
    let turn = json!({"type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s", "message": {"content": "ä [x]"}});
    let mapping = json!({"a": {"message": {"author": {"role": "user"}, "content": {"parts": ["x"]}}, "parent": null}});
    let chat =
        json!([{"conversation_id": "c", "current_node": "a", "mapping": mapping}]).to_string();
    let note = "---\ntitle: A\ntags: [x, y]\nmeta:\n  a: |\n    b\n---\n# H\n- [c] o #t (k)\n  - r [[A]]\n\n> q\n\n```x\ny\n```\n|a|\n|-|\n|b|\n";
    vec![
        ("a.jsonl", lines(&[turn.clone(), turn]).into_bytes()),
        ("rollout-a.jsonl", lines(&[json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": "x"}]}})]).into_bytes()),
        ("session-a.jsonl", lines(&[json!({"sessionId": "g", "projectHash": "h"}), json!({"id": "1", "type": "user", "content": "x"}), json!({"$set": {"lastUpdated": "x"}})]).into_bytes()),
        ("conversations.json", chat.clone().into_bytes()),
        ("claude.json", json!([{"uuid": "c", "chat_messages": [{"sender": "human", "text": "x"}]}]).to_string().into_bytes()),
        ("mem.json", json!({"results": [{"id": "1", "memory": "x", "created_at": 1}]}).to_string().into_bytes()),
        ("memory.jsonl", lines(&[json!({"type": "entity", "name": "A", "observations": ["x"]})]).into_bytes()),
        ("a.af", json!({"core_memory": [{"label": "l", "value": "v"}], "messages": [{"role": "user", "text": "x"}]}).to_string().into_bytes()),
        ("g.json", json!({"edges": [{"uuid": "e", "fact": "f", "valid_at": "x"}]}).to_string().into_bytes()),
        ("chat.txt", "[2026-01-01 10:00] Ada: x\ny\nJonas (10:00): z\nAda: <memory>a</memory>\n".as_bytes().to_vec()),
        ("note.md", note.as_bytes().to_vec()),
        ("e.zip", ZipWriter::default().file("conversations.json", chat.as_bytes()).file("n.md", note.as_bytes()).finish()),
    ]
}

#[test]
fn every_sample_is_read() {
    let shelf = Shelf::new();
    for (name, bytes) in samples() {
        let reading = shelf.read(shelf.file(name, bytes));
        assert!(!reading.items().is_empty(), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cut_and_changed_files_end_in_words(
        sample in 0_usize..12,
        cut in 0.0_f64..1.0,
        changes in prop::collection::vec((0.0_f64..1.0, any::<u8>()), 0..6),
        is_cut in any::<bool>(),
    ) {
        let shelf = Shelf::new();
        let (name, mut bytes) = samples().swap_remove(sample);
        if is_cut {
            bytes.truncate((bytes.len() as f64 * cut) as usize);
        }
        for (at, byte) in changes {
            let at = (bytes.len() as f64 * at) as usize;
            if let Some(changed) = bytes.get_mut(at) {
                *changed = byte;
            }
        }
        let path = shelf.file(name, bytes);
        // An error is fine; a panic, or an item without text, is not.
        if let Ok(reading) = shelf.try_read(path) {
            for item in reading.items() {
                prop_assert!(!item.text.trim().is_empty());
                prop_assert!(item.text.len() <= limits::TEXT_BYTES_MAX);
            }
        }
    }

    #[test]
    fn texts_of_any_kind_are_notes_chats_and_lines(text in "\\PC{0,200}", parts in "[\\[\\]<>#|`*~:^ \n\\-a\"{},0-9é]{0,300}") {
        let shelf = Shelf::new();
        for name in ["a.md", "a.txt", "a.jsonl", "a.json", "a.af"] {
            for body in [text.clone(), parts.clone(), format!("---\n{parts}\n---\n{text}")] {
                let path = shelf.file(name, body);
                let _outcome = shelf.try_read(path);
            }
        }
    }
}

#[test]
fn a_file_of_another_program_names_what_it_looks_like() {
    let shelf = Shelf::new();
    for (name, bytes, words) in [
        ("a.png", &b"\x89PNG\r\n\x1a\n"[..], "a picture"),
        ("a.pdf", b"%PDF-1.7", "a PDF"),
        (
            "a.json",
            br#"{"name": "x", "version": "1"}"#,
            "with the keys name, version",
        ),
        ("a.txt", b"just some prose here\n", "prose"),
        (
            "a.bin",
            b"\x00\x01\x02\xff\xfe\x00\x00\x80\x81",
            "a binary file",
        ),
        ("blank.jsonl", b"", "an empty file"),
        ("a.html", b"<!doctype html>", "HTML or XML"),
    ] {
        let error = shelf
            .try_read(shelf.file(name, bytes))
            .map(|_| ())
            .unwrap_err();
        assert!(
            matches!(error, SourceError::UnknownKind { .. }),
            "{name}: {error}"
        );
        assert!(error.to_string().contains(words), "{name}: {error}");
    }
    let error = read(
        &shelf.file(
            "m.jsonl",
            "{\"type\":\"entity\",\"name\":\"A\",\"observations\":[]}\n",
        ),
        Some(amem_sources::SourceKind::Codex),
        &ReadOptions::default(),
        &mut CollectedItems::default(),
    )
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("nothing of kind codex: it looks like mcp-memory"),
        "{error}"
    );
}

#[test]
fn zips_that_are_dangerous_are_refused_in_words() {
    let shelf = Shelf::new();
    let inner = ZipWriter::default().file("n.md", b"x").finish();
    let zip = ZipWriter::default()
        .file("../out.md", b"x")
        .file("/abs.md", b"x")
        .file("in.zip", &inner)
        .file("n.md", b"fine")
        .finish();
    let reading = shelf.read(shelf.file("a.zip", zip.clone()));
    assert_eq!(reading.lines(SkipReason::Refused).len(), 3);
    assert!(reading.texts().contains(&"fine"));
    let error = shelf
        .try_read(shelf.file("cut.zip", &zip[..zip.len() / 2]))
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("cut off"), "{error}");
    // 200 MB of one letter, in less than a hundredth of that.
    let line = vec![b'A'; 200 << 20];
    let bomb = ZipWriter::default()
        .file(
            "bomb.jsonl",
            &[b"{\"role\":\"user\",\"content\":\"x\"}\n", &line[..]].concat(),
        )
        .finish();
    let reading = shelf.read(shelf.file("bomb.zip", bomb));
    assert_eq!(reading.texts(), ["x"]);
    assert!(
        reading.faults()[0].contains("a ZIP bomb"),
        "{:?}",
        reading.faults()
    );
}

#[test]
fn lines_over_the_bound_are_skipped_without_being_held() {
    let shelf = Shelf::new();
    let good = json!({"role": "user", "content": "fine"}).to_string();
    let mut text = good.clone().into_bytes();
    text.push(b'\n');
    text.resize(text.len() + limits::LINE_BYTES_MAX + 1, b'x');
    text.extend(format!("\n{good}").bytes());
    let reading = shelf.read(shelf.file("a.jsonl", text));
    assert_eq!(reading.texts(), ["fine", "fine"]);
    assert_eq!(reading.lines(SkipReason::TooLarge), [2]);
}

#[test]
fn a_long_text_becomes_parts_and_loses_nothing() {
    let shelf = Shelf::new();
    let said = "word ".repeat(limits::TEXT_BYTES_MAX / 2);
    let reading = shelf.read(shelf.file(
        "a.jsonl",
        json!({"role": "user", "content": said, "id": "1"}).to_string(),
    ));
    assert_eq!(reading.items().len(), 3);
    let words: usize = reading
        .texts()
        .iter()
        .map(|text| text.split_whitespace().count())
        .sum();
    assert_eq!(words, limits::TEXT_BYTES_MAX / 2);
    assert_eq!(reading.items()[1].id.part, "1/2");
}

#[test]
fn secrets_are_masked_or_refused_and_counted() {
    let shelf = Shelf::new();
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA2cD4");
    let path = shelf.file("a.md", format!("# Keys\nuse {token}\n"));
    let reading = shelf.read(&path);
    assert!(reading.texts().contains(&"use [masked github-token]"));
    assert_eq!(reading.counts.secrets.values().sum::<u64>(), 1);
    let options = ReadOptions {
        secrets: SecretPolicy::Skip,
        ..shelf.options()
    };
    let mut all = CollectedItems::default();
    read(&path, None, &options, &mut all).unwrap();
    assert!(
        all.skipped
            .iter()
            .any(|entry| entry.reason == SkipReason::Secret && entry.place.line == 2)
    );
    assert!(!all.items.iter().any(|item| item.text.contains("use")));
}

/// Counts, and stops after a number of items.
struct BoundedSink {
    items: u64,
    stop_at: u64,
}

impl SourceSink for BoundedSink {
    fn item(&mut self, _item: SourceItem) -> ControlFlow<()> {
        self.items += 1;
        if self.items == self.stop_at {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn skip(&mut self, _entry: SkippedEntry) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

#[test]
fn a_caller_stops_the_reading() {
    let shelf = Shelf::new();
    let path = shelf.file("a.txt", "Ada: a\nAda: b\nAda: c\n");
    let mut sink = BoundedSink {
        items: 0,
        stop_at: 2,
    };
    let error = read(&path, None, &ReadOptions::default(), &mut sink).unwrap_err();
    assert!(matches!(error, SourceError::Stopped));
    assert_eq!(sink.items, 2);
}
