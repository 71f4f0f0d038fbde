//! The laws that hold for any filter and any event.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Filter;
use super::tests::{Sample, matches};

fn scalars() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..3_i64).prop_map(Value::from),
        (-4..5_i32).prop_map(|n| Value::from(f64::from(n) / 2.0)),
        prop::sample::select(vec![i64::MAX, i64::MAX - 1, i64::MIN]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "A", "ab", "ß", "SS", "İ"]).prop_map(Value::from),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    scalars().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((keys(), inner), 0..3)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn keys() -> impl Strategy<Value = String> {
    "[xy](\\.[xy])?"
}

fn subjects() -> impl Strategy<Value = Sample> {
    prop::collection::vec((keys(), values()), 0..4)
        .prop_map(|entries| Sample::new(Value::Object(entries.into_iter().collect())))
}

fn conditions() -> impl Strategy<Value = Value> {
    let path = "[xy](\\.[xy]){0,2}";
    let comparable = scalars().prop_filter("has an order", |v| v.is_number() || v.is_string());
    prop_oneof![
        (path, prop::sample::select(vec!["eq", "ne"]), scalars()),
        (
            path,
            prop::sample::select(vec!["gt", "gte", "lt", "lte"]),
            comparable
        ),
        (
            path,
            prop::sample::select(vec!["contains", "icontains"]),
            "[abAß]{0,2}".prop_map(Value::from)
        ),
        (
            path,
            prop::sample::select(vec!["in", "nin"]),
            prop::collection::vec(scalars(), 0..4).prop_map(Value::from)
        ),
    ]
    .prop_map(|(field, op, value)| json!({"field": field, "op": op, "value": value}))
}

fn filters() -> impl Strategy<Value = Value> {
    conditions().prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| json!({"and": all})),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|any| json!({"or": any})),
            inner.prop_map(|not| json!({"not": not})),
        ]
    })
}

fn condition(path: &str, op: &str, value: impl Into<Value>) -> Value {
    json!({path: {op: value.into()}})
}

proptest! {
    #[test]
    fn not_not_changes_nothing(f in filters(), s in subjects()) {
        prop_assert_eq!(matches(&json!({"not": {"not": f}}), &s), matches(&f, &s));
        prop_assert_eq!(matches(&json!({"not": f}), &s), !matches(&f, &s));
    }

    #[test]
    fn de_morgan_holds(a in filters(), b in filters(), s in subjects()) {
        prop_assert_eq!(
            matches(&json!({"not": {"and": [a, b]}}), &s),
            matches(&json!({"or": [{"not": a}, {"not": b}]}), &s)
        );
        prop_assert_eq!(
            matches(&json!({"not": {"or": [a, b]}}), &s),
            matches(&json!({"and": [{"not": a}, {"not": b}]}), &s)
        );
    }

    #[test]
    fn in_is_an_or_of_eq(
        path in "[xy](\\.[xy])?", list in prop::collection::vec(scalars(), 0..6), s in subjects(),
    ) {
        let each: Vec<_> = list.iter().map(|v| condition(&path, "eq", v.clone())).collect();
        let is_in = matches(&condition(&path, "in", list.clone()), &s);
        prop_assert_eq!(is_in, matches(&json!({"or": each}), &s));
        prop_assert_eq!(!is_in, matches(&condition(&path, "nin", list), &s));
    }

    #[test]
    fn operators_agree_with_each_other(path in "[xy](\\.[xy])?", v in scalars(), s in subjects()) {
        let is = |op| matches(&condition(&path, op, v.clone()), &s);
        prop_assert_eq!(is("ne"), !is("eq"));
        if v.is_number() || v.is_string() {
            prop_assert_eq!(is("gte"), is("gt") || is("eq"));
            prop_assert_eq!(is("lte"), is("lt") || is("eq"));
        }
        if v.is_string() {
            prop_assert!(!is("eq") || is("contains"));
            prop_assert!(!is("contains") || is("icontains"));
        }
    }

    #[test]
    fn a_filter_equals_its_json(f in filters(), s in subjects()) {
        let parsed = Filter::parse(&f).unwrap();
        let again = Filter::parse(&parsed.to_json()).unwrap();
        prop_assert_eq!(&again, &parsed);
        prop_assert_eq!(again.matches(&s).unwrap(), parsed.matches(&s).unwrap());
    }

    #[test]
    fn a_path_finds_what_a_naive_walk_finds(path in "[xy](\\.[xy]){0,3}", v in scalars(), s in subjects()) {
        let mut leaves = Vec::new();
        let attributes = s.attributes.clone().unwrap();
        list_leaves(&Value::Object(attributes), "", &mut leaves);
        let expected = leaves.iter().any(|(at, leaf)| *at == path && is_equal(leaf, &v));
        prop_assert_eq!(matches(&condition(&path, "eq", v), &s), expected);
    }

    #[test]
    fn no_json_panics(value in values()) {
        let _ = Filter::parse(&value);
    }
}

/// Every scalar with its path, as text.
fn list_leaves(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|e| list_leaves(e, path, leaves)),
        Value::Object(object) => {
            for (key, value) in object {
                let dot = if path.is_empty() { "" } else { "." };
                list_leaves(value, &format!("{path}{dot}{key}"), leaves);
            }
        }
        _ => leaves.push((path.to_owned(), value.clone())),
    }
}

/// Equality of the values that `scalars` makes.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => a == b,
        _ if a.is_number() && b.is_number() => a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}
