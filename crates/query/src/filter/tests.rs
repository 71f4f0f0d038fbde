//! Filters against one event, row by row.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Value, json};

use super::*;
use crate::limits::{FILTER_DEPTH_MAX, FILTER_NODES_MAX, FILTER_VALUES_MAX};
use crate::time;
use crate::time_phrase::Clock;
use amem_format::Error;
use amem_format::attributes;
use amem_format::error::Result;
use amem_format::event::Attributes;
use amem_format::types::{EventType, Micros, NodeId, SessionId};

/// An event that counts how often its costly parts are read.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) attributes: Option<Attributes>,
    event_time: Option<Micros>,
    confidence: f32,
    text_reads: Cell<u32>,
    attribute_reads: Cell<u32>,
}

impl Sample {
    pub(super) fn new(attributes: Value) -> Self {
        Self {
            attributes: attributes.as_object().cloned(),
            event_time: None,
            confidence: 0.9,
            text_reads: Cell::new(0),
            attribute_reads: Cell::new(0),
        }
    }
}

impl Subject for Sample {
    fn id(&self) -> NodeId {
        NodeId(7)
    }

    fn event_type(&self) -> EventType {
        EventType::DECISION
    }

    fn session(&self) -> SessionId {
        SessionId(3)
    }

    fn confidence(&self) -> f32 {
        self.confidence
    }

    fn strength(&self) -> f32 {
        0.25
    }

    fn created_at(&self) -> Micros {
        time::parse("2024-05-01T12:00:00Z").unwrap()
    }

    fn event_time(&self) -> Result<Option<Micros>> {
        Ok(self.event_time)
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        self.text_reads.set(self.text_reads.get() + 1);
        Ok("We chose the Straße variant".into())
    }

    fn attributes(&self) -> Result<Option<Attributes>> {
        self.attribute_reads.set(self.attribute_reads.get() + 1);
        Ok(self.attributes.clone())
    }
}

fn sample() -> Sample {
    Sample::new(json!({
        "n": 5, "f": 0.9, "big": 9_007_199_254_740_993_u64, "max": u64::MAX, "neg": i64::MIN,
        "s": "beta", "b": true, "null": null, "empty": [], "object": {"x": 1},
        "tags": ["red", "Green", 3], "grid": [[1, 2], [3]],
        "people": [{"name": "Ann", "age": 31}, {"name": "Bob", "age": 9}, "nobody"],
        "a": {"b": {"c": 1}, "b.c": 2}, "a.b": {"c": 3}, "amem.origin_id": 12,
        "type": "mine", "and": 1, "field": "x", "attributes": {"type": "inner"},
        "when": "2024-05-01T14:00:00+02:00", "city": "İstanbul",
    }))
}

pub(super) fn matches(filter: &Value, subject: &Sample) -> bool {
    let parsed = Filter::parse(filter).unwrap_or_else(|e| panic!("{filter}: {e}"));
    parsed.matches(subject).unwrap()
}

fn check(expected: bool, filters: impl IntoIterator<Item = Value>) {
    let subject = sample();
    for filter in filters {
        assert_eq!(matches(&filter, &subject), expected, "{filter}");
    }
}

