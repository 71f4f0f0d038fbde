//! Filters against a naive model, in both spellings.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::FactFilter;
use crate::error::Error;
use crate::scope::{FactScope, SCOPE_FIELDS};

fn parsed(value: &Value) -> FactFilter {
    FactFilter::parse(value).unwrap_or_else(|error| panic!("{value}: {error}"))
}

fn memory() -> Value {
    json!({
        "id": "7", "memory": "User likes Python for ML", "user_id": "alice", "agent_id": null,
        "created_at": "2024-05-01T10:00:00Z", "categories": ["work", "code"],
        "metadata": {"tag": "work", "n": 3, "deep": {"x": true}, "a.b": "dotted", "user_id": "mallory"},
    })
}

#[test]
fn both_spellings_have_one_meaning() {
    for (filter, holds) in [
        (
            json!({"field": "tag", "operator": "eq", "value": "work"}),
            true,
        ),
        (json!({"tag": "work"}), true),
        (json!({"metadata.tag": "work"}), true),
        (json!({"metadata": {"tag": "work"}}), true),
        (json!({"metadata": {"tag": "work", "n": {"gt": 3}}}), false),
        (json!({"metadata": {"user_id": "mallory"}}), true),
        (json!({"metadata": {"user_id": "alice"}}), false),
        (json!({"metadata": {}}), true),
        (json!({"user_id": "mallory"}), false),
        (json!({"tag": {"ne": "work"}}), false),
        (json!({"missing": {"ne": "work"}}), true),
        (json!({"missing": {"nin": ["work"]}}), true),
        (json!({"missing": "work"}), false),
        (json!({"n": {"gte": 3, "lt": 4}}), true),
        (json!({"n": {"gt": 3}}), false),
        (json!({"n": "3"}), false),
        (json!({"n": 3.0}), true),
        (
            json!({"created_at": {"gte": "2024-01-01", "lt": "2025-01-01"}}),
            true,
        ),
        (json!({"created_at": {"gt": 1800000000}}), false),
        (json!({"tag": ["work", "home"]}), true),
        (
            json!({"field": "tag", "operator": "in", "value": ["home"]}),
            false,
        ),
        (json!({"categories": "code"}), true),
        (json!({"categories": {"contains": "code"}}), true),
        (json!({"memory": {"contains": "python"}}), false),
        (json!({"memory": {"icontains": "python"}}), true),
        (json!({"tag": "*"}), true),
        (json!({"agent_id": "*"}), false),
        (json!({"agent_id": null}), true),
        (json!({"deep.x": true}), true),
        (json!({"a.b": "dotted"}), true),
        (json!({"AND": [{"tag": "work"}, {"n": 4}]}), false),
        (json!({"AND": [{"tag": "work"}, {"tag": "home"}]}), false),
        (json!({"OR": [{"tag": "home"}, {"n": 3}]}), true),
        (json!({"NOT": {"tag": "work"}}), false),
        (json!({"NOT": [{"tag": "home"}, {"n": 4}]}), true),
        (json!({"NOT": [{"tag": "home"}, {"n": 3}]}), false),
        (
            json!({"AND": [{"OR": [{"n": 9}, {"tag": "work"}]}, {"NOT": [{"n": 9}]}]}),
            true,
        ),
        (json!({"tag": "work", "n": 4}), false),
        (json!({}), true),
        (Value::Null, true),
    ] {
        assert_eq!(parsed(&filter).matches(&memory()), holds, "{filter}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_its_path() {
    let deep = (0..100).fold(json!({"a": 1}), |inner, _| json!({"NOT": inner}));
    let wide = json!({"OR": vec![json!({"a": 1}); 1000]});
    for (filter, part) in [
        (json!(7), "filters: a filter is an object, not a number"),
        (json!({"AND": {"a": 1}}), "filters.AND: a list of filters"),
        (
            json!({"and": [{"a": 1}]}),
            "filters.and: unknown connective \"and\"",
        ),
        (
            json!({"a": {"like": 1}}),
            "filters.a.like: unknown operator \"like\"",
        ),
        (
            json!({"field": "a", "operator": "has", "value": 1}),
            "filters.operator: unknown operator \"has\"",
        ),
        (
            json!({"field": 7, "operator": "eq", "value": 1}),
            "filters.field: a field is a text",
        ),
        (
            json!({"field": "a", "value": 1}),
            "filters.operator: an operator is a text",
        ),
        (
            json!({"field": "a", "operator": "eq", "value": 1, "x": 1}),
            "filters.x:",
        ),
        (
            json!({"a": {"in": 7}}),
            "filters.a.in: it needs a list, not a number",
        ),
        (json!({"a": {"in": [[]]}}), "filters.a.in:"),
        (json!({"a": {"gt": true}}), "filters.a.gt:"),
        (json!({"a": {}}), "filters.a: it has no operator"),
        (
            json!({"created_at": {"gt": "soon"}}),
            "filters.created_at.gt:",
        ),
        (json!({"a..b": 1}), "an empty part"),
        (deep, "the depth of filters"),
        (wide, "the parts of filters"),
    ] {
        let error = FactFilter::parse(&filter).unwrap_err().to_string();
        assert!(error.contains(part), "{filter}: {error}");
    }
}

#[test]
fn every_branch_names_a_scope() {
    for (filter, branch) in [
        (json!({"user_id": "a"}), ""),
        (json!({"user_id": ["a", "b"]}), ""),
        (json!({"AND": [{"tag": "x"}, {"run_id": "r"}]}), ""),
        (
            json!({"OR": [{"user_id": "a"}, {"AND": [{"agent_id": "b"}, {"n": 1}]}]}),
            "",
        ),
        (
            json!({"AND": [{"user_id": "a"}, {"NOT": {"user_id": "b"}}]}),
            "",
        ),
        (
            json!({"OR": [{"user_id": "a"}, {"tag": "x"}]}),
            "filters.OR[1]",
        ),
        (json!({"NOT": {"user_id": "a"}}), "filters.NOT"),
        (json!({"user_id": "*"}), "filters"),
        (json!({"user_id": {"ne": "a"}}), "filters"),
        (json!({"user_id": {"in": []}}), "filters"),
        (json!({"user_id": {"contains": "a"}}), "filters"),
        (json!({"metadata.user_id": "a"}), "filters"),
        (json!({"OR": []}), "filters"),
        (json!({}), "filters"),
    ] {
        match parsed(&filter).check_scoped() {
            Ok(()) => assert_eq!(branch, "", "{filter}"),
            Err(Error::UnscopedFilter { branch: found }) => assert_eq!(found, branch, "{filter}"),
            Err(other) => panic!("{filter}: {other}"),
        }
    }
    let bound = parsed(&json!({"OR": [{"tag": "work"}]})).within(&FactScope::user("alice"));
    assert!(bound.check_scoped().is_ok() && bound.matches(&memory()));
    assert!(
        !FactFilter::ALL
            .within(&FactScope::user("bob"))
            .matches(&memory())
    );
}

/// A small world: three fields of the scope or metadata with two values, or missing.
fn worlds() -> Vec<Value> {
    let values = [Value::Null, json!("a"), json!("b")];
    let mut out = Vec::new();
    for user in &values {
        for run in &values {
            for tag in &values {
                out.push(json!({"user_id": user, "run_id": run, "tag": tag}));
            }
        }
    }
    out
}

/// A condition, and what it means without the code under test.
type Naive = fn(Option<&str>, &str) -> bool;

fn any_filter() -> impl Strategy<Value = Value> {
    let field = prop::sample::select(vec!["user_id", "run_id", "tag"]);
    let value = prop::sample::select(vec!["a", "b"]);
    let op = prop::sample::select(vec!["eq", "ne", "in", "nin", "*", "short"]);
    let leaf = (field, value, op).prop_map(|(field, value, op)| match op {
        "in" | "nin" => json!({"field": field, "operator": op, "value": [value]}),
        "*" => json!({field: "*"}),
        "short" => json!({field: value}),
        _ => json!({field: {op: value}}),
    });
    leaf.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            list.clone().prop_map(|list| json!({"AND": list})),
            list.clone().prop_map(|list| json!({"OR": list})),
            list.prop_map(|list| json!({"NOT": list})),
            inner.prop_map(|one| json!({"NOT": one})),
        ]
    })
}

