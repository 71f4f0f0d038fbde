//! Reading commands: what they print, for people and as the envelope.

use std::process::Stdio;

use amem_format::EventType;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Mutation, Request};
use amem_tests::programs::{list, number};
use amem_tests::shared::{reference_brain, reference_brains};
use serde_json::json;

use crate::brains;
use crate::tool::Tool;

fn story() -> Tool {
    Tool::with("b.amem", &brains::story())
}

fn check(found: &str, expected: &str) {
    assert_eq!(found.trim(), expected.trim(), "\n{found}");
}

#[test]
fn info_describes_a_brain_and_its_contents() {
    check(
        &story().text("info b.amem"),
        "
b.amem
layout        native, 156.0 KiB
instance      bf9f4796-f934-4cb2-880b-07f73e2557b2
lineage       fb2fac5b-f7e8-4f92-a6b0-ab042fcf97f5
state         generation 2, LSN 7, 2023-11-14T22:13:20.010000Z
created       2023-11-14T22:13:20.002000Z
events        6 (3 fact, 1 decision, 2 correction)
edges         4
sessions      1
recorded      2023-11-14T22:13:20.004000Z to 2023-11-14T22:13:20.009000Z
vectors       128 numbers, of the built-in embedder
fading        below strength 0.2
history       4 changes
journal       2 commits, 728 B, room for 131.3 KiB",
    );
}

#[test]
fn ls_lists_events_in_order_and_hides_forgotten_ones() {
    let tool = story();
    check(
        &tool.text("ls b.amem"),
        "
id  type        session  recorded          conf   str  flags   text
 5  correction  conv/1   2023-11-14 22:13     1     1          Tests take 5 minutes
 4  correction  conv/1   2023-11-14 22:13     0     0          Tests take 15 minutes
 2  decision    conv/1   2023-11-14 22:13   0.8   0.8  pinned  Split the tests over two machines
 1  fact        conv/1   2023-11-14 22:13  0.25  0.25          Tests take 40 minutes
 0  fact        conv/1   2023-11-14 22:13     1     1          The build server has 8 cores
5 events",
    );
    let ids = |arguments: &str| {
        let data = tool.data(&format!("ls b.amem {arguments}"), 0);
        let ids = list(&data["events"]).iter().map(|e| number(&e["id"]));
        (
            ids.collect::<Vec<_>>(),
            data["nextPageToken"].as_str().map(str::to_owned),
        )
    };
    let rows: [(&str, &[u64]); 14] = [
        ("--forgotten", &[5, 4, 3, 2, 1, 0]),
        ("--include-forgotten --order oldest", &[0, 1, 2, 3, 4, 5]),
        ("--type fact", &[1, 0]),
        ("--type fact --type decision", &[2, 1, 0]),
        ("--session 1 --limit 10", &[5, 4, 2, 1, 0]),
        ("--session conv/1", &[5, 4, 2, 1, 0]),
        ("--session 9", &[]),
        ("--order strongest --limit 3", &[5, 0, 2]),
        ("--keyword minute", &[5, 4, 1]),
        ("--since 2023-11-14T22:13:20.006Z", &[5, 4]),
        ("--until 2023-11-14", &[]),
        ("--axis happened --until 2023-11-14", &[0]),
        ("--as-of 3 --forgotten", &[3, 2, 1, 0]),
        ("--where {\"speaker\":{\"eq\":\"Ada\"}}", &[0]),
    ];
    for (arguments, expected) in rows {
        assert_eq!(ids(arguments).0, expected, "{arguments}");
    }
    let (first, next) = ids("--limit 2");
    let (second, _) = ids(&format!("--limit 2 --after {}", next.unwrap()));
    assert_eq!([first, second].concat(), [5, 4, 2, 1]);
}

#[test]
fn get_shows_an_event_with_its_edges_and_its_history() {
    check(
        &story().text("get b.amem 1 2 --edges --history"),
        "
event 1
type          fact
text          Tests take 40 minutes
believed now  event 5, which replaced this
session       1 (conv/1)
recorded      2023-11-14T22:13:20.004001Z
by            ada, token:ci
confidence    0.25
strength      0.25
vector        yes
edge          ← caused-by ─ 2  0.5  Split the tests over two machines
edge          ← supersedes ─ 4  0.75  Tests take 15 minutes
changed       LSN 5, 2023-11-14T22:13:20.006001Z by ada, token:ci: confidence was 1

event 2
type          decision
text          Split the tests over two machines
session       1 (conv/1)
recorded      2023-11-14T22:13:20.004002Z
by            ada, token:ci
confidence    0.8
strength      0.8
flags         pinned
vector        yes
edge          ─ supports → 0  0.5  The build server has 8 cores
edge          ─ caused-by → 1  0.5  Tests take 40 minutes
changed       LSN 7, 2023-11-14T22:13:20.010000Z by ada, token:ci: flags was []",
    );
    let data = story().data("get b.amem 1 --as-of 4 --history --vectors", 0);
    let event = &data["events"][0];
    assert_eq!(
        (&data["moment"]["asOfLsn"], &event["confidence"]),
        (&json!("4"), &json!(1.0))
    );
    assert_eq!(event["history"], json!([]));
    assert_eq!(event["vector"]["values"].as_array().unwrap().len(), 128);
}

