//! Parsing filters from JSON.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::case::fold;
use super::condition::{Condition, FieldKind, FilterField, Operand, Operator};
use super::scalar::Scalar;
use super::time_span;
use super::tree::Filter;
use crate::limits::{FILTER_DEPTH_MAX, FILTER_NODES_MAX, FILTER_VALUES_MAX};
use crate::time_phrase::{Clock, parse_phrase};
use amem_format::attributes::Number;
use amem_format::attributes::json_path::{JsonPath, kind_of, shortened};
use amem_format::error::{Error, Result};
use amem_format::types::EventType;

impl Filter {
    /// Parses the JSON text of a filter; its times may refer to a clock, such as "last Tuesday".
    pub fn parse_text(json: &str, clock: &Clock) -> Result<Self> {
        let depth = depth(json) as u64;
        Error::check_limit("the depth of a filter", depth, FILTER_DEPTH_MAX as u64)?;
        let value = serde_json::from_str(json)
            .map_err(|e| Error::invalid("filter_json", format!("not JSON: {e}")))?;
        Self::parse_at(&value, clock)
    }

    /// Parses a filter; errors name the path of what is wrong. Its times do not depend on a clock.
    pub fn parse(value: &Value) -> Result<Self> {
        Self::parse_at(value, &Clock::default())
    }

    /// Parses a filter whose times may refer to a clock, such as "last Tuesday".
    pub fn parse_at(value: &Value, clock: &Clock) -> Result<Self> {
        let mut parser = Parser {
            clock,
            nodes: 0,
            values: 0,
        };
        parser.filter(value, &JsonPath::Top)
    }
}

/// Objects and lists inside each other, at the deepest place of a JSON text.
fn depth(json: &str) -> usize {
    let (mut depth, mut max, mut in_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                max = max.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    max
}

/// Parses filters and counts their parts.
struct Parser<'c> {
    clock: &'c Clock,
    nodes: usize,
    values: usize,
}

