//! Other memory stores: mem0, Letta, Graphiti.

use amem_sources::{ItemType, SkipReason, SourceKind, detect};
use rusqlite::Connection;
use serde_json::json;

use crate::support::{Shelf, lines};

#[test]
fn memories_of_mem0_come_in_every_shape_of_its_answer() {
    let shelf = Shelf::new();
    let memory = json!({
        "id": "1", "memory": "Uses pnpm", "hash": "h", "metadata": {"topic": "tools"}, "user_id": "ada",
        "created_at": "2026-03-02T01:00:00-08:00", "updated_at": null,
    });
    for shape in [
        json!({"results": [memory], "relations": []}),
        json!([memory]),
        json!({"count": 1, "next": null, "results": [memory]}),
        json!({"memories": [memory]}),
    ] {
        let path = shelf.file("all.json", serde_json::to_string_pretty(&shape).unwrap());
        assert_eq!(
            detect(&path).unwrap().sources[0].kind,
            SourceKind::Mem0,
            "{shape}"
        );
        let reading = shelf.read(&path);
        assert_eq!(reading.texts(), ["Uses pnpm"], "{shape}");
        let item = reading.item("Uses");
        assert_eq!(item.id.to_string(), "mem0:memories#1");
        assert_eq!(item.time.unwrap().0, 1_772_442_000_000_000);
        assert_eq!(item.attributes["user_id"], "ada");
    }
    let graph = json!({"results": [memory, {"id": "2"}], "relations": [
        {"source": "ada", "relationship": "works_at", "target": "shop"},
    ]});
    let reading = shelf.read(shelf.file("graph.json", graph.to_string()));
    assert_eq!(reading.texts(), ["Uses pnpm", "ada works at shop"]);
    assert_eq!(reading.lines(SkipReason::Malformed), [2]);
}

#[test]
fn the_history_of_mem0_is_a_chain_for_each_memory() {
    let shelf = Shelf::new();
    let path = shelf.path().join("history.db");
    let db = Connection::open(&path).unwrap();
    db.execute_batch(
        "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,
           created_at DATETIME, updated_at DATETIME, is_deleted INTEGER);
         INSERT INTO history VALUES ('a', 'm1', NULL, 'Uses npm', 'ADD', '2026-01-01T00:00:00Z', NULL, 0),
           ('b', 'm2', NULL, 'Likes tea', 'ADD', '2026-01-01T00:00:00Z', NULL, 0),
           ('c', 'm1', 'Uses npm', 'Uses pnpm', 'UPDATE', '2026-01-01T00:00:00Z', '2026-03-02T09:00:00Z', 0),
           ('d', 'm2', 'Likes tea', NULL, 'DELETE', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', 1);",
    )
    .unwrap();
    drop(db);
    let reading = shelf.read(&path);
    assert_eq!(reading.texts(), ["Uses npm", "Uses pnpm", "Likes tea"]);
    assert_eq!(
        reading.relations("Uses pnpm"),
        [("supersedes".into(), "mem0:history#m1.1".into())]
    );
    assert_eq!(
        reading.item("Uses pnpm").time.unwrap().0,
        1_772_442_000_000_000
    );
    let tea = reading.item("Likes tea");
    assert_eq!(
        (tea.attributes["deleted"].as_bool(), tea.ends.unwrap().0),
        (Some(true), 1_769_904_000_000_000)
    );
}

#[test]
fn blocks_and_messages_of_letta_come_from_both_layouts() {
    let shelf = Shelf::new();
    let messages = json!([
        {"role": "system", "content": "you are", "id": "m0"},
        {"role": "user", "id": "m1", "content": [{"type": "text", "text": "{\"type\":\"user_message\",\"message\":\"we use pnpm\"}"}],
            "created_at": "2026-03-02T09:00:00+00:00"},
        {"role": "user", "id": "m2", "content": "{\"type\":\"heartbeat\",\"reason\":\"x\"}"},
        {"role": "assistant", "id": "m3", "content": "I think", "tool_calls": [
            {"function": {"name": "send_message", "arguments": "{\"message\":\"noted\"}"}}]},
        {"role": "tool", "id": "m4", "content": "ok"},
    ]);
    let block = json!({"label": "human", "value": "Name: Ada\n\nLikes tea", "limit": 5000});
    for agent in [
        json!({"agent_type": "memgpt_agent", "core_memory": [block], "messages": messages}),
        json!({"agents": [{"id": "agent", "messages": messages}], "blocks": [block]}),
    ] {
        let path = shelf.file("ada.af", serde_json::to_string_pretty(&agent).unwrap());
        assert_eq!(detect(&path).unwrap().sources[0].kind, SourceKind::Letta);
        let reading = shelf.read(&path);
        let mut turns = reading.turns();
        turns.sort_unstable();
        assert_eq!(
            turns,
            [
                ("", "Likes tea"),
                ("", "Name: Ada"),
                ("assistant", "noted"),
                ("user", "we use pnpm")
            ]
        );
        assert_eq!(reading.item("Likes tea").title.as_deref(), Some("human"));
        assert_eq!(reading.lines(SkipReason::Injected).len(), 1);
    }
}

#[test]
fn edges_of_graphiti_hold_from_a_time_to_a_time() {
    let shelf = Shelf::new();
    let edge = json!({
        "uuid": "e1", "name": "WORKS_AT", "fact": "Ada works at the shop", "source_node_uuid": "n1",
        "target_node_uuid": "gone", "valid_at": "2026-01-01T00:00:00Z", "invalid_at": "2026-03-02T09:00:00Z",
    });
    let node = json!({"uuid": "n1", "name": "Ada", "summary": "a person", "labels": ["Entity"]});
    let both = [edge.clone(), node.clone()];
    let shapes = [
        (
            "g.json",
            json!({"edges": [edge], "nodes": [node]}).to_string(),
        ),
        ("g.jsonl", lines(&both)),
    ];
    for (name, text) in shapes {
        let path = shelf.file(name, text);
        assert_eq!(detect(&path).unwrap().sources[0].kind, SourceKind::Graphiti);
        let reading = shelf.read(&path);
        assert_eq!(reading.texts(), ["Ada works at the shop", "Ada: a person"]);
        let item = reading.item("Ada works");
        assert_eq!(item.item_type, ItemType::Edge);
        assert_eq!(item.time.unwrap().0, 1_767_225_600_000_000);
        assert_eq!(item.ends.unwrap().0, 1_772_442_000_000_000);
        assert_eq!(
            reading.relations("Ada works"),
            [("from".into(), "graphiti:graph#n1".into())]
        );
        assert_eq!(reading.lines(SkipReason::Dangling).len(), 1);
    }
}
