//! Whether a filter stays within a scope, whichever branch matches.

use serde_json::Value;

use super::tree::{FactFilter, FilterCondition, FilterOp};
use crate::error::{Error, Result};
use crate::scope::{FactScope, SCOPE_FIELDS};

impl FactFilter {
    /// An error unless every way to match has a positive equality (`eq`, or `in` of a list with values) on a field of
    /// the scope. The error names the branch. Equality below `NOT`, `ne` and `"*"` bound nothing.
    pub fn check_scoped(&self) -> Result<()> {
        match self.unscoped("filters") {
            Some(branch) => Err(Error::UnscopedFilter { branch }),
            None => Ok(()),
        }
    }

    /// This filter with a scope beneath: both must hold.
    pub fn within(self, scope: &FactScope) -> Self {
        let fields = scope
            .fields()
            .filter_map(|(field, value)| Some((field, value?)));
        let mut all: Vec<Self> = fields
            .map(|(field, value)| {
                Self::Condition(FilterCondition {
                    field: field.to_owned(),
                    op: FilterOp::Eq,
                    value: Value::String(value.to_owned()),
                })
            })
            .collect();
        if self != Self::ALL {
            all.push(self);
        }
        Self::And(all)
    }

    /// The path of a branch that names no scope.
    fn unscoped(&self, place: &str) -> Option<String> {
        match self {
            Self::And(filters) => {
                let mut branches = filters.iter().enumerate();
                let is_scoped = branches
                    .any(|(at, filter)| filter.unscoped(&format!("{place}.AND[{at}]")).is_none());
                (!is_scoped).then(|| place.to_owned())
            }
            // An empty OR matches nothing, so that it shows nothing; it names no scope either.
            Self::Or(filters) if filters.is_empty() => Some(place.to_owned()),
            Self::Or(filters) => filters
                .iter()
                .enumerate()
                .find_map(|(at, filter)| filter.unscoped(&format!("{place}.OR[{at}]"))),
            Self::Not(_) => Some(format!("{place}.NOT")),
            Self::Condition(condition) => (!condition.names_scope()).then(|| place.to_owned()),
        }
    }
}

impl FilterCondition {
    fn names_scope(&self) -> bool {
        let is_name = |value: &Value| {
            value
                .as_str()
                .is_some_and(|name| !name.is_empty() && name != "*")
        };
        let bounds = match self.op {
            FilterOp::Eq => is_name(&self.value),
            FilterOp::In => self
                .value
                .as_array()
                .is_some_and(|list| !list.is_empty() && list.iter().all(is_name)),
            _ => false,
        };
        SCOPE_FIELDS.contains(&self.field.as_str()) && bounds
    }
}
