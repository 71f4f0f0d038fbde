//! Who recorded an event and why, and what is believed, where events are shown.

use amem_tests::programs::{list as rows_of, number};
use serde_json::{Value, json};

use crate::tool::{Tool, words};

/// A brain "t" with three events of two agents; the last one corrects the first.
fn by_two() -> Tool {
    let tool = Tool::new();
    tool.text("-q brain create t");
    tool.text("--agent claude add t tea is at four");
    tool.text("--agent gpt add t coffee is at ten");
    tool.text("--agent gpt correct t 0 --reason heard tea is at five");
    tool
}

fn our_principal() -> String {
    format!("uid:{}", rustix::process::getuid().as_raw())
}

/// The user in words: with the name that the password database has.
pub(crate) fn our_name() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let fields = accounts
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let own = fields
        .into_iter()
        .find(|fields| fields.get(2) == Some(&uid.as_str()));
    own.map_or(format!("uid {uid}"), |fields| {
        format!("uid {uid} ({})", fields[0])
    })
}

#[test]
fn get_query_search_resolve_context_and_export_name_who_and_why() {
    let tool = by_two();
    let (by, name) = (our_principal(), our_name());
    let shown = tool.text("get t 2 --no-touch");
    assert!(shown.contains(&format!("gpt, {name}")), "{shown}");
    assert!(
        shown.contains("heard") && !shown.contains("amem.reason"),
        "{shown}"
    );
    let expected = (json!(by), json!("gpt"), json!("heard"));
    let named = |event: &Value| {
        (
            event["by"].clone(),
            event["agent"].clone(),
            event["reason"].clone(),
        )
    };
    let of = |line: &str, pointer: &str| {
        let data = tool.data(line, 0);
        named(data.pointer(pointer).unwrap_or(&Value::Null))
    };
    for path in ["t", "t.amem"] {
        if path == "t.amem" {
            tool.text("export t --format native -o t.amem");
        }
        for (line, pointer) in [
            (format!("get {path} 2"), "/events/0"),
            (format!("query {path}"), "/events/0"),
            (
                format!("timeline {path} --newest --axis recorded"),
                "/entries/0/event",
            ),
            (format!("search {path} tea five"), "/hits/0/event"),
            (format!("resolve {path} 0"), "/head"),
            (format!("context {path} tea five"), "/items/0"),
        ] {
            assert_eq!(of(&line, pointer), expected, "{line}");
        }
    }
    let resolved = tool.text("resolve t 0");
    assert!(resolved.contains("by gpt"), "{resolved}");
    assert!(resolved.contains("because: heard"), "{resolved}");
    let context = tool.run(&["-q", "context", "t", "tea five"]).out;
    assert!(
        context.contains("(because: heard): tea is at five"),
        "{context}"
    );
    let lines = tool.text("-q export t");
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(last["by"], json!(by));
    assert_eq!(
        (&last["by_agent"], &last["reason"]),
        (&json!("gpt"), &json!("heard"))
    );
    // Its own lines are taken back.
    tool.put("t.jsonl", lines.as_bytes());
    tool.text("-q import t.jsonl again");
}

