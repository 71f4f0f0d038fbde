//! Bad input: each is its typed error, and nothing is stored.

use amem_facts::{Error, ListRequest};
use amem_format::types::Micros;
use amem_memory::add::AddRequest;
use amem_memory::change::UpdateRequest;
use amem_memory::{ContentPart, Error as MemoryError, FactFilter, FactScope, Message};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Bench, alice, bob};

fn memory(error: Error) -> MemoryError {
    match error {
        Error::Memory(error) => error,
        Error::Engine(error) => panic!("of the engine: {error}"),
    }
}

/// The error of an add, which stores nothing.
fn refused(change: impl FnOnce(&mut AddRequest)) -> MemoryError {
    let bench = Bench::new();
    let mut request = bench.request("I like tea", &alice());
    change(&mut request);
    let before = bench.brain_lsn();
    let error = memory(bench.facts().add(&request).unwrap_err());
    assert_eq!(bench.brain_lsn(), before, "{error}");
    error
}

#[test]
fn adds_that_cannot_be_are_refused_and_store_nothing() {
    let error = refused(|add| add.scope = FactScope::default());
    assert_eq!(error, MemoryError::NoScope);
    let error = refused(|add| add.scope = FactScope::user("*"));
    assert_eq!(error.code(), "ScopeError");
    let error = refused(|add| add.messages = vec![Message::user("x".repeat(10 << 20))]);
    assert!(matches!(error, MemoryError::TooLarge { .. }), "{error}");
    let error = refused(|add| add.messages = vec![Message::user("hi"); 10_000]);
    assert!(matches!(error, MemoryError::TooLarge { .. }), "{error}");
    let error = refused(|add| add.messages.clear());
    assert_eq!(error.code(), "ValidationError", "{error}");
    let error = refused(|add| {
        add.messages[0].content = vec![ContentPart::Other("image_url".into())];
    });
    assert!(
        matches!(error, MemoryError::NoText { skipped: 1 }),
        "{error}"
    );
    let error = refused(|add| add.expires = Some(Micros(1)));
    assert!(matches!(error, MemoryError::Expired { .. }), "{error}");
    let error = refused(|add| {
        add.metadata.insert("amem.user".into(), json!("bob"));
    });
    assert_eq!(error.code(), "ValidationError", "{error}");
}

fn listed(filter: Value) -> MemoryError {
    let filter = match FactFilter::parse(&filter) {
        Ok(filter) => filter,
        Err(error) => return error,
    };
    let bench = Bench::new();
    let facts = bench.facts();
    let request = ListRequest {
        filter: Some(filter),
        now: bench.now(),
        ..ListRequest::default()
    };
    memory(
        facts
            .list(&request, &facts.moment(None).unwrap())
            .unwrap_err(),
    )
}

#[test]
fn filters_that_bound_nothing_or_make_no_sense_are_refused() {
    for unscoped in [
        json!({"OR": [{"user_id": "a"}, {"tag": "x"}]}),
        json!({"NOT": {"user_id": "a"}}),
        json!({"user_id": "*"}),
        json!({"user_id": 7}),
        json!({"user_id": {"gt": "a"}}),
    ] {
        assert_eq!(listed(unscoped.clone()).code(), "ScopeError", "{unscoped}");
    }
    let mut deep = json!({"user_id": "a"});
    for _ in 0..100 {
        deep = json!({"AND": [deep]});
    }
    assert!(matches!(listed(deep), MemoryError::TooLarge { .. }));
    for bad in [
        json!({"field": "tag", "operator": "like", "value": "x"}),
        json!({"field": "tag", "operator": "in", "value": "x"}),
        json!([1]),
        json!({"field": "tag", "operator": "eq", "value": "x", "case": false}),
    ] {
        assert_eq!(listed(bad.clone()).code(), "ValidationError", "{bad}");
    }
}