#[test]
fn attributes_compare_by_their_kind() {
    check(
        true,
        [
            json!({"n": 5}),
            json!({"n": 5.0}),
            json!({"n": {"ne": 6}}),
            json!({"n": {"gt": 4.5, "lte": 5}}),
            json!({"n": {"in": [1, "5", 5, null]}}),
            json!({"n": {"nin": [1, "5"]}}),
            json!({"f": {"eq": 0.9}}),
            json!({"big": 9_007_199_254_740_993_u64}),
            json!({"big": {"gt": 9_007_199_254_740_992.0}}),
            json!({"max": {"gt": -1}}),
            json!({"neg": {"lt": 0.5}}),
            json!({"s": {"gt": "alpha", "lt": "betb"}}),
            json!({"s": {"gt": "Z"}}),
            json!({"s": {"contains": "et", "icontains": "ET"}}),
            json!({"s": {"contains": ""}}),
            json!({"b": true}),
            json!({"null": null}),
            json!({"city": {"icontains": "ISTAN"}}),
            json!({"amem.origin_id": 12}),
            json!({"field": "n", "op": "gte", "value": 5}),
            json!({"field": "field", "op": "eq", "value": "x"}),
        ],
    );
    check(
        false,
        [
            json!({"n": 6}),
            json!({"n": {"ne": 5.0}}),
            json!({"n": {"gt": 5}}),
            json!({"n": {"in": []}}),
            json!({"n": {"nin": [5.0]}}),
            json!({"big": 9_007_199_254_740_992_u64}),
            json!({"big": 9_007_199_254_740_992.0}),
            json!({"max": 18_446_744_073_709_551_616.0}),
            json!({"s": {"contains": "ET"}}),
            json!({"b": false}),
            json!({"null": {"ne": null}}),
            // As strings, one instant written in two ways is two values.
            json!({"when": "2024-05-01T12:00:00Z"}),
        ],
    );
}

#[test]
fn another_kind_or_nothing_is_false_but_true_for_ne_and_nin() {
    for field in ["s", "b", "null", "empty", "object", "missing", "s.x", "n.5"] {
        for op in ["eq", "gt", "gte", "lt", "lte"] {
            check(false, [json!({field: {op: 0}})]);
        }
        check(false, [json!({field: {"in": [0, 1]}})]);
        check(
            true,
            [json!({field: {"ne": 0}}), json!({field: {"nin": [0, 1]}})],
        );
    }
    for field in ["n", "b", "null", "empty", "object", "missing"] {
        check(
            false,
            [
                json!({field: {"contains": "1"}}),
                json!({field: {"icontains": ""}}),
            ],
        );
    }
    check(false, [json!({"missing": null}), json!({"object": "x"})]);
    let bare = Sample::new(Value::Null);
    assert!(!matches(&json!({"n": 5}), &bare));
    assert!(matches(&json!({"n": {"ne": 5}}), &bare));
}

#[test]
fn arrays_match_by_any_element() {
    check(
        true,
        [
            json!({"tags": "red"}),
            json!({"tags": 3}),
            json!({"tags": {"contains": "ree"}}),
            json!({"tags": {"icontains": "gREEN"}}),
            json!({"tags": {"ne": "blue"}}),
            json!({"tags": {"nin": ["blue", 4]}}),
            json!({"grid": 2}),
            json!({"grid": {"gt": 2}}),
            json!({"people.name": "Bob"}),
            // Two conditions may hold for two elements.
            json!({"people.name": "Bob", "people.age": {"gt": 30}}),
        ],
    );
    check(
        false,
        [
            json!({"tags": "green"}),
            json!({"tags": {"ne": "red"}}),
            json!({"tags": {"nin": ["blue", 3]}}),
            json!({"grid": 4}),
            json!({"people": "Bob"}),
            json!({"people.name.first": "Bob"}),
        ],
    );
}

#[test]
fn a_path_follows_keys_that_contain_dots() {
    check(
        true,
        [
            json!({"a.b.c": 1}),
            json!({"a.b.c": 2}),
            json!({"a.b.c": 3}),
        ],
    );
    check(
        false,
        [
            json!({"a.b.c": 4}),
            json!({"a.b": 3}),
            json!({"a.bc": 1}),
            json!({"abb.c": 1}),
            json!({"objectx": 1}),
            json!({"a.": 1}),
        ],
    );
}

#[test]
fn fields_of_the_record_win_and_attributes_have_an_escape() {
    check(
        true,
        [
            json!({"id": 7}),
            json!({"id": {"gt": 6.5, "in": [7, 9]}}),
            json!({"type": "decision"}),
            json!({"type": {"in": ["fact", "decision"], "ne": "type-9"}}),
            json!({"session": {"lte": 3}}),
            json!({"confidence": 0.9}),
            json!({"confidence": {"gte": 0.9, "lte": 0.9, "in": [0.1, 0.9]}}),
            json!({"confidence": {"lt": 1e300}}),
            json!({"strength": {"lt": 0.5}}),
            json!({"text": {"contains": "Straße", "icontains": "STRASSE V"}}),
            json!({"attributes.type": "mine"}),
            json!({"attributes.and": 1}),
            json!({"attributes.n": 5}),
            json!({"attributes.attributes.type": "inner"}),
        ],
    );
    check(
        false,
        [
            json!({"id": {"nin": [7]}}),
            json!({"type": "fact"}),
            json!({"confidence": {"gt": 0.9}}),
            json!({"text": "we chose"}),
        ],
    );
}

