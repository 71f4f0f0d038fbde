//! One condition of a filter: a field, an operator, an operand.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::fmt;

use serde_json::{Value, json};

use super::case::fold;
use super::scalar::{EventValue, Scalar};
use super::subject::Subject;
use amem_format::attributes::Number;
use amem_format::error::Result;
use amem_format::event::Attributes;

/// The field of an event that a condition compares.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FilterField {
    Id,
    Type,
    Session,
    Confidence,
    Strength,
    CreatedAt,
    EventTime,
    HappenedAt,
    Text,
    /// A path into the attributes.
    Attribute(String),
}

/// Names of the record's fields.
const RECORD_FIELDS: [(&str, FilterField); 9] = [
    ("id", FilterField::Id),
    ("type", FilterField::Type),
    ("session", FilterField::Session),
    ("confidence", FilterField::Confidence),
    ("strength", FilterField::Strength),
    ("created_at", FilterField::CreatedAt),
    ("event_time", FilterField::EventTime),
    ("happened_at", FilterField::HappenedAt),
    ("text", FilterField::Text),
];
/// Prefix of the path of an attribute that shares its name with a field of the record.
const ESCAPE: &str = "attributes.";

/// The kind of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    Number,
    Time,
    Type,
    Text,
    /// Any JSON.
    Any,
}

impl FilterField {
    /// The field with a name: of the record, else an attribute.
    pub(super) fn named(name: &str) -> Self {
        let of_record = RECORD_FIELDS.into_iter().find(|(n, _)| *n == name);
        of_record.map_or_else(
            || Self::Attribute(name.strip_prefix(ESCAPE).unwrap_or(name).to_owned()),
            |(_, field)| field,
        )
    }

    pub(super) fn kind(&self) -> FieldKind {
        match self {
            Self::Id | Self::Session | Self::Confidence | Self::Strength => FieldKind::Number,
            Self::CreatedAt | Self::EventTime | Self::HappenedAt => FieldKind::Time,
            Self::Type => FieldKind::Type,
            Self::Text => FieldKind::Text,
            Self::Attribute(_) => FieldKind::Any,
        }
    }
}

impl fmt::Display for FilterField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute(path) if Self::named(path) == *self => f.write_str(path),
            Self::Attribute(path) => write!(f, "{ESCAPE}{path}"),
            _ => {
                let named = RECORD_FIELDS.iter().find(|(_, field)| field == self);
                f.write_str(named.map_or("", |(name, _)| name))
            }
        }
    }
}

/// The operator of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Nin,
    Contains,
    Icontains,
}

impl Operator {
    const NAMES: [(&str, Self); 10] = [
        ("eq", Self::Eq),
        ("ne", Self::Ne),
        ("gt", Self::Gt),
        ("gte", Self::Gte),
        ("lt", Self::Lt),
        ("lte", Self::Lte),
        ("in", Self::In),
        ("nin", Self::Nin),
        ("contains", Self::Contains),
        ("icontains", Self::Icontains),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .find(|(n, _)| *n == name)
            .map(|&(_, op)| op)
    }

    pub(super) fn name(self) -> &'static str {
        let named = Self::NAMES.iter().find(|(_, op)| *op == self);
        named.map_or("", |(name, _)| name)
    }
}

/// The operand of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    One(Scalar),
    /// Ascending, without duplicates.
    Many(Vec<Scalar>),
}

impl Operand {
    pub(super) fn many(mut values: Vec<Scalar>) -> Self {
        values.sort_by(|a, b| a.order(&b.as_item()));
        values.dedup_by(|a, b| a.order(&b.as_item()).is_eq());
        Self::Many(values)
    }

    fn admits(&self, op: Operator, item: &EventValue<'_>) -> bool {
        match self {
            Self::Many(values) => values.binary_search_by(|v| v.order(item)).is_ok(),
            Self::One(value) => match (op, value, item) {
                (Operator::Contains, Scalar::Text(part), EventValue::Text(text)) => {
                    text.contains(part)
                }
                (Operator::Icontains, Scalar::Text(part), EventValue::Text(text)) => {
                    fold(text).contains(part.as_str())
                }
                (Operator::Contains | Operator::Icontains, ..) => false,
                _ => value
                    .order_of(item)
                    .is_some_and(|order| order_admits(op, order)),
            },
        }
    }
}

