//! Filters from JSON.

use serde_json::{Map, Value};

use super::tree::{FactFilter, FilterCondition, FilterOp};
use crate::conversation::time_from_json;
use crate::error::{Error, Result};
use crate::limits::{FACT_FILTER_DEPTH_MAX, FACT_FILTER_NODES_MAX, FACT_FILTER_VALUES_MAX};

impl FactFilter {
    /// Reads a filter in either spelling; `null` and `{}` match everything. Errors name the path of what is wrong.
    pub fn parse(value: &Value) -> Result<Self> {
        if value.is_null() {
            return Ok(Self::ALL);
        }
        let mut parser = Parser {
            nodes: 0,
            values: 0,
        };
        parser.filter(value, "filters", 0)
    }
}

/// The field with the caller's own keys.
const METADATA: &str = "metadata";

struct Parser {
    nodes: usize,
    values: usize,
}

impl Parser {
    fn filter(&mut self, value: &Value, place: &str, depth: usize) -> Result<FactFilter> {
        Error::check_limit("the depth of filters", depth, FACT_FILTER_DEPTH_MAX)?;
        self.node()?;
        let Value::Object(object) = value else {
            return Err(Error::invalid(
                place,
                format!("a filter is an object, not {}", kind_of(value)),
            ));
        };
        if is_condition(object) {
            return self.condition(object, place);
        }
        let mut all = Vec::with_capacity(object.len());
        for (key, member) in object {
            all.push(self.member(key, member, &format!("{place}.{key}"), depth)?);
        }
        Ok(match all.pop() {
            Some(only) if all.is_empty() => only,
            Some(last) => {
                all.push(last);
                FactFilter::And(all)
            }
            None => FactFilter::ALL,
        })
    }

    /// One entry of an object: a connective, or a field in mem0's spelling.
    fn member(
        &mut self,
        key: &str,
        value: &Value,
        place: &str,
        depth: usize,
    ) -> Result<FactFilter> {
        match key {
            "AND" => Ok(FactFilter::And(self.list(value, place, depth)?)),
            "OR" => Ok(FactFilter::Or(self.list(value, place, depth)?)),
            "NOT" => {
                let inner = match value {
                    Value::Array(_) => FactFilter::Or(self.list(value, place, depth)?),
                    _ => self.filter(value, place, depth + 1)?,
                };
                Ok(FactFilter::Not(Box::new(inner)))
            }
            "and" | "or" | "not" | "$and" | "$or" | "$not" => {
                let why = format!("unknown connective {key:?}: use AND, OR or NOT, in capitals");
                Err(Error::invalid(place, why))
            }
            field => self.field(field, value, place),
        }
    }

    fn list(&mut self, value: &Value, place: &str, depth: usize) -> Result<Vec<FactFilter>> {
        let Value::Array(items) = value else {
            return Err(Error::invalid(
                place,
                format!("a list of filters is needed, not {}", kind_of(value)),
            ));
        };
        let one =
            |(at, item): (usize, &Value)| self.filter(item, &format!("{place}[{at}]"), depth + 1);
        items.iter().enumerate().map(one).collect()
    }

    /// `{"field": value}`, `{"field": {"op": value, …}}`.
    fn field(&mut self, field: &str, value: &Value, place: &str) -> Result<FactFilter> {
        if let (METADATA, Value::Object(keys)) = (field, value)
            && !keys.keys().any(|key| FilterOp::named(key).is_some())
        {
            return self.metadata(keys, place);
        }
        let Value::Object(operators) = value else {
            let op = match value {
                Value::Array(_) => FilterOp::In,
                Value::String(text) if text == "*" => FilterOp::Present,
                _ => FilterOp::Eq,
            };
            return Ok(FactFilter::Condition(
                self.checked(field, op, value, place)?,
            ));
        };
        if operators.is_empty() {
            return Err(Error::invalid(place, "it has no operator"));
        }
        let mut all = Vec::with_capacity(operators.len());
        for (name, operand) in operators {
            let place = format!("{place}.{name}");
            let op = operator(name, &place)?;
            all.push(FactFilter::Condition(
                self.checked(field, op, operand, &place)?,
            ));
        }
        Ok(match all.len() {
            1 => all.remove(0),
            _ => FactFilter::And(all),
        })
    }

    /// `{"metadata": {"key": value, …}}`: keys of the metadata.
    fn metadata(&mut self, keys: &Map<String, Value>, place: &str) -> Result<FactFilter> {
        let mut all = Vec::with_capacity(keys.len());
        for (key, value) in keys {
            let place = format!("{place}.{key}");
            all.push(self.field(&format!("{METADATA}.{key}"), value, &place)?);
        }
        Ok(FactFilter::And(all))
    }

