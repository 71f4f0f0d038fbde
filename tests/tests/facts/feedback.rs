//! Feedback about memories: in the memory and its history, and nowhere else.

use amem_facts::{Error, FactFeedback, FeedbackRating};
use amem_format::types::Micros;
use amem_memory::store::HistoryEvent;
use amem_memory::{Error as MemoryError, FactScope};
use uuid::Uuid;

use crate::support::{Bench, alice, bob};

fn rated(rating: FeedbackRating, reason: &str, at: Micros) -> FactFeedback {
    FactFeedback {
        rating,
        reason: reason.into(),
        at,
    }
}

/// Sets feedback; returns what holds then, and whether there was a commit.
fn set(
    bench: &Bench,
    id: Uuid,
    rating: FeedbackRating,
    reason: &str,
) -> (Option<FactFeedback>, bool) {
    let feedback = rated(rating, reason, bench.now());
    let facts = bench.facts();
    let (holds, committed) = facts
        .set_feedback(id, &FactScope::default(), feedback)
        .unwrap();
    let moment = facts.moment(None).unwrap();
    assert_eq!(facts.feedback(id, &moment).unwrap(), holds);
    (holds, committed.is_some())
}

#[test]
fn the_newest_feedback_holds_and_all_of_it_is_in_the_history() {
    use FeedbackRating::{Cleared, Negative, Positive, VeryNegative};
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let before = bench.get(id).unwrap();
    let other = bench.keep("User likes coffee", &alice());
    assert_eq!(set(&bench, id, Cleared, ""), (None, false));
    let (holds, _) = set(&bench, id, Positive, "");
    assert_eq!(holds.unwrap().rating, Positive);
    let early = bench.brain_lsn();
    let (holds, is_stored) = set(&bench, id, Positive, "");
    assert!(holds.is_some() && !is_stored, "it is so already");
    bench.update(id, "User likes green tea");
    set(&bench, id, Negative, "she does not");
    set(&bench, id, VeryNegative, "she is ill of it");
    let bench = bench.reopened();
    bench.checkpoint();
    let facts = bench.facts();
    let now = facts.moment(None).unwrap();
    let holds = facts.feedback(id, &now).unwrap().unwrap();
    assert_eq!(
        (holds.rating, &*holds.reason),
        (VeryNegative, "she is ill of it")
    );
    let then = amem_format::view::AsOf::Lsn(amem_format::Lsn(early));
    let then = facts.moment(Some(then)).unwrap();
    assert_eq!(facts.feedback(id, &then).unwrap().unwrap().rating, Positive);
    assert_eq!(facts.feedback(other, &now).unwrap(), None);
    assert_eq!(set(&bench, id, Cleared, ""), (None, true));

    let told = bench.history(id);
    let events: Vec<_> = told
        .entries
        .iter()
        .map(|entry| {
            (
                entry.record.event,
                entry.feedback.as_ref().map(|said| said.rating),
            )
        })
        .collect();
    let said = |rating| (HistoryEvent::Feedback, Some(rating));
    let expected = [
        (HistoryEvent::Add, None),
        said(Positive),
        (HistoryEvent::Update, None),
        said(Negative),
        said(VeryNegative),
        said(Cleared),
    ];
    assert_eq!(events, expected);
    // The memory is as its versions say, and a search finds nothing else.
    let after = bench.get(id).unwrap();
    assert_eq!(after.memory, "User likes green tea");
    assert_eq!(
        (after.created_at, &after.scope),
        (before.created_at, &before.scope)
    );
    assert_eq!(bench.all(&alice()).len(), 2);
    assert!(bench.texts_found("feedback about a memory", &alice()).len() <= 2);
}

#[test]
fn feedback_goes_with_its_memory() {
    let bench = Bench::new();
    let answer = bench.add("I live in Porto", &alice());
    let id = answer.results[0].id;
    set(&bench, id, FeedbackRating::Negative, "she moved");
    let facts = bench.facts();
    let (events, memories) = facts.events_of_source(answer.turns[0], &alice()).unwrap();
    assert_eq!(memories, [id]);
    bench.erase(events);
    let moment = facts.moment(None).unwrap();
    assert_eq!(facts.feedback(id, &moment).unwrap(), None);
    let view = moment.view();
    let told = (0..view.nodes()).filter(|id| {
        let node = view.node(amem_format::NodeId(*id)).unwrap();
        let json = node.attributes_json().unwrap();
        json.is_some_and(|json| json.contains("she moved"))
    });
    assert_eq!(told.count(), 0);
    let kept = bench.keep("User likes tea", &alice());
    set(&bench, kept, FeedbackRating::Positive, "right");
    let all = facts.events_of_scope(&alice()).unwrap();
    assert_eq!(all.len(), 3, "a turn, a memory and its feedback: {all:?}");
}

#[test]
fn feedback_that_cannot_be_is_refused() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let gone = bench.keep("User likes coffee", &alice());
    bench.delete(gone);
    let facts = bench.facts();
    let lsn = bench.brain_lsn();
    let refused = |id, scope: &FactScope, rating, reason: &str| {
        let feedback = rated(rating, reason, bench.now());
        match facts.set_feedback(id, scope, feedback).unwrap_err() {
            Error::Memory(error) => error,
            error => panic!("{error}"),
        }
    };
    let good = FeedbackRating::Positive;
    let unknown = refused(id, &bob(), good, "");
    assert!(matches!(unknown, MemoryError::NotFound { .. }), "{unknown}");
    let deleted = refused(gone, &alice(), good, "");
    assert!(matches!(deleted, MemoryError::Deleted { .. }), "{deleted}");
    let long = refused(id, &alice(), good, &"x".repeat(4_097));
    assert!(
        matches!(long, MemoryError::TooLarge { limit: 4_096, .. }),
        "{long}"
    );
    let cleared = refused(id, &alice(), FeedbackRating::Cleared, "why");
    assert!(matches!(cleared, MemoryError::Invalid { .. }), "{cleared}");
    assert_eq!(bench.brain_lsn(), lsn);
}

#[test]
fn the_reason_of_a_change_keeps_no_secret() {
    let bench = Bench::new();
    // In parts, so that no scanner takes it for one.
    let secret = format!("{}{}", "ghp_", "x7Q2m9Lk4Vt8Rz1Nc6Wb3Yd5Hf0Jg2PsA4Ue");
    let reason = format!("it says {secret}");
    let id = bench.keep("User likes tea", &alice());
    let (holds, _) = set(&bench, id, FeedbackRating::Negative, &reason);
    let shown = holds.unwrap().reason;
    assert!(
        shown.contains("[masked ") && !shown.contains(&secret),
        "{shown}"
    );
    let facts = bench.facts();
    let at = bench.now();
    facts
        .delete(id, &FactScope::default(), at, Some(&reason), None)
        .unwrap();
    let history = format!("{:?}", bench.history(id));
    assert!(
        history.contains("[masked ") && !history.contains(&secret),
        "{history}"
    );
}
