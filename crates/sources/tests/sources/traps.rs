//! Every kind against every trap: one small source of each kind, spoiled in each way.

use amem_sources::{SkipReason, SourceKind, detect, limits};
use serde_json::{Value, json};

use crate::support::{Shelf, SourceReading, lines};
use crate::zip_writer::ZipWriter;

/// A source of a kind.
struct KindSample {
    kind: SourceKind,
    /// Below the home folder, as its client names it.
    path: &'static str,
    /// Says two texts; the second at a time.
    write: fn(&str, &str, &str) -> String,
    /// One record a line.
    is_lines: bool,
    /// Texts have times of their own.
    is_timed: bool,
}

const FIRST: &str = "the kettle is red";
const SECOND: &str = "the oven is blue";
const TIME: &str = "2026-03-02T09:00:00Z";
const TIME_MICROS: i64 = 1_772_442_000_000_000;

fn claude_code(first: &str, second: &str, time: &str) -> String {
    let turn = |id: &str, parent: Value, said: &str| {
        json!({"type": "user", "uuid": id, "parentUuid": parent, "sessionId": "s", "timestamp": time,
            "message": {"role": "user", "content": said}})
    };
    lines(&[turn("a", Value::Null, first), turn("b", json!("a"), second)])
}

fn codex(first: &str, second: &str, time: &str) -> String {
    let turn = |said: &str| {
        json!({"timestamp": time, "type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": said}]}})
    };
    let meta =
        json!({"timestamp": time, "type": "session_meta", "payload": {"id": "s", "cwd": "w"}});
    lines(&[meta, turn(first), turn(second)])
}

fn gemini(first: &str, second: &str, time: &str) -> String {
    let turn = |id: &str, said: &str| json!({"id": id, "timestamp": time, "type": "user", "content": said});
    let head = json!({"sessionId": "s", "projectHash": "h", "startTime": time});
    lines(&[head, turn("1", first), turn("2", second)])
}

fn copilot(first: &str, second: &str, time: &str) -> String {
    let turn = |id: &str, said: &str| json!({"type": "user.message", "id": id, "timestamp": time, "data": {"content": said}});
    let head =
        json!({"type": "session.start", "id": "0", "timestamp": time, "data": {"sessionId": "s"}});
    lines(&[head, turn("1", first), turn("2", second)])
}

fn chatgpt(first: &str, second: &str, time: &str) -> String {
    let node = |parent: Value, said: &str| {
        json!({"parent": parent, "children": [], "message": {"author": {"role": "user"}, "create_time": time,
            "content": {"content_type": "text", "parts": [said]}}})
    };
    let mapping = json!({"a": node(Value::Null, first), "b": node(json!("a"), second)});
    json!([{"conversation_id": "c", "title": "t", "current_node": "b", "mapping": mapping}])
        .to_string()
}

fn claude_ai(first: &str, second: &str, time: &str) -> String {
    let turn = |id: &str, said: &str| json!({"uuid": id, "sender": "human", "text": said, "created_at": time});
    json!([{"uuid": "c", "name": "t", "chat_messages": [turn("1", first), turn("2", second)]}])
        .to_string()
}

fn mem0(first: &str, second: &str, time: &str) -> String {
    let memory = |id: &str, said: &str| json!({"id": id, "memory": said, "created_at": time, "user_id": "ada"});
    json!({"results": [memory("1", first), memory("2", second)]}).to_string()
}

fn mcp_memory(first: &str, second: &str, time: &str) -> String {
    let seen = |said: &str| json!({"content": said, "timestamp": time});
    let entity = |name: &str, said: &str| json!({"type": "entity", "name": name, "entityType": "t", "observations": [seen(said)]});
    lines(&[entity("A", first), entity("B", second)])
}

fn note(first: &str, second: &str, time: &str) -> String {
    format!("---\ndate: {time}\n---\n{first}\n\n{second}\n")
}

fn basic_memory(first: &str, second: &str, time: &str) -> String {
    format!("---\npermalink: a/b\ndate: {time}\n---\n- [fact] {first}\n- [fact] {second}\n")
}