#[test]
fn resolve_and_why_draw_the_edges_that_they_followed() {
    let tool = story();
    check(
        &tool.text("resolve b.amem 1"),
        "
believed now: event 5
5 correction [by ada]  Tests take 5 minutes
└─ 4 correction [by ada, because: measured, confidence 0]  Tests take 15 minutes
   └─ 1 fact [by ada, confidence 0.25]  Tests take 40 minutes
recorded      2023-11-14T22:13:20.009000Z",
    );
    check(
        &tool.text("why b.amem 2"),
        "
2 decision [pinned, confidence 0.8]  Split the tests over two machines
├─ supports: 0 fact  The build server has 8 cores
└─ caused-by: 1 fact [replaced by 4, confidence 0.25]  Tests take 40 minutes",
    );
    let then = tool.data("resolve b.amem 1 --as-of 5", 0);
    assert_eq!(
        (&then["head"]["id"], &then["contested"]),
        (&json!("4"), &json!(null))
    );
    let chain: Vec<_> = then["chain"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| &l["id"])
        .collect();
    assert_eq!(chain, [&json!("1"), &json!("4")]);
    let why = tool.data("why b.amem 0", 0);
    assert_eq!(why["steps"].as_array().unwrap().len(), 1);
}

#[test]
fn dump_journal_shows_every_operation() {
    let tool = story();
    check(
        &tool.text("dump-journal b.amem"),
        "
LSN 6  correct  2023-11-14T22:13:20.009001Z  token:ci ada  620 B
  event 5 correction session 1 confidence 1 with vector: Tests take 5 minutes
  link 5 supersedes 4 weight 1
  belief 4 confidence 0 rate 0 flags []
LSN 7  pin  2023-11-14T22:13:20.010000Z  token:ci ada  18 B
  belief 2 confidence 0.8 rate 0 flags [pinned]",
    );
    let lines = tool.text("--json dump-journal b.amem --kept");
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|frame| format!("{} {}", frame["lsn"], frame["kind"].as_str().unwrap()))
        .collect();
    let expected = [
        "1 open-session",
        "2 open-session",
        "3 ingest",
        "4 forget",
        "5 correct",
        "6 correct",
        "7 pin",
    ];
    assert_eq!(kinds, expected);
    assert!(
        lines.contains(r#""confidence":0.8"#),
        "a number by its own digits"
    );
    let some = tool.text("--json dump-journal b.amem --kept --since 2 --limit 2");
    assert_eq!(some.lines().count(), 2);
    assert!(some.starts_with(r#"{"lsn":3"#));
}

#[test]
fn the_envelope_is_the_same_everywhere() {
    let tool = story();
    for command in [
        "info",
        "ls",
        "get b.amem 1",
        "resolve b.amem 1",
        "why b.amem 2",
        "verify",
    ] {
        let line = match command.split_once(' ') {
            Some(_) => command.to_owned(),
            None => format!("{command} b.amem"),
        };
        tool.data(&line, 0);
        let arguments: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let ran = tool.run(&arguments);
        let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        let keys: Vec<&String> = envelope.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["amemctl", "command", "brain", "data"], "{line}");
        let brain: Vec<&String> = envelope["brain"].as_object().unwrap().keys().collect();
        let expected = [
            "path",
            "layout",
            "instance",
            "lineage",
            "generation",
            "lsn",
            "live",
            "notes",
        ];
        assert_eq!(brain, expected, "{line}");
    }
}

#[test]
fn text_of_a_file_cannot_send_commands_to_the_terminal() {
    let texts = ["clear \x1b[2J the screen\nand\u{202e}turn", "plain"];
    let tool = Tool::with("b.amem", &brains::plain(&texts));
    for line in [
        "ls b.amem",
        "get b.amem 0",
        "why b.amem 0",
        "dump-journal b.amem",
    ] {
        let out = tool.text(line);
        // `get` shows lines as lines.
        let words = out.replace("\n              ", "\\n");
        assert!(
            words.contains(r"clear \u{1b}[2J the screen\nand\u{202e}turn"),
            "{line}: {out}"
        );
        assert!(!out.contains(['\x1b', '\u{202e}']), "{line}");
    }
}

#[test]
fn json_exports_and_contexts_cannot_send_commands_either() {
    let text = "clear \u{9b}2J\u{7f} the screen \u{2067}and turn\u{202e}\x1b[2J";
    let tool = Tool::with("b.amem", &brains::plain(&[text]));
    for line in [
        "--json ls b.amem",
        "-q export b.amem",
        "-q context b.amem clear",
    ] {
        let out = tool.text(line);
        assert!(out.contains("the screen"), "{line}: {out}");
        let steers = |c: char| c != '\n' && amem_format::display::is_terminal_control(c);
        assert!(!out.contains(steers), "{line}: {out:?}");
    }
    let exported: serde_json::Value = serde_json::from_str(&tool.text("-q export b.amem")).unwrap();
    assert_eq!(exported["text"], text);
}

#[test]
fn a_live_brain_is_read_while_its_writer_writes() {
    let tool = Tool::new();
    let mut store = brains::live(&tool.path(""));
    let first = tool.text("info b.amem");
    assert!(first.contains("native, live: a daemon owns it"), "{first}");
    let ingest = Ingest {
        events: vec![NewEvent::new(EventType::FACT, "just now")],
        ..Ingest::default()
    };
    store
        .execute(Request::new(Mutation::Ingest(ingest)))
        .unwrap();
    assert!(tool.text("ls b.amem --limit 1").contains("just now"));
    let verified = tool.data("verify b.amem", 0);
    assert_eq!(verified["whole"], true);
    assert_eq!(verified["commits"], "3");
    drop(store);
}

#[test]
fn foreign_files_are_read_through_a_conversion_that_is_announced() {
    for brain in reference_brains() {
        let tool = Tool::with("r.amem", &brain.bytes);
        let out = tool.text("info r.amem");
        assert!(
            out.contains("note: read through a conversion from reference: ids "),
            "{out}"
        );
        let events = tool.data("info r.amem", 0)["events"].clone();
        let dumped = brain.dump["nodes"].as_array().map_or(0, Vec::len);
        assert_eq!(events, dumped, "{}", brain.name);
        assert_eq!(tool.data("verify r.amem", 0)["whole"], true);
    }
    let Some(brain) = reference_brain("small") else {
        return;
    };
    let tool = Tool::with("r.amem", &brain.bytes);
    tool.text("export r.amem --format spec-1 -o s.amem");
    for name in ["r.amem", "s.amem"] {
        let head = tool.data(&format!("resolve {name} 12"), 0)["head"].clone();
        assert_eq!(head["text"], "Office address version 5: 6 Sixth Street");
        assert!(
            tool.text(&format!("get {name} 0 --edges"))
                .contains("senior Rust developer")
        );
        assert!(
            !tool
                .text(&format!("why {name} 5"))
                .contains("rests on nothing")
        );
    }
}

#[test]
fn help_has_examples_and_exit_codes_and_shows_the_version() {
    let tool = Tool::new();
    let help = tool.text("--help");
    for exit in 0..=7 {
        assert!(help.contains(&format!("\n  {exit}  ")), "{help}");
    }
    let version = tool.text("--version");
    assert!(version.starts_with("amemctl 0."), "{version}");
    // Every command that the help lists, and those below them.
    let listed = |help: &str| -> Vec<String> {
        let lines = help.lines().take_while(|line| *line != "Options:");
        let is_name = |line: &&str| {
            line.strip_prefix("  ")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
        };
        // `help` is clap's own, and helps with the others.
        let names = lines
            .filter(is_name)
            .filter(|line| !line.starts_with("  help "));
        names
            .map(|line| line.split_whitespace().next().unwrap().to_owned())
            .collect()
    };
    let commands = listed(&help);
    assert!(commands.len() > 35, "{commands:?}");
    for command in commands {
        let help = tool.text(&format!("{command} --help"));
        let below = listed(&help);
        for command in below
            .iter()
            .map(|name| format!("{command} {name}"))
            .chain(below.is_empty().then(|| command.clone()))
        {
            let help = tool.text(&format!("{command} --help"));
            let has_example = help.contains("Examples:\n  amemctl ") || command == "demo";
            assert!(
                has_example || help.contains("Examples:\n  "),
                "{command}: {help}"
            );
        }
    }
}

#[test]
fn a_closed_pipe_is_no_failure_and_a_full_disk_is_one() {
    let tool = story();
    let path = tool.path("b.amem");
    let run = |out: Stdio| {
        let mut command = tool.command();
        command.arg("export").arg(&path).arg("--vectors");
        command.stdout(out).stderr(Stdio::piped());
        command.spawn().unwrap().wait_with_output().unwrap()
    };
    let full = run(std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap()
        .into());
    assert_eq!(full.status.code(), Some(6), "{full:?}");
    assert!(String::from_utf8_lossy(&full.stderr).contains("error: cannot write"));
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(run(writer.into()).status.code(), Some(0));
}