#[test]
fn agent_and_by_select_events_from_the_file_and_by_call_alike() {
    let tool = by_two();
    tool.text("export t --format native -o t.amem");
    let (by, uid) = (our_principal(), rustix::process::getuid().as_raw());
    for brain in ["t", "t.amem"] {
        let ids = |line: String, list: &str, at: &str| -> Vec<u64> {
            let data = tool.data(&line, 0);
            let id = |row: &Value| number(row.pointer(at).unwrap_or(&Value::Null));
            rows_of(&data[list]).iter().map(id).collect()
        };
        assert_eq!(
            ids(format!("query {brain} --agent claude"), "events", "/id"),
            [0]
        );
        assert_eq!(
            ids(format!("query {brain} --agent gpt"), "events", "/id"),
            [2, 1]
        );
        assert_eq!(
            ids(
                format!("query {brain} --agent gpt --by {by}"),
                "events",
                "/id"
            ),
            [2, 1]
        );
        assert_eq!(
            ids(format!("query {brain} --by {uid}"), "events", "/id"),
            [2, 1, 0]
        );
        let other = format!("query {brain} --by uid:{}", uid + 1);
        assert_eq!(ids(other, "events", "/id"), [] as [u64; 0]);
        let searched = format!("search --agent claude --superseded {brain} tea");
        assert_eq!(ids(searched, "hits", "/event/id"), [0]);
        let timeline = format!("timeline {brain} --agent gpt");
        assert_eq!(ids(timeline, "entries", "/event/id"), [1, 2]);
    }
    // The table has a column for authors only if there are several.
    assert!(tool.text("query t").contains("claude"));
    assert!(!tool.text("query t --agent claude").contains("claude"));
    let unknown = tool.run(&words("query t --by no-such-user"));
    assert_eq!((unknown.exit, unknown.out.as_str()), (2, ""), "{unknown:?}");
    assert!(unknown.err.contains("no user"), "{unknown:?}");
}

#[test]
fn a_second_correction_is_refused_with_both_choices() {
    let tool = by_two();
    let refused = tool.envelope("correct t 0 tea is at six");
    assert_eq!(refused["error"]["code"], "condition", "{refused}");
    tool.refused(
        "correct t 0 tea is at six",
        5,
        "condition",
        "event 2 is believed now",
        "--to-head",
    );
    tool.refused(
        "correct t 0 tea is at six",
        5,
        "condition",
        "event 0 was corrected",
        "--fork",
    );
    let both = tool.run(&words("correct t 0 --to-head --fork tea is at six"));
    assert_eq!((both.exit, both.out.as_str()), (2, ""), "{both:?}");
    assert!(both.err.contains("cannot be used with"), "{both:?}");
    let head = tool.data("correct t 0 --to-head tea is at six", 0);
    assert_eq!(
        (&head["eventId"], &head["targetId"]),
        (&json!("3"), &json!("2"))
    );
    let fork = tool.data("correct t 0 --fork tea is at seven", 0);
    assert_eq!(
        (number(&fork["eventId"]), number(&fork["targetId"])),
        (4, 0)
    );
}

#[test]
fn contested_and_superseded_beliefs_are_marked() {
    let tool = by_two();
    tool.text("correct t 0 --fork tea is at seven");
    tool.text("add t --type decision --link caused-by:0 buy cups for tea");
    let hits = tool.data("search --superseded t tea", 0)["hits"].clone();
    let mut marks: Vec<(u64, bool, bool)> = hits
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| {
            let is = |name: &str| hit[name] == true;
            (
                number(&hit["event"]["id"]),
                is("contested"),
                is("superseded"),
            )
        })
        .collect();
    marks.sort_unstable();
    let expected = [
        (0, true, true),
        (1, false, false),
        (2, true, false),
        (3, true, false),
        (4, false, false),
    ];
    assert_eq!(marks, expected);
    assert!(tool.text("search t tea").contains("contested"));
    let why = tool.data("why t 4", 0)["steps"].clone();
    assert_eq!(
        (&why[1]["contested"], &why[1]["superseded"]),
        (&json!(true), &json!(true))
    );
    assert!(tool.text("why t 4").contains("contested"));
    let context = tool.data("context t buy cups for tea", 0);
    let items = context["items"].as_array().unwrap();
    let item = |id: u64| {
        items
            .iter()
            .find(|item| number(&item["eventId"]) == id)
            .unwrap()
    };
    assert_eq!(
        (&item(3)["contested"], &item(3)["superseded"]),
        (&json!(true), &json!(null))
    );
    assert_eq!(item(4)["contested"], json!(null));
    let text = context["text"].as_str().unwrap();
    assert!(text.contains("(contested, by "), "{text}");
}
