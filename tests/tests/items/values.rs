//! What items are: versions, times to live, namespaces, words, repeated requests.

use std::sync::atomic::Ordering;

use amem_facts::FactBrain;
use amem_format::NodeId;
use amem_items::{ItemChange, ItemIndex, ItemSearch, KeptRequest};
use amem_query::Search;
use amem_store::mutation::Mutation;
use serde_json::{Value, json};

use crate::support::{Bench, SECOND, START, filtered, labels, name, put, put_with, search};

fn delete(namespace: &str, key: &str) -> ItemChange {
    ItemChange::Delete(name(namespace, key))
}

#[test]
fn a_newer_value_keeps_when_the_item_began_until_it_is_deleted() {
    let bench = Bench::new();
    bench.change(&[put("users/ada", "home", &json!({"city": "Porto"}))]);
    bench.wait(SECOND);
    bench.change(&[put(
        "users/ada",
        "home",
        &json!({"city": "Rome", "n": 1.50}),
    )]);
    let item = bench.get(&name("users/ada", "home"), false).unwrap();
    assert_eq!(item.value_json, r#"{"city":"Rome","n":1.5}"#);
    assert_eq!(
        (item.created_at.0, item.updated_at.0, item.ttl),
        (START, START + SECOND, None)
    );
    assert_eq!(bench.value("users/ada", "other"), None);
    assert_eq!(bench.value("users", "home"), None);
    assert_eq!(bench.change(&[delete("users/ada", "home")]), [true]);
    assert_eq!(bench.change(&[delete("users/ada", "home")]), [false]);
    assert_eq!(bench.value("users/ada", "home"), None);
    assert!(bench.keys(&search("")).is_empty());
    bench.wait(SECOND);
    bench.change(&[put("users/ada", "home", &json!({}))]);
    let item = bench.get(&name("users/ada", "home"), false).unwrap();
    assert_eq!(item.created_at.0, START + 2 * SECOND);
}

#[test]
fn a_clock_that_goes_back_does_not_turn_versions_around() {
    let bench = Bench::new();
    bench.change(&[put("a", "k", &json!({"n": 1}))]);
    bench.wait(-5 * SECOND);
    bench.change(&[put("a", "k", &json!({"n": 2}))]);
    let item = bench.get(&name("a", "k"), false).unwrap();
    assert_eq!(item.value_json, r#"{"n":2}"#);
    assert!(item.updated_at >= item.created_at);
}

#[test]
fn a_batch_is_one_commit_and_the_last_change_of_an_item_counts() {
    let bench = Bench::new();
    bench.change(&[put("a", "k", &json!({"n": 0}))]);
    let before = bench.brain.commits.load(Ordering::Relaxed);
    let deleted = bench.change(&[
        put("a", "k", &json!({"n": 1})),
        delete("a", "k"),
        put("a", "l", &json!({"n": 2})),
        delete("a", "l"),
        put("a", "l", &json!({"n": 3})),
    ]);
    assert_eq!(deleted, [false, true, false, false, false]);
    assert_eq!(bench.brain.commits.load(Ordering::Relaxed), before + 1);
    assert_eq!(bench.value("a", "k"), None);
    assert_eq!(bench.value("a", "l"), Some(json!({"n": 3})));
}

#[test]
fn a_repeated_request_changes_nothing_and_another_one_under_its_id_is_refused() {
    let bench = Bench::new();
    let kept = |hash: &str| KeptRequest {
        id: "7f".into(),
        hash: hash.into(),
    };
    let first = [put("a", "k", &json!({"n": 1}))];
    bench.repeat(&first, &kept("x")).unwrap();
    bench.change(&[put("a", "k", &json!({"n": 2}))]);
    let bench = bench.reopened();
    bench.repeat(&first, &kept("x")).unwrap();
    assert_eq!(bench.value("a", "k"), Some(json!({"n": 2})));
    let error = bench.repeat(&first, &kept("y")).unwrap_err();
    assert!(error.to_string().contains("another change"), "{error}");
}

#[test]
fn what_has_expired_is_not_shown_and_is_hidden_from_every_query() {
    let bench = Bench::new();
    let value = json!({"text": "the parcel waits at the harbour"});
    let mortal = |ttl| put_with("a", "k", &value, &ItemIndex::Texts, Some(ttl));
    bench.change(&[mortal(10 * SECOND)]);
    let item = bench.get(&name("a", "k"), false).unwrap();
    assert_eq!(item.expires_at.unwrap().0, START + 10 * SECOND);
    bench.wait(10 * SECOND - 1);
    assert!(bench.value("a", "k").is_some());
    bench.wait(1);
    let words = Search {
        question: "parcel harbour".into(),
        ..Search::default()
    };
    let general = |bench: &Bench| {
        let view = bench.with(|items| items.view());
        words.run(&view).unwrap().hits.len()
    };
    assert_eq!(general(&bench), 1);
    assert!(bench.namespaces(("", ""), None, (0, 9)).is_empty());
    assert!(bench.keys(&search("a")).is_empty());
    // The search came across it.
    assert_eq!(general(&bench), 0);
    assert_eq!(bench.value("a", "k"), None);
    bench.change(&[mortal(SECOND)]);
    let item = bench.get(&name("a", "k"), false).unwrap();
    assert_eq!(item.created_at, bench.now());
    bench.wait(2 * SECOND);
    // Put in place of an expired one: it is a new item, without a time to live.
    bench.change(&[put("a", "k", &value)]);
    let item = bench.get(&name("a", "k"), false).unwrap();
    assert_eq!((item.created_at, item.expires_at), (bench.now(), None));
    assert_eq!(general(&bench), 1);
}

#[test]
fn a_reading_begins_a_time_to_live_again_if_it_is_asked_to() {
    let bench = Bench::new();
    let hour = 3_600 * SECOND;
    let value = json!({"n": 1});
    let mortal = put_with("a", "k", &value, &ItemIndex::Nothing, Some(hour));
    bench.change(&[mortal]);
    let commits = || bench.brain.commits.load(Ordering::Relaxed);
    let ends = |is_refreshing| {
        let item = bench.get(&name("a", "k"), is_refreshing);
        item.map(|item| item.expires_at.unwrap().0)
    };
    let before = commits();
    // So soon that no commit is worth it.
    bench.wait(hour / 20 - 1);
    assert_eq!(ends(true), Some(START + hour));
    assert_eq!(commits(), before);
    bench.wait(hour / 2);
    assert_eq!(ends(false), Some(START + hour));
    assert_eq!(commits(), before);
    ends(true);
    assert_eq!(commits(), before + 1);
    let refreshed = bench.now().0;
    assert_eq!(ends(false), Some(refreshed + hour));
    bench.wait(hour / 2);
    let refreshing = ItemSearch {
        is_refreshing: true,
        ..search("a")
    };
    bench.keys(&refreshing);
    let refreshed = bench.now().0;
    bench.wait(hour - 1);
    assert_eq!(ends(false), Some(refreshed + hour));
    bench.wait(1);
    assert_eq!(ends(true), None);
    assert_eq!(ends(false), None);
}

#[test]
fn words_find_what_is_indexed_and_the_others_come_last() {
    let bench = Bench::new();
    let value = |text: &str| json!({"text": text, "other": "zeppelin"});
    let paths = |path: &str| ItemIndex::Paths(vec![path.into()]);
    bench.change(&[
        put("d", "all", &value("the ferry to Zanzibar leaves at noon")),
        put_with(
            "d",
            "part",
            &value("tea is served at five"),
            &paths("text"),
            None,
        ),
        put_with(
            "d",
            "none",
            &value("the ferry to Zanzibar"),
            &ItemIndex::Nothing,
            None,
        ),
        put("e", "far", &value("the ferry to Zanzibar")),
    ]);
    let asked = |query: &str| ItemSearch {
        query: query.into(),
        ..search("d")
    };
    let found = bench.search(&asked("when does the ferry to Zanzibar leave"));
    let keys: Vec<_> = found.hits.iter().map(|hit| hit.item.name.key()).collect();
    assert_eq!(keys[0], "all", "{keys:?}");
    let best = found.hits[0].score.unwrap();
    assert!(best > 0.3 && best <= 1.0, "{best}");
    let none = found.hits.iter().find(|hit| hit.item.name.key() == "none");
    assert_eq!(none.unwrap().score, None);
    assert_eq!(keys.len(), 3, "{keys:?}");
    assert_eq!(bench.keys(&asked("zeppelin"))[0], "all");
    let part = bench.search(&asked("zeppelin"));
    let part = part.hits.iter().find(|hit| hit.item.name.key() == "part");
    assert!(part.unwrap().score.is_none_or(|score| score < best));
    // The text of what is not indexed is not found either.
    let an_item = bench.search(&asked("an item"));
    let none = an_item
        .hits
        .iter()
        .find(|hit| hit.item.name.key() == "none");
    assert_eq!(none.unwrap().score, None);
}

#[test]
fn filters_limits_and_offsets_count_from_the_newest() {
    let bench = Bench::new();
    for n in 0..10 {
        let value = json!({"n": n, "even": n % 2 == 0});
        bench.change(&[put(&format!("a/{}", n % 3), &format!("k{n}"), &value)]);
    }
    bench.change(&[put("a/1", "k1", &json!({"n": 1, "even": false}))]);
    let even = filtered("a", &json!({"even": true}));
    assert_eq!(bench.keys(&even), ["k8", "k6", "k4", "k2", "k0"]);
    let page = ItemSearch {
        offset: 1,
        limit: 2,
        ..even
    };
    assert_eq!(bench.keys(&page), ["k6", "k4"]);
    let some = filtered("a/1", &json!({"n": {"$gte": 1, "$lt": 7}}));
    assert_eq!(bench.keys(&some), ["k1", "k4"]);
    assert!(bench.keys(&search("a/1/x")).is_empty());
    assert_eq!(bench.keys(&search("")).len(), 10);
}

#[test]
fn namespaces_are_listed_while_they_have_items() {
    let bench = Bench::new();
    for place in [
        "a/b/c",
        "a/b/d/i",
        "a/b/d",
        "a/c/f",
        "b/a/f",
        "users/x/prefs",
    ] {
        bench.change(&[put(place, "k", &json!({"at": place}))]);
    }
    let all = |bench: &Bench| bench.namespaces(("", ""), None, (0, 100));
    assert_eq!(
        all(&bench),
        [
            "a/b/c",
            "a/b/d",
            "a/b/d/i",
            "a/c/f",
            "b/a/f",
            "users/x/prefs"
        ]
    );
    for (pattern, depth, page, expected) in [
        (
            ("a", ""),
            None,
            (0, 9),
            vec!["a/b/c", "a/b/d", "a/b/d/i", "a/c/f"],
        ),
        (("a", "f"), None, (0, 9), vec!["a/c/f"]),
        (("*/a", ""), None, (0, 9), vec!["b/a/f"]),
        (("users/*/prefs", ""), None, (0, 9), vec!["users/x/prefs"]),
        (("", "*/f"), None, (0, 9), vec!["a/c/f", "b/a/f"]),
        (
            ("", ""),
            Some(2),
            (0, 9),
            vec!["a/b", "a/c", "b/a", "users/x"],
        ),
        (("", ""), Some(1), (1, 1), vec!["b"]),
        (("", ""), None, (4, 9), vec!["b/a/f", "users/x/prefs"]),
    ] {
        let found = bench.namespaces(pattern, depth, page);
        assert_eq!(found, expected, "{pattern:?} {depth:?} {page:?}");
    }
    bench.change(&[delete("a/b/c", "k"), delete("b/a/f", "k")]);
    let bench = bench.reopened();
    assert_eq!(all(&bench), ["a/b/d", "a/b/d/i", "a/c/f", "users/x/prefs"]);
    bench.change(&[put("b/a/f", "k", &json!({}))]);
    assert_eq!(bench.namespaces(("b", ""), None, (0, 9)), ["b/a/f"]);
    assert_eq!(labels("b/a/f").len(), 3);
}

#[test]
fn what_a_general_call_restores_brings_no_old_value_back() {
    let bench = Bench::new();
    bench.change(&[
        put("a", "k", &json!({"n": 1})),
        put("a", "l", &json!({"n": 1})),
    ]);
    bench.change(&[put("a", "k", &json!({"n": 2})), delete("a", "l")]);
    let view = bench.with(|items| items.view());
    for id in (0..view.nodes()).map(NodeId) {
        if view.node(id).unwrap().is_forgotten() {
            bench.brain.commit(Mutation::Restore(id)).unwrap();
        }
    }
    assert_eq!(bench.keys(&search("a")), ["k"]);
    assert_eq!(bench.value("a", "k"), Some(json!({"n": 2})));
    assert_eq!(bench.value("a", "l"), None);
    bench.change(&[delete("a", "k")]);
    assert!(bench.keys(&search("")).is_empty());
    assert!(bench.namespaces(("", ""), None, (0, 9)).is_empty());
}

#[test]
fn large_values_and_all_numbers_are_kept_as_they_were_sent() {
    let bench = Bench::new();
    for bytes in [10, 16_000, 16_400, 70_000, 1_000_000] {
        let value = json!({"text": "é".repeat(bytes / 2), "id": u64::MAX, "f": 0.1});
        let index = ItemIndex::Paths(vec!["id".into()]);
        bench.change(&[put_with("a", "k", &value, &index, None)]);
        assert_eq!(bench.value("a", "k"), Some(value), "{bytes}");
    }
    let bench = bench.reopened();
    let value = bench.value("a", "k").unwrap();
    assert_eq!(value["text"].as_str().map(str::len), Some(1_000_000));
    assert_eq!(value["id"], Value::from(u64::MAX));
    assert_eq!(bench.keys(&filtered("a", &json!({"f": 0.1}))), ["k"]);
}