fn claude_memory(first: &str, second: &str, _time: &str) -> String {
    format!(
        "---\nname: kitchen\ndescription: things\nmetadata:\n  type: project\n---\n{first}\n\n{second}\n"
    )
}

fn letta(first: &str, second: &str, time: &str) -> String {
    let turn = |id: &str, said: &str| json!({"role": "user", "id": id, "content": said, "created_at": time});
    json!({"agents": [{"id": "agent", "messages": [turn("1", first), turn("2", second)]}], "blocks": []})
        .to_string()
}

fn graphiti(first: &str, second: &str, time: &str) -> String {
    let edge = |id: &str, fact: &str| json!({"uuid": id, "fact": fact, "source_node_uuid": "n", "target_node_uuid": "n", "valid_at": time});
    let node = json!({"uuid": "n", "name": "Ada", "summary": "a person", "labels": ["Entity"]});
    lines(&[edge("1", first), edge("2", second), node])
}

fn chat(first: &str, second: &str, time: &str) -> String {
    let turn = |said: &str| json!({"role": "user", "content": said, "timestamp": time});
    lines(&[turn(first), turn(second)])
}

const SAMPLES: [KindSample; 14] = [
    KindSample {
        kind: SourceKind::ClaudeCode,
        path: ".claude/projects/-w/s.jsonl",
        write: claude_code,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::ClaudeMemories,
        path: ".claude/projects/-w/memory/kitchen.md",
        write: claude_memory,
        is_lines: false,
        is_timed: false,
    },
    KindSample {
        kind: SourceKind::Codex,
        path: ".codex/sessions/2026/03/02/rollout-a.jsonl",
        write: codex,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Gemini,
        path: ".gemini/tmp/p/chats/session-a.jsonl",
        write: gemini,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Copilot,
        path: ".copilot/session-state/s/events.jsonl",
        write: copilot,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::ChatGpt,
        path: "export/conversations.json",
        write: chatgpt,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::ClaudeAi,
        path: "export/conversations.json",
        write: claude_ai,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Mem0,
        path: "all.json",
        write: mem0,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::McpMemory,
        path: "memory.jsonl",
        write: mcp_memory,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Markdown,
        path: "notes/kitchen.md",
        write: note,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::BasicMemory,
        path: "notes/kitchen.md",
        write: basic_memory,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Letta,
        path: "ada.af",
        write: letta,
        is_lines: false,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Graphiti,
        path: "graph.jsonl",
        write: graphiti,
        is_lines: true,
        is_timed: true,
    },
    KindSample {
        kind: SourceKind::Chat,
        path: "chat.jsonl",
        write: chat,
        is_lines: true,
        is_timed: true,
    },
];

impl KindSample {
    fn text(&self) -> String {
        (self.write)(FIRST, SECOND, TIME)
    }
}

/// True if an item says it.
fn says(reading: &SourceReading, text: &str) -> bool {
    reading.texts().iter().any(|said| said.contains(text))
}

fn each(check: impl Fn(&KindSample, &Shelf)) {
    for sample in &SAMPLES {
        check(sample, &Shelf::new());
    }
}

#[test]
fn each_kind_is_found_as_a_file_in_a_folder_and_in_a_zip() {
    each(|sample, shelf| {
        let path = shelf.file(sample.path, sample.text());
        let zip = ZipWriter::default()
            .file(sample.path, sample.text().as_bytes())
            .finish();
        let zip = shelf.file("packed/all.zip", zip);
        for place in [path.clone(), path.parent().unwrap().to_owned(), zip] {
            let found = detect(&place).unwrap();
            let kinds: Vec<_> = found.sources.iter().map(|source| source.kind).collect();
            assert!(
                kinds.contains(&sample.kind),
                "{}: {kinds:?} in {}",
                sample.kind,
                place.display()
            );
            let reading = shelf.read(&place);
            assert!(
                says(&reading, FIRST) && says(&reading, SECOND),
                "{}: {:?}",
                sample.kind,
                reading.texts()
            );
            assert_eq!(reading.faults(), Vec::<String>::new(), "{}", sample.kind);
            let ids: std::collections::HashSet<_> =
                reading.items().iter().map(|item| &item.id).collect();
            assert_eq!(
                ids.len(),
                reading.items().len(),
                "{}: ids are unique",
                sample.kind
            );
        }
    });
}

