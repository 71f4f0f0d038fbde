//! Exports for other programs, and what comes back from them.

use std::collections::BTreeSet;

use amem_format::EdgeType;
use serde_json::{Value, json};

use crate::daemon::ServedFolder;

const NOTE: &str = "---\ntitle: Kitchen plans\ncreated: 2026-01-05\n---\nSee [[Oven]]\n\n- [decision] Tiles are white\n";

/// A brain with notes, edges, and an event that was replaced.
fn filled(served: &ServedFolder) {
    served.put("v/Kitchen.md", NOTE);
    served.put("v/Oven.md", "It is blue.\n\nIt is old.\n");
    served.data("import v notes", 0);
    served.data("correct notes 3 better", 0);
}

/// The lines of an export without who recorded them and where: that is the import.
fn said(lines: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(lines.to_vec()).unwrap();
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        for name in ["by", "by_agent", "origin", "last_accessed", "access_count"] {
            line.as_object_mut().unwrap().remove(name);
        }
        line
    });
    lines.collect()
}

#[test]
fn tables_are_read_as_the_lines_that_they_hold() {
    let served = ServedFolder::start();
    filled(&served);
    let lines = served.out("export notes");
    let events = said(&lines).len();
    for (form, file) in [("csv", "all.csv"), ("sqlite", "all.sqlite")] {
        let told = served.data(&format!("export notes --format {form} -o {file}"), 0);
        assert_eq!((&told["format"], &told["lost"]), (&json!(form), &json!([])));
        let new = format!("again-{form}.amem");
        served.data(&format!("import {file} ./{new}"), 0);
        let again = served.out(&format!("export ./{new}"));
        assert_eq!(said(&again), said(&lines), "{form}");
        let known = served.data(&format!("import {file} notes"), 0);
        assert_eq!(
            (&known["known"], &known["events"]),
            (&json!(events), &json!(0)),
            "{form}: {known}"
        );
    }
    served.put("bad.csv", "id,text\n0,a\n1\n");
    served.refused(
        "import bad.csv notes",
        5,
        "bad_line",
        "line 3 of bad.csv",
        "nothing was written",
    );
}

#[test]
fn json_lines_are_read_as_they_were() {
    let served = ServedFolder::start();
    filled(&served);
    let lines = served.out("export notes");
    served.put("all.jsonl", &lines);
    served.data("import all.jsonl ./again.amem", 0);
    assert_eq!(said(&served.out("export ./again.amem")), said(&lines));
}

#[test]
fn notes_and_graphs_are_read_again_by_their_readers() {
    let served = ServedFolder::start();
    let graph = [
        json!({"type": "entity", "name": "Ada", "entityType": "person", "observations": ["likes tea", "works at the shop"]}),
        json!({"type": "entity", "name": "Shop", "entityType": "place", "observations": ["is open"]}),
        json!({"type": "relation", "from": "Ada", "to": "Shop", "relationType": "works_at"}),
    ]
    .map(|line| format!("{line}\n"))
    .concat();
    served.put("memory.jsonl", &graph);
    let told = served.data("import memory.jsonl work --as turns", 0);
    assert_eq!(
        (&told["found"][0]["kind"], &told["added"]),
        (&json!("mcp-memory"), &json!(6))
    );
    let out = served.out("export work --format server-memory");
    assert_eq!(String::from_utf8(out).unwrap(), graph);
    // An observation that goes from the graph goes from the brain.
    served.put("memory.jsonl", graph.replace("\"likes tea\",", ""));
    let told = served.data("import memory.jsonl work --as turns", 0);
    assert_eq!(
        (&told["added"], &told["known"], &told["gone"]),
        (&json!(0), &json!(5), &json!(1)),
        "{told}"
    );
    let told = served.data("export work --format markdown -o out", 0);
    assert_eq!(told["format"], "markdown");
    served.refused(
        "export work --format markdown -o out",
        5,
        "exists",
        "out",
        "",
    );
    served.refused(
        "export work --format markdown",
        2,
        "usage",
        "folder",
        "-o FOLDER",
    );
    let told = served.data("import out notes", 0);
    assert_eq!(told["found"][0]["kind"], "basic-memory");
    assert_eq!(told["notes"]["skipped"], json!([]), "{told}");
    let texts: BTreeSet<_> = served.texts("notes").into_iter().collect();
    for text in served.texts("work") {
        assert!(
            texts.iter().any(|said| said.ends_with(&text)),
            "{text} is not among {texts:?}"
        );
    }
    let works = served.edges("notes", "Ada works at Shop");
    assert!(
        works
            .iter()
            .any(|(edge_type, _)| *edge_type == EdgeType::PART_OF),
        "{works:?}"
    );
    assert_eq!(
        served.data("import out notes", 0)["added"],
        0,
        "the same notes again"
    );
}