    /// The specification's spelling.
    fn condition(&mut self, object: &Map<String, Value>, place: &str) -> Result<FactFilter> {
        if let Some(unknown) = object
            .keys()
            .find(|key| !matches!(key.as_str(), "field" | "operator" | "op" | "value"))
        {
            return Err(Error::invalid(
                format!("{place}.{unknown}"),
                "a condition has field, operator and value",
            ));
        }
        let Some(Value::String(field)) = object.get("field") else {
            return Err(Error::invalid(
                format!("{place}.field"),
                "a field is a text",
            ));
        };
        let name = object.get("operator").or_else(|| object.get("op"));
        let Some(name) = name.and_then(Value::as_str) else {
            return Err(Error::invalid(
                format!("{place}.operator"),
                "an operator is a text",
            ));
        };
        let op = operator(name, &format!("{place}.operator"))?;
        let value = object.get("value").unwrap_or(&Value::Null);
        let op = if op == FilterOp::Eq && value == "*" {
            FilterOp::Present
        } else {
            op
        };
        Ok(FactFilter::Condition(self.checked(
            field,
            op,
            value,
            &format!("{place}.value"),
        )?))
    }

    /// A condition whose operand makes sense.
    fn checked(
        &mut self,
        field: &str,
        op: FilterOp,
        value: &Value,
        place: &str,
    ) -> Result<FilterCondition> {
        self.node()?;
        if field.is_empty() || field.split('.').any(str::is_empty) {
            return Err(Error::invalid(
                place,
                format!("{field:?} has an empty part: a path is names with dots between them"),
            ));
        }
        let refuse = |why: &str| {
            Err(Error::invalid(
                place,
                format!("{why}, not {}", kind_of(value)),
            ))
        };
        let is_scalar =
            |value: &Value| matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        let value = match op {
            FilterOp::Present => Value::Null,
            FilterOp::Eq | FilterOp::Ne if value.is_null() => Value::Null,
            FilterOp::Eq | FilterOp::Ne if is_scalar(value) => value.clone(),
            FilterOp::Eq | FilterOp::Ne => {
                return refuse("it compares with a text, a number or a boolean");
            }
            FilterOp::Gt | FilterOp::Gte | FilterOp::Lt | FilterOp::Lte
                if value.is_string() || value.is_number() =>
            {
                value.clone()
            }
            FilterOp::Gt | FilterOp::Gte | FilterOp::Lt | FilterOp::Lte => {
                return refuse("it compares with a text or a number");
            }
            FilterOp::In | FilterOp::Nin => {
                let Value::Array(items) = value else {
                    return refuse("it needs a list");
                };
                self.values += items.len();
                Error::check_limit("the values of filters", self.values, FACT_FILTER_VALUES_MAX)?;
                if let Some(wrong) = items.iter().find(|item| !is_scalar(item)) {
                    return Err(Error::invalid(
                        place,
                        format!(
                            "a list of texts, numbers and booleans is needed; it has {}",
                            kind_of(wrong)
                        ),
                    ));
                }
                value.clone()
            }
            FilterOp::Contains | FilterOp::Icontains if is_scalar(value) => value.clone(),
            FilterOp::Contains | FilterOp::Icontains => return refuse("it needs a text"),
        };
        if is_time(field) {
            for one in value
                .as_array()
                .map_or(std::slice::from_ref(&value), Vec::as_slice)
            {
                if !one.is_null() && !matches!(op, FilterOp::Contains | FilterOp::Icontains) {
                    time_from_json(one, place)?;
                }
            }
        }
        Ok(FilterCondition {
            field: field.to_owned(),
            op,
            value,
        })
    }

    fn node(&mut self) -> Result<()> {
        self.nodes += 1;
        Error::check_limit("the parts of filters", self.nodes, FACT_FILTER_NODES_MAX)
    }
}

/// True for fields of the record that are times.
pub fn is_time(field: &str) -> bool {
    matches!(
        field,
        "created_at"
            | "updated_at"
            | "expiration_date"
            | "valid_from"
            | "valid_to"
            | "happened_at"
            | "timestamp"
    )
}

fn is_condition(object: &Map<String, Value>) -> bool {
    object.contains_key("field")
        && (object.contains_key("operator")
            || object.contains_key("op")
            || object.contains_key("value"))
}

fn operator(name: &str, place: &str) -> Result<FilterOp> {
    FilterOp::named(name).ok_or_else(|| {
        let known = FilterOp::NAMES.map(|(name, _)| name).join(", ");
        Error::invalid(place, format!("unknown operator {name:?}: use {known}"))
    })
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
