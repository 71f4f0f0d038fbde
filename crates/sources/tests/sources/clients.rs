//! Sessions of Codex, Gemini CLI, Copilot CLI and opencode.

use std::fs;

use amem_sources::{CollectedItems, ReadOptions, SkipReason, SourceKind, detect};
use rusqlite::Connection;
use serde_json::json;

use crate::support::{Shelf, lines};

#[test]
fn a_rollout_gives_what_user_and_model_said() {
    let shelf = Shelf::new();
    let message = |role: &str, kind: &str, said: &str| {
        json!({
            "timestamp": "2026-03-02T09:00:00Z", "type": "response_item",
            "payload": {"type": "message", "role": role, "content": [{"type": kind, "text": said}]},
        })
    };
    let text = lines(&[
        json!({"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta",
            "payload": {"id": "s1", "cwd": "/srv/ada/shop", "git": {"branch": "main"}}}),
        message("developer", "input_text", "be careful"),
        message(
            "user",
            "input_text",
            "# AGENTS.md instructions for /srv/ada/shop\n\nuse tabs",
        ),
        message(
            "user",
            "input_text",
            "<environment_context>x</environment_context>",
        ),
        message("user", "input_text", "we use pnpm"),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "we use pnpm"}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}"}}),
        message("assistant", "output_text", "noted"),
    ]);
    let path = shelf.file(
        "codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-s1.jsonl",
        text,
    );
    assert_eq!(detect(&path).unwrap().sources[0].kind, SourceKind::Codex);
    let reading = shelf.read("codex");
    assert_eq!(
        reading.turns(),
        [("user", "we use pnpm"), ("assistant", "noted")]
    );
    assert_eq!(reading.item("noted").id.to_string(), "codex:s1#line 8");
    assert_eq!(reading.item("noted").attributes["project"], "/srv/ada/shop");
    assert_eq!(reading.lines(SkipReason::Injected), [3, 4]);
    assert_eq!(reading.lines(SkipReason::Hidden), [2]);
    // Before there was an envelope.
    let old = lines(&[
        json!({"id": "s0", "timestamp": "2025-06-01T00:00:00Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "older"}]}),
    ]);
    let path = shelf.file("rollout-2025-06-01-s0.jsonl", old);
    assert_eq!(shelf.read(&path).item("older").id.document, "s0");
}

#[test]
fn patches_of_a_gemini_session_are_applied() {
    let shelf = Shelf::new();
    let said = |id: &str, kind: &str, content: serde_json::Value| {
        json!({
            "id": id, "timestamp": "2026-03-02T09:00:00Z", "type": kind, "content": content,
        })
    };
    let text = lines(&[
        json!({"sessionId": "g1", "projectHash": "abc", "startTime": "2026-03-02T09:00:00Z", "kind": "main"}),
        said("1", "user", json!([{"text": "we use pnpm"}])),
        said("2", "gemini", json!("no")),
        said("2", "gemini", json!("noted")),
        said("3", "info", json!("update available")),
        said("4", "user", json!("forget that")),
        said("5", "gemini", json!("done")),
        json!({"$rewindTo": "4"}),
        json!({"$set": {"lastUpdated": "2026-03-02T10:00:00Z"}}),
        said("6", "user", json!("and Node 22")),
    ]);
    let path = shelf.file(".gemini/tmp/shop/chats/session-1.jsonl", text);
    assert_eq!(detect(&path).unwrap().sources[0].kind, SourceKind::Gemini);
    let reading = shelf.read(&path);
    assert_eq!(
        reading.turns(),
        [
            ("user", "we use pnpm"),
            ("assistant", "noted"),
            ("user", "and Node 22")
        ]
    );
    assert_eq!(reading.item("noted").id.to_string(), "gemini:g1#2");
    assert_eq!(reading.lines(SkipReason::Hidden), [6, 7]);
    let whole = json!({"sessionId": "g2", "projectHash": "abc", "messages": [said("1", "user", json!("older"))]});
    let path = shelf.file(
        "session-0.json",
        serde_json::to_string_pretty(&whole).unwrap(),
    );
    assert_eq!(shelf.read(&path).item("older").id.document, "g2");
    let replaced = lines(&[
        json!({"sessionId": "g3", "projectHash": "abc"}),
        said("1", "user", json!("before")),
        json!({"$set": {"messages": [said("9", "user", json!("after"))]}}),
    ]);
    let path = shelf.file("session-3.jsonl", replaced);
    assert_eq!(shelf.read(&path).texts(), ["after"]);
}

#[test]
fn events_of_copilot_are_turns_of_its_session() {
    let shelf = Shelf::new();
    let event = |kind: &str, id: &str, data: serde_json::Value| {
        json!({
            "type": kind, "id": id, "timestamp": "2026-03-02T09:00:00Z", "parentId": null, "data": data,
        })
    };
    let text = lines(&[
        event(
            "session.start",
            "0",
            json!({"sessionId": "c1", "context": {"cwd": "/srv/ada/shop", "branch": "main"}}),
        ),
        event("system.message", "1", json!({"content": "you are"})),
        event(
            "user.message",
            "2",
            json!({"content": "we use pnpm", "transformedContent": "<x>we use pnpm"}),
        ),
        event(
            "user.message",
            "3",
            json!({"content": "a skill", "source": "skill-x"}),
        ),
        event(
            "assistant.message",
            "4",
            json!({"content": "", "toolRequests": [{}]}),
        ),
        event(
            "assistant.message",
            "5",
            json!({"content": "sub", "parentToolCallId": "t"}),
        ),
        event("tool.execution_start", "6", json!({})),
        event("assistant.message", "7", json!({"content": "noted"})),
    ]);
    shelf.file(".copilot/session-state/c1/events.jsonl", text);
    let reading = shelf.read(".copilot");
    assert_eq!(
        reading.turns(),
        [("user", "we use pnpm"), ("assistant", "noted")]
    );
    assert_eq!(reading.item("noted").id.to_string(), "copilot:c1#7");
    assert_eq!(reading.lines(SkipReason::Sidechain), [6]);
    assert_eq!(reading.lines(SkipReason::Injected), [4]);
}

fn opencode_tables(db: &Connection) {
    db.execute_batch(
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT);
         CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, data TEXT);
         CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
         INSERT INTO session VALUES ('s1', 'p', NULL, '/srv/ada/shop', 'Packages'), ('s2', 'p', 's1', '/', 'Sub');
         INSERT INTO message VALUES ('m1', 's1', 1772442000000, '{\"role\":\"user\",\"time\":{\"created\":1772442000000}}'),
           ('m2', 's1', 1772442001000, '{\"role\":\"assistant\",\"modelID\":\"x\"}'), ('m3', 's2', 1, '{\"role\":\"user\"}'),
           ('m4', 's1', 1772442002000, 'broken');
         INSERT INTO part VALUES ('a', 'm1', 's1', '{\"type\":\"text\",\"text\":\"we use pnpm\"}'),
           ('b', 'm1', 's1', '{\"type\":\"text\",\"text\":\"file\",\"synthetic\":true}'),
           ('c', 'm2', 's1', '{\"type\":\"tool\"}'), ('d', 'm2', 's1', '{\"type\":\"text\",\"text\":\"noted\"}'),
           ('e', 'm3', 's2', '{\"type\":\"text\",\"text\":\"sub\"}'), ('f', 'm4', 's1', '{\"type\":\"text\",\"text\":\"x\"}');",
    )
    .unwrap();
}

