//! Export and import: what goes out comes back.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;

use amem_format::event::{Graph, MemoryGraph};
use amem_format::reader::Reader;
use amem_format::view::{AsOf, View};
use amem_format::{Lsn, NodeId};
use amem_tests::graphs::{assert_same, collect};
use amem_tests::random;
use amem_tests::shared::{reference_brain, reference_brains};
use serde_json::json;

use crate::brains;
use crate::moved::comparable;
use crate::tool::Tool;

fn open(tool: &Tool, name: &str) -> View {
    Reader::open(tool.path(name)).unwrap().view().unwrap()
}

fn read(tool: &Tool, name: &str) -> MemoryGraph {
    collect(&open(tool, name))
}

#[test]
fn json_lines_survive_export_and_import() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.text("export b.amem --vectors --forgotten -o b.jsonl");
    let report = tool.data("import b.jsonl again.amem", 0);
    assert_eq!(
        (&report["events"], &report["edges"]),
        (&json!(6), &json!(4))
    );
    assert_eq!(
        (&report["renumbered"], &report["embedded"]),
        (&json!(0), &json!(0))
    );
    assert_same(
        &read(&tool, "again.amem"),
        &read(&tool, "b.amem"),
        "the story",
    );
    let (old, new) = (open(&tool, "b.amem"), open(&tool, "again.amem"));
    assert_eq!(new.identity().space, old.identity().space);
    assert_eq!(
        new.session_by_key("conv/1").unwrap(),
        old.session_by_key("conv/1").unwrap()
    );
    tool.text("export again.amem --vectors --forgotten -o again.jsonl");
    let [old, new] = ["b", "again"].map(|brain| {
        let lines = tool.bytes(&format!("{brain}.jsonl"));
        let instance = open(&tool, &format!("{brain}.amem")).instance();
        let origin = format!(r#""origin":{{"instance":"{instance}","event":"#);
        let text = String::from_utf8(lines.clone()).unwrap();
        assert_eq!(text.matches(&origin).count(), 6);
        comparable(&lines)
    });
    assert_eq!(old, new);
    let mode = File::open(tool.path("again.amem"))
        .unwrap()
        .metadata()
        .unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    assert_eq!(tool.data("verify again.amem", 0)["whole"], true);
}

#[test]
fn random_graphs_survive_json_lines() {
    for seed in 0..20 {
        let graph = random::graph(seed);
        let tool = Tool::new();
        let mut bytes = Vec::new();
        // Whatever it holds at first, what it is once imported must not change any more.
        amem_interop::spec1::write(&graph, &mut bytes).unwrap();
        tool.put("s.amem", &bytes);
        tool.text("import s.amem one.amem --no-embed");
        tool.text("export one.amem --vectors --forgotten -o one.jsonl");
        tool.text("import one.jsonl two.amem --no-embed");
        let [one, two] = ["one.amem", "two.amem"].map(|name| read(&tool, name));
        if one.events.iter().any(|e| e.vector.is_some()) {
            assert_same(&two, &one, &format!("seed {seed}"));
        } else {
            assert_eq!(two.events, one.events, "seed {seed}");
        }
    }
}

#[test]
fn texts_without_vectors_are_embedded_by_default() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.text("export b.amem -o b.jsonl");
    assert_eq!(tool.data("import b.jsonl with.amem", 0)["embedded"], 5);
    assert_eq!(
        tool.data("import b.jsonl without.amem --no-embed", 0)["embedded"],
        0
    );
    let [before, with, without] = ["b.amem", "with.amem", "without.amem"].map(|n| open(&tool, n));
    assert_eq!(with.identity().space, before.identity().space);
    // Event 3 was left out, so those behind it moved up by one.
    let vector = |view: &View, id| {
        view.node(NodeId(id))
            .unwrap()
            .vector()
            .unwrap()
            .map(<[f32]>::to_vec)
    };
    assert_eq!(vector(&with, 4), vector(&before, 5));
    assert_eq!(vector(&without, 4), None);
    assert_eq!(
        without.vector_dimension(),
        128,
        "so that vectors can come later"
    );
}

#[test]
fn forgotten_events_are_exported_only_on_request() {
    let tool = Tool::with("b.amem", &brains::story());
    for (format, moment) in [
        ("jsonl", ""),
        ("spec-1", ""),
        ("compatible", ""),
        ("native", "--as-of 6"),
    ] {
        let line = format!("export b.amem --format {format} {moment} -o out");
        let data = tool.data(&line, 0);
        assert_eq!(data["leftOut"], 1, "{format}");
        let found = tool.bytes("out").windows(7).any(|w| w == b"hunter2");
        assert!(!found, "{format}");
        std::fs::remove_file(tool.path("out")).unwrap();
        tool.data(
            &format!("export b.amem --format {format} -o out --forgotten"),
            0,
        );
        let found = tool.bytes("out").windows(7).any(|w| w == b"hunter2");
        assert!(found || format == "spec-1", "{format}");
        std::fs::remove_file(tool.path("out")).unwrap();
    }
}

