//! Graphs of the MCP memory server.

use amem_sources::{ItemType, SkipReason, SourceKind, detect};
use serde_json::json;

use crate::support::Shelf;

#[test]
fn lines_of_a_graph_are_read_with_missing_ends_and_dangling_relations() {
    let shelf = Shelf::new();
    let text = concat!(
        r#"{"type":"relation","from":"Ada","to":"Shop","relationType":"works_at"}"#,
        "\n",
        r#"{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea","reads diffs","likes tea"]}"#,
        r#"{"type":"entity","name":"Shop","entityType":"project","observations":[]}"#,
        "\n\n",
        r#"{"type":"relation","from":"Ada","to":"Nobody","relationType":"knows"}"#,
        "\n",
        "nonsense\n",
        r#"{"type":"entity","entityType":"person","observations":["x"]}"#,
        "\n",
        r#"{"type":"relation","from":"Ada","to":"Shop","relationType":"works_at"}"#,
        "\n",
        r#"{"type":"entity","name":"Cut","entity"#,
    );
    let path = shelf.file("memory.jsonl", text);
    assert_eq!(
        detect(&path).unwrap().sources[0].kind,
        SourceKind::McpMemory
    );
    let reading = shelf.read(&path);
    assert_eq!(
        reading.texts(),
        [
            "Ada works at Shop",
            "Ada (person)",
            "likes tea",
            "reads diffs",
            "Shop (project)"
        ]
    );
    let id = |part: &str| format!("mcp-memory:~/memory.jsonl#{part}");
    assert_eq!(
        reading.relations("Ada works"),
        [
            ("from".into(), id("entity Ada")),
            ("to".into(), id("entity Shop")),
        ]
    );
    assert_eq!(
        reading.relations("likes tea"),
        [("about".into(), id("entity Ada"))]
    );
    assert_eq!(reading.item("likes").item_type, ItemType::Observation);
    assert_eq!(reading.lines(SkipReason::Dangling), [4]);
    assert_eq!(reading.lines(SkipReason::Malformed), [5, 6]);
    assert_eq!(reading.lines(SkipReason::CutOff), [8]);
    assert_eq!(reading.lines(SkipReason::Repeated), [2, 7]);
}

#[test]
fn the_other_dialect_is_one_object_with_times() {
    let shelf = Shelf::new();
    let graph = json!({
        "entities": [{"name": "Ada", "entityType": "person", "observations": [
            {"content": "likes tea", "timestamp": "2026-03-02T09:00:00Z"},
        ]}],
        "relations": [{"from": "Ada", "to": "Ada", "relationType": "knows"}],
    });
    for text in [
        graph.to_string(),
        serde_json::to_string_pretty(&graph).unwrap(),
    ] {
        let path = shelf.file("memory.json", text);
        let reading = shelf.read(&path);
        assert_eq!(
            reading.texts(),
            ["Ada (person)", "likes tea", "Ada knows Ada"]
        );
        assert_eq!(reading.item("likes").time.unwrap().0, 1_772_442_000_000_000);
    }
}
