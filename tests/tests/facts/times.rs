//! What was known at a moment, and what was so at a time.

use amem_facts::ListRequest;
use amem_format::types::Lsn;
use amem_format::view::AsOf;
use amem_memory::FactScope;

use crate::support::{Bench, alice};

fn known(bench: &Bench, lsn: u64) -> Vec<String> {
    let facts = bench.facts();
    let moment = facts.moment(Some(AsOf::Lsn(Lsn(lsn)))).unwrap();
    let request = ListRequest {
        scope: alice(),
        now: bench.now(),
        ..ListRequest::default()
    };
    let page = facts.list(&request, &moment).unwrap();
    page.items.into_iter().map(|item| item.memory).collect()
}

#[test]
fn what_was_known_then_is_shown_before_and_after_a_checkpoint() {
    let bench = Bench::new();
    let id = bench.keep("User likes tea", &alice());
    let first = bench.brain_lsn();
    bench.update(id, "User likes green tea");
    let second = bench.brain_lsn();
    bench.delete(id);
    let third = bench.brain_lsn();
    let check = |bench: &Bench| {
        assert_eq!(known(bench, first), ["User likes tea"]);
        assert_eq!(known(bench, second), ["User likes green tea"]);
        assert!(known(bench, third).is_empty());
        let facts = bench.facts();
        let moment = facts.moment(Some(AsOf::Lsn(Lsn(first)))).unwrap();
        let item = facts
            .get(id, &FactScope::default(), bench.now(), &moment)
            .unwrap()
            .unwrap();
        assert_eq!(item.memory, "User likes tea");
        let mut search = bench.ask("tea", &alice());
        search.limit = 5;
        let found = facts.search(&search, &moment).unwrap();
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].item.memory, "User likes tea");
    };
    check(&bench);
    bench.checkpoint();
    check(&bench);
    check(&bench.reopened());
}

#[test]
fn what_was_so_then_is_the_version_of_the_time() {
    let bench = Bench::new();
    let id = bench.keep("User lives in Porto", &alice());
    let at_first = bench.now();
    bench.update(id, "User lives in Rome");
    let at_second = bench.now();
    bench.delete(id);
    let at_last = bench.now();
    let so = |at| {
        let facts = bench.facts();
        let request = ListRequest {
            scope: alice(),
            at: Some(at),
            now: at_last,
            ..ListRequest::default()
        };
        let page = facts.list(&request, &facts.moment(None).unwrap()).unwrap();
        page.items
            .into_iter()
            .map(|item| item.memory)
            .collect::<Vec<_>>()
    };
    assert_eq!(so(at_first), ["User lives in Porto"]);
    assert_eq!(so(at_second), ["User lives in Rome"]);
    assert!(so(at_last).is_empty());
    assert!(so(amem_format::types::Micros(1)).is_empty());
    let mut search = bench.ask("where does the user live", &alice());
    search.at = Some(at_first);
    let found = bench.found(&search);
    assert_eq!(found.hits.len(), 1, "{found:?}");
    assert_eq!(found.hits[0].item.memory, "User lives in Porto");
}
