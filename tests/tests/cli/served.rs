//! Brains of a daemon, by name: queries and how their answers are printed.

use std::process::Stdio;

use amem_tests::programs::number;
use serde_json::Value;

use crate::authors::our_name;
use crate::tool::{Tool, words};

/// A tool whose daemon runs, with a brain of backups in it.
pub(crate) fn backups() -> Tool {
    let tool = Tool::new();
    let ran = tool.run(&words("brain create work"));
    assert_eq!(ran.exit, 0, "{ran:?}");
    assert!(ran.err.contains("amemd was started on "), "{ran:?}");
    for line in [
        "add work --session monday --happened 2024-03-04T09:00:00Z 'Backups take 4 hours'",
        "add work --session monday --happened 2024-03-04T09:05:00Z --attribute source=grafana 'Disk writes are at 95 %'",
        "add work --session monday --happened 2024-03-04T09:10:00Z --type inference 'The disk is what is slow' --link supports:0 --link supports:1=0.5",
        "add work --session monday --happened 2024-03-05T10:00:00Z --follow --type decision 'Back up to the second disk' --link caused-by:2",
    ] {
        tool.text(line);
    }
    tool
}

pub(crate) fn check(found: &str, expected: &str) {
    assert_eq!(found.trim(), expected.trim(), "\n{found}");
}

#[test]
fn the_first_five_minutes() {
    let tool = backups();
    check(
        &tool.text("correct work 0 --reason 'measured again' 'Backups take 40 minutes'"),
        "event 4 replaces 0",
    );
    check(
        &tool.text("why work 3"),
        "
3 decision  Back up to the second disk
└─ caused-by: 2 inference  The disk is what is slow
   ├─ supports: 0 fact [replaced by 4, confidence 0]  Backups take 4 hours
   └─ supports: 1 fact  Disk writes are at 95 %",
    );
    check(
        &tool.text("impact work 1"),
        "
1 fact  Disk writes are at 95 %
└─ supports: 2 inference  The disk is what is slow
   └─ caused-by: 3 decision  Back up to the second disk",
    );
    check(
        &tool.told("resolve work 0"),
        "
believed now: event 4
4 correction [by amemctl, because: measured again] Backups take 40 minutes
└─ 0 fact [by amemctl, confidence 0] Backups take 4 hours
recorded TIME (AGO)",
    );
    check(
        &tool.text("timeline work --until 2025-01-01"),
        "
2024-03-04
  09:00  0  fact       monday  Backups take 4 hours
  09:05  1  fact       monday  Disk writes are at 95 %
  09:10  2  inference  monday  The disk is what is slow
2024-03-05
  10:00  3  decision  monday  Back up to the second disk
4 events",
    );
}

#[test]
fn a_walk_shows_the_direction_of_its_edges() {
    let tool = backups();
    check(
        &tool.text("traverse work 2 --direction both --depth 1"),
        "
2 inference  The disk is what is slow
├─ supports → 0 fact  Backups take 4 hours
├─ supports → 1 fact  Disk writes are at 95 %
└─ ← caused-by 3 decision  Back up to the second disk",
    );
    check(
        &tool.text("path work 3 1 --edge caused-by --edge supports"),
        "
3 decision  Back up to the second disk
└─ caused-by → 2 inference  The disk is what is slow
   └─ supports → 1 fact  Disk writes are at 95 %",
    );
    check(
        &tool.text("path work 1 3 --direction outgoing"),
        "no path of at most 20 edges leads from 1 to 3",
    );
}

#[test]
fn a_reason_reached_by_two_paths_is_shown_on_both() {
    let tool = backups();
    tool.text("link work 3 supports 1");
    check(
        &tool.text("why work 3"),
        "
3 decision  Back up to the second disk
├─ supports: 1 fact  Disk writes are at 95 %
└─ caused-by: 2 inference  The disk is what is slow
   ├─ supports: 0 fact  Backups take 4 hours
   └─ supports: 1 (shown elsewhere)",
    );
    let told = tool.data("impact work 1", 0);
    assert_eq!(told["sideEdges"][0]["toId"], "3", "{told}");
    check(
        &tool.text("why work 3 --limit 1"),
        "
3 decision  Back up to the second disk
there is more: --limit and --depth show it",
    );
}

