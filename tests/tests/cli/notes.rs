//! Notes in Markdown, into a brain of a daemon.

use amem_format::view::Direction;
use amem_format::{EdgeType, NodeId};
use serde_json::{Value, json};

use crate::daemon::ServedFolder;

const NOTES: &str = "---
project: kitchen
tags: [house, plans]
---
We redo the kitchen this year.

# Log

## 2026-03-02

- The oven came back from repair
  - the fan still rattles
- [x] Ordered tiles

> Mira said the light is too cold.

# Colours

| wall | colour |
|---|---|
| north | moss |

```
RAL 6005
```
";

#[test]
fn notes_become_facts_with_their_source() {
    let served = ServedFolder::start();
    served.put("kitchen.md", NOTES);
    let told = served.data("import --format markdown kitchen.md home", 0);
    assert_eq!(
        (
            &told["format"],
            &told["events"],
            &told["sessions"],
            &told["made"]
        ),
        (&json!("markdown"), &json!(7), &json!(1), &json!(true))
    );
    let view = served.view("home");
    let session = view.session_by_key("kitchen.md").unwrap().unwrap();
    let expected = [
        ("We redo the kitchen this year.", json!({"line": 5}), false),
        (
            "The oven came back from repair",
            json!({"line": 11, "section": "Log / 2026-03-02", "kind": "item"}),
            true,
        ),
        (
            "the fan still rattles",
            json!({"line": 12, "section": "Log / 2026-03-02", "kind": "item", "under": "The oven came back from repair"}),
            true,
        ),
        (
            "Ordered tiles",
            json!({"line": 13, "section": "Log / 2026-03-02", "kind": "item", "done": true}),
            true,
        ),
        (
            "Mira said the light is too cold.",
            json!({"line": 15, "section": "Log / 2026-03-02", "kind": "quote"}),
            true,
        ),
        (
            "wall: north; colour: moss",
            json!({"line": 21, "section": "Colours", "kind": "row"}),
            false,
        ),
        (
            "RAL 6005",
            json!({"line": 23, "section": "Colours", "kind": "code"}),
            false,
        ),
    ];
    for (id, (text, attributes, is_dated)) in (0..).zip(expected) {
        let event = view.node(NodeId(id)).unwrap().to_event().unwrap();
        assert_eq!((event.text.as_str(), event.session), (text, session));
        assert!(event.vector.is_some());
        let mut all = event.attributes.unwrap();
        let document = all.remove("document").unwrap();
        assert_eq!(
            document,
            json!({"project": "kitchen", "tags": ["house", "plans"]})
        );
        assert_eq!(all.remove("source"), Some(json!("kitchen.md")));
        assert_eq!(Value::Object(all), attributes, "{text}");
        let day = event.event_time.map(|at| at.0 / 86_400_000_000);
        assert_eq!(day, is_dated.then_some(20_514), "{text}");
        let ties = view.edges_of(NodeId(id), Direction::Outgoing).unwrap();
        let mut ties: Vec<_> = ties
            .iter()
            .map(|tie| (tie.edge_type, tie.other.0))
            .collect();
        ties.sort();
        let mut expected = Vec::new();
        expected.extend(
            id.checked_sub(1)
                .map(|before| (EdgeType::TEMPORAL_NEXT, before)),
        );
        expected.extend((id == 2).then_some((EdgeType::PART_OF, 1)));
        expected.sort();
        assert_eq!(ties, expected, "{text}");
    }
    let found = served.data(
        "query home --where {\"document.project\":{\"eq\":\"kitchen\"}}",
        0,
    );
    assert_eq!(found["events"].as_array().map(Vec::len), Some(7));
}

#[test]
fn repeated_notes_are_written_once_and_new_ones_are_added() {
    let served = ServedFolder::start();
    served.put("2026-02-01.md", NOTES);
    served.data("import --format markdown 2026-02-01.md home", 0);
    let again = served.data("import --format markdown 2026-02-01.md home", 0);
    assert_eq!(again["already_there"], 7);
    assert_eq!(served.view("home").nodes(), 7);
    let first = served
        .view("home")
        .node(NodeId(0))
        .unwrap()
        .to_event()
        .unwrap();
    assert_eq!(
        first.event_time.map(|at| at.0 / 86_400_000_000),
        Some(20_485),
        "the file's day"
    );
    served.put("2026-02-01.md", format!("{NOTES}\nand more\n"));
    served.refused(
        "import --format markdown 2026-02-01.md home",
        5,
        "already_there",
        "event 0",
        "--again",
    );
    // By stdin, under a session that is named.
    let told = served.data_with(
        "import --format markdown --session other - home",
        NOTES.as_bytes(),
        0,
    );
    assert_eq!(
        (&told["events"], &told["already_there"]),
        (&json!(7), &json!(0))
    );
    assert_eq!(served.view("home").nodes(), 14);
}