#[test]
fn ids_that_name_nothing_are_refused() {
    assert!(amem_memory::change::memory_id("no-uuid").is_err());
    let bench = Bench::new();
    let facts = bench.facts();
    let unknown = Uuid::from_u128(9);
    let error = memory(
        facts
            .delete(unknown, &alice(), bench.now(), None, None)
            .unwrap_err(),
    );
    assert!(matches!(error, MemoryError::NotFound { .. }), "{error}");
    let moment = facts.moment(None).unwrap();
    let error = memory(
        facts
            .history(unknown, &alice(), (1_000, None), &moment)
            .unwrap_err(),
    );
    assert!(matches!(error, MemoryError::NotFound { .. }), "{error}");
}

#[test]
fn a_memory_of_another_scope_does_not_exist() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    assert_eq!(facts.get(id, &bob(), bench.now(), &moment).unwrap(), None);
    let error = memory(
        facts
            .history(id, &bob(), (1_000, None), &moment)
            .unwrap_err(),
    );
    assert!(matches!(error, MemoryError::NotFound { .. }), "{error}");
    let error = memory(
        facts
            .delete(id, &bob(), bench.now(), None, None)
            .unwrap_err(),
    );
    assert!(matches!(error, MemoryError::NotFound { .. }), "{error}");
    assert!(bench.get(id).is_some());
}

#[test]
fn what_is_deleted_is_not_deleted_again() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    bench.delete(id);
    let error = bench
        .facts()
        .delete(id, &alice(), bench.now(), None, None)
        .unwrap_err();
    assert!(matches!(memory(error), MemoryError::Deleted { .. }));
    let update = UpdateRequest {
        id,
        text: Some("User likes coffee".into()),
        metadata: None,
        expected: None,
        reason: None,
        secrets: amem_memory::add::SecretPolicy::Mask,
        now: bench.now(),
    };
    let error = bench.facts().update(&update, &alice(), None).unwrap_err();
    assert!(matches!(memory(error), MemoryError::Deleted { .. }));
    assert_eq!(bench.history(id).entries.len(), 2);
}

#[test]
fn of_two_updates_at_once_one_is_refused() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let update = |text: &str| UpdateRequest {
        id,
        text: Some(text.into()),
        metadata: None,
        expected: Some("User likes tea".into()),
        reason: None,
        secrets: amem_memory::add::SecretPolicy::Mask,
        now: bench.now(),
    };
    let facts = bench.facts();
    facts
        .update(&update("User likes green tea"), &alice(), None)
        .unwrap();
    let error = facts
        .update(&update("User likes black tea"), &alice(), None)
        .unwrap_err();
    assert_eq!(memory(error), MemoryError::Changed);
    assert_eq!(bench.get(id).unwrap().memory, "User likes green tea");
}

#[test]
fn threads_that_update_one_memory_lose_nothing() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea 0", &alice());
    let (brain, state) = (&bench.brain, &bench.state);
    let done: u32 = std::thread::scope(|scope| {
        let work = |thread: i64| {
            move || {
                let forms = amem_memory::model::FormTable::default();
                let facts = amem_facts::Facts {
                    brain,
                    state,
                    embedder: &amem_memory::store::BuiltinEmbedder,
                    ids: &amem_facts::RandomIds,
                    model: None,
                    forms: &forms,
                };
                let mut done = 0;
                for round in 0..20 {
                    let request = UpdateRequest {
                        id,
                        text: Some(format!("User likes tea {thread}.{round}")),
                        metadata: None,
                        expected: None,
                        reason: None,
                        secrets: amem_memory::add::SecretPolicy::Mask,
                        now: Micros(crate::support::START + thread * 1_000 + round),
                    };
                    match facts.update(&request, &alice(), None) {
                        Ok(_) => done += 1,
                        Err(error) => assert_eq!(memory(error), MemoryError::Changed),
                    }
                }
                done
            }
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(work(thread))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert!(done > 0);
    assert_eq!(bench.history(id).entries.len(), 1 + done as usize);
}