#[test]
fn the_history_of_memories_is_a_table_and_changes_nothing_when_it_comes_back() {
    let served = ServedFolder::start();
    let add = |text: &str, user: &str| {
        let line = format!("fact add - --user {user}");
        served.data_with(&line, text.as_bytes(), 0)
    };
    add("I live in Porto.", "ada");
    add("I moved to Lisbon.", "ada");
    let tea = add("I like green tea.", "bob");
    let id = tea["results"][0]["id"].as_str().unwrap();
    served.data(&format!("fact delete {id}"), 0);
    add("I work at Fennel Labs.", "bob");
    let told = served.data("fact export --sqlite history.sqlite", 0);
    assert_eq!(
        (&told["memories"], &told["rows"], &told["apps"]),
        (&json!(3), &json!(5), &json!(0)),
        "{told}"
    );
    served.refused(
        "fact export --sqlite history.sqlite",
        5,
        "exists",
        "history.sqlite",
        "",
    );
    let nodes = served.view("memories").nodes();
    let back = served.data("import history.sqlite", 0);
    assert_eq!(back["found"][0]["kind"], "mem0");
    assert_eq!(
        (
            &back["added"],
            &back["changed"],
            &back["gone"],
            &back["known"],
            &back["ended"]
        ),
        (&json!(0), &json!(0), &json!(0), &json!(2), &json!(2)),
        "{back}"
    );
    assert_eq!(served.view("memories").nodes(), nodes, "nothing is written");
    // Into another brain: what holds, of whom it is.
    served.data("import history.sqlite --into other", 0);
    for (user, city) in [("ada", "Lisbon"), ("bob", "Fennel Labs")] {
        let facts = served.data(&format!("fact ls --brain other --user {user}"), 0);
        let facts = facts.to_string();
        assert!(facts.contains(city), "{facts}");
        assert!(
            !facts.contains("Porto") && !facts.contains("tea"),
            "{facts}"
        );
    }
}

#[test]
fn memories_of_another_store_follow_it() {
    let served = ServedFolder::start();
    let all = |memories: &[(&str, &str)]| {
        let results: Vec<_> = memories
            .iter()
            .map(|(id, memory)| json!({"id": id, "memory": memory, "user_id": "mira", "created_at": "2026-03-02T09:00:00Z"}))
            .collect();
        served.put("all.json", json!({"results": results}).to_string());
        served.data("import all.json", 0)
    };
    let counts = |told: Value| -> Vec<u64> {
        let names = ["added", "changed", "gone", "known"].iter();
        names.map(|name| told[name].as_u64().unwrap()).collect()
    };
    let first = [("1", "Uses pnpm"), ("2", "Lives in Porto")];
    assert_eq!(counts(all(&first)), [2, 0, 0, 0]);
    assert_eq!(counts(all(&first)), [0, 0, 0, 2]);
    // One changed there, one is not in this answer, one is new.
    let next = [("1", "Uses yarn"), ("3", "Likes tea")];
    assert_eq!(counts(all(&next)), [1, 1, 0, 0]);
    let facts = served.data("fact ls --user mira", 0).to_string();
    for (text, is_there) in [
        ("yarn", true),
        ("pnpm", false),
        ("Porto", true),
        ("tea", true),
    ] {
        assert_eq!(facts.contains(text), is_there, "{text}: {facts}");
    }
}