#[test]
fn bad_lines_are_skipped_with_their_place() {
    each(|sample, shelf| {
        if !sample.is_lines {
            return;
        }
        let text = sample.text();
        let (front, last) = text.trim_end().rsplit_once('\n').unwrap();
        let bad = front.lines().count() as u64 + 1;
        for (broken, reason) in [
            (&b"{\"half\": x"[..], SkipReason::Malformed),
            (b"caf\xe9 {\"a\": 1}", SkipReason::BadEncoding),
        ] {
            let bytes = [
                front.as_bytes(),
                b"\n",
                broken,
                b"\n",
                last.as_bytes(),
                b"\n",
            ]
            .concat();
            let reading = shelf.read(shelf.file(sample.path, bytes));
            assert_eq!(
                reading.lines(reason),
                [bad],
                "{}: {:?}",
                sample.kind,
                reading.faults()
            );
            assert!(
                says(&reading, FIRST) && says(&reading, SECOND),
                "{}: {:?}",
                sample.kind,
                reading.texts()
            );
        }
    });
}

#[test]
fn a_source_that_is_being_written_loses_its_last_record_at_most() {
    each(|sample, shelf| {
        let text = sample.text();
        let cut = text.rfind(SECOND).unwrap() + 3;
        let path = shelf.file(sample.path, &text[..cut]);
        // One large value that is cut has no records.
        let is_whole = matches!(
            sample.kind,
            SourceKind::ChatGpt | SourceKind::ClaudeAi | SourceKind::Letta
        );
        let reading = shelf.read(&path);
        assert_eq!(
            says(&reading, FIRST),
            !is_whole,
            "{}: {:?}",
            sample.kind,
            reading.texts()
        );
        assert!(!says(&reading, SECOND), "{}", sample.kind);
        let is_text = path.extension().is_some_and(|ending| ending == "md");
        assert_eq!(
            reading.faults().is_empty(),
            is_text,
            "{}: {:?}",
            sample.kind,
            reading.faults()
        );
        // Written to its end, it has what was read before, under the same ids.
        shelf.file(sample.path, &text);
        let whole = shelf.read(&path);
        for item in reading
            .items()
            .iter()
            .filter(|item| item.text.contains(FIRST))
        {
            let again = whole.item(&item.text);
            assert_eq!(again.id, item.id, "{}", sample.kind);
            // The one is a whole file, which grew; the other is tied to what came behind.
            let grows = matches!(
                sample.kind,
                SourceKind::ClaudeMemories | SourceKind::Graphiti
            );
            assert!(grows || again.hash == item.hash, "{}", sample.kind);
        }
        assert!(says(&whole, SECOND));
    });
}

#[test]
fn utf_16_is_read_as_text() {
    each(|sample, shelf| {
        let expected = shelf.read(shelf.file(sample.path, sample.text()));
        for (mark, bytes) in [
            ([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]),
            ([0xfe, 0xff], u16::to_be_bytes),
        ] {
            let wide: Vec<u8> = sample.text().encode_utf16().flat_map(bytes).collect();
            let reading = shelf.read(shelf.file(sample.path, [&mark[..], &wide].concat()));
            assert_eq!(reading.texts(), expected.texts(), "{}", sample.kind);
        }
        let marked = format!("\u{feff}{}", sample.text());
        assert_eq!(
            shelf.read(shelf.file(sample.path, marked)).texts(),
            expected.texts(),
            "{}",
            sample.kind
        );
    });
}

