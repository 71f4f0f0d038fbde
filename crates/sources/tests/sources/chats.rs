//! Conversations as JSON and as text.

use amem_sources::{SkipReason, SourceKind, detect};
use serde_json::json;

use crate::support::{Shelf, lines};

#[test]
fn turns_are_read_from_every_shape() {
    let shelf = Shelf::new();
    let turns = [
        json!({"role": "user", "content": "we use pnpm"}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "noted"}]}),
    ];
    let shared = json!({"conversations": [{"from": "human", "value": "we use pnpm"}, {"from": "gpt", "value": "noted"}]});
    for (name, text) in [
        ("a.jsonl", lines(&turns)),
        ("b.json", json!(turns).to_string()),
        (
            "c.json",
            serde_json::to_string_pretty(&json!({"messages": turns})).unwrap(),
        ),
        ("d.jsonl", lines(&[json!({"messages": turns})])),
        ("e.jsonl", lines(&[shared])),
        ("f.txt", "User: we use pnpm\nAssistant: noted\n".to_owned()),
    ] {
        let path = shelf.file(name, text);
        assert_eq!(
            detect(&path).unwrap().sources[0].kind,
            SourceKind::Chat,
            "{name}"
        );
        let reading = shelf.read(&path);
        assert_eq!(
            reading.turns(),
            [("user", "we use pnpm"), ("assistant", "noted")],
            "{name}"
        );
    }
}

#[test]
fn times_are_taken_in_any_form_or_none() {
    let shelf = Shelf::new();
    let text = lines(&[
        json!({"speaker": "Ada", "text": "a", "session": "s", "event_time": "2026-03-02T09:00:00Z", "id": "D1:1"}),
        json!({"role": "user", "content": "b", "timestamp": 1_772_442_000}),
        json!({"role": "user", "content": "c", "created_at": 1_772_442_000_000_i64}),
        json!({"role": "user", "content": "d", "date": "2 March 2026, 9:00 am"}),
        json!({"role": "user", "content": "e"}),
        json!({"role": "user", "content": "f", "time": "someday"}),
    ]);
    let reading = shelf.read(shelf.file("t.jsonl", text));
    let times: Vec<_> = reading
        .items()
        .iter()
        .map(|item| item.time.map(|t| t.0))
        .collect();
    let nine = Some(1_772_442_000_000_000);
    assert_eq!(times, [nine, nine, nine, nine, None, None]);
    assert_eq!(reading.lines(SkipReason::BadTime), [6]);
    assert_eq!(reading.item("a").id.to_string(), "chat:~/t.jsonl#s/D1:1");
}

#[test]
fn a_text_has_turns_of_several_lines() {
    let shelf = Shelf::new();
    let text = "a header\n[02/03/2026, 09:00] Ada: one\ntwo\n\n[02/03/2026, 09:01] Jonas: three\n[02/03/2026, 09:02] Ada:\n";
    let reading = shelf.read(shelf.file("chat.txt", text));
    assert_eq!(reading.turns(), [("Ada", "one\ntwo"), ("Jonas", "three")]);
    assert_eq!(reading.item("one").time.unwrap().0, 1_772_442_000_000_000);
    assert_eq!(reading.lines(SkipReason::Malformed), [1]);
    assert_eq!(reading.lines(SkipReason::Blank), [6]);
}

#[test]
fn an_appended_turn_leaves_the_ids_of_the_others() {
    let shelf = Shelf::new();
    let ids = |text: &str| -> Vec<String> {
        let reading = shelf.read(shelf.file("c.txt", text));
        reading
            .items()
            .iter()
            .map(|item| item.id.to_string())
            .collect()
    };
    let before = ids("Ada: yes\nJonas: no\nAda: yes\n");
    let after = ids("Ada: yes\nJonas: no\nAda: yes\nAda: yes\n");
    assert_eq!(after[..3], before);
    assert_eq!(
        after
            .iter()
            .collect::<std::collections::BTreeSet<_>>()
            .len(),
        4
    );
}