#[test]
fn times_compare_as_instants() {
    check(
        true,
        [
            json!({"created_at": "2024-05-01T14:00:00+02:00"}),
            json!({"created_at": {"gt": "2024-05-01T11:59:59.999999Z", "lt": "2024-05-01T12:00:00.000001Z"}}),
            json!({"happened_at": "2024-05-01T12:00:00Z"}),
            json!({"event_time": {"ne": "2024-05-01T12:00:00Z"}}),
        ],
    );
    check(
        false,
        [
            json!({"created_at": {"ne": "2024-05-01T14:00:00+02:00"}}),
            json!({"event_time": {"lt": "2030-01-01T00:00:00Z"}}),
        ],
    );
    let mut dated = sample();
    dated.event_time = Some(Micros(0));
    for field in ["event_time", "happened_at"] {
        assert!(matches(&json!({field: "1970-01-01T00:00:00Z"}), &dated));
    }
}

#[test]
fn connectives_combine() {
    check(
        true,
        [
            json!({}),
            json!({"and": []}),
            json!({"not": {"or": []}}),
            json!({"and": [{"n": 5}, {"not": {"n": 6}}], "or": [{"n": 6}, {"s": "beta"}]}),
        ],
    );
    check(
        false,
        [
            json!({"or": []}),
            json!({"not": {}}),
            json!({"n": 5, "s": "gamma"}),
            json!({"and": [{"n": 5}], "or": [{"n": 6}]}),
        ],
    );
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (filter, why) in [
        (
            json!(3),
            "at the top: a number, where a filter must be an object",
        ),
        (
            json!({"and": {"n": 5}}),
            "at \"and\": an object, where a list",
        ),
        (
            json!({"and": [{}, 3]}),
            "at \"and[1]\": a number, where a filter",
        ),
        (
            json!({"not": [{"n": 5}]}),
            "at \"not\": an array, where a filter",
        ),
        (
            json!({"or": [{"not": {"a.b": {"gte": {}}}}]}),
            "at \"or[0].not.a.b.gte\": gte on a.b takes a number or a string, not an object",
        ),
        (json!({"n": {}}), "at \"n\": no operator"),
        (
            json!({"n": {"like": 3}}),
            "at \"n.like\": unknown operator \"like\"",
        ),
        (
            json!({"n": [5]}),
            "at \"n\": eq on n takes one value (for any of a list, use in), not an array",
        ),
        (json!({"n": {"ne": {"x": 1}}}), "not an object"),
        (
            json!({"n": {"gt": true}}),
            "gt on n takes a number or a string, not a boolean",
        ),
        (json!({"n": {"lte": null}}), "not null"),
        (
            json!({"n": {"in": 5}}),
            "at \"n.in\": in takes a list, not a number",
        ),
        (
            json!({"n": {"nin": [5, [6]]}}),
            "at \"n.nin[1]\": nin on n takes null, a boolean",
        ),
        (
            json!({"n": {"icontains": 5}}),
            "icontains on n takes a string, not a number",
        ),
        (
            json!({"text": {"contains": null}}),
            "contains on text takes a string, not null",
        ),
        (
            json!({"text": 5}),
            "eq on text takes a string, not a number",
        ),
        (
            json!({"confidence": "high"}),
            "eq on confidence takes a number, not a string",
        ),
        (
            json!({"id": {"contains": "7"}}),
            "contains looks for part of a string: id takes eq",
        ),
        (json!({"created_at": 5}), "1 digits are not a time"),
        (json!({"created_at": true}), "takes a time, such as 2024"),
        (
            json!({"created_at": {"gte": "2024"}}),
            "at \"created_at.gte\": time: \"2024\": it has no offset",
        ),
        (
            json!({"type": {"in": ["fact", "fax"]}}),
            "at \"type.in[1]\": unknown type \"fax\"; there are fact, decision",
        ),
        (json!({"type": {"gt": "fact"}}), "types have no order"),
        (json!({"": 1}), "an empty name"),
        (json!({"attributes.": 1}), "an empty name"),
        (
            json!({"field": "n", "op": "eq"}),
            "at the top: a condition without \"value\"",
        ),
        (
            json!({"field": "n", "value": 1}),
            "a condition without \"op\"",
        ),
        (
            json!({"field": 1, "op": "eq", "value": 1}),
            "at \"field\": a number, where a string",
        ),
        (
            json!({"field": "n", "op": "=", "value": 1}),
            "at \"op\": unknown operator \"=\"",
        ),
        (
            json!({"field": "n", "op": "eq", "value": 1, "n": 2}),
            "at \"n\": unknown beside field",
        ),
    ] {
        match Filter::parse(&filter) {
            Ok(parsed) => panic!("{filter} was taken as {parsed:?}"),
            Err(error) => assert!(error.to_string().contains(why), "{filter}: {error}"),
        }
    }
}

