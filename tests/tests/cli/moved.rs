//! Brains and events into a daemon and out of it, by name.

use amem_format::base::section::tag;
use amem_format::brain::Brain;
use amem_format::event::Event;
use amem_format::mapping::Map;
use amem_format::view::Direction;
use amem_format::{EdgeType, NodeId};
use amem_tests::graphs::{assert_same, collect};
use serde_json::{Value, json};

use crate::brains;
use crate::daemon::ServedFolder;

fn event(served: &ServedFolder, brain: &str, id: u64) -> Event {
    let view = served.view(brain);
    view.node(NodeId(id)).unwrap().to_event().unwrap()
}

fn edges(served: &ServedFolder, brain: &str, id: u64) -> Vec<(EdgeType, u64)> {
    let view = served.view(brain);
    let ties = view.edges_of(NodeId(id), Direction::Outgoing).unwrap();
    ties.iter()
        .map(|tie| (tie.edge_type, tie.other.0))
        .collect()
}

/// Exported lines without what an import as lines does not keep: the instance that they come from, and their authors.
pub(crate) fn comparable(lines: &[u8]) -> Vec<Value> {
    let lines = std::str::from_utf8(lines).unwrap().lines();
    lines
        .map(|line| {
            let mut event: Value = serde_json::from_str(line).unwrap();
            event["origin"].as_object_mut().unwrap().remove("instance");
            let fields = event.as_object_mut().unwrap();
            fields.retain(|name, _| !["by", "by_agent"].contains(&name.as_str()));
            event
        })
        .collect()
}

#[test]
fn a_file_of_any_layout_is_imported_under_its_name() {
    let served = ServedFolder::start();
    served.put("story.amem", brains::story());
    let told = served.data("import story.amem copy", 0);
    assert_eq!(
        (&told["format"], &told["events"], &told["edges"]),
        (&json!("native"), &json!("6"), &json!("4"))
    );
    let lines = served.out("export story.amem --vectors --forgotten");
    let copied = served.out("export copy --vectors --forgotten");
    assert_eq!(comparable(&copied), comparable(&lines));
    assert_eq!(served.data("verify copy", 0)["whole"], true);
    for (format, file) in [("spec-1", "one.amem"), ("compatible", "two.amem")] {
        served.data(
            &format!("export copy --format {format} -o {file} --forgotten"),
            0,
        );
        let name = file.trim_end_matches(".amem");
        let told = served.data(&format!("import {file} {name}"), 0);
        assert_eq!(told["events"], "6", "{told}");
    }
    served.put("lines.jsonl", &lines);
    for (line, name) in [
        ("import lines.jsonl three", "three"),
        ("import --format jsonl - four", "four"),
    ] {
        let told = served.data_with(line, &lines, 0);
        assert_eq!(
            (&told["format"], &told["events"]),
            (&json!("jsonl"), &json!("6"))
        );
        let imported = served.out(&format!("export {name} --vectors --forgotten"));
        assert_eq!(comparable(&imported), comparable(&lines), "{name}");
    }
    let frames = served.out("dump-journal copy --kept --json");
    assert!(frames == served.out("dump-journal story.amem --kept --json") || !frames.is_empty());
    served.refused(
        "import story.amem copy",
        5,
        "already_exists",
        "copy",
        "another name",
    );
    served.refused(
        "import --format jsonl lines.jsonl four",
        5,
        "already_exists",
        "four",
        "",
    );
}

#[test]
fn a_damaged_file_makes_no_brain_and_its_damage_is_named() {
    let served = ServedFolder::start();
    let mut bytes = brains::story();
    let place = Brain::open(Map::owned(&bytes)).unwrap();
    let place = place.base().table().find(tag::ADJACENCY).unwrap();
    let at = place.offset as usize;
    served.put("whole.amem", &bytes);
    bytes[at..at + place.len as usize].fill(0xA5);
    served.put("broken.amem", &bytes);
    served.refused("import broken.amem broken", 4, "damaged", "adjacency", "");
    served.refused("verify broken", 3, "unknown_brain", "broken", "");
    served.data("import whole.amem whole", 0);
    // The file of a brain that is served is damaged behind the daemon's back.
    let path = served.path("brains/whole.amem");
    let file = std::fs::read(&path).unwrap();
    let place = Brain::open(Map::owned(&file)).unwrap();
    let place = place.base().table().find(tag::ADJACENCY).unwrap();
    use std::os::unix::fs::FileExt;
    let open = std::fs::File::options().write(true).open(&path).unwrap();
    open.write_all_at(&[0xA5; 8], place.offset).unwrap();
    let told = served.data("verify whole", 1);
    assert_ne!(told["whole"], true, "{told}");
    assert!(told["findings"].to_string().contains("adjacency"), "{told}");
    let ran = served.run_with("verify whole", &[]);
    let text = String::from_utf8(ran.stdout).unwrap();
    assert!(
        text.starts_with("whole\n") && text.contains("adjacency at byte"),
        "{text}"
    );
}

