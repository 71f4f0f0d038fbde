//! Summaries of sessions that say what they are to say.

use super::*;
use amem_format::base::settings::Settings;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::new_identity;
use amem_format::journal::op::{NewNode, Op};
use amem_format::types::Micros;

/// A session of these events.
fn session(events: &[(EventType, &str)], links: &[(u64, u64)]) -> View {
    let id = uuid::Uuid::from_u128(1);
    let identity = new_identity(id, id, uuid::Uuid::nil(), Micros(1_000_000));
    let mut build = Build::new(&identity, 0, &Settings::default()).unwrap();
    for (at, (event_type, text)) in events.iter().enumerate() {
        build
            .push(&Op::Event(NewNode {
                id: NodeId(at as u64),
                event_type: *event_type,
                session: SessionId(1),
                created_at: Micros(1000 + at as i64),
                event_time: None,
                confidence: 1.0,
                lambda: 0.0,
                text,
                attributes: "",
                vector: &[],
                carried: None,
            }))
            .unwrap();
    }
    for &(source, target) in links {
        build
            .push(&Op::Link {
                source: NodeId(source),
                target: NodeId(target),
                edge_type: EdgeType::SUPERSEDES,
                weight: 1.0,
                created_at: Micros(5000),
            })
            .unwrap();
    }
    build.finish().unwrap()
}

const BACKUPS: [(EventType, &str); 6] = [
    (
        EventType::FACT,
        "The backups of the orders database take four hours. Lunch was good.",
    ),
    (
        EventType::FACT,
        "Backups and the database share one disk, which is busy while backups run.",
    ),
    (EventType::FACT, "The weather is nice today"),
    (
        EventType::INFERENCE,
        "The database is slow at night because backups keep the disk busy",
    ),
    (EventType::DECISION, "Move the backups to a second disk"),
    (EventType::FACT, "Ada mentioned a bicycle"),
];

#[test]
fn a_summary_says_what_the_session_is_about_and_what_was_decided() {
    let view = session(&BACKUPS, &[]);
    let text = summary(&view, SessionId(1), 200).unwrap().unwrap();
    assert!(
        text.contains("Move the backups to a second disk."),
        "{text}"
    );
    assert!(text.contains("database"), "{text}");
    assert!(text.len() <= 200, "{text}");
    for aside in ["Lunch", "weather", "bicycle"] {
        assert!(!text.contains(aside), "{text}");
    }
    let again = summary(&view, SessionId(1), 200).unwrap().unwrap();
    assert_eq!(text, again);
    let all = summary(&view, SessionId(1), 10_000).unwrap().unwrap();
    let order: Vec<_> = ["four hours", "share one disk", "second disk"]
        .iter()
        .map(|part| all.find(part))
        .collect();
    assert!(
        order.is_sorted() && order.iter().all(Option::is_some),
        "{all}"
    );
}

#[test]
fn what_was_replaced_is_not_said_again() {
    let mut events = BACKUPS.to_vec();
    events.push((
        EventType::CORRECTION,
        "The backups of the orders database take forty minutes",
    ));
    let view = session(&events, &[(6, 0)]);
    let text = summary(&view, SessionId(1), 10_000).unwrap().unwrap();
    assert!(
        text.contains("forty minutes") && !text.contains("four hours"),
        "{text}"
    );
}

#[test]
fn a_session_of_nothing_or_of_little_has_a_summary_or_none() {
    assert_eq!(
        summary(&session(&[], &[]), SessionId(1), 1000).unwrap(),
        None
    );
    let view = session(&[(EventType::FACT, "ok"), (EventType::FACT, "…")], &[]);
    assert_eq!(summary(&view, SessionId(1), 1000).unwrap(), None);
    let view = session(&[(EventType::FACT, "The cat sleeps")], &[]);
    assert_eq!(
        summary(&view, SessionId(1), 1000).unwrap().as_deref(),
        Some("The cat sleeps.")
    );
    assert_eq!(summary(&view, SessionId(1), 5).unwrap(), None);
    assert_eq!(summary(&view, SessionId(2), 1000).unwrap(), None);
}

#[test]
fn a_long_session_is_thinned_evenly_and_its_decisions_are_kept() {
    let texts: Vec<_> = (0..3000)
        .map(|at| format!("Event number{at} talks about topic{}", at % 7))
        .collect();
    let mut events: Vec<_> = texts
        .iter()
        .map(|text| (EventType::FACT, text.as_str()))
        .collect();
    events[1500].0 = EventType::DECISION;
    let view = session(&events, &[]);
    let text = summary(&view, SessionId(1), SUMMARY_BYTES)
        .unwrap()
        .unwrap();
    assert!(text.contains("number1500 "), "{text}");
    assert!(text.len() <= SUMMARY_BYTES);
}
