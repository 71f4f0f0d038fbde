//! Brains of a daemon, by name: the first command starts it, and everything that can be done to one.

use std::net::TcpListener;
use std::process::Stdio;

use serde_json::Value;

use crate::tool::{Tool, words};

/// A tool whose daemon runs, with a brain of backups in it.
fn backups() -> Tool {
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

fn check(found: &str, expected: &str) {
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
   ├─ supports: 0 fact [confidence 0]  Backups take 4 hours
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
4 correction Backups take 40 minutes
└─ 0 fact [confidence 0] Backups take 4 hours
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
fn a_walk_shows_which_way_its_edges_lie() {
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
fn what_is_found_is_told_with_the_parts_of_its_score() {
    let tool = backups();
    let told = tool.data("search work which disk is slow", 0);
    let hits = told["hits"].as_array().unwrap();
    assert_eq!(hits[0]["event"]["id"], 2, "{told}");
    for hit in hits {
        let part = |name: &str| hit[name].as_f64().unwrap_or_default();
        let sum = part("text") + part("vector") + part("neighbours") + part("session");
        assert!((part("score") - sum).abs() < 1e-5, "{hit}");
    }
    let text = tool.text("search work which disk is slow");
    assert!(text.starts_with("score  = words"), "{text}");
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
fn a_question_has_the_same_answer_by_name_and_by_path() {
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
                "access_count",
                "last_accessed",
                "journal",
                "last_commit",
                "bytes",
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
fn edges_pins_and_forgetting_are_done_and_undone() {
    let tool = backups();
    check(
        &tool.text("link work 3 related-to 1 --weight 0.4"),
        "3 ─related-to→ 1",
    );
    let told = tool.data("get work 3 --edges --no-touch", 0);
    let edges = told["events"][0]["outgoing"].as_array().unwrap().clone();
    assert!(
        edges
            .iter()
            .any(|e| e["type"] == "related-to" && e["weight"] == 0.4)
    );
    check(
        &tool.text("unlink work 3 related-to 1"),
        "no more: 3 ─related-to→ 1",
    );
    tool.refused(
        "unlink work 3 related-to 1",
        3,
        "unknown_edge",
        "no edge",
        "--edges",
    );
    check(&tool.text("pin work 0 1"), "pinned: 0, 1");
    check(&tool.text("unpin work 1"), "no more pinned: 1");
    check(&tool.text("forget work 1"), "forgotten: 1");
    tool.refused(
        "get work 1",
        3,
        "forgotten",
        "forgotten",
        "--include-forgotten",
    );
    tool.text("forget work 2");
    assert!(tool.text("why work 3").contains("caused-by: 2 (forgotten)"));
    tool.text("restore work 2");
    check(&tool.text("restore work 1"), "restored: 1");
    check(&tool.text("-q pin work 2"), "");
    let pinned = tool.data("query work --order oldest", 0);
    let flags: Vec<&Value> = pinned["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["flags"])
        .collect();
    assert_eq!(flags[0], &serde_json::json!(["pinned"]));
    assert_eq!(flags[1], &serde_json::json!([]));
    tool.refused(
        "pin work 0 77",
        3,
        "unknown_event",
        "pinned: 0; then ",
        "query BRAIN",
    );
}

#[test]
fn sessions_are_opened_compressed_and_closed() {
    let tool = backups();
    check(&tool.text("-q sessions open work monday"), "1");
    check(&tool.text("-q sessions open work tuesday"), "2");
    let told = tool.told("sessions show work monday --limit 2");
    assert!(
        told.starts_with("session 1\nkey monday\nagent amemctl\n"),
        "{told}"
    );
    assert!(
        told.contains("events 4") && told.contains("2 more: --limit"),
        "{told}"
    );
    check(
        &tool.text("compress work monday 'The second disk it is'"),
        "event 4 is the episode of 4 events of session 1",
    );
    let shown = tool.data("query work", 0);
    assert_eq!(shown["events"].as_array().unwrap().len(), 1, "{shown}");
    let all = tool.data("query work --compressed", 0);
    assert_eq!(all["events"].as_array().unwrap().len(), 5, "{all}");
    assert_eq!(all["events"][1]["session_key"], "monday");
    check(
        &tool.text("sessions close work tuesday --outcome quiet"),
        "session 2 is closed",
    );
    let list = tool.told("sessions list work");
    assert!(
        list.contains("2 tuesday amemctl AGO AGO closed AGO: quiet"),
        "{list}"
    );
    tool.refused(
        "sessions show work friday",
        3,
        "unknown_session",
        "friday",
        "sessions list",
    );
}

#[test]
fn what_is_erased_is_shown_first_and_is_gone_for_good() {
    let tool = backups();
    tool.text("add work 'the code is 90210-cinnamon'");
    tool.text("compress work monday 'Backups were slow'");
    let ran = tool.run(&words("erase work 4"));
    assert_eq!(ran.exit, 5, "nobody can be asked: {ran:?}");
    assert!(ran.err.contains("--yes"), "{ran:?}");
    let shown = tool.text("erase work 0 --dry-run");
    assert!(
        shown.contains("Backups take 4 hours") && shown.contains("episodes that may tell of it: 5"),
        "{shown}"
    );
    assert!(shown.contains("nothing was erased"));
    let told = tool.data("erase work 4 --yes", 0);
    assert_eq!(told["events"], serde_json::json!([4]));
    let event = tool.data("get work 4 --no-touch", 0)["events"][0].clone();
    assert_eq!(
        (&event["text"], &event["flags"]),
        (&"".into(), &serde_json::json!(["erased"]))
    );
    let brains = tool.home().join(".local/share/amem/brains");
    for file in walk(&brains) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(8).any(|part| part == b"cinnamon");
        assert!(!found, "{} still has it", file.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn decay_fading_and_checkpoints() {
    let tool = backups();
    assert!(
        tool.told("decay work")
            .starts_with("strengths are those of now")
    );
    assert_eq!(tool.data("fading work", 0)["events"], serde_json::json!([]));
    let later = tool.data("fading work --at 2035-01-01 --below 0.9", 0);
    assert!(!later["events"].as_array().unwrap().is_empty(), "{later}");
    let folded = tool.data("checkpoint work", 0);
    assert_eq!(folded["generation"], 2);
    assert_eq!(tool.data("info work", 0)["journal"]["commits"], 0);
}

#[test]
fn commits_are_watched_from_any_that_is_held() {
    let tool = backups();
    let text = tool.told("watch work --after 0 --count 3");
    let told = text.replace("\n ", "\n");
    assert!(
        told.contains("ingest amemctl\n+ 0 fact Backups take 4 hours"),
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
            .all(|pair| pair[0]["lsn"].as_u64() < pair[1]["lsn"].as_u64())
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
fn brains_are_listed_and_removed() {
    let tool = backups();
    tool.text("brain create notes --dimension 3 --model mine");
    tool.text("brain create work --if-missing");
    tool.refused(
        "brain create work",
        5,
        "already_exists",
        "work",
        "another name",
    );
    let list = tool.told("brain ls");
    assert!(list.contains("notes 0 0 "), "{list}");
    assert!(list.ends_with("2 brains\n"), "{list}");
    assert_eq!(tool.data("brain info notes", 0)["dimension"], 3);
    tool.refused(
        "brain rm notes",
        5,
        "unconfirmed",
        "nobody was asked",
        "--yes",
    );
    check(&tool.text("brain rm notes --yes"), "notes is removed");
    tool.refused("query notes", 3, "unknown_brain", "notes", "brain create");
    tool.put("notes", b"");
    tool.refused(
        "query notes",
        3,
        "unknown_brain",
        "notes",
        "`./notes` means the file",
    );
    tool.refused(
        "add work.amem x",
        5,
        "file",
        "only amemd writes brains",
        "brain ls",
    );
    tool.refused("brain create a/b", 5, "brain_name", "a/b", "letters");
}

#[test]
fn the_daemon_is_told_of_and_ended() {
    let tool = Tool::new();
    tool.refused("status", 7, "no_daemon", "no amemd answers", "amemd");
    tool.refused(
        "--no-autostart query work",
        7,
        "no_daemon",
        "no amemd answers",
        "--socket",
    );
    tool.text("-q brain create work");
    let status = tool.data("status", 0);
    assert_eq!(status["brain_count"], 1);
    let pid = status["pid"].as_u64().unwrap();
    let text = tool.told("status");
    assert!(text.starts_with("amemd 0."), "{text}");
    assert!(text.contains(&format!("process {pid}, up ")), "{text}");
    assert!(text.contains("CreateBrain 1 0 "), "{text}");
    assert_eq!(tool.data("reload", 0)["changed"], serde_json::json!([]));
    check(
        &tool.text("shutdown"),
        &format!("amemd (process {pid}) has ended"),
    );
    tool.refused("shutdown", 7, "no_daemon", "no amemd answers", "amemd");
    // The next command starts another.
    assert_eq!(tool.data("-q brain ls", 0)["brains"][0]["brain"], "work");
}

#[test]
fn a_daemon_that_cannot_start_says_why_and_two_that_start_at_once_are_one() {
    let tool = Tool::new();
    let config = tool.home().join(".config/amemd");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "no_such_key = 1").unwrap();
    tool.refused("brain ls", 7, "no_daemon", "no_such_key", "--check-config");
    std::fs::remove_file(config.join("config.toml")).unwrap();
    let starting: Vec<_> = (0..4)
        .map(|n| {
            let mut command = tool.command();
            command.args(["-q", "brain", "create", &format!("b{n}")]);
            command.stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for mut child in starting {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(
        tool.data("brain ls", 0)["brains"].as_array().unwrap().len(),
        4
    );
}

#[test]
fn texts_come_from_arguments_stdin_and_files() {
    let tool = backups();
    tool.put("note.txt", "from a file\nin two lines\n".as_bytes());
    check(&tool.text("-q add work --file note.txt"), "4");
    let pipe = |text: &str| {
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, text.as_bytes()).unwrap();
        Stdio::from(reader)
    };
    let ran = tool.run_with(&words("-q add work -"), pipe("from a pipe\n"));
    assert_eq!((ran.exit, ran.out.as_str()), (0, "5\n"), "{ran:?}");
    let ran = tool.run_with(&words("-q add work"), pipe("also\n"));
    assert_eq!((ran.exit, ran.out.as_str()), (0, "6\n"), "{ran:?}");
    let texts = tool.data("get work 4 5 6 --no-touch", 0);
    let texts: Vec<&Value> = texts["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["text"])
        .collect();
    assert_eq!(texts, ["from a file\nin two lines", "from a pipe", "also"]);
    let ran = tool.run(&words("add work"));
    assert_eq!(ran.exit, 2, "{ran:?}");
    assert!(ran.err.contains("the text is empty"), "{ran:?}");
    for bad in [
        "add work --link supports x",
        "add work --link likes:1 x",
        "add work --attribute novalue x",
        "add work --confidence much x",
        "add work --happened soon x",
        "get work first",
        "query work --since 2024-13-01",
    ] {
        let ran = tool.run(&words(bad));
        assert_eq!((ran.exit, ran.out.as_str()), (2, ""), "{bad}: {ran:?}");
    }
    tool.refused(
        "add work --confidence 2 x",
        5,
        "invalid",
        "confidence",
        "--help",
    );
    tool.refused(
        "add work --link supports:99 x",
        3,
        "unknown_event",
        "99",
        "query",
    );
    tool.refused(
        "correct work 0 --expected-head 3 x",
        5,
        "condition",
        "head",
        "read again",
    );
}

#[test]
fn a_request_is_done_once_under_its_id() {
    let tool = backups();
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let ran = tool.run(&words(&format!("add work --request-id {id} once")));
    // An id of long ago is refused rather than executed a second time.
    assert_eq!(ran.exit, 5, "{ran:?}");
    let id = uuid::Uuid::now_v7();
    check(
        &tool.text(&format!("-q add work --request-id {id} once")),
        "4",
    );
    let again = tool.data(&format!("add work --request-id {id} once"), 0);
    assert_eq!(
        (&again["id"], &again["commit"]["replayed"]),
        (&4.into(), &true.into())
    );
    let ran = tool.run(&words(&format!("add work --request-id {id} another")));
    assert_eq!(ran.exit, 5, "{ran:?}");
}

#[test]
fn a_daemon_is_reached_by_tcp_with_its_token() {
    let tool = Tool::new();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let address = format!("127.0.0.1:{port}");
    let mut start = tool.command();
    start.env("AMEMD_TCP_LISTEN", &address);
    assert!(
        start
            .args(["-q", "brain", "create", "work"])
            .status()
            .unwrap()
            .success()
    );
    tool.text("add work 'by socket'");
    let token = tool.home().join(".config/amemd/token");
    let far = format!("--address {address} --token-file {}", token.display());
    check(&tool.text(&format!("-q {far} add work 'by TCP'")), "1");
    let told = tool.data_after(&far, "query work", 0);
    assert_eq!(told["events"].as_array().unwrap().len(), 2);
    let info = tool.told(&format!("{far} info work"));
    assert!(info.contains("events 2\n"), "{info}");
    let ran = tool.run(&words(&format!("{far} get work 0 --history")));
    assert_eq!(ran.exit, 5, "{ran:?}");
    assert!(ran.err.contains("can't be read from here"), "{ran:?}");
    let ran = tool.run(&words(&format!("--address {address} query work")));
    assert_eq!(ran.exit, 5, "{ran:?}");
    assert!(ran.err.contains("--token-file"), "{ran:?}");
    let ran = tool.run(&words(&format!(
        "--token-file {} query work",
        token.display()
    )));
    assert_eq!(ran.exit, 2, "{ran:?}");
    let ran = tool.run(&words("--address 127.0.0.1:1 query work"));
    assert_eq!(ran.exit, 7, "{ran:?}");
}