#[test]
fn files_unreadable_by_the_daemon_are_sent_to_it() {
    let mut served = ServedFolder::start();
    served.put("story.amem", brains::story());
    served.data("import story.amem b", 0);
    let before = served.out("export b --vectors --forgotten");
    served.by_tcp();
    assert_eq!(served.data("verify b", 0)["whole"], true);
    served.data("export b --format native --forgotten -o native.amem", 0);
    assert!(served.out("export native.amem --vectors --forgotten") == before);
    served.data(
        "export b --format compatible --forgotten -o reference.amem",
        0,
    );
    assert_eq!(served.data("info reference.amem", 0)["events"], 6);
    served.refused(
        "export b --format compatible -o x.amem",
        5,
        "forgotten",
        "forgotten",
        "--include-forgotten",
    );
    served.refused(
        "export b",
        5,
        "not_direct",
        "cannot be read from here",
        "--format native",
    );
    served.refused(
        "dump-journal b",
        5,
        "not_direct",
        "the journal",
        "on the machine",
    );
    served.refused(
        "export b --format native -o native.amem",
        5,
        "exists",
        "native.amem",
        "another",
    );
    // By stdout, and back under another name.
    let bytes = served.out("export b --format native -q");
    served.put("again.amem", &bytes);
    served.data("import again.amem again", 0);
    assert_same(
        &collect(&served.view("again")),
        &collect(&served.view("b")),
        "sent",
    );
}

#[test]
fn imported_events_get_new_ids_and_keep_their_edges() {
    let served = ServedFolder::start();
    served.put("story.amem", brains::story());
    let lines = served.out("export story.amem --vectors --forgotten");
    served.put("story.jsonl", &lines);
    served.data("brain create b", 0);
    served.data("add b --session conv/1 before", 0);
    let told = served.data("import story.jsonl b", 0);
    assert_eq!(
        (&told["format"], &told["made"]),
        (&json!("events"), &json!(false))
    );
    assert_eq!(
        (
            &told["events"],
            &told["edges"],
            &told["pinned"],
            &told["forgotten"]
        ),
        (&json!(6), &json!(4), &json!(1), &json!(1))
    );
    let (old, new) = (
        amem_format::reader::Reader::open(served.path("story.amem")).unwrap(),
        served.view("b"),
    );
    let old = old.view().unwrap();
    assert_eq!(new.nodes(), 7);
    for id in 0..6 {
        let was = old.node(NodeId(id)).unwrap().to_event().unwrap();
        let is = event(&served, "b", id + 1);
        assert_eq!((&is.text, is.event_type), (&was.text, was.event_type));
        let mut attributes = is.attributes.clone().unwrap_or_default();
        let origin = attributes.remove("amem.origin").unwrap();
        assert_eq!(
            (&origin["event"], &origin["time"]),
            (&json!(id), &json!(was.created_at.0))
        );
        assert_eq!(attributes, was.attributes.clone().unwrap_or_default());
        assert_eq!(is.vector, was.vector);
        assert_eq!(is.event_time, was.event_time.or(Some(was.created_at)));
        assert_eq!(is.session, new.session_by_key("conv/1").unwrap().unwrap());
        assert_eq!(
            (
                is.flags.has(amem_format::Flags::PINNED),
                is.flags.has(amem_format::Flags::FORGOTTEN)
            ),
            (
                was.flags.has(amem_format::Flags::PINNED),
                was.flags.has(amem_format::Flags::FORGOTTEN)
            )
        );
        assert!(
            (is.confidence - was.confidence).abs() < 1e-6,
            "{id}: what is believed is the same"
        );
        let ties = old.edges_of(NodeId(id), Direction::Outgoing).unwrap();
        let mut expected: Vec<_> = ties
            .iter()
            .map(|tie| (tie.edge_type, tie.other.0 + 1))
            .collect();
        let mut found = edges(&served, "b", id + 1);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{id}");
    }
    // The same lines again change nothing.
    let again = served.data("import story.jsonl b", 0);
    assert_eq!(
        (&again["known"], &again["events"], served.view("b").nodes()),
        (&json!(6), &json!(0), 7)
    );
    assert_eq!(served.data("verify b", 0)["whole"], true);
}

/// Events, edges and sessions of a brain.
fn counted(served: &ServedFolder, brain: &str) -> (u64, u64, usize) {
    let view = served.view(brain);
    (view.nodes(), view.edges(), view.sessions().unwrap().len())
}