impl Parser<'_> {
    /// Parses a filter at a path.
    fn filter(&mut self, value: &Value, place: &JsonPath<'_>) -> Result<Filter> {
        let Value::Object(object) = value else {
            return Err(bad(
                place,
                format!("{}, where a filter must be an object", kind_of(value)),
            ));
        };
        if object.contains_key("field") {
            return self.explicit(object, place);
        }
        self.all(object, place, Self::entry)
    }

    /// `{"field": "a.b", "op": "gte", "value": 3}`
    fn explicit(&mut self, object: &Map<String, Value>, place: &JsonPath<'_>) -> Result<Filter> {
        if let Some(key) = object
            .keys()
            .find(|k| !["field", "op", "value"].contains(&k.as_str()))
        {
            return Err(bad(
                &place.key(key),
                "unknown beside field, op and value; an attribute named field is attributes.field",
            ));
        }
        let part = |key| {
            object
                .get(key)
                .ok_or_else(|| bad(place, format!("a condition without {key:?}")))
        };
        let name = |key| {
            let value = part(key)?;
            value.as_str().ok_or_else(|| {
                bad(
                    &place.key(key),
                    format!("{}, where a string must be", kind_of(value)),
                )
            })
        };
        let field = named_field(name("field")?, &place.key("field"))?;
        let op = named_op(name("op")?, &place.key("op"))?;
        self.condition(field, op, part("value")?, &place.key("value"))
    }

    /// One entry of an object: a connective, or shorthand for a field.
    fn entry(&mut self, key: &str, value: &Value, place: &JsonPath<'_>) -> Result<Filter> {
        match key {
            "and" => Ok(Filter::And(self.list(value, place)?)),
            "or" => Ok(Filter::Or(self.list(value, place)?)),
            "not" => {
                self.count_node()?;
                Ok(Filter::Not(Box::new(self.filter(value, place)?)))
            }
            _ => self.shorthand(named_field(key, place)?, value, place),
        }
    }

    fn list(&mut self, value: &Value, place: &JsonPath<'_>) -> Result<Vec<Filter>> {
        self.count_node()?;
        let Value::Array(filters) = value else {
            return Err(bad(
                place,
                format!("{}, where a list of filters must be", kind_of(value)),
            ));
        };
        let filters = filters.iter().enumerate();
        filters
            .map(|(i, filter)| self.filter(filter, &place.index(i)))
            .collect()
    }

    /// `3`, or `{"gte": 3, "lt": 9}`
    fn shorthand(
        &mut self,
        field: FilterField,
        value: &Value,
        place: &JsonPath<'_>,
    ) -> Result<Filter> {
        let Value::Object(ops) = value else {
            return self.condition(field, Operator::Eq, value, place);
        };
        if ops.is_empty() {
            return Err(bad(place, "no operator; give one, as in {\"gte\": 3}"));
        }
        self.all(ops, place, |parser, name, value, place| {
            parser.condition(field.clone(), named_op(name, place)?, value, place)
        })
    }

    /// The conjunction of an object's entries.
    fn all(
        &mut self,
        object: &Map<String, Value>,
        place: &JsonPath<'_>,
        each: impl Fn(&mut Self, &str, &Value, &JsonPath<'_>) -> Result<Filter>,
    ) -> Result<Filter> {
        if object.len() != 1 {
            self.count_node()?;
        }
        let entries = object.iter();
        let mut filters = entries
            .map(|(key, value)| each(self, key, value, &place.key(key)))
            .collect::<Result<Vec<_>>>()?;
        Ok(match filters.len() {
            1 => filters.remove(0),
            _ => Filter::And(filters),
        })
    }

    fn condition(
        &mut self,
        field: FilterField,
        op: Operator,
        value: &Value,
        place: &JsonPath<'_>,
    ) -> Result<Filter> {
        self.count_node()?;
        if field.kind() == FieldKind::Time
            && let Some(spans) = self.time_spans(&field, op, value, place)?
        {
            return Ok(spans);
        }
        let operand = match (op, value) {
            (Operator::In | Operator::Nin, Value::Array(values)) => {
                self.values += values.len();
                limit(
                    "the number of values in a filter's lists",
                    self.values,
                    FILTER_VALUES_MAX,
                )?;
                let values = values.iter().enumerate();
                Operand::many(
                    values
                        .map(|(i, value)| scalar(&field, op, value, &place.index(i), self.clock))
                        .collect::<Result<_>>()?,
                )
            }
            (Operator::In | Operator::Nin, _) => {
                let (op, kind) = (op.name(), kind_of(value));
                return Err(bad(place, format!("{op} takes a list, not {kind}")));
            }
            _ => Operand::One(scalar(&field, op, value, place, self.clock)?),
        };
        Ok(Filter::Condition(Condition { field, op, operand }))
    }

    /// The condition on a time field if an operand names a span of time, such as a day.
    fn time_spans(
        &mut self,
        field: &FilterField,
        op: Operator,
        value: &Value,
        place: &JsonPath<'_>,
    ) -> Result<Option<Filter>> {
        let named = |text: &str, place: &JsonPath<'_>| {
            parse_phrase(text, self.clock).map_err(|e| bad(place, e.to_string()))
        };
        let filter = match (op, value) {
            (Operator::In | Operator::Nin, Value::Array(values)) => {
                limit(
                    "the number of values in a filter's lists",
                    self.values.saturating_add(values.len()),
                    FILTER_VALUES_MAX,
                )?;
                let texts = values.iter().enumerate();
                // A value that is no time is refused as such later.
                let texts = texts.filter_map(|(i, value)| Some((i, time_text(value)?)));
                let times = texts.map(|(i, text)| named(&text, &place.index(i)));
                let times = times.collect::<Result<Vec<_>>>()?;
                let is_whole = times.len() == values.len();
                is_whole
                    .then(|| time_span::any(field, op, &times))
                    .flatten()
                    .map(|filter| (filter, times.len()))
            }
            (Operator::In | Operator::Nin | Operator::Contains | Operator::Icontains, _) => None,
            (_, value) => match time_text(value) {
                Some(text) => {
                    let time = named(&text, place)?;
                    time_span::condition(field, op, &time).map(|filter| (filter, 1))
                }
                None => None,
            },
        };
        let Some((filter, operands)) = filter else {
            return Ok(None);
        };
        self.nodes = self
            .nodes
            .saturating_add(operands.saturating_mul(time_span::PARTS_MAX));
        limit(
            "the number of a filter's parts",
            self.nodes,
            FILTER_NODES_MAX,
        )?;
        Ok(Some(filter))
    }

    /// Counts a part of the filter before it is made. Each level of nesting counts, so the limit also bounds the stack.
    fn count_node(&mut self) -> Result<()> {
        self.nodes += 1;
        limit(
            "the number of a filter's parts",
            self.nodes,
            FILTER_NODES_MAX,
        )
    }
}