#[test]
fn secrets_of_every_kind_are_masked_and_counted() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA2cD4");
    each(|sample, shelf| {
        let text = (sample.write)(FIRST, &format!("push with {token}"), TIME);
        let reading = shelf.read(shelf.file(sample.path, text));
        assert!(
            says(&reading, "push with [masked github-token]"),
            "{}: {:?}",
            sample.kind,
            reading.texts()
        );
        assert!(
            !format!("{:?}", reading.items()).contains(&token),
            "{}",
            sample.kind
        );
        assert!(
            reading.counts.secrets.values().sum::<u64>() >= 1,
            "{}",
            sample.kind
        );
    });
}

#[test]
fn injected_context_is_no_knowledge_of_any_kind() {
    each(|sample, shelf| {
        let first = "<system-reminder>be brief</system-reminder>";
        let second = "<memory id=\\\"7\\\">old words</memory> and new ones".replace('\\', "");
        let text = (sample.write)(first, &second, TIME);
        let reading = shelf.read(shelf.file(sample.path, text));
        assert!(
            says(&reading, "and new ones"),
            "{}: {:?}",
            sample.kind,
            reading.texts()
        );
        for gone in ["be brief", "old words", "system-reminder"] {
            assert!(
                !says(&reading, gone),
                "{}: {:?}",
                sample.kind,
                reading.texts()
            );
        }
        assert!(reading.counts.injected >= 1, "{}", sample.kind);
    });
}

#[test]
fn times_are_those_of_the_source_from_year_1_to_9999() {
    each(|sample, shelf| {
        if !sample.is_timed {
            return;
        }
        let time = |time: &str| {
            let reading = shelf.read(shelf.file(sample.path, (sample.write)(FIRST, SECOND, time)));
            let item = reading
                .items()
                .iter()
                .find(|item| item.text.contains(SECOND));
            item.unwrap_or_else(|| panic!("{}: {:?}", sample.kind, reading.texts()))
                .time
                .map(|time| time.0)
        };
        assert_eq!(time(TIME), Some(TIME_MICROS), "{}", sample.kind);
        assert_eq!(
            time("2026-03-02T10:00:00+01:00"),
            Some(TIME_MICROS),
            "{}: another clock",
            sample.kind
        );
        assert_eq!(
            time("0001-01-01T00:00:00Z"),
            Some(-62_135_596_800_000_000),
            "{}",
            sample.kind
        );
        assert_eq!(
            time("9999-12-30T00:00:00Z"),
            Some(253_402_128_000_000_000),
            "{}",
            sample.kind
        );
        assert_eq!(time("not yet"), None, "{}", sample.kind);
    });
}

#[test]
fn a_line_of_50_megabytes_is_passed_over() {
    each(|sample, shelf| {
        if !sample.is_lines {
            return;
        }
        let text = sample.text();
        let (front, last) = text.trim_end().rsplit_once('\n').unwrap();
        let huge = vec![b'x'; 50 << 20];
        const { assert!(50 << 20 > limits::LINE_BYTES_MAX) };
        let bytes = [
            front.as_bytes(),
            b"\n{\"",
            &huge,
            b"\n",
            last.as_bytes(),
            b"\n",
        ]
        .concat();
        let reading = shelf.read(shelf.file(sample.path, bytes));
        assert_eq!(
            reading.lines(SkipReason::TooLarge).len(),
            1,
            "{}: {:?}",
            sample.kind,
            reading.faults()
        );
        assert!(
            says(&reading, FIRST) && says(&reading, SECOND),
            "{}: {:?}",
            sample.kind,
            reading.texts()
        );
    });
}

#[test]
fn each_kind_asked_for_something_else_says_what_it_is() {
    each(|sample, shelf| {
        let path = shelf.file(sample.path, sample.text());
        let other = match sample.kind {
            SourceKind::Codex => SourceKind::Gemini,
            _ => SourceKind::Codex,
        };
        let mut all = amem_sources::CollectedItems::default();
        let error = amem_sources::read(&path, Some(other), &shelf.options(), &mut all).unwrap_err();
        let words = format!("nothing of kind {other}: it looks like {}", sample.kind);
        assert!(error.to_string().contains(&words), "{error}");
    });
}
