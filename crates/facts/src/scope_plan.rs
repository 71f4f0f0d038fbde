//! Which events of a brain may be memories of a scope: the shortest list that the index has.

use amem_format::NodeId;
use amem_format::types::{Lsn, Micros};
use amem_format::view::{AsOf, View};
use amem_memory::FactScope;
use amem_memory::filter::{FilterCondition, FilterOp};
use amem_memory::{Error as MemoryError, FactFilter, SCOPE_FIELDS};
use amem_query::Scope;
use serde_json::Value;

use crate::error::Result;
use crate::indexed_filter::indexed;
use crate::limits::FILTER_SCOPES_MAX;
use amem_query::filter::Filter;
use amem_query::planner::{count_matching, count_with, events_matching, events_with};

/// The attributes of the fields of a scope, in the order of `FactScope::fields`.
const ATTRIBUTES: [&str; 4] = ["amem.user", "amem.agent", "amem.app", "amem.run"];

/// A filter is selective if the index proposes at most this part of the scope's events by it.
const SELECTIVE_SHARE: u64 = 8;

/// A state of a brain that is read: the newest, or what was known at an earlier moment.
#[derive(Debug, Clone)]
pub struct FactMoment {
    /// The newest view.
    pub(crate) now: View,
    /// The view that is read.
    pub(crate) view: View,
}

impl FactMoment {
    /// The newest state, or that of `as_of`. Errors: an LSN in the future.
    pub fn new(now: View, as_of: Option<AsOf>) -> Result<Self> {
        let view = match as_of {
            Some(moment) => now.as_of(moment)?,
            None => now.clone(),
        };
        Ok(Self { now, view })
    }

    /// The view that is read.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// LSN and recorded time of the state.
    pub fn stamp(&self) -> (Lsn, Micros) {
        self.view.moment()
    }

    /// True if there are commits after it.
    pub(crate) fn is_past(&self) -> bool {
        self.view.is_as_of()
    }
}

/// The scope of general queries.
pub(crate) fn query_scope(scope: &FactScope) -> Scope {
    Scope {
        user: scope.user.clone(),
        agent: scope.agent.clone(),
        run: scope.run.clone(),
        app: scope.app.clone(),
    }
}