#[test]
fn a_database_at_rest_is_read_and_nothing_beside_it_changes() {
    let shelf = Shelf::new();
    fs::create_dir(shelf.path().join("o")).unwrap();
    let path = shelf.path().join("o/opencode.db");
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    opencode_tables(&db);
    drop(db);
    let before = fs::read(&path).unwrap();
    let reading = shelf.read(&path);
    assert_eq!(
        reading.turns(),
        [("user", "we use pnpm"), ("assistant", "noted")]
    );
    assert_eq!(reading.item("noted").id.to_string(), "opencode:s1#d");
    assert_eq!(reading.item("noted").title.as_deref(), Some("Packages"));
    assert_eq!(
        reading.item("we use").time.unwrap().0,
        1_772_442_000_000_000
    );
    assert_eq!(reading.lines(SkipReason::Malformed).len(), 1);
    assert_eq!(fs::read(&path).unwrap(), before);
    let names: Vec<_> = fs::read_dir(shelf.path().join("o"))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(names, ["opencode.db"], "no file was left beside it");
}

#[test]
fn a_database_in_use_is_read_with_its_newest_changes() {
    let shelf = Shelf::new();
    let path = shelf.path().join("opencode.db");
    let db = Connection::open(&path).unwrap();
    db.pragma_update(None, "journal_mode", "wal").unwrap();
    opencode_tables(&db);
    let log = shelf.path().join("opencode.db-wal");
    let before = (fs::read(&path).unwrap(), fs::read(&log).unwrap());
    assert!(!before.1.is_empty(), "the rows are in the log only");
    assert_eq!(shelf.read(&path).texts(), ["we use pnpm", "noted"]);
    assert_eq!((fs::read(&path).unwrap(), fs::read(&log).unwrap()), before);
    drop(db);
    // A log whose program ended abruptly is not applied: that would write.
    fs::write(&log, b"left over").unwrap();
    let reading = shelf.read(&path);
    assert_eq!(reading.texts(), ["we use pnpm", "noted"]);
    assert!(
        reading.faults()[0].contains("ended abruptly"),
        "{:?}",
        reading.faults()
    );
}

