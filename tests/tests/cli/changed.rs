//! Changes to a daemon's brain: each is made, shown, undone where possible, and refused with a reason.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use amem_tests::programs::number;
use serde_json::{Value, json};

use crate::served::{backups, check};
use crate::tool::words;

#[test]
fn edges_pins_and_forgetting_are_done_and_undone() {
    let tool = backups();
    check(
        &tool.text("link work 3 related-to 1 --weight 0.4"),
        "3 ─related-to→ 1",
    );
    let told = tool.data("get work 3 --edges --no-touch", 0);
    let edges = told["events"][0]["edges"].as_array().unwrap().clone();
    assert!(
        edges
            .iter()
            .any(|e| e["type"] == "EDGE_TYPE_RELATED_TO" && e["weight"] == 0.4)
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
    check(&tool.text("unpin work 1"), "no longer pinned: 1");
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
    let is_pinned: Vec<&Value> = pinned["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| &e["pinned"])
        .collect();
    assert_eq!(is_pinned[0], &json!(true));
    assert_eq!(is_pinned[1], &json!(null));
    tool.refused(
        "pin work 0 77",
        3,
        "unknown_event",
        "pinned: 0; then ",
        "query BRAIN",
    );
}

#[test]
fn sessions_are_listed_by_page_or_whole_and_never_truncated_silently() {
    const COUNT: usize = 1100;
    let tool = backups();
    let turn =
        |n: usize| format!("{{\"session\":\"s{n}\",\"speaker\":\"Ada\",\"text\":\"turn {n}\"}}\n");
    tool.put(
        "turns.jsonl",
        (0..COUNT).map(turn).collect::<String>().as_bytes(),
    );
    tool.text("-q import turns.jsonl many");
    let ids = |listed: &Value| -> Vec<u64> {
        let sessions = listed["sessions"].as_array().unwrap().iter();
        sessions
            .map(|session| session["id"].as_u64().unwrap())
            .collect()
    };
    let first = tool.data("sessions list many", 0);
    assert_eq!(ids(&first).len(), 50);
    let after = first["nextPageToken"].as_str().unwrap();
    let second = tool.data(&format!("sessions list many --after {after}"), 0);
    assert_eq!(ids(&first)[49], ids(&second)[0] + 1);
    let all = tool.data("sessions list many --all", 0);
    assert_eq!(all["nextPageToken"], Value::Null);
    let newest_first: Vec<u64> = (1..=COUNT as u64).rev().collect();
    assert_eq!(ids(&all), newest_first);
    // A page that has room for the last one says that nothing is behind it.
    let fits = tool.data(&format!("sessions list many --limit {COUNT}"), 0);
    assert_eq!(
        (ids(&fits), &fits["nextPageToken"]),
        (newest_first, &Value::Null)
    );
    let ran = tool.run(&words("sessions list many --all --limit 10"));
    assert_eq!(ran.exit, 2, "{ran:?}");
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
        told.contains("events 4") && told.contains("there are more: --limit"),
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
    assert_eq!(all["events"][1]["sessionKey"], "monday");
    check(
        &tool.text("sessions close work tuesday --outcome quiet"),
        "session 2 is closed",
    );
    let list = tool.told("sessions list work");
    assert!(
        list.contains("2 tuesday amemctl AGO AGO closed AGO: quiet"),
        "{list}"
    );
    // Both go on, by number, by key, and opened again; a number and a key are the same session.
    tool.told("add work --session 1 'The move to the second disk is done'");
    let nothing = tool.run(&words("compress work tuesday"));
    let why = "session 2 has no event that is not compressed or forgotten";
    assert!(nothing.err.contains(why), "{nothing:?}");
    let lsn = || tool.envelope("info work")["brain"]["lsn"].to_string();
    let after = lsn();
    check(&tool.text("-q sessions open work tuesday"), "2");
    let told = tool.told(&format!("watch work --after {after} --count 1"));
    assert!(told.contains("~ session 2 (tuesday) reopened"), "{told}");
    tool.told("sessions close work monday --outcome 'all is well'");
    let after = lsn();
    tool.told("add work --session monday 'It was the cable after all'");
    let told = tool.told(&format!("watch work --after {after} --count 1"));
    assert!(told.contains("~ session 1 (monday) reopened"), "{told}");
    check(
        &tool.text("compress work monday 'It was the cable'"),
        "event 7 is the episode of 2 events of session 1",
    );
    let again = tool.data("sessions show work monday", 0);
    let spans = &again["session"]["spans"];
    assert_eq!(
        (&again["session"]["spanCount"], &spans[0]["outcome"]),
        (&"2".into(), &"all is well".into())
    );
    assert_eq!(spans[0]["episodeIds"], json!(["4", "7"]));
    assert_eq!(spans[1]["episodeIds"], json!(["7"]));
    assert!(
        tool.told("sessions show work monday")
            .contains("AGO closed AGO: all is well 6 4 7")
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
fn erase_shows_the_event_first_and_removes_it_for_good() {
    let tool = backups();
    tool.text("add work 'the code is 90210-cinnamon'");
    tool.text("compress work monday 'Backups were slow'");
    let ran = tool.run(&words("erase work 4"));
    assert_eq!(ran.exit, 5, "nobody can be asked: {ran:?}");
    assert!(ran.err.contains("--yes"), "{ran:?}");
    let shown = tool.data("erase work 0 1 --dry-run", 0);
    assert_eq!(
        shown["eventIds"].as_array().map(Vec::len),
        Some(2),
        "{shown}"
    );
    let shown = tool.text("erase work 0 --dry-run");
    assert!(
        shown.contains("Backups take 4 hours") && shown.contains("episodes that may mention it: 5"),
        "{shown}"
    );
    assert!(shown.contains("nothing was erased"));
    let told = tool.data("erase work 4 --yes", 0);
    assert!(number(&told["commit"]["lsn"]) > 0, "{told}");
    assert!(number(&told["generation"]) > 1, "{told}");
    let event = tool.data("get work 4 --no-touch", 0)["events"][0].clone();
    assert_eq!(
        (&event["text"], &event["erased"]),
        (&Value::Null, &json!(true))
    );
    let brains = tool.home().join(".local/share/amem/brains");
    for file in walk(&brains) {
        let bytes = std::fs::read(&file).unwrap();
        let found = bytes.windows(8).any(|part| part == b"cinnamon");
        assert!(!found, "{} still has it", file.display());
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path))
        } else {
            files.push(path)
        }
    }
    files
}

#[test]
fn decay_fading_and_checkpoints() {
    let tool = backups();
    assert!(
        tool.told("decay work")
            .starts_with("strengths are computed as of now")
    );
    assert_eq!(tool.data("fading work", 0)["events"], Value::Null);
    let later = tool.data("fading work --at 2035-01-01 --below 0.9", 0);
    assert!(!later["events"].as_array().unwrap().is_empty(), "{later}");
    let folded = tool.data("checkpoint work", 0);
    assert_eq!(folded["generation"], "2");
    assert_eq!(tool.data("info work", 0)["journal"]["commits"], 0);
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
        "add work --confidence 2 x",
        "add work --confidence -1 x",
        "sessions open work 7",
        "add work --session new --expected-lsn 1 x",
        "add work --happened soon x",
        "get work first",
        "query work --since 2024-13-01",
    ] {
        let ran = tool.run(&words(bad));
        assert_eq!((ran.exit, ran.out.as_str()), (2, ""), "{bad}: {ran:?}");
    }
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
fn a_request_is_executed_once_under_its_id() {
    let tool = backups();
    // The time in an id decides nothing: this one is from 2023.
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    check(
        &tool.text(&format!("-q add work --request-id {id} once")),
        "4",
    );
    let again = tool.data(&format!("add work --request-id {id} once"), 0);
    assert_eq!(
        (&again["eventIds"], &again["commit"]["replayed"]),
        (&json!(["4"]), &true.into())
    );
    let ran = tool.run(&words(&format!("add work --request-id {id} another")));
    assert_eq!(ran.exit, 5, "{ran:?}");
}

#[test]
fn get_says_what_is_believed_instead_of_a_corrected_event() {
    let tool = backups();
    let before = tool.data("get work 0", 0);
    assert_eq!(before["events"][0]["believedNow"], Value::Null);
    let corrected = tool.data("correct work 0 Nightly backups take 40 minutes", 0);
    let after = tool.data("get work 0", 0);
    assert_eq!(after["events"][0]["believedNow"], "4");
    let shown = tool.text("get work 0");
    assert!(
        shown.contains("believed now  event 4, which replaced this"),
        "{shown}"
    );
    // The correction itself, and the moment before it.
    let newest = tool.data("get work 4", 0);
    assert_eq!(newest["events"][0]["believedNow"], Value::Null);
    let lsn = number(&corrected["commit"]["lsn"]) - 1;
    let earlier = tool.data(&format!("get work 0 --as-of {lsn}"), 0);
    assert_eq!(earlier["events"][0]["believedNow"], Value::Null);
}