/// About how many events the shortest list of a scope has, and which list that is: an attribute and its value; that of
/// all memories for no scope.
pub(crate) fn shortest_list<'s>(
    view: &View,
    scope: &'s FactScope,
) -> Result<(u64, (&'static str, &'s str))> {
    let mut best: Option<(u64, &'static str, &str)> = None;
    for ((_, value), path) in scope.fields().zip(ATTRIBUTES) {
        let Some(value) = value else { continue };
        let count = count_with(view, path, value)?;
        if best.is_none_or(|(least, ..)| count < least) {
            best = Some((count, path, value));
        }
    }
    match best {
        Some((count, path, value)) => Ok((count, (path, value))),
        None => {
            let path = crate::record::path::FACT_STATE;
            Ok((count_with(view, path, "version")?, (path, "version")))
        }
    }
}

/// The events that may be of a scope, ascending: turns, old versions and ends as well. Everything for no scope.
pub(crate) fn events_of(view: &View, scope: &FactScope) -> Result<Vec<NodeId>> {
    let (_, (path, value)) = shortest_list(view, scope)?;
    Ok(events_with(view, path, value)?)
}

/// The same for the memories that pass a filter: fewer, if the index knows of what the filter needs.
pub(crate) fn events_passing(
    view: &View,
    scope: &FactScope,
    filter: Option<&FactFilter>,
) -> Result<Vec<NodeId>> {
    let (count, (path, value)) = shortest_list(view, scope)?;
    let needed = filter.map(indexed).transpose()?.flatten();
    if let Some(needed) = needed
        && let Some(ids) = events_matching(view, &needed, count)?
    {
        return Ok(ids);
    }
    Ok(events_with(view, path, value)?)
}

/// What a filter needs, if the index proposes far fewer events by it than by the scope: a search that looks at each of
/// them costs less than one that asks for more and more.
pub(crate) fn selective(
    view: &View,
    scope: &FactScope,
    filter: Option<&FactFilter>,
) -> Result<Option<Filter>> {
    let (count, _) = shortest_list(view, scope)?;
    let needed = filter.map(indexed).transpose()?.flatten();
    let Some(needed) = needed else {
        return Ok(None);
    };
    let proposed = count_matching(view, &needed)?;
    let is_selective = proposed.is_some_and(|proposed| proposed <= count / SELECTIVE_SHARE);
    Ok(is_selective.then_some(needed))
}

/// The scopes that a request is about: that of the request, or those that its filter names on every branch.
pub(crate) fn scopes_of(scope: &FactScope, filter: Option<&FactFilter>) -> Result<Vec<FactScope>> {
    let is_named = scope.fields().any(|(_, value)| value.is_some());
    let Some(filter) = filter.filter(|_| !is_named) else {
        scope.validate()?;
        return Ok(vec![scope.clone()]);
    };
    filter.check_scoped().map_err(|error| match filter {
        // Without any condition the request names no scope at all.
        FactFilter::And(all) if all.is_empty() => MemoryError::NoScope,
        _ => error,
    })?;
    let mut scopes = branches(filter)?;
    scopes.dedup();
    for scope in &scopes {
        scope.validate()?;
    }
    Ok(scopes)
}

fn too_many(found: usize) -> MemoryError {
    MemoryError::TooLarge {
        what: "the number of scopes that a filter names",
        found: found as u64,
        limit: FILTER_SCOPES_MAX as u64,
    }
}

/// The scopes of a filter, one a branch; an empty scope for a branch that names none.
fn branches(filter: &FactFilter) -> Result<Vec<FactScope>> {
    let scopes = match filter {
        FactFilter::And(all) => {
            let mut scopes = vec![FactScope::default()];
            for part in all {
                let mut joined = Vec::new();
                let parts = branches(part)?;
                for one in &scopes {
                    // What contradicts itself matches nothing.
                    joined.extend(parts.iter().filter_map(|part| one.within(part).ok()));
                }
                scopes = joined;
                if scopes.len() > FILTER_SCOPES_MAX {
                    return Err(too_many(scopes.len()).into());
                }
            }
            scopes
        }
        FactFilter::Or(any) => {
            let mut scopes = Vec::new();
            for part in any {
                scopes.extend(branches(part)?);
            }
            scopes
        }
        FactFilter::Not(_) => vec![FactScope::default()],
        FactFilter::Condition(condition) => of_condition(condition),
    };
    if scopes.len() > FILTER_SCOPES_MAX {
        return Err(too_many(scopes.len()).into());
    }
    Ok(scopes)
}

fn of_condition(condition: &FilterCondition) -> Vec<FactScope> {
    let place = SCOPE_FIELDS
        .iter()
        .position(|field| *field == condition.field);
    let values: Vec<&str> = match (condition.op, &condition.value) {
        (FilterOp::Eq, Value::String(value)) => vec![value],
        (FilterOp::In, Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let (Some(place), false) = (place, values.is_empty()) else {
        return vec![FactScope::default()];
    };
    let of = |value: &str| {
        let mut scope = FactScope::default();
        let fields = [
            &mut scope.user,
            &mut scope.agent,
            &mut scope.app,
            &mut scope.run,
        ];
        for (at, field) in fields.into_iter().enumerate() {
            if at == place {
                *field = Some(value.to_owned());
            }
        }
        scope
    };
    values.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn named(filter: serde_json::Value) -> Result<Vec<String>> {
        let filter = FactFilter::parse(&filter)?;
        let scopes = scopes_of(&FactScope::default(), Some(&filter))?;
        let shown = scopes.iter().map(|scope| {
            let fields = scope.fields().filter_map(|(_, value)| value);
            fields.collect::<Vec<_>>().join("+")
        });
        Ok(shown.collect())
    }

    #[test]
    fn a_filter_names_the_scopes_of_its_branches() {
        for (filter, scopes) in [
            (json!({"user_id": "a"}), vec!["a"]),
            (
                json!({"AND": [{"user_id": "a"}, {"agent_id": "h"}]}),
                vec!["a+h"],
            ),
            (
                json!({"OR": [{"user_id": "a"}, {"user_id": "b"}]}),
                vec!["a", "b"],
            ),
            (
                json!({"AND": [{"agent_id": "h"}, {"OR": [{"user_id": "a"}, {"run_id": "r"}]}, {"tag": 1}]}),
                vec!["a+h", "h+r"],
            ),
            (json!({"user_id": {"in": ["a", "b"]}}), vec!["a", "b"]),
        ] {
            assert_eq!(named(filter.clone()).unwrap(), scopes, "{filter}");
        }
    }

    #[test]
    fn a_filter_without_a_scope_is_refused() {
        for filter in [
            json!({}),
            json!({"tag": "x"}),
            json!({"OR": [{"user_id": "a"}, {"tag": "x"}]}),
            json!({"NOT": {"user_id": "a"}}),
            json!({"user_id": "*"}),
        ] {
            let error = named(filter.clone()).unwrap_err();
            let crate::Error::Memory(error) = error else {
                panic!("{filter}: {error}");
            };
            assert_eq!(error.code(), "ScopeError", "{filter}: {error}");
        }
    }
}