#[test]
fn search_results_show_the_parts_of_their_scores() {
    let tool = backups();
    let told = tool.data("search work which disk is slow", 0);
    let hits = told["hits"].as_array().unwrap();
    assert_eq!(hits[0]["event"]["id"], "2", "{told}");
    for hit in hits {
        let part = |name: &str| hit[name].as_f64().unwrap_or_default();
        let parts = ["textScore", "vectorScore", "neighbourScore", "sessionScore"];
        let sum: f64 = parts.map(part).iter().sum();
        assert!((part("score") - sum).abs() < 1e-5, "{hit}");
    }
    let text = tool.text("search work which disk is slow");
    assert!(text.starts_with("relevance  score  = words"), "{text}");
    assert!(
        text.contains("2024-03-04 09:10  The disk is what is slow"),
        "{text}"
    );
    let alike = tool.data("similar work last --limit 2", 0);
    assert_eq!(alike["hits"].as_array().unwrap().len(), 2);
    let ran = tool.run(&words("context work --tokens 60 'which disk is slow'"));
    assert!(ran.out.contains("The disk is what is slow"), "{ran:?}");
    assert!(ran.err.contains(" of 60 tokens, "), "{ran:?}");
    let context = tool.data("context work --tokens 60 which disk is slow", 0);
    assert!(context["tokens"].as_u64().unwrap() <= 60, "{context}");
}

#[test]
fn a_query_gives_the_same_answer_by_name_and_by_path() {
    let tool = backups();
    tool.text("correct work 0 'Backups take 40 minutes'");
    let path = tool.data("info work", 0);
    assert_eq!(path["events"], 5);
    let file = tool.home().join(".local/share/amem/brains/work.amem");
    let file = file.to_str().unwrap();
    for rest in [
        "query BRAIN",
        "query BRAIN --type fact --order oldest --axis happened --since 2024-03-04",
        "query BRAIN --where {\"source\":{\"eq\":\"grafana\"}}",
        "get BRAIN 0 2 --edges --history --vectors --no-touch",
        "get BRAIN last --as-of 5 --no-touch",
        "why BRAIN 3",
        "impact BRAIN 0 --parts",
        "traverse BRAIN 3 --depth 2",
        "path BRAIN 3 0",
        "resolve BRAIN 0",
        "timeline BRAIN --newest",
        "search BRAIN disk",
        "text BRAIN disk",
        "pipeline BRAIN --search disk --then traverse:depth=2 --then resolve",
        "similar BRAIN 0",
        "context BRAIN --tokens 50 backups",
        "conflicts BRAIN",
        "fading BRAIN",
        "sessions list BRAIN",
        "sessions show BRAIN monday",
        "info BRAIN --sections",
    ] {
        // A touch of one would show in the other's answer.
        let ask = |brain: &str| {
            let line = rest.replace("BRAIN", brain);
            let mut data = tool.data(&line, 0);
            without_uses(&mut data);
            data
        };
        assert_eq!(ask("work"), ask(file), "{rest}");
    }
}

/// Takes out what counts uses: answers of `resolve` and `context` are uses themselves.
fn without_uses(data: &mut Value) {
    match data {
        Value::Object(fields) => {
            for name in [
                "accessCount",
                "lastAccessed",
                "journal",
                "lastCommit",
                "bytes",
                "moment",
            ] {
                fields.remove(name);
            }
            // The first line of a context says the moment.
            if let Some(Value::String(text)) = fields.get_mut("text")
                && text.starts_with("From memory, as of ")
            {
                *text = text.lines().skip(1).collect();
            }
            fields.values_mut().for_each(without_uses);
        }
        Value::Array(values) => values.iter_mut().for_each(without_uses),
        _ => {}
    }
}