#[test]
fn a_native_export_has_the_history_and_an_instance_of_its_own() {
    let tool = Tool::with("b.amem", &brains::story());
    tool.text("export b.amem --format native --forgotten -o copy.amem");
    let (old, new) = (open(&tool, "b.amem"), open(&tool, "copy.amem"));
    assert_eq!(new.identity().lineage, old.identity().lineage);
    assert_ne!(new.instance(), old.instance());
    for lsn in 0..=7 {
        let [old, new] = [&old, &new].map(|v| collect(&v.as_of(AsOf::Lsn(Lsn(lsn))).unwrap()));
        assert_same(&new, &old, &format!("as of {lsn}"));
    }
    assert_eq!(tool.data("verify copy.amem", 0)["whole"], true);
}

#[test]
fn a_native_export_includes_forgotten_events_by_default() {
    let tool = Tool::with("b.amem", &brains::story());
    let told = tool.data("export b.amem --format native -o copy.amem", 0);
    assert_eq!(
        (
            &told["events"],
            &told["leftOut"],
            &told["hidden"],
            &told["lost"]
        ),
        (&json!(6), &json!(0), &json!(1), &json!([]))
    );
    let (old, new) = (open(&tool, "b.amem"), open(&tool, "copy.amem"));
    for lsn in 0..=7 {
        let [old, new] = [&old, &new].map(|v| collect(&v.as_of(AsOf::Lsn(Lsn(lsn))).unwrap()));
        assert_same(&new, &old, &format!("as of {lsn}"));
    }
    assert!(new.node(NodeId(3)).unwrap().is_forgotten());
    assert!(!tool.text("ls copy.amem").contains("hunter2"));
    // To stdout it is the same brain, and what is hidden is reported beside it.
    let ran = tool
        .command()
        .args(["export", "b.amem", "--format", "native"])
        .output()
        .unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.contains("hidden in it: 1 forgotten event"), "{said}");
    tool.put("again.amem", &ran.stdout);
    assert_same(
        &read(&tool, "again.amem"),
        &read(&tool, "b.amem"),
        "to stdout",
    );
}

#[test]
fn a_native_export_of_an_earlier_moment_reports_what_it_leaves_out() {
    let tool = Tool::with("b.amem", &brains::story());
    let told = tool.data("export b.amem --format native --as-of 6 -o then.amem", 0);
    let count = |words: &str| {
        let all = told["lost"].as_array().unwrap();
        let found = all
            .iter()
            .find(|l| l["what"].as_str().unwrap().contains(words));
        found.map_or(0, |l| l["count"].as_u64().unwrap())
    };
    assert_eq!(told["leftOut"], 1, "{told}");
    assert_eq!(count("commits"), 6, "{told}");
    assert!(count("a new id") > 0, "{told}");
    assert_eq!(tool.data("verify then.amem", 0)["whole"], true);
}

#[test]
fn every_form_can_be_as_of_an_earlier_moment() {
    let tool = Tool::with("b.amem", &brains::story());
    let then = open(&tool, "b.amem").as_of(AsOf::Lsn(Lsn(5))).unwrap();
    let texts: Vec<String> = (0..then.nodes())
        .map(|id| then.node(NodeId(id)).unwrap())
        .filter(|node| !node.is_forgotten())
        .map(|node| node.text().unwrap().into_owned())
        .collect();
    for format in ["jsonl", "spec-1", "compatible", "native"] {
        let out = format!("{format}.out");
        tool.text(&format!(
            "export b.amem --format {format} --as-of 5 -o {out}"
        ));
        if format != "native" {
            tool.text(&format!("import {out} {format}.amem"));
        } else {
            std::fs::rename(tool.path(&out), tool.path("native.amem")).unwrap();
        }
        let graph = read(&tool, &format!("{format}.amem"));
        let found: Vec<_> = graph.events.iter().map(|e| e.text.clone()).collect();
        assert_eq!(found, texts, "{format}");
        assert_eq!(graph.edges.len(), 3, "{format}");
        let verified = tool.data(&format!("verify {format}.amem"), 0);
        assert_eq!(verified["whole"], true, "{format}");
    }
}

#[test]
fn lossy_conversions_are_reported() {
    let tool = Tool::with("b.amem", &brains::story());
    let told = tool.data("export b.amem --format compatible -o c.amem", 0);
    let lost = |what: &str| {
        let all = told["lost"].as_array().unwrap();
        let found = all.iter().find(|l| l["what"] == what);
        found.map_or(0, |l| l["count"].as_u64().unwrap())
    };
    assert_eq!(
        (lost("attributes"), lost("event times"), lost("flags")),
        (2, 1, 1)
    );
    assert_eq!(lost("events got a new id"), 2);
}