/// A time as a text; a number is one as everywhere: a year, or seconds or milliseconds since 1970.
fn time_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

fn limit(what: &'static str, value: usize, max: usize) -> Result<()> {
    Error::check_limit(what, value as u64, max as u64)
}

fn bad(place: &JsonPath<'_>, why: impl AsRef<str>) -> Error {
    Error::invalid("filter", format!("at {place}: {}", why.as_ref()))
}

fn named_field(name: &str, place: &JsonPath<'_>) -> Result<FilterField> {
    match FilterField::named(name) {
        FilterField::Attribute(path) if path.is_empty() => Err(bad(place, "an empty name")),
        field => Ok(field),
    }
}

fn named_op(name: &str, place: &JsonPath<'_>) -> Result<Operator> {
    Operator::named(name).ok_or_else(|| {
        bad(
            place,
            format!(
                "unknown operator {:?}; there are eq ne gt gte lt lte in nin contains icontains, \
                 and a nested field is a path with dots",
                shortened(name)
            ),
        )
    })
}

/// Parses an operand and checks that it fits the field and the operator.
fn scalar(
    field: &FilterField,
    op: Operator,
    value: &Value,
    place: &JsonPath<'_>,
    clock: &Clock,
) -> Result<Scalar> {
    let is_part = matches!(op, Operator::Contains | Operator::Icontains);
    let is_order = matches!(
        op,
        Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte
    );
    let refused = |wanted: &str| {
        let (op, kind) = (op.name(), kind_of(value));
        bad(place, format!("{op} on {field} takes {wanted}, not {kind}"))
    };
    match (field.kind(), value) {
        (FieldKind::Number | FieldKind::Time | FieldKind::Type, _) if is_part => {
            let op = op.name();
            Err(bad(
                place,
                format!("{op} looks for part of a string: {field} takes eq, ne, in and nin"),
            ))
        }
        (FieldKind::Type, _) if is_order => {
            let op = op.name();
            Err(bad(place, format!("types have no order for {op}; use in")))
        }
        (FieldKind::Text | FieldKind::Any, Value::String(text)) if op == Operator::Icontains => {
            Ok(Scalar::Text(fold(text).into_owned()))
        }
        (FieldKind::Text | FieldKind::Any, Value::String(text)) => Ok(Scalar::Text(text.clone())),
        (FieldKind::Text, _) => Err(refused("a string")),
        (FieldKind::Any, _) if is_part => Err(refused("a string")),
        (FieldKind::Number | FieldKind::Any, Value::Number(number)) => Number::new(number)
            .map(Scalar::Number)
            .ok_or_else(|| bad(place, "a number that is not finite")),
        (FieldKind::Number, _) => Err(refused("a number")),
        (FieldKind::Any, _) if is_order => Err(refused("a number or a string")),
        (FieldKind::Any, Value::Null) => Ok(Scalar::Null),
        (FieldKind::Any, Value::Bool(b)) => Ok(Scalar::Bool(*b)),
        (FieldKind::Any, Value::Array(_)) if op == Operator::Eq => {
            Err(refused("one value (for any of a list, use in)"))
        }
        (FieldKind::Any, _) => Err(refused("null, a boolean, a number or a string")),
        (FieldKind::Time, _) => match time_text(value) {
            Some(text) => parse_phrase(&text, clock)
                .map(|named| Scalar::Time(named.at))
                .map_err(|e| bad(place, e.to_string())),
            None => Err(refused("a time, such as 2024-02-29T12:30:00Z")),
        },
        (FieldKind::Type, Value::String(name)) => EventType::deserialize(value)
            .map(Scalar::Type)
            .map_err(|_| {
                let known = EventType::ALL.map(|t| t.to_string()).join(", ");
                let name = shortened(name);
                bad(place, format!("unknown type {name:?}; there are {known}"))
            }),
        (FieldKind::Type, _) => Err(refused("the name of a type")),
    }
}