#[test]
fn a_locked_database_is_reported_in_words() {
    let shelf = Shelf::new();
    let path = shelf.path().join("opencode.db");
    let db = Connection::open(&path).unwrap();
    opencode_tables(&db);
    db.execute_batch(
        "PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN EXCLUSIVE; DELETE FROM part;",
    )
    .unwrap();
    if fs::metadata(shelf.path().join("opencode.db-journal"))
        .map(|m| m.len())
        .unwrap_or(0)
        > 0
    {
        let error = shelf.try_read(&path).map(|_| ()).unwrap_err().to_string();
        assert!(
            error.contains("another program holds the database"),
            "{error}"
        );
    }
}

#[test]
fn a_session_of_gemini_that_names_a_graph_of_memories_is_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session-1.json");
    let session = concat!(
        "{\n \"sessionId\": \"s\",\n \"projectHash\": \"p\",\n \"messages\": [\n",
        "  {\"type\": \"gemini\", \"toolCalls\": [{\"args\": {\"entities\": [{\"observations\": []}]}}]}\n ]\n}\n"
    );
    fs::write(&path, session).unwrap();
    let found = detect(&path).unwrap();
    assert_eq!(found.sources[0].kind, SourceKind::Gemini);
}

#[test]
fn an_opened_transcript_is_read_though_its_path_leads_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rollout-1.jsonl");
    let line = |said: &str| {
        let content = json!([{"type": "input_text", "text": said}]);
        let payload = json!({"type": "message", "role": "user", "content": content});
        json!({"type": "response_item", "payload": payload}).to_string()
    };
    fs::write(&path, line("mine")).unwrap();
    let opened = fs::File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    fs::write(&path, line("another's")).unwrap();
    let mut said = CollectedItems::default();
    let options = ReadOptions::default();
    amem_sources::read_opened((opened, &path), SourceKind::Codex, &options, &mut said).unwrap();
    let said: Vec<_> = said.items.iter().map(|item| item.text.as_str()).collect();
    assert_eq!(said, ["mine"]);
}