/// Imports a file into a brain; counts of events, edges, known and changed lines.
fn imported(served: &ServedFolder, file: &str, brain: &str) -> [u64; 4] {
    let told = served.data(&format!("import {file} {brain}"), 0);
    ["events", "edges", "known", "changed"].map(|key| told[key].as_u64().unwrap())
}

#[test]
fn our_own_export_imported_again_adds_nothing() {
    let served = ServedFolder::start();
    served.put("story.amem", brains::story());
    served.data("import story.amem a", 0);
    let lines = served.out("export a --vectors --forgotten");
    served.put("a.jsonl", &lines);
    served.data("import a.jsonl whole", 0);
    served.data("brain create part", 0);
    served.data("add part something", 0);
    assert_eq!(imported(&served, "a.jsonl", "part"), [6, 4, 0, 0]);
    let before = ["a", "whole", "part"].map(|brain| counted(&served, brain));
    for brain in ["a", "whole", "part", "whole"] {
        assert_eq!(imported(&served, "a.jsonl", brain), [0, 0, 6, 0], "{brain}");
    }
    assert_eq!(
        ["a", "whole", "part"].map(|brain| counted(&served, brain)),
        before
    );
    // Nor do the lines of a brain that was made of others' lines.
    served.put(
        "part.jsonl",
        served.out("export part --vectors --forgotten"),
    );
    assert_eq!(imported(&served, "part.jsonl", "a"), [1, 0, 6, 0]);
    served.put(
        "whole.jsonl",
        served.out("export whole --vectors --forgotten"),
    );
    assert_eq!(imported(&served, "whole.jsonl", "part"), [0, 0, 6, 0]);
    for brain in ["a", "whole", "part"] {
        assert_eq!(
            served.data(&format!("verify {brain}"), 0)["whole"],
            true,
            "{brain}"
        );
    }
}

#[test]
fn an_export_imported_after_changes_undoes_none_and_doubles_none() {
    let served = ServedFolder::start();
    served.put("story.amem", brains::story());
    served.data("import story.amem a", 0);
    served.put("old.jsonl", served.out("export a --forgotten"));
    served.data("import old.jsonl b", 0);
    served.data("get a 0", 0);
    served.data("correct a 0 corrected", 0);
    served.data("link a 1 related-to 2", 0);
    served.data("forget a 1", 0);
    let now = collect(&served.view("a"));
    assert_eq!(imported(&served, "old.jsonl", "a")[..2], [0, 0]);
    assert_same(&collect(&served.view("a")), &now, "what came later stays");
    // The other brain gets what is new, and no more.
    served.put("new.jsonl", served.out("export a"));
    let before = counted(&served, "b");
    assert_eq!(imported(&served, "new.jsonl", "b")[0], 1);
    let after = counted(&served, "b");
    assert_eq!(after.0, before.0 + 1);
    assert_eq!(imported(&served, "new.jsonl", "b")[..2], [0, 0]);
    assert_eq!(counted(&served, "b"), after);
    assert_eq!(event(&served, "b", 0).confidence, 0.0);
}