/// The meaning of a filter's JSON, written out.
fn naive(filter: &Value, world: &Value) -> bool {
    let object = filter.as_object().unwrap();
    if let Some(field) = object.get("field") {
        let found = world[field.as_str().unwrap()].as_str();
        let wanted = object["value"][0].as_str().unwrap();
        let is: Naive = if object["operator"] == "in" {
            |found, wanted| found == Some(wanted)
        } else {
            |found, wanted| found != Some(wanted)
        };
        return is(found, wanted);
    }
    let (key, value) = object.iter().next().unwrap();
    let all = || value.as_array().unwrap().iter();
    match (key.as_str(), value) {
        ("AND", _) => all().all(|one| naive(one, world)),
        ("OR", _) => all().any(|one| naive(one, world)),
        ("NOT", Value::Array(_)) => !all().any(|one| naive(one, world)),
        ("NOT", _) => !naive(value, world),
        (field, Value::String(text)) if text == "*" => world[field].is_string(),
        (field, Value::String(text)) => world[field].as_str() == Some(text),
        (field, _) if value.get("eq").is_some() => world[field] == value["eq"],
        (field, _) => world[field] != value["ne"],
    }
}

proptest! {
    #[test]
    fn a_filter_means_what_its_json_says(filter in any_filter()) {
        let parsed = parsed(&filter);
        prop_assert_eq!(&FactFilter::parse(&parsed.to_json()).unwrap(), &parsed);
        for world in worlds() {
            prop_assert_eq!(parsed.matches(&world), naive(&filter, &world), "{} on {}", filter, world);
        }
    }

    /// A scoped filter never matches a memory without any field of the scope.
    #[test]
    fn a_scoped_filter_shows_nothing_outside_of_scopes(filter in any_filter()) {
        let parsed = parsed(&filter);
        if parsed.check_scoped().is_ok() {
            for world in worlds() {
                let is_outside = SCOPE_FIELDS.iter().all(|field| world.get(*field).is_none_or(Value::is_null));
                prop_assert!(!is_outside || !parsed.matches(&world), "{} on {}", filter, world);
            }
        }
    }

    #[test]
    fn no_filter_panics(key in "\\PC{0,8}|AND|OR|NOT|field|operator|value", value in "\\PC{0,8}", number in any::<i64>()) {
        for filter in [json!({&key: &value}), json!({&key: [{&value: number}]}), json!({&key: {&value: number}}), json!([key, value])] {
            if let Ok(parsed) = FactFilter::parse(&filter) {
                let _ = (parsed.matches(&memory()), parsed.check_scoped());
            }
        }
    }
}
