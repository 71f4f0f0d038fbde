//! What the brain's index of values knows of a filter: conditions that the event of every memory has that passes it.
//!
//! Promises: a memory that passes the filter of a caller passes these conditions; some that pass them may not pass the
//! filter, which decides.
//! Not here: what a filter means (`amem_memory`), and which index is read (`amem_query`).

use amem_memory::filter::{FilterCondition, FilterOp, is_time};
use amem_memory::{FactFilter, SCOPE_FIELDS};
use amem_query::filter::Filter;
use serde_json::{Value, json};

use crate::error::Result;
use crate::record::path;

/// Fields of a memory as clients see it (`record::item_json`) that no value of the index stands for; the fields of its
/// scope, which every query selects by, beside them.
const OTHER_FIELDS: [&str; 5] = ["memory", "confidence", "metadata", "because", "quarantined"];
/// Integers below are equal to the same numbers with 64 bits of floating point, and to no other.
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// The conditions on the events of memories that a filter needs; `None` if it needs none that an event can show.
pub(crate) fn indexed(filter: &FactFilter) -> Result<Option<Filter>> {
    let conditions = |filters: &[FactFilter]| -> Result<Vec<Option<Filter>>> {
        filters.iter().map(indexed).collect()
    };
    Ok(match filter {
        FactFilter::And(filters) => {
            let known: Vec<Filter> = conditions(filters)?.into_iter().flatten().collect();
            (!known.is_empty()).then_some(Filter::And(known))
        }
        FactFilter::Or(filters) => {
            let known: Option<Vec<Filter>> = conditions(filters)?.into_iter().collect();
            known.map(Filter::Or)
        }
        // The opposite of what is needed is not.
        FactFilter::Not(_) => None,
        FactFilter::Condition(condition) => of_condition(condition)?,
    })
}

fn of_condition(condition: &FilterCondition) -> Result<Option<Filter>> {
    let (Some(paths), Some(op)) = (paths(&condition.field), operator(condition)) else {
        return Ok(None);
    };
    let one = |path: &String| {
        // A path that begins as a field of the record is one of the attributes.
        let field = format!("attributes.{path}");
        Filter::parse(&json!({"field": field, "op": op, "value": condition.value}))
    };
    let any = paths
        .iter()
        .map(one)
        .collect::<std::result::Result<_, _>>()?;
    Ok(Some(Filter::Or(any)))
}

/// Where the attributes of an event have the values of a field.
fn paths(field: &str) -> Option<Vec<String>> {
    let first = field.split('.').next().unwrap_or(field);
    match field {
        "id" => Some(vec![path::FACT_ID.to_owned()]),
        "kind" => Some(vec![path::FACT_KIND.to_owned()]),
        "hash" => Some(vec![path::FACT_HASH.to_owned()]),
        // Metadata may have a key of this name itself.
        _ if first == "metadata" && field != first => {
            Some(vec![field.to_owned(), format!("metadata.{field}")])
        }
        _ if OTHER_FIELDS.contains(&first)
            || ["id", "kind", "hash"].contains(&first)
            || SCOPE_FIELDS.contains(&first)
            || is_time(first) =>
        {
            None
        }
        _ => Some(vec![format!("metadata.{field}")]),
    }
}

/// The operator that means the same on attributes.
fn operator(condition: &FilterCondition) -> Option<&'static str> {
    let is_exact = |value: &Value| match value {
        Value::Number(number) => number.as_f64().is_some_and(|n| n.abs() < EXACT_BELOW),
        value => value.is_string() || value.is_boolean(),
    };
    let all = match &condition.value {
        Value::Array(values) => values.iter().all(is_exact),
        value => is_exact(value),
    };
    if !all {
        return None;
    }
    match condition.op {
        FilterOp::Eq => Some("eq"),
        FilterOp::In => Some("in"),
        FilterOp::Gt => Some("gt"),
        FilterOp::Gte => Some("gte"),
        FilterOp::Lt => Some("lt"),
        FilterOp::Lte => Some("lte"),
        FilterOp::Contains if condition.value.is_string() => Some("contains"),
        FilterOp::Contains => Some("eq"),
        // Case is folded in other ways; the rest is true for what is missing, or for any value.
        FilterOp::Icontains | FilterOp::Ne | FilterOp::Nin | FilterOp::Present => None,
    }
}