#[test]
fn reference_brains_are_converted_and_back() {
    for brain in reference_brains() {
        let tool = Tool::with("r.amem", &brain.bytes);
        let report = tool.data("import r.amem ours.amem --format reference", 0);
        assert_eq!(report["format"], "reference");
        assert_eq!(
            tool.data("verify ours.amem", 0)["whole"],
            true,
            "{}",
            brain.name
        );
        tool.text("export ours.amem --format compatible -o back.amem");
        let back =
            amem_interop::foreign::Foreign::open(&tool.bytes("back.amem")).map(|f| f.event_count());
        assert_eq!(back.unwrap(), open(&tool, "ours.amem").nodes());
        tool.text("export r.amem --vectors -o r.jsonl");
        tool.text("export ours.amem --vectors -o ours.jsonl");
        let texts = |name: &str| {
            let lines = String::from_utf8(tool.bytes(name)).unwrap();
            lines.lines().count()
        };
        assert_eq!(texts("r.jsonl"), texts("ours.jsonl"), "{}", brain.name);
    }
    let Some(brain) = reference_brain("sparse_ids") else {
        return;
    };
    let tool = Tool::with("r.amem", &brain.bytes);
    assert_eq!(tool.data("import r.amem ours.amem", 0)["renumbered"], 16);
    let first = tool.data("get ours.amem 0", 0)["events"][0].clone();
    let attributes = first["attributesJson"].as_str().unwrap();
    let attributes: serde_json::Value = serde_json::from_str(attributes).unwrap();
    assert_eq!(attributes["amem.origin_id"], 1);
}

#[test]
fn types_unknown_to_the_reference_are_mapped_on_request() {
    let tool = Tool::with(
        "in.jsonl",
        b"{\"text\":\"odd\",\"type\":\"type-9\",\"edges\":[{\"target\":1,\"type\":\"type-8\"}]}\n{\"text\":\"plain\"}\n",
    );
    tool.text("import in.jsonl b.amem");
    tool.refused(
        "export b.amem --format compatible -o c.amem",
        5,
        "invalid",
        "event 0 is a type-9, which the reference does not support",
        "",
    );
    assert_eq!(
        tool.names(),
        ["b.amem", "in.jsonl"],
        "nothing is left behind"
    );
    let told = tool.data(
        "export b.amem --format compatible --map-unknown -o c.amem",
        0,
    );
    assert_eq!(told["lost"].as_array().unwrap().len(), 2);
    assert!(tool.text("ls b.amem --type type-9").contains("odd"));
}

#[test]
fn changes_made_by_an_import_are_reported() {
    let lines = r#"{"id":5,"text":"first","created_at":"2024-01-02T00:00:00Z","edges":[{"target":5,"type":"supports"},{"target":77,"type":"supports"},{"target":9,"type":"supersedes"}]}
{"id":9,"text":"second","created_at":"2024-01-01T00:00:00Z","confidence":1.5,"edges":[{"target":5,"type":"supersedes"},{"target":5,"type":"supports","weight":-1},{"target":5,"type":"supports","weight":0.5,"created_at":"2023-01-01T00:00:00Z"}]}
{"id":10,"text":"old","created_at":"1950-06-01T00:00:00Z","edges":[{"target":5,"type":"supports","created_at":"1950-06-01T00:00:00Z"}]}
"#;
    let tool = Tool::with("in.jsonl", lines.as_bytes());
    let told = tool.data("import in.jsonl b.amem", 0);
    let count = |what: &str| told[what].as_array().unwrap().len();
    assert_eq!(told["renumbered"], 3);
    assert_eq!(count("self_edges"), 1);
    assert_eq!(count("dangling_edges"), 1);
    assert_eq!(count("merged_edges"), 1);
    assert_eq!(count("clamped_events"), 1);
    assert_eq!(count("clamped_edges"), 1);
    assert_eq!(told["clamped_times"], json!([10]));
    assert_eq!(told["clamped_uses"], json!([10]));
    assert_eq!(told["clamped_edge_times"][0]["source"], 10);
    assert_eq!(told["supersedes_cycles"], json!([1, 2]));
    let old = tool.data("get b.amem 0", 0)["events"][0].clone();
    assert_eq!(old["eventTime"], "1950-06-01T00:00:00Z");
    let head = tool.data("resolve b.amem 1", 0);
    assert_eq!(
        (&head["cyclic"], &head["head"]["id"]),
        (&json!(true), &json!("2"))
    );
}

#[test]
fn a_time_after_the_year_9999_is_shown_as_text_and_refused_as_json() {
    let line = b"{\"text\":\"far\",\"event_time\":400000000000000000}\n";
    let tool = Tool::with("in.jsonl", line);
    tool.text("import in.jsonl b.amem");
    assert!(tool.text("get b.amem 0").contains("happened"));
    let refused = tool.envelope("get b.amem 0");
    let error = &refused["error"];
    assert_eq!(
        (&error["code"], &error["exit"]),
        (&json!("json"), &json!(5))
    );
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("has no form in JSON"), "{message}");
}

#[test]
fn lines_may_come_from_stdin() {
    let tool = Tool::with("in.jsonl", b"{\"text\":\"from a pipe\"}\n");
    let stdin = File::open(tool.path("in.jsonl")).unwrap();
    let ran = tool.run_with(&["import", "-", "b.amem"], stdin.into());
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(tool.text("ls b.amem").contains("from a pipe"));
}