#[test]
fn the_limit_on_parts_bounds_width_and_depth() {
    let wide = |n: usize| json!({"and": vec![json!({"n": 5}); n - 1]});
    let deep = |n: usize| (1..n).fold(json!({"n": 5}), |f, _| json!({"not": f}));
    let empty = |n: usize| json!({"or": vec![json!({}); n - 1]});
    for make in [&wide as &dyn Fn(usize) -> Value, &deep, &empty] {
        let largest = Filter::parse(&make(FILTER_NODES_MAX)).unwrap();
        assert_eq!(Filter::parse(&largest.to_json()).unwrap(), largest);
        for more in [FILTER_NODES_MAX + 1, FILTER_NODES_MAX * 2] {
            let error = Filter::parse(&make(more)).unwrap_err();
            assert!(
                matches!(
                    error,
                    Error::Limit {
                        value: 257,
                        max: 256,
                        ..
                    }
                ),
                "{error}"
            );
        }
    }
}

#[test]
fn a_filter_deeper_than_its_limit_is_refused_by_the_limit() {
    let deep = |n: usize| {
        format!(
            "{}{{\"n\":5}}{}",
            "{\"not\":".repeat(n - 1),
            "}".repeat(n - 1)
        )
    };
    Filter::parse_text(&deep(FILTER_DEPTH_MAX), &Clock::default()).unwrap();
    Filter::parse_text(r#"{"text": {"contains": "[[[\\\"[[["}}"#, &Clock::default()).unwrap();
    for more in [FILTER_DEPTH_MAX + 1, 255, 100_000] {
        let error = Filter::parse_text(&deep(more), &Clock::default()).unwrap_err();
        let is_limit = matches!(error, Error::Limit { max: 127, .. });
        assert!(is_limit, "{more}: {error}");
    }
}

#[test]
fn the_limit_on_values_counts_all_lists() {
    let lists = |n: usize| json!({"n": {"in": vec![5; n], "nin": [6]}});
    assert!(matches(&lists(FILTER_VALUES_MAX - 1), &sample()));
    let error = Filter::parse(&lists(FILTER_VALUES_MAX)).unwrap_err();
    assert!(
        matches!(error, Error::Limit { value: 10_001, .. }),
        "{error}"
    );
}

#[test]
fn costly_parts_are_read_once_and_only_when_needed() {
    let subject = sample();
    assert!(!matches(&json!({"id": 8, "n": 5, "text": "x"}), &subject));
    assert_eq!(
        (subject.text_reads.get(), subject.attribute_reads.get()),
        (0, 0)
    );
    let filter = json!({"n": 5, "s": "beta", "text": {"contains": "We", "icontains": "we"}});
    assert!(matches(&filter, &subject));
    assert_eq!(
        (subject.text_reads.get(), subject.attribute_reads.get()),
        (1, 1)
    );
}

#[test]
fn an_event_that_cannot_be_read_is_an_error() {
    struct DamagedSubject(Sample);
    impl Subject for DamagedSubject {
        fn id(&self) -> NodeId {
            self.0.id()
        }
        fn event_type(&self) -> EventType {
            self.0.event_type()
        }
        fn session(&self) -> SessionId {
            self.0.session()
        }
        fn confidence(&self) -> f32 {
            f32::NAN
        }
        fn strength(&self) -> f32 {
            self.0.strength()
        }
        fn created_at(&self) -> Micros {
            self.0.created_at()
        }
        fn event_time(&self) -> Result<Option<Micros>> {
            Ok(None)
        }
        fn text(&self) -> Result<Cow<'_, str>> {
            Err(Error::corrupt("content", 1, "not LZ4"))
        }
        fn attributes(&self) -> Result<Option<Attributes>> {
            attributes::parse("[]").map(Some)
        }
    }
    let damaged = DamagedSubject(sample());
    for filter in [
        json!({"text": "x"}),
        json!({"not": {"text": "x"}}),
        json!({"n": {"ne": 1}}),
    ] {
        assert!(
            Filter::parse(&filter).unwrap().matches(&damaged).is_err(),
            "{filter}"
        );
    }
    for op in ["eq", "gt", "gte", "lt", "lte"] {
        let filter = Filter::parse(&json!({"confidence": {op: 0.5}})).unwrap();
        assert!(!filter.matches(&damaged).unwrap(), "{op}");
    }
}

