//! Answers have a size: what has no room goes to the next page, or the answer names it.

use amem_facts::ListRequest;
use amem_facts::limits::{FACT_PAGE_BYTES, HISTORY_TURN_BYTES, HISTORY_TURNS_MAX};
use amem_memory::Message;

use crate::support::{Bench, alice};

const TEXT_BYTES: usize = 60 << 10;

fn large(at: usize) -> String {
    format!("note {at} {}", "x".repeat(TEXT_BYTES))
}

#[test]
fn pages_of_large_memories_have_an_end_and_lose_none() {
    let bench = Bench::new();
    let count = 2 * FACT_PAGE_BYTES / TEXT_BYTES;
    for at in 0..count {
        bench.keep(&large(at), &alice());
    }
    let facts = bench.facts();
    let mut request = ListRequest {
        scope: alice(),
        limit: 1_000,
        now: bench.now(),
        ..ListRequest::default()
    };
    let (mut pages, mut items) = (0, Vec::new());
    loop {
        let page = facts.list(&request, &facts.moment(None).unwrap()).unwrap();
        let bytes: usize = page.items.iter().map(|item| item.memory.len()).sum();
        assert!(bytes <= FACT_PAGE_BYTES && !page.items.is_empty());
        pages += 1;
        items.extend(page.items.into_iter().map(|item| item.id));
        request.before = page.next;
        if page.next.is_none() {
            break;
        }
    }
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), count);
    assert!(pages >= 2, "{pages} pages");
    let mut search = bench.ask("note", &alice());
    search.limit = 1_000;
    let found = bench.found(&search);
    assert!(found.left_off > 0, "{} hits", found.hits.len());
    assert_eq!(found.hits.len() + found.left_off, count);
}

#[test]
fn histories_of_large_versions_have_pages() {
    let bench = Bench::new();
    let id = bench.keep(&large(0), &alice());
    let count = FACT_PAGE_BYTES / TEXT_BYTES + 5;
    for at in 1..count {
        bench.update(id, &large(at));
    }
    let facts = bench.facts();
    let moment = facts.moment(None).unwrap();
    let (mut after, mut told, mut pages) = (None, Vec::new(), 0);
    loop {
        let page = facts.history(id, &alice(), (20, after), &moment).unwrap();
        pages += 1;
        told.extend(page.entries.into_iter().map(|entry| entry.record));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((told.len(), pages > 1), (count, true));
    for pair in told.windows(2) {
        assert_eq!(pair[0].new_memory, pair[1].old_memory);
    }
}

#[test]
fn a_history_shows_some_of_many_turns_and_a_part_of_a_long_one() {
    let bench = Bench::new();
    let long = format!("I live in Porto. {}", "The sea is near. ".repeat(1_000));
    let id = bench.add(&long, &alice()).results[0].id;
    let count = HISTORY_TURNS_MAX + 10;
    for _ in 1..count {
        // Said at another time it is another turn.
        bench.add("I live in Porto", &alice());
    }
    let entry = bench.history(id).entries.remove(0);
    assert_eq!(entry.record.sources.len(), count);
    assert_eq!(entry.turns.len(), HISTORY_TURNS_MAX);
    assert!(entry.turns[0].is_cut && entry.turns[0].text.len() <= HISTORY_TURN_BYTES);
    assert!(!entry.turns[1].is_cut);
}

#[test]
fn as_many_messages_as_an_answer_has_room_for() {
    let bench = Bench::new();
    let mut request = bench.request("x", &alice());
    request.infer = false;
    request.messages = (0..40).map(|at| Message::user(large(at))).collect();
    let error = bench.facts().add(&request).unwrap_err();
    assert!(
        error.to_string().contains("the texts of all messages"),
        "{error}"
    );
}
