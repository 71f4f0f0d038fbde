//! Repetitions: by an idempotency key, over restarts; turns that are known; what was served.

use amem_facts::{Error, KeptAnswer};
use amem_memory::{Error as MemoryError, FactScope};

use crate::support::{Bench, alice};

#[test]
fn a_repetition_under_a_key_gets_the_same_answer_over_restarts() {
    let bench = Bench::new();
    let mut request = bench.request("I live in Porto. I have a dog.", &alice());
    request.idempotency_key = Some("k1".into());
    let first = bench.run(&request);
    assert_eq!(first.results.len(), 2, "{first:?}");
    let lsn = bench.brain_lsn();
    assert_eq!(bench.run(&request), first);
    bench.checkpoint();
    let bench = bench.reopened();
    assert_eq!(bench.run(&request), first);
    assert!(bench.brain_lsn() <= lsn + 1, "nothing is stored again");
    assert_eq!(bench.all(&alice()).len(), 2);
    request.messages[0] = amem_memory::Message::user("I like tea");
    let error = bench.facts().add(&request).unwrap_err();
    assert!(
        matches!(error, Error::Memory(MemoryError::KeyReused { .. })),
        "{error}"
    );
}

#[test]
fn a_lost_commit_is_repeated_once() {
    let bench = Bench::new();
    let mut request = bench.request("I live in Porto", &alice());
    request.idempotency_key = Some("k1".into());
    *bench.brain.refuse.lock().unwrap() = 1;
    let error = bench.facts().add(&request).unwrap_err();
    assert!(
        matches!(error, Error::Engine(amem_engine::Error::Closed { .. })),
        "{error}"
    );
    assert!(bench.texts(&alice()).is_empty());
    bench.run(&request);
    bench.run(&request);
    assert_eq!(bench.all(&alice()).len(), 1);
}

#[test]
fn a_repeated_delete_is_answered_and_done_once() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let kept = KeptAnswer {
        key: "request:1".into(),
        request_hash: "h".into(),
    };
    let facts = bench.facts();
    let delete = || facts.delete(id, &FactScope::default(), bench.now(), None, Some(&kept));
    let (first, commit) = delete().unwrap();
    assert!(commit.is_some());
    let (again, commit) = delete().unwrap();
    assert_eq!((&again.memory, commit), (&first.memory, None));
    assert_eq!(bench.history(id).entries.len(), 2);
    let other = KeptAnswer {
        request_hash: "other".into(),
        ..kept.clone()
    };
    let error = facts
        .delete(id, &FactScope::default(), bench.now(), None, Some(&other))
        .unwrap_err();
    assert!(
        matches!(error, Error::Memory(MemoryError::KeyReused { .. })),
        "{error}"
    );
}

#[test]
fn a_turn_is_stored_once_and_not_extracted_again() {
    let bench = Bench::new();
    let request = bench.request("I live in Porto", &alice());
    let first = bench.run(&request);
    let again = bench.run(&request);
    assert_eq!(again.turns, first.turns);
    assert!(again.results.is_empty(), "{again:?}");
}

#[test]
fn what_was_served_is_not_learnt_again() {
    let bench = Bench::new();
    bench.keep("My dog is called Rex", &alice());
    assert_eq!(bench.texts_found("dog", &alice()), ["My dog is called Rex"]);
    let answer = bench.add("My dog is called Rex", &alice());
    assert!(answer.results.is_empty(), "{answer:?}");
    assert!(
        answer.skipped.iter().any(|part| part.what == "memory"),
        "{answer:?}"
    );
}

#[test]
fn what_was_served_and_ended_since_is_learnt_again() {
    let bench = Bench::new();
    let id = bench.keep("My dog is called Rex", &alice());
    assert_eq!(bench.texts_found("dog", &alice()), ["My dog is called Rex"]);
    bench.delete(id);
    let answer = bench.add("My dog is called Rex", &alice());
    assert_eq!(answer.results.len(), 1, "{answer:?}");
}

#[test]
fn a_recalled_memory_that_was_deleted_comes_back_by_no_paste_of_it() {
    let bench = Bench::new();
    let id = bench.keep("User lives in Rome", &alice());
    assert_eq!(bench.texts_found("Rome", &alice()), ["User lives in Rome"]);
    bench.delete(id);
    for pasted in [
        "- User lives in Rome",
        "You told me this: [e1] fact 2026-11-14: User lives in Rome",
        "[e1] fact 2026-11-14: User lives in Rome",
    ] {
        let answer = bench.add(pasted, &alice());
        assert!(answer.results.is_empty(), "{pasted}: {answer:?}");
    }
}

#[test]
fn what_a_wider_scope_was_served_is_not_learnt_in_a_narrower_one() {
    let bench = Bench::new();
    bench.keep("My dog is called Rex", &alice());
    assert_eq!(bench.texts_found("dog", &alice()), ["My dog is called Rex"]);
    let narrow = FactScope {
        run: Some("r1".into()),
        ..alice()
    };
    let answer = bench.add("My dog is called Rex", &narrow);
    assert!(answer.results.is_empty(), "{answer:?}");
}
