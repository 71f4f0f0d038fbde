//! Filters and the index of values: the index changes what is read, not what is found.

use amem_facts::{ListRequest, item_json};
use amem_memory::add::AddRequest;

use amem_memory::store::MemoryItem;
use amem_memory::{FactFilter, FactScope, Message};
use amem_tests::random::Random;
use serde_json::{Value, json};

use crate::support::{Bench, alice};

fn scalar(random: &mut Random) -> Value {
    match random.below(8) {
        0 => json!(random.below(4)),
        1 => json!(random.below(4) as f64),
        2 => json!(random.below(8) as f64 / 2.0),
        3 => json!(9_007_199_254_740_990_u64 + random.below(6)),
        4 => json!((9_007_199_254_740_990_u64 + random.below(6)) as f64),
        5 => json!(random.below(2) == 0),
        6 => json!(random.pick(&["1", "a", "A", "ab", "ß"])),
        _ => json!(random.pick(&["work", "home", "2026-01-01"])),
    }
}

fn value(random: &mut Random) -> Value {
    match random.below(6) {
        0 => json!([scalar(random), scalar(random)]),
        1 => json!({"b": scalar(random)}),
        2 => json!([{"b": scalar(random)}, [scalar(random)]]),
        _ => scalar(random),
    }
}

/// Keys that are fields of the record, that have dots, and that are the name of metadata itself.
fn metadata(random: &mut Random) -> Value {
    let keys = ["a", "a.b", "kind", "id", "timestamp", "because", "memory"];
    let mut out = serde_json::Map::new();
    for _ in 0..random.below(4) {
        out.insert(random.pick(&keys).to_owned(), value(random));
    }
    if random.below(4) == 0 {
        out.insert("metadata".to_owned(), json!({"a": scalar(random)}));
    }
    Value::Object(out)
}

fn filter(random: &mut Random, depth: usize) -> Value {
    let list = |random: &mut Random| -> Value {
        let count = 1 + random.below(3);
        (0..count).map(|_| filter(random, depth - 1)).collect()
    };
    match random.below(if depth == 0 { 1 } else { 5 }) {
        1 => json!({"AND": list(random)}),
        2 => json!({"OR": list(random)}),
        3 => json!({"NOT": filter(random, depth - 1)}),
        _ => {
            let fields = [
                "a",
                "a.b",
                "metadata.a",
                "metadata.a.b",
                "kind",
                "metadata.kind",
                "id",
                "memory",
                "metadata.metadata.a",
                "because",
                "metadata.timestamp",
                "none",
            ];
            let field = random.pick(&fields);
            let op = random.pick(&[
                "eq",
                "eq",
                "in",
                "ne",
                "nin",
                "gt",
                "gte",
                "lt",
                "lte",
                "contains",
                "icontains",
            ]);
            let value = match op {
                "in" | "nin" => json!([scalar(random), scalar(random)]),
                "gt" | "gte" | "lt" | "lte" => match scalar(random) {
                    Value::Bool(_) => json!(1),
                    value => value,
                },
                _ => scalar(random),
            };
            json!({"field": field, "operator": op, "value": value})
        }
    }
}

fn ids(items: impl IntoIterator<Item = MemoryItem>) -> Vec<uuid::Uuid> {
    let mut ids: Vec<_> = items.into_iter().map(|item| item.id).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn what_a_filter_finds_does_not_depend_on_the_index() {
    let (bench, mut random) = (Bench::new(), Random::new(50));
    let mut known = Vec::new();
    for at in 0..240 {
        let scope = match at % 4 {
            0 => FactScope::user("bob"),
            _ => alice(),
        };
        let id = bench.keep_with(&format!("river {at}"), &scope, metadata(&mut random));
        known.push(id);
        match random.below(8) {
            0 => {
                bench.update(random.pick(&known), &format!("a river was {at}"));
            }
            1 => bench.delete(known.remove(random.below(known.len() as u64) as usize)),
            _ => {}
        }
        if at == 150 {
            bench.checkpoint();
        }
    }
    let all = bench.all(&alice());
    assert!(all.len() > 100, "{}", all.len());
    let mut selective = 0;
    for _ in 0..600 {
        let json = filter(&mut random, 2);
        let filter = FactFilter::parse(&json).unwrap();
        let wanted = all
            .iter()
            .filter(|item| filter.matches(&item_json(item)))
            .cloned();
        let wanted = ids(wanted);
        selective += usize::from(!wanted.is_empty() && wanted.len() < 10);
        let request = ListRequest {
            scope: alice(),
            filter: Some(filter.clone()),
            limit: 1_000,
            now: bench.now(),
            ..ListRequest::default()
        };
        let facts = bench.facts();
        let moment = facts.moment(None).unwrap();
        let listed = facts.list(&request, &moment).unwrap().items;
        assert_eq!(ids(listed), wanted, "a list by {json}");
        let mut search = bench.ask("river", &alice());
        (search.filter, search.limit) = (Some(filter), 1_000);
        let found = bench.found(&search).hits.into_iter().map(|hit| hit.item);
        assert_eq!(ids(found), wanted, "a search by {json}");
    }
    assert!(selective > 50, "{selective} filters of 600 are selective");
}

/// More memories than a search ever asks for, each nearer to the question than those that a filter admits.
#[test]
fn a_filter_finds_what_ten_thousand_better_hits_hide() {
    let bench = Bench::new();
    for part in 0..21 {
        let texts = (0..500).map(|at| Message::user(format!("river river {part} {at}")));
        let mut request = AddRequest::new(texts.collect(), alice(), bench.now());
        request.infer = false;
        bench.run(&request);
    }
    let year = |year: u64| json!({"year": year, "tag": "old"});
    bench.keep_with(
        "the long dry bed of what once was a river here",
        &alice(),
        year(1900),
    );
    bench.checkpoint();
    for filter in [
        json!({"tag": "old"}),
        json!({"year": {"lt": 1950}}),
        json!({"tag": {"contains": "ol"}}),
    ] {
        let found = bench.filtered("river", &alice(), filter.clone());
        assert_eq!(found.len(), 1, "{filter}");
    }
}
