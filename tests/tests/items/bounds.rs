//! Limits, and what cannot be meant: refused by name, and nothing is stored.

use std::sync::atomic::Ordering;

use amem_items::limits::{
    BATCH_OPS_MAX, ITEM_HITS_MAX, ITEM_PAGE_BYTES, NAMESPACE_PAGE_MAX, OFFSET_MAX, TTL_MICROS_MAX,
    VALUE_BYTES_MAX,
};
use amem_items::{ItemIndex, ItemPut, ItemSearch, NamespaceList};
use serde_json::json;

use crate::support::{Bench, name, put, search};

#[test]
fn values_over_a_limit_are_refused_by_name() {
    let new = |json: String, ttl| ItemPut::new(name("a", "k"), json, &ItemIndex::Texts, ttl);
    let text = |bytes: usize| format!("{{\"t\":\"{}\"}}", "x".repeat(bytes - 8));
    new(text(VALUE_BYTES_MAX), Some(TTL_MICROS_MAX)).unwrap();
    for (json, ttl, why) in [
        (text(VALUE_BYTES_MAX + 1), None, "the value in bytes"),
        ("[]".into(), None, "value_json"),
        ("{\"a\":NaN}".into(), None, "value_json"),
        (String::new(), None, "value_json"),
        ("{}".into(), Some(0), "ttl"),
        ("{}".into(), Some(-1), "ttl"),
        ("{}".into(), Some(TTL_MICROS_MAX + 1), "ttl"),
    ] {
        let error = new(json, ttl).unwrap_err().to_string();
        assert!(error.starts_with(why), "{error}");
    }
}

#[test]
fn requests_over_a_limit_are_refused_and_change_nothing() {
    let bench = Bench::new();
    let many = vec![put("a", "k", &json!({})); BATCH_OPS_MAX + 1];
    let refused = bench.with(|items| items.change(&many, None)).unwrap_err();
    assert!(refused.to_string().contains("1000"), "{refused}");
    for wrong in [
        ItemSearch {
            limit: ITEM_HITS_MAX + 1,
            ..search("")
        },
        ItemSearch {
            offset: OFFSET_MAX + 1,
            ..search("")
        },
        ItemSearch {
            query: "x".repeat(1 << 20),
            ..search("")
        },
    ] {
        let refused = bench.with(|items| items.search(&items.view(), &wrong));
        assert!(refused.is_err(), "{} {}", wrong.limit, wrong.offset);
    }
    let list = NamespaceList {
        limit: NAMESPACE_PAGE_MAX + 1,
        ..NamespaceList::default()
    };
    assert!(
        bench
            .with(|items| items.namespaces(&items.view(), &list))
            .is_err()
    );
    assert_eq!(bench.brain.commits.load(Ordering::Relaxed), 0);
}

#[test]
fn an_answer_has_room_for_so_many_bytes_and_says_what_it_leaves_off() {
    let bench = Bench::new();
    let value = json!({"t": "x".repeat(ITEM_PAGE_BYTES / 4)});
    for n in 0..6 {
        bench.change(&[put("a", &format!("k{n}"), &value)]);
    }
    let first = bench.search(&search("a"));
    assert_eq!((first.hits.len(), first.left_off), (3, 3));
    let second = bench.search(&ItemSearch {
        offset: 3,
        limit: 3,
        ..search("a")
    });
    assert_eq!((second.hits.len(), second.left_off), (3, 0));
}
