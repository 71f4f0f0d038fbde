//! Filters: which events a query wants. One meaning everywhere.
//!
//! As JSON: `{"and": […]}`, `{"or": […]}`, `{"not": …}`, `{"field": "a.b", "op": "gte", "value": 3}`; in
//! short `{"a.b": 3}` for equality and `{"a.b": {"gte": 3, "lt": 9}}`. Entries of one object must all hold;
//! `{}` and an empty `and` let everything pass, an empty `or` nothing.
//!
//! **Fields.** `id`, `type`, `session`, `confidence`, `strength`, `created_at`, `event_time`,
//! `happened_at` (event time, else recorded time) and `text` (the content) are those of the record. Every
//! other name is a path into the attributes, as is all that follows `attributes.`: an attribute named
//! `type` is `attributes.type`. A path goes through objects by dots, a key may contain dots itself, and
//! arrays, nested ones too, are passed through: a condition holds if it does for any element.
//!
//! **Operators.** `eq gt gte lt lte` compare with one value, `in` with a list; `contains` and `icontains`
//! look for a part of a string, the latter regardless of case (`case`). `ne` and `nin` are the opposites of
//! `eq` and `in`: of an array, they say that no element is equal.
//! - Numbers compare as numbers, exactly; `confidence` and `strength`, which have 32 bits, with the
//!   operand rounded to 32 bits. Strings compare by bytes, times as instants.
//! - A missing field, an empty array, an object and a value of another kind make a condition false, and
//!   `ne` and `nin` true. `null` in an attribute is a value, equal to `null` only.
//! - An operand that can never make sense is an error: an order on a boolean, a list for `eq`, a part that
//!   is no string, and for a field of the record whatever is not of its kind.
//!
//! Promises: a filter has at most `limits::FILTER_NODES_MAX` parts, and matching costs in proportion to
//! the filter and the event; text and attributes are read once, and only if a condition asks.
//! Not here: choosing an index by a filter (each query); what an index can tell of a filter is `needs`.

mod case;
mod condition;
mod needs;
mod parse;
mod scalar;

use std::borrow::Cow;

use serde_json::{Value, json};

use self::condition::Facts;
use self::parse::Parser;
use amem_format::attributes::place::Place;
use amem_format::error::Result;
use amem_format::event::Attributes;
use amem_format::types::{EventType, Micros, NodeId, SessionId};

pub use self::condition::Condition;

/// Which events a query wants.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    /// All of them hold.
    And(Vec<Filter>),
    /// One of them holds.
    Or(Vec<Filter>),
    /// It does not hold.
    Not(Box<Filter>),
    /// A condition on one field.
    Condition(Condition),
}

/// What a filter is asked about: an event, of which it reads what it needs.
pub trait Subject {
    /// Its id.
    fn id(&self) -> NodeId;
    /// Its type.
    fn event_type(&self) -> EventType;
    /// Its session.
    fn session(&self) -> SessionId;
    /// Effective confidence.
    fn confidence(&self) -> f32;
    /// Confidence after decay, at the moment that the query is about.
    fn strength(&self) -> f32;
    /// Recorded time.
    fn created_at(&self) -> Micros;
    /// When it happened, if that was said.
    fn event_time(&self) -> Result<Option<Micros>>;
    /// The text; empty if there is none.
    fn text(&self) -> Result<Cow<'_, str>>;
    /// The attributes.
    fn attributes(&self) -> Result<Option<Attributes>>;
}

impl Filter {
    /// The filter that lets everything pass.
    pub const ALL: Self = Self::And(Vec::new());

    /// Reads a filter; errors name the place of what is wrong.
    pub fn parse(value: &Value) -> Result<Self> {
        Parser::default().filter(value, &Place::Top)
    }

    /// True if the event is wanted; an error if it can't be read.
    pub fn matches(&self, subject: &dyn Subject) -> Result<bool> {
        self.holds(&Facts::new(subject))
    }

    /// The filter in full, without shorthand: the same JSON for every way to write it in short. `parse`
    /// takes it.
    pub fn to_json(&self) -> Value {
        let list = |filters: &[Self]| filters.iter().map(Self::to_json).collect::<Value>();
        match self {
            Self::And(filters) => json!({"and": list(filters)}),
            Self::Or(filters) => json!({"or": list(filters)}),
            Self::Not(filter) => json!({"not": filter.to_json()}),
            Self::Condition(condition) => condition.to_json(),
        }
    }

    fn holds(&self, facts: &Facts<'_>) -> Result<bool> {
        match self {
            Self::And(filters) => all(filters, facts),
            Self::Or(filters) => any(filters, facts),
            Self::Not(filter) => Ok(!filter.holds(facts)?),
            Self::Condition(condition) => condition.matches(facts),
        }
    }
}

fn all(filters: &[Filter], facts: &Facts<'_>) -> Result<bool> {
    for filter in filters {
        if !filter.holds(facts)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any(filters: &[Filter], facts: &Facts<'_>) -> Result<bool> {
    for filter in filters {
        if filter.holds(facts)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
