//! What a filter means on one memory.

use std::cmp::Ordering;

use serde_json::Value;

use super::parse::is_time;
use crate::scope::SCOPE_FIELDS;

use super::tree::{FactFilter, FilterCondition, FilterOp};
use crate::conversation::time_from_json;

impl FactFilter {
    /// True if a memory matches; `memory` is its JSON as clients see it, metadata beside and below `metadata`.
    pub fn matches(&self, memory: &Value) -> bool {
        match self {
            Self::And(filters) => filters.iter().all(|filter| filter.matches(memory)),
            Self::Or(filters) => filters.iter().any(|filter| filter.matches(memory)),
            Self::Not(filter) => !filter.matches(memory),
            Self::Condition(condition) => condition.matches(memory),
        }
    }
}

impl FilterCondition {
    fn matches(&self, memory: &Value) -> bool {
        let mut found = Vec::new();
        collect(memory, &self.field, &mut found);
        // A key of the metadata needs no prefix, unless the record has a field of the name. A field of the scope is
        // never read from metadata, which callers write: it would show them other scopes.
        if found.is_empty()
            && !SCOPE_FIELDS.contains(&self.field.as_str())
            && let Some(metadata) = memory.get("metadata")
        {
            collect(metadata, &self.field, &mut found);
        }
        found.retain(|value| !value.is_null());
        let is_time = is_time(&self.field);
        let equals = |wanted: &Value| {
            found
                .iter()
                .any(|value| order(value, wanted, is_time) == Some(Ordering::Equal))
        };
        let compares = |is: fn(Ordering) -> bool| {
            found
                .iter()
                .any(|value| order(value, &self.value, is_time).is_some_and(is))
        };
        let list = || self.value.as_array().into_iter().flatten();
        match self.op {
            FilterOp::Present => !found.is_empty(),
            FilterOp::Eq if self.value.is_null() => found.is_empty(),
            FilterOp::Ne if self.value.is_null() => !found.is_empty(),
            FilterOp::Eq => equals(&self.value),
            FilterOp::Ne => !equals(&self.value),
            FilterOp::Gt => compares(Ordering::is_gt),
            FilterOp::Gte => compares(Ordering::is_ge),
            FilterOp::Lt => compares(Ordering::is_lt),
            FilterOp::Lte => compares(Ordering::is_le),
            FilterOp::In => list().any(equals),
            FilterOp::Nin => !list().any(equals),
            FilterOp::Contains => self.has_part(&found, |text| text.to_owned()),
            FilterOp::Icontains => self.has_part(&found, str::to_lowercase),
        }
    }

    fn has_part(&self, found: &[&Value], form: fn(&str) -> String) -> bool {
        let Some(part) = self.value.as_str().map(form) else {
            return found
                .iter()
                .any(|value| order(value, &self.value, false) == Some(Ordering::Equal));
        };
        found.iter().any(|value| {
            value
                .as_str()
                .is_some_and(|text| form(text).contains(&part))
        })
    }
}

/// The values at a path, arrays opened.
fn collect<'v>(value: &'v Value, path: &str, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, out)),
        Value::Object(object) => {
            // A key may have dots itself.
            if let Some(found) = object.get(path) {
                open(found, out);
            } else if let Some((first, rest)) = path.split_once('.')
                && let Some(inner) = object.get(first)
            {
                collect(inner, rest, out);
            }
        }
        _ => {}
    }
}

fn open<'v>(value: &'v Value, out: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| open(item, out)),
        _ => out.push(value),
    }
}

/// The order of two values of one kind.
fn order(a: &Value, b: &Value, is_time: bool) -> Option<Ordering> {
    if is_time {
        let time = |value| time_from_json(value, "").ok();
        return Some(time(a)?.cmp(&time(b)?));
    }
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
        },
        _ => None,
    }
}
