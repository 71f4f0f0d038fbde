//! What a request about a scope may count and show of memories that are of more fields than it names, or of fewer.

use amem_memory::FactScope;

use crate::support::{Bench, alice, bob};

fn of(user: &str, app: &str) -> FactScope {
    FactScope {
        app: Some(app.into()),
        ..FactScope::user(user)
    }
}

#[test]
fn a_scope_counts_its_own_memories_and_names_no_others() {
    let bench = Bench::new();
    bench.keep("User likes tea", &of("alice", "mail"));
    bench.keep("User likes coffee", &of("alice", "notes"));
    bench.keep("User likes milk", &of("bob", "mail"));
    let gone = bench.keep("User likes water", &of("alice", "mail"));
    bench.delete(gone);
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    let count = |scope: &FactScope| -> Vec<(String, u64)> {
        let users = facts.users(scope, &moment).unwrap();
        let rows = users.into_iter().map(|one| (one.value, one.memories));
        rows.collect()
    };
    let rows = |rows: &[(&str, u64)]| -> Vec<(String, u64)> {
        rows.iter()
            .map(|(value, n)| ((*value).to_owned(), *n))
            .collect()
    };
    let all = [("mail", 2), ("notes", 1), ("alice", 2), ("bob", 1)];
    assert_eq!(count(&FactScope::default()), rows(&all));
    let own = [("mail", 1), ("alice", 1)];
    assert_eq!(count(&of("alice", "mail")), rows(&own));
    let of_alice = [("mail", 1), ("notes", 1), ("alice", 2)];
    assert_eq!(count(&alice()), rows(&of_alice));
    assert!(count(&of("bob", "notes")).is_empty());
    assert_eq!(count(&bob()), rows(&[("mail", 1), ("bob", 1)]));
}

#[test]
fn a_history_shows_no_sentence_that_was_said_in_a_wider_scope() {
    let bench = Bench::new();
    let narrow = of("alice", "mail");
    let first = bench.add("I live in Porto", &narrow);
    let second = bench.add("I moved to Rome", &alice());
    let id = first.results[0].id;
    assert_eq!(second.results[0].id, id, "{second:?}");
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    let said = |scope: &FactScope| -> Vec<String> {
        let history = facts.history(id, scope, (1_000, None), &moment).unwrap();
        let turns = history.entries.into_iter().flat_map(|entry| entry.turns);
        turns.map(|turn| turn.text).collect()
    };
    assert_eq!(said(&narrow), ["I live in Porto", ""]);
    assert_eq!(said(&alice()), ["I live in Porto", "I moved to Rome"]);
    assert!(
        facts
            .history(id, &of("alice", "notes"), (1_000, None), &moment)
            .is_err()
    );
    assert!(facts.events_of_source(second.turns[0], &narrow).is_err());
    // Nor has its list, which may show the sentence that a memory is from.
    let listed = bench.all(&narrow);
    let moved = listed.iter().find(|item| item.id == id).unwrap();
    assert!(moved.memory.contains("Rome"), "{moved:?}");
    assert_eq!(facts.said_sentence(moved, &moment).unwrap(), None);
}