#[test]
fn a_span_of_time_equals_every_instant_in_it() {
    // The sample was recorded on Wednesday 1 May 2024, at noon in UTC, 05:00 in Los Angeles.
    let zone = crate::time_phrase::zone_named("America/Los_Angeles").unwrap();
    let at = |filter: &Value, now: &str| {
        let clock = Clock::new(time::parse(now).unwrap(), zone.clone());
        let filter = Filter::parse_at(filter, &clock).unwrap_or_else(|e| panic!("{filter}: {e}"));
        let again = Filter::parse(&filter.to_json()).unwrap();
        assert_eq!(again, filter, "what is sent means the same");
        filter.matches(&sample()).unwrap()
    };
    let now = "2024-05-02T06:59:00Z";
    for (operand, expected) in [
        (json!("today"), true),
        (json!("this morning"), false),
        (json!("yesterday"), false),
        (json!("last night"), true),
        (json!("2024-05"), true),
        (json!({"ne": "today"}), false),
        (json!({"ne": "yesterday"}), true),
        (json!({"in": ["yesterday", "today"]}), true),
        (json!({"in": ["yesterday", "2024-05-01T12:00:00Z"]}), true),
        (json!({"nin": ["yesterday", "tomorrow"]}), true),
        (json!({"gt": "yesterday"}), true),
        (json!({"gt": "today"}), false),
        (json!({"gte": "today"}), true),
        (json!({"lte": "today"}), true),
        (json!({"lt": "today"}), false),
        (json!({"lte": "9998"}), true),
        (json!({"gte": "20 hours ago"}), true),
        (json!({"gte": "18 hours ago"}), false),
        (json!({"gt": "1714564799"}), true),
        (json!("1714564800000"), true),
    ] {
        assert_eq!(
            at(&json!({"created_at": operand}), now),
            expected,
            "{operand}"
        );
    }
    // A minute later it is another day there.
    assert!(!at(&json!({"created_at": "today"}), "2024-05-02T07:00:00Z"));
    // Texts of attributes stay texts.
    assert!(!at(&json!({"when": "today"}), now));
    for filter in [
        json!({"created_at": "today"}),
        json!({"created_at": {"in": ["2024-05-01"]}}),
    ] {
        let error = Filter::parse(&filter).unwrap_err().to_string();
        assert!(error.contains("the request must say"), "{error}");
    }
    let many = vec!["today"; FILTER_NODES_MAX];
    let clock = Clock::new(time::parse(now).unwrap(), zone);
    let error = Filter::parse_at(&json!({"created_at": {"in": many}}), &clock).unwrap_err();
    assert!(error.to_string().contains("parts"), "{error}");
}
