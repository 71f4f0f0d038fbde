//! Many memories at once: one commit, and an outcome for each.

use amem_facts::Error;
use amem_format::types::Micros;
use amem_memory::add::{AddEvent, AddRequest};
use amem_memory::change::{ChangeOutcome, UpdateRequest};
use amem_memory::limits::BATCH_CHANGES_MAX;
use amem_memory::{Error as MemoryError, FactScope, Message};
use uuid::Uuid;

use crate::ports::FailingEmbedder;
use crate::support::{Bench, alice, bob};

fn text(id: Uuid, text: &str, now: Micros) -> UpdateRequest {
    UpdateRequest {
        id,
        text: Some(text.into()),
        metadata: None,
        expected: None,
        reason: None,
        secrets: amem_memory::add::SecretPolicy::Mask,
        now,
    }
}

fn everyone() -> FactScope {
    FactScope::default()
}

fn done(outcomes: &[ChangeOutcome]) -> Vec<Result<AddEvent, &'static str>> {
    let outcomes = outcomes.iter().map(|outcome| outcome.done.clone());
    let word = |error: MemoryError| match error {
        MemoryError::NotFound { .. } => "unknown",
        MemoryError::Deleted { .. } => "deleted",
        MemoryError::Changed => "changed",
        MemoryError::Invalid { .. } => "invalid",
        _ => "other",
    };
    outcomes.map(|done| done.map_err(word)).collect()
}

#[test]
fn a_thousand_messages_as_they_are_become_memories_in_one_commit() {
    let bench = Bench::new();
    let said = (0..1_000).map(|at| Message::user(format!("note number {at}")));
    let mut request = AddRequest::new(said.collect(), alice(), bench.now());
    request.infer = false;
    let (commits, lsn) = (bench.commits(), bench.brain_lsn());
    let (answer, committed) = bench.facts().add(&request).unwrap();
    assert_eq!(answer.results.len(), 1_000);
    assert_eq!(bench.commits(), commits + 1);
    assert_eq!(committed.unwrap().lsn.0, bench.brain_lsn());
    assert!(bench.brain_lsn() > lsn);
    assert_eq!(bench.all(&alice()).len(), 1_000);
}

#[test]
fn a_batch_changes_what_it_can_in_one_commit_and_says_why_it_cannot() {
    let bench = Bench::new();
    let tea = bench.keep("User likes tea", &alice());
    let home = bench.keep("User lives in Porto", &alice());
    let other = bench.keep("User lives in Rome", &bob());
    let gone = bench.keep("User has a cat", &alice());
    bench.delete(gone);
    let now = bench.now();
    let mut wrong = text(other, "User lives in Oslo", now);
    wrong.expected = Some("User lives in Paris".into());
    let updates = [
        text(tea, "User likes coffee", now),
        text(home, "User lives in Porto", now),
        wrong,
        text(gone, "User has a dog", now),
        text(Uuid::nil(), "User has a dog", now),
        text(tea, "User likes water", now),
        text(Uuid::max(), " ", now),
    ];
    let commits = bench.commits();
    let (outcomes, committed) = bench.facts().update_many(&updates, &everyone()).unwrap();
    let expected = [
        Ok(AddEvent::Update),
        Ok(AddEvent::None),
        Err("changed"),
        Err("deleted"),
        Err("unknown"),
        Err("invalid"),
        Err("invalid"),
    ];
    assert_eq!(done(&outcomes), expected);
    assert!(committed.is_some() && bench.commits() == commits + 1);
    assert_eq!(
        bench.texts(&alice()),
        ["User likes coffee", "User lives in Porto"]
    );
    assert_eq!(bench.history(tea).entries.len(), 2);
    // A repetition changes nothing.
    let (again, committed) = bench
        .facts()
        .update_many(&updates[..2], &everyone())
        .unwrap();
    assert_eq!(done(&again), [Ok(AddEvent::None), Ok(AddEvent::None)]);
    assert!(committed.is_none() && bench.commits() == commits + 1);

    // Of another scope they are not there.
    let facts = bench.facts();
    let ids = [tea, other, tea];
    let (outcomes, _) = facts.delete_many(&ids, &bob(), bench.now()).unwrap();
    let expected = [Err("unknown"), Ok(AddEvent::Delete), Err("invalid")];
    assert_eq!(done(&outcomes), expected);
    let ids = [tea, home, gone];
    let (outcomes, _) = facts.delete_many(&ids, &everyone(), bench.now()).unwrap();
    let deleted = Ok(AddEvent::Delete);
    assert_eq!(done(&outcomes), [deleted, deleted, Err("deleted")]);
    assert_eq!(bench.commits(), commits + 3);
    assert!(bench.all(&alice()).is_empty() && bench.all(&bob()).is_empty());
    assert!(bench.history(tea).is_deleted);
}

#[test]
fn a_thousand_are_ended_at_once_and_more_are_refused() {
    let bench = Bench::new();
    let said = (0..BATCH_CHANGES_MAX).map(|at| Message::user(format!("note number {at}")));
    let mut request = AddRequest::new(said.collect(), alice(), bench.now());
    request.infer = false;
    let answer = bench.run(&request);
    let mut ids: Vec<Uuid> = answer.results.iter().map(|result| result.id).collect();
    let commits = bench.commits();
    let facts = bench.facts();
    let now = bench.now();
    let (outcomes, _) = facts.delete_many(&ids, &alice(), now).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.done.is_ok()));
    assert_eq!(bench.commits(), commits + 1);
    ids.push(Uuid::nil());
    let error = facts.delete_many(&ids, &alice(), now).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Memory(MemoryError::TooLarge { limit: 1_000, .. })
        ),
        "{error}"
    );
    assert_eq!(bench.commits(), commits + 1);
}

#[test]
fn vectors_that_a_batch_lacks_are_pending_under_the_scopes_of_their_memories() {
    let bench = Bench::new();
    let one = bench.keep("User likes tea", &alice());
    let two = bench.keep("User likes tea", &bob());
    let now = bench.now();
    let updates = [
        text(one, "User likes nuts", now),
        text(two, "User hates nuts", now),
    ];
    let embedder = FailingEmbedder("nuts");
    let facts = bench.facts_with(&embedder, None);
    facts.update_many(&updates, &everyone()).unwrap();
    for (scope, id) in [(alice(), one), (bob(), two)] {
        let moment = facts.moment(None).unwrap();
        let left = facts.pending(&scope, &moment).unwrap();
        assert_eq!(left.len(), 1, "{left:?}");
        assert_eq!((&left[0].scope, &left[0].work.facts), (&scope, &vec![id]));
    }
    let retried = bench
        .facts()
        .retry(&everyone(), bench.now(), false)
        .unwrap();
    assert!(retried.iter().all(|outcome| outcome.is_done), "{retried:?}");
}
