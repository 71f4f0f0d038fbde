//! Transcripts and memories of Claude Code.

use amem_sources::{ItemType, SkipReason, SourceKind, detect};
use serde_json::{Value, json};

use crate::support::{Shelf, lines};

const SESSION: &str = "7c6d0000-0000-4000-8000-000000000001";

fn line(kind: &str, uuid: &str, parent: Option<&str>, content: Value) -> Value {
    json!({
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": SESSION, "cwd": "/srv/ada/shop",
        "timestamp": "2026-03-02T09:00:00.000Z", "isSidechain": false, "gitBranch": "main",
        "message": {"role": kind, "id": format!("msg_{uuid}"), "content": content},
    })
}

fn with(mut value: Value, name: &str, field: Value) -> Value {
    value[name] = field;
    value
}

#[test]
fn a_transcript_is_the_branch_of_its_last_message() {
    let shelf = Shelf::new();
    let text = lines(&[
        json!({"type": "summary", "summary": "Old", "leafUuid": "x"}),
        json!({"type": "file-history-snapshot", "messageId": "m"}),
        line(
            "user",
            "u1",
            None,
            json!("we use pnpm <system-reminder>be good</system-reminder>"),
        ),
        line(
            "assistant",
            "a1",
            Some("u1"),
            json!([{"type": "thinking", "thinking": "hm"}]),
        ),
        line(
            "assistant",
            "a2",
            Some("a1"),
            json!([{"type": "text", "text": "noted"}, {"type": "tool_use", "id": "t"}]),
        ),
        line(
            "user",
            "r1",
            Some("a2"),
            json!([{"type": "tool_result", "content": "files"}]),
        ),
        // The user went back from here.
        line("user", "old", Some("a2"), json!("delete everything")),
        line("assistant", "old2", Some("old"), json!("gone")),
        with(
            line("user", "meta", Some("r1"), json!("Caveat: x")),
            "isMeta",
            json!(true),
        ),
        with(
            line("user", "side", None, json!("sub task")),
            "isSidechain",
            json!(true),
        ),
        json!({"type": "attachment", "uuid": "att", "parentUuid": "meta", "sessionId": SESSION, "attachment": {}}),
        line("user", "u2", Some("att"), json!("and Node 22")),
        line(
            "user",
            "u3",
            Some("u2"),
            json!("<memory source=\"amem\">\n[e1] x\n</memory>"),
        ),
        json!({
            "type": "system", "subtype": "compact_boundary", "uuid": "cb", "parentUuid": null,
            "logicalParentUuid": "u3", "sessionId": SESSION,
        }),
        with(
            line(
                "user",
                "sum",
                Some("cb"),
                json!("This session is being continued"),
            ),
            "isCompactSummary",
            json!(true),
        ),
        line(
            "assistant",
            "a3",
            Some("sum"),
            json!([{"type": "text", "text": "fine"}]),
        ),
    ]);
    let path = shelf.file(
        &format!(".claude/projects/-home-ada-shop/{SESSION}.jsonl"),
        text,
    );
    let reading = shelf.read(&path);
    assert_eq!(
        reading.turns(),
        [
            ("user", "we use pnpm"),
            ("assistant", "noted"),
            ("user", "and Node 22"),
            ("assistant", "fine"),
        ]
    );
    assert_eq!(reading.faults(), [] as [String; 0]);
    assert_eq!(reading.lines(SkipReason::Hidden), [7, 8]);
    assert_eq!(reading.lines(SkipReason::Sidechain), [10]);
    assert_eq!(reading.lines(SkipReason::Injected), [9, 13, 15]);
    let first = reading.item("we use pnpm");
    assert_eq!(first.id.to_string(), format!("claude-code:{SESSION}#u1"));
    assert_eq!(first.attributes["project"], "/srv/ada/shop");
    assert_eq!(first.time.unwrap().0, 1_772_442_000_000_000);
    assert_eq!(first.place.line, 3);
    assert_eq!(reading.counts.injected, 2);
}

#[test]
fn a_half_written_transcript_loses_only_its_last_line() {
    let shelf = Shelf::new();
    let mut text = lines(&[
        line("user", "u1", Some("gone"), json!("first")),
        line(
            "assistant",
            "a1",
            Some("u1"),
            json!([{"type": "text", "text": "second"}]),
        ),
        line("user", "u2", Some("pruned"), json!("third")),
    ]);
    text.push_str("{\"type\":\"assistant\",\"uuid\":\"a2\",\"mess");
    let path = shelf.file("s.jsonl", text);
    let reading = shelf.read(&path);
    assert_eq!(
        reading.texts(),
        ["first", "second", "third"],
        "a missing parent ends nothing"
    );
    assert_eq!(reading.lines(SkipReason::CutOff), [4]);
}

#[test]
fn a_forked_session_repeats_no_turn() {
    let shelf = Shelf::new();
    let first = [
        line("user", "u1", None, json!("one")),
        line("assistant", "a1", Some("u1"), json!("two")),
    ];
    let mut second: Vec<_> = first
        .iter()
        .map(|l| with(l.clone(), "sessionId", json!("fork")))
        .collect();
    second.push(with(
        line("user", "u9", Some("a1"), json!("three")),
        "sessionId",
        json!("fork"),
    ));
    shelf.file("projects/p/a.jsonl", lines(&first));
    shelf.file("projects/p/b.jsonl", lines(&second));
    let reading = shelf.read("projects");
    assert_eq!(reading.texts(), ["one", "two", "three"]);
    assert_eq!(reading.lines(SkipReason::Repeated), [1, 2]);
    assert_eq!(
        reading.relations("three"),
        [("follows".into(), "claude-code:fork#a1".into())]
    );
}

#[test]
fn memories_have_their_front_matter_and_the_index_is_no_memory() {
    let shelf = Shelf::new();
    let folder = ".claude/projects/-home-ada-shop/memory";
    shelf.file(
        &format!("{folder}/pnpm.md"),
        "---\nname: package-manager\ndescription: The shop uses pnpm\nmetadata:\n  type: project\n---\n\nNever npm.\n",
    );
    shelf.file(
        &format!("{folder}/MEMORY.md"),
        "# Memory\n- [Package manager](pnpm.md) — pnpm\n- Ada reads diffs first\n",
    );
    let found = detect(&shelf.path().join(".claude")).unwrap();
    assert_eq!(found.sources[0].kind, SourceKind::ClaudeMemories);
    let reading = shelf.read(".claude");
    assert_eq!(
        reading.texts(),
        ["Ada reads diffs first", "The shop uses pnpm\n\nNever npm."]
    );
    let memory = reading.item("The shop");
    assert_eq!(memory.item_type, ItemType::Memory);
    assert_eq!(memory.title.as_deref(), Some("package-manager"));
    assert_eq!(memory.attributes["type"], "project");
    assert_eq!(memory.attributes["project_folder"], "-home-ada-shop");
    assert_eq!(memory.id.document, format!("~/{folder}/pnpm.md"));
    assert_eq!(reading.lines(SkipReason::Repeated), [2]);
}