#[test]
fn commits_are_watched_from_any_lsn_that_is_held() {
    let tool = backups();
    for line in [
        "correct work 0 'Backups take 40 minutes'",
        "link work 3 related-to 1",
        "unlink work 3 related-to 1",
        "pin work 1",
        "unpin work 1",
        "forget work 1",
        "restore work 1",
        "get work 1",
        "decay work",
        "compress work monday 'All of Monday'",
        "sessions close work monday --outcome done",
    ] {
        tool.text(line);
    }
    // Every kind of commit is shown, both ways.
    let lsn = tool.envelope("info work")["brain"]["lsn"].as_u64().unwrap();
    let all = tool.text("--json watch work --after 0 --count 16");
    let kinds: Vec<String> = all
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].to_string())
        .collect();
    for kind in [
        "UNLINK",
        "FORGET",
        "TOUCH",
        "DECAY",
        "COMPRESS",
        "CLOSE_SESSION",
    ] {
        assert!(
            kinds.contains(&format!("\"COMMIT_KIND_{kind}\"")),
            "{kind} in {kinds:?}, LSN {lsn}"
        );
    }
    assert!(
        tool.text("watch work --after 0 --count 16")
            .contains("- 3 ─related-to→ 1")
    );
    let text = tool.told("watch work --after 0 --count 3");
    let told = text.replace("\n ", "\n");
    assert!(
        told.contains(&format!(
            "ingest amemctl, {}\n+ 0 fact Backups take 4 hours",
            our_name()
        )),
        "{text}"
    );
    let lines = tool.text("--json watch work --after 0 --count 3");
    let lines: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines
            .windows(2)
            .map(|pair| [0, 1].map(|at| number(&pair[at]["moment"]["lsn"])))
            .all(|[before, after]| before < after)
    );
    let mut watching = tool.command();
    watching.args(["-q", "watch", "work", "--count", "1", "--after"]);
    watching.arg(tool.envelope("info work")["brain"]["lsn"].to_string());
    let watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    tool.text("add work 'seen at once'");
    let seen = watching.wait_with_output().unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.contains("seen at once"), "{seen}");
}

#[test]
fn watch_shows_only_the_requested_events() {
    let tool = backups();
    tool.text("add work 'It is Friday' --session friday");
    let after = tool.envelope("info work")["brain"]["lsn"].as_u64().unwrap();
    for line in [
        "add work 'We keep tapes' --type decision --session friday --scope-user ada",
        "add work 'Tapes are heavy' --session friday --scope-user bob",
        "add work 'Nobody reads them' --type decision --session monday --scope-user ada",
        "add work 'Tapes are burnt' --type decision --session friday --scope-user bob",
    ] {
        tool.text(line);
    }
    for (only, expected) in [
        (
            "--type decision --session friday",
            ["We keep tapes", "Tapes are burnt"],
        ),
        ("--scope-user bob", ["Tapes are heavy", "Tapes are burnt"]),
    ] {
        let lines = tool.text(&format!(
            "--json watch work --after {after} --count 2 {only}"
        ));
        let lines: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let changes = lines
            .iter()
            .flat_map(|line| line["changes"].as_array().unwrap());
        let texts: Vec<&str> = changes
            .filter_map(|change| change["event"]["text"].as_str())
            .collect();
        assert_eq!(texts, expected, "{only}");
    }
    let ran = tool.run(&words("watch work --session nobody"));
    assert_ne!(ran.exit, 0, "{ran:?}");
    assert!(ran.err.contains("nobody"), "{ran:?}");
}

#[test]
fn watch_resumes_at_its_position_after_amemd_restarts() {
    let tool = backups();
    let mut watching = tool.command();
    watching.args(["-q", "watch", "work", "--count", "2"]);
    let after = tool.envelope("info work")["brain"]["lsn"].to_string();
    watching.args(["--after", &after]);
    let watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    tool.text("add work 'before the end'");
    tool.text("-q shutdown");
    let ran = tool.run(&words("-q add work 'after the beginning'"));
    assert_eq!(ran.exit, 0, "{ran:?}");
    let seen = watching.wait_with_output().unwrap();
    let seen = String::from_utf8(seen.stdout).unwrap();
    assert!(seen.contains("before the end"), "{seen}");
    assert!(seen.contains("after the beginning"), "{seen}");
}
