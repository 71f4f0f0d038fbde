//! Exports of ChatGPT and Claude.ai.

use amem_sources::{ItemType, SkipReason, SourceKind, detect};
use serde_json::{Value, json};

use crate::support::Shelf;
use crate::zip_writer::ZipWriter;

fn node(id: &str, parent: Option<&str>, role: &str, parts: Value) -> (String, Value) {
    let message = json!({
        "id": id, "author": {"role": role}, "create_time": 1_772_442_000.5, "weight": 1.0, "recipient": "all",
        "content": {"content_type": "text", "parts": parts}, "metadata": {},
    });
    (
        id.to_owned(),
        json!({"id": id, "message": message, "parent": parent, "children": []}),
    )
}

fn conversation(id: &str, nodes: Vec<(String, Value)>, current: &str) -> Value {
    let mapping: serde_json::Map<String, Value> = nodes.into_iter().collect();
    json!({"title": "Packages", "conversation_id": id, "current_node": current, "mapping": mapping})
}

fn sample(id: &str) -> Value {
    let mut hidden = node("h", Some("s"), "user", json!(["hidden"]));
    hidden.1["message"]["weight"] = json!(0.0);
    let mut picture = node(
        "u2",
        Some("a1"),
        "user",
        json!([{"content_type": "image_asset_pointer"}, "", "see it"]),
    );
    picture.1["message"]["content"]["content_type"] = json!("multimodal_text");
    let mut tool = node("t", Some("u2"), "assistant", json!(["search()"]));
    tool.1["message"]["recipient"] = json!("browser");
    conversation(
        id,
        vec![
            (
                "root".into(),
                json!({"id": "root", "message": null, "parent": null, "children": ["s"]}),
            ),
            node("s", Some("root"), "system", json!([""])),
            hidden,
            node("u1", Some("h"), "user", json!(["we use pnpm"])),
            node(
                "a0",
                Some("u1"),
                "assistant",
                json!(["an answer that was regenerated"]),
            ),
            node("a1", Some("u1"), "assistant", json!(["noted"])),
            picture,
            tool,
            node("r", Some("t"), "tool", json!(["result"])),
            node("a2", Some("r"), "assistant", json!(["nice"])),
        ],
        "a2",
    )
}

#[test]
fn a_conversation_of_chatgpt_is_its_current_branch() {
    let shelf = Shelf::new();
    let mut lost = conversation(
        "c2",
        vec![
            node("x", Some("y"), "user", json!(["loop"])),
            node("y", Some("x"), "user", json!(["loop 2"])),
        ],
        "x",
    );
    lost["title"] = Value::Null;
    let all = json!([sample("c1"), lost, {"id": "c3", "mapping": {}}, {"nonsense": 1}]);
    let zip = ZipWriter::default()
        .file("user.json", b"{}")
        .file("conversations.json", all.to_string().as_bytes())
        .file("file-1.png", b"\x89PNG")
        .finish();
    let path = shelf.file("export.zip", zip);
    let found = detect(&path).unwrap();
    assert_eq!(found.sources[0].kind, SourceKind::ChatGpt, "{found:?}");
    let reading = shelf.read(&path);
    assert_eq!(
        reading.turns(),
        [
            ("user", "we use pnpm"),
            ("assistant", "noted"),
            ("user", "see it"),
            ("assistant", "nice"),
            ("user", "loop 2"),
            ("user", "loop"),
        ]
    );
    let noted = reading.item("noted");
    assert_eq!(
        (noted.id.to_string(), noted.title.as_deref()),
        ("chatgpt:c1#a1".into(), Some("Packages"))
    );
    assert_eq!(noted.time.unwrap().0, 1_772_442_000_500_000);
    assert!(noted.place.file.ends_with("export.zip!conversations.json"));
    assert_eq!(
        reading.counts.skipped[&SkipReason::Hidden],
        3,
        "the system, weight 0, the other answer"
    );
    assert_eq!(
        reading.counts.skipped[&SkipReason::Malformed],
        2,
        "a circle, and no conversation"
    );
}

#[test]
fn an_export_in_parts_names_those_that_are_missing() {
    let shelf = Shelf::new();
    let part = |id: &str| json!([sample(id)]).to_string();
    let zip = ZipWriter::default()
        .file("conversations-000.json", part("c0").as_bytes())
        .file("conversations-002.json", part("c2").as_bytes())
        .file(
            "export_manifest.json",
            br#"{"files":[{"path":"conversations-000.json"},{"path":"conversations-003.json"}]}"#,
        )
        .finish();
    let reading = shelf.read(shelf.file("export.zip", zip));
    assert_eq!(reading.items().len(), 8);
    let faults = reading.faults();
    assert_eq!(faults.len(), 2, "{faults:?}");
    assert!(
        faults[0].ends_with("conversations-001.json")
            && faults[1].ends_with("conversations-003.json")
    );
}

#[test]
fn an_export_of_claude_has_chats_and_projects() {
    let shelf = Shelf::new();
    let chats = json!([{
        "uuid": "c1", "name": "Packages", "created_at": "2026-03-02T09:00:00Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "", "content": [{"type": "text", "text": "we use pnpm"}],
                "created_at": "2026-03-02T09:00:00Z", "attachments": [{"file_name": "a.txt"}]},
            {"uuid": "m2", "sender": "assistant", "text": "This block is not supported",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "noted"}]},
            {"uuid": "m3", "sender": "human", "text": "old style"},
            {"uuid": "m4", "sender": "human", "text": "", "content": []},
        ],
    }]);
    let projects = json!([{
        "uuid": "p1", "name": "Shop", "description": "The shop", "prompt_template": "Be brief",
        "created_at": "2026-01-01T00:00:00Z",
        "docs": [{"uuid": "d1", "filename": "plan.txt", "content": "the plan"}],
    }]);
    let zip = ZipWriter::default()
        .file("data/conversations.json", chats.to_string().as_bytes())
        .file("data/projects.json", projects.to_string().as_bytes())
        .file("data/users.json", b"[]")
        .finish();
    let reading = shelf.read(shelf.file("claude.zip", zip));
    assert_eq!(
        reading.turns(),
        [
            ("user", "we use pnpm"),
            ("assistant", "noted"),
            ("user", "old style"),
            ("", "Shop\n\nThe shop\n\nBe brief"),
            ("", "the plan"),
        ]
    );
    assert_eq!(
        reading.item("noted").time.unwrap().0,
        1_772_442_000_000_000,
        "of its conversation"
    );
    assert_eq!(reading.item("the plan").item_type, ItemType::Document);
    assert_eq!(
        reading.relations("the plan"),
        [("part_of".into(), "claude:project p1".into())]
    );
}