fn order_admits(op: Operator, order: Ordering) -> bool {
    match op {
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        _ => order.is_eq(),
    }
}

/// A valid combination of field, operator and operand. Only parsing makes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    pub(super) field: FilterField,
    pub(super) op: Operator,
    pub(super) operand: Operand,
}

impl Condition {
    pub(super) fn matches(&self, facts: &SubjectFields<'_>) -> Result<bool> {
        let found = facts.any(&self.field, &|item| self.operand.admits(self.op, &item))?;
        // `ne` and `nin` are the opposites of `eq` and `in`: hence true for what is missing.
        Ok(found != matches!(self.op, Operator::Ne | Operator::Nin))
    }

    pub(super) fn to_json(&self) -> Value {
        let value = match &self.operand {
            Operand::One(value) => value.to_json(),
            Operand::Many(values) => values.iter().map(Scalar::to_json).collect(),
        };
        json!({"field": self.field.to_string(), "op": self.op.name(), "value": value})
    }
}

/// The fields of a subject; text and attributes are fetched once.
pub(super) struct SubjectFields<'a> {
    subject: &'a dyn Subject,
    text: OnceCell<Cow<'a, str>>,
    attributes: OnceCell<Option<Attributes>>,
}

impl<'a> SubjectFields<'a> {
    pub(super) fn new(subject: &'a dyn Subject) -> Self {
        Self {
            subject,
            text: OnceCell::new(),
            attributes: OnceCell::new(),
        }
    }

    /// True if a value of the field passes `test`.
    fn any(&self, field: &FilterField, test: &dyn Fn(EventValue<'_>) -> bool) -> Result<bool> {
        let subject = self.subject;
        let unsigned = |n| EventValue::Number(Number::Unsigned(n));
        let narrow = |n: f32| !n.is_nan() && test(EventValue::Narrow(n));
        Ok(match field {
            FilterField::Id => test(unsigned(subject.id().0)),
            FilterField::Type => test(EventValue::Type(subject.event_type())),
            FilterField::Session => test(unsigned(subject.session().0.into())),
            FilterField::Confidence => narrow(subject.confidence()),
            FilterField::Strength => narrow(subject.strength()),
            FilterField::CreatedAt => test(EventValue::Time(subject.created_at())),
            FilterField::EventTime => subject
                .event_time()?
                .is_some_and(|t| test(EventValue::Time(t))),
            FilterField::HappenedAt => {
                let time = subject.event_time()?.unwrap_or(subject.created_at());
                test(EventValue::Time(time))
            }
            FilterField::Text => test(EventValue::Text(self.text()?)),
            FilterField::Attribute(path) => self
                .attributes()?
                .is_some_and(|attributes| any_at(attributes, path, test)),
        })
    }

    fn text(&self) -> Result<&str> {
        if self.text.get().is_none() {
            let text = self.subject.text()?;
            return Ok(self.text.get_or_init(|| text));
        }
        Ok(self.text.get().map_or("", |text| text))
    }

    fn attributes(&self) -> Result<Option<&Attributes>> {
        if self.attributes.get().is_none() {
            let attributes = self.subject.attributes()?;
            return Ok(self.attributes.get_or_init(|| attributes).as_ref());
        }
        Ok(self.attributes.get().and_then(Option::as_ref))
    }
}

/// True if a value at a path passes `test`. A key may contain dots, as `amem.origin_id` does, so every key that the
/// path begins with is followed; no value is visited twice.
fn any_at(object: &Attributes, path: &str, test: &dyn Fn(EventValue<'_>) -> bool) -> bool {
    object.iter().any(|(key, value)| {
        path.strip_prefix(key.as_str())
            .is_some_and(|rest| any_in(value, rest, test))
    })
}

/// The same for a value and the rest of the path: empty, or a dot and more.
fn any_in(value: &Value, rest: &str, test: &dyn Fn(EventValue<'_>) -> bool) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| any_in(element, rest, test)),
        Value::Object(object) => rest
            .strip_prefix('.')
            .is_some_and(|path| any_at(object, path, test)),
        _ => rest.is_empty() && EventValue::new(value).is_some_and(test),
    }
}