#[test]
fn a_changed_line_of_a_known_origin_is_reported_and_changes_nothing() {
    let served = ServedFolder::start();
    served.data("brain create a", 0);
    for text in ["one", "two", "three"] {
        served.data(&format!("add a {text}"), 0);
    }
    let lines = String::from_utf8(served.out("export a")).unwrap();
    served.put(
        "a.jsonl",
        lines.replace(r#""text":"two""#, r#""text":"twice""#),
    );
    let told = served.data("import a.jsonl a", 0);
    assert_eq!(
        (&told["known"], &told["changed"]),
        (&json!(3), &json!(1)),
        "{told}"
    );
    assert_eq!(told["changed_lines"], json!([2]));
    assert_eq!(event(&served, "a", 1).text, "two");
    let page = served.out("import a.jsonl a");
    let page = String::from_utf8(page).unwrap();
    assert!(
        page.contains("1 line from the event of the same origin"),
        "{page}"
    );
    assert_eq!(served.data("import a.jsonl a --again", 0)["events"], 3);
}

#[test]
fn edges_may_point_forward_and_across_batches() {
    let served = ServedFolder::start();
    let lines = (0..1500).fold(String::new(), |mut lines, id| {
        let edges = match id {
            0 => json!([{"target": 1499, "type": "supports", "weight": 0.25}, {"target": 0, "type": "supports"}]),
            1499 => json!([{"target": 700, "type": "caused-by"}, {"target": 9999, "type": "caused-by"}]),
            _ => json!([]),
        };
        let line = json!({"id": id, "text": format!("event {id}"), "session": 5, "edges": edges});
        lines.push_str(&format!("{line}\n"));
        lines
    });
    let told = served.data_with("import --format events - b", lines.as_bytes(), 0);
    assert_eq!(
        (&told["events"], &told["edges"], &told["made"]),
        (&json!(1500), &json!(2), &json!(true))
    );
    assert_eq!(told["lost"][0]["count"], 2, "{told}");
    assert_eq!(edges(&served, "b", 0), [(EdgeType::SUPPORTS, 1499)]);
    assert_eq!(edges(&served, "b", 1499), [(EdgeType::CAUSED_BY, 700)]);
    let session = event(&served, "b", 7).session;
    assert_ne!(session.0, 0, "a session without a key is one all the same");
    assert_eq!(event(&served, "b", 1499).session, session);
}

#[test]
fn a_batch_that_is_refused_ends_the_import() {
    let served = ServedFolder::start();
    served.data("brain create b", 0);
    let lines = (0..2000).fold(String::new(), |mut lines, id| {
        let mut line = json!({"text": format!("event {id}")});
        if id == 700 {
            line["vector"] = json!([1.0, 2.0]);
        }
        lines.push_str(&format!("{line}\n"));
        lines
    });
    served.put("odd.jsonl", lines);
    served.refused(
        "import odd.jsonl b",
        5,
        "dimension",
        "lines 513 to 1024 were refused",
        "repeat with --run-id",
    );
    assert_eq!(
        served.view("b").nodes(),
        512,
        "nothing behind it was written"
    );
}

#[test]
fn invalid_input_is_reported_with_its_line_and_a_remedy() {
    let served = ServedFolder::start();
    served.data("brain create b", 0);
    /// A file's name and bytes, options, and how it is refused: exit code, code, part of the message.
    type Row<'r> = (&'r str, &'r str, &'r [u8], i32, &'r str, &'r str);
    let rows: [Row<'_>; 13] = [
        ("a.jsonl", "", b"{\"text\":\"a\"}\n{\"text\":}", 5, "bad_line", "line 2 of a.jsonl"),
        ("a.jsonl", "", b"{\"text\":\"a\",\"id\":1}\n{\"text\":\"b\",\"id\":1}", 5, "bad_line", "event 1 appears twice"),
        ("a.jsonl", "", b"{\"text\":\"a\"}\n{\"text\":\"\"}", 5, "bad_line", "line 2 of a.jsonl: the text is empty"),
        ("a.jsonl", "", b"{\"text\":\"a\",\"id\":1,\"edges\":[{\"target\":2,\"type\":\"supersedes\"}]}\n{\"text\":\"b\",\"id\":2,\"edges\":[{\"target\":1,\"type\":\"supersedes\"}]}", 5, "cycle", "in cycles"),
        ("a.jsonl", "", b"{\"text\":\"a\",\"vector\":[1]}\n{\"text\":\"b\",\"vector\":[1,2]}", 5, "bad_line", "line 2 of a.jsonl: a vector of 2 numbers"),
        ("a.jsonl", "--format events", b"", 5, "empty", "no event in it"),
        ("a.jsonl", "", b"{\"session\":\"s\",\"speaker\":\"A\"}", 5, "bad_line", "missing field `text`"),
        ("a.md", "--format markdown", b"---\nnonsense\n---\ntext", 5, "bad_line", "line 2 of a.md"),
        ("a.md", "--format markdown", b"# only a heading\n", 5, "empty", "no text in it"),
        ("a.md", "--format markdown", b"a \xff b", 5, "bad_line", "no UTF-8"),
        ("a.amem", "", b"PK\x03\x04 and more, at least as long as a header of sixty-four bytes is", 4, "not_amem", "it begins with"),
        ("a.jsonl", "--no-embed", b"{\"text\":\"a\"}", 2, "usage", "--no-embed applies only to new brains"),
        ("a.jsonl", "--session x", b"{\"session\":\"s\",\"speaker\":\"A\",\"text\":\"b\"}", 2, "usage", "--session applies to Markdown notes"),
    ];
    for (name, options, bytes, exit, code, message) in rows {
        served.put(name, bytes);
        let line = format!("import {name} b {options}");
        served.refused(line.trim(), exit, code, message, "");
    }
    assert_eq!(served.view("b").nodes(), 0);
    served.refused("import missing.md b", 3, "not_found", "missing.md", "path");
    served.refused(
        "import a.md new.amem",
        2,
        "usage",
        "markdown is imported into a brain of amemd",
        "name a brain, without a slash or .amem",
    );
    served.refused(
        "import --format markdown - b",
        2,
        "usage",
        "stdin",
        "--session",
    );
    let ran = served.run_with("import - b", b"plain words");
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(
        said.contains("stdin is not JSON lines") && said.contains("--format markdown"),
        "{said}"
    );
    served.put("a.amem", brains::story());
    served.refused(
        "import a.amem x --again",
        2,
        "usage",
        "this creates a new one",
        "omit them",
    );
    assert_eq!(
        served.data("brain ls", 0)["brains"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    let _: Value = served.data("verify b", 0);
}
