//! A filter as a tree of conditions.

use serde_json::{Value, json};

use super::condition::{Condition, SubjectFields};
use super::subject::Subject;
use amem_format::error::Result;

/// A condition on events, or a combination of conditions.
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

impl Filter {
    /// The filter that matches every event.
    pub const ALL: Self = Self::And(Vec::new());

    /// True if the event matches; an error if it cannot be read.
    pub fn matches(&self, subject: &dyn Subject) -> Result<bool> {
        self.holds(&SubjectFields::new(subject))
    }

    /// The filter without shorthand: equal filters give equal JSON, which `parse` accepts.
    pub fn to_json(&self) -> Value {
        let list = |filters: &[Self]| filters.iter().map(Self::to_json).collect::<Value>();
        match self {
            Self::And(filters) => json!({"and": list(filters)}),
            Self::Or(filters) => json!({"or": list(filters)}),
            Self::Not(filter) => json!({"not": filter.to_json()}),
            Self::Condition(condition) => condition.to_json(),
        }
    }

    fn holds(&self, facts: &SubjectFields<'_>) -> Result<bool> {
        match self {
            Self::And(filters) => all(filters, facts),
            Self::Or(filters) => any(filters, facts),
            Self::Not(filter) => Ok(!filter.holds(facts)?),
            Self::Condition(condition) => condition.matches(facts),
        }
    }
}

fn all(filters: &[Filter], facts: &SubjectFields<'_>) -> Result<bool> {
    for filter in filters {
        if !filter.holds(facts)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn any(filters: &[Filter], facts: &SubjectFields<'_>) -> Result<bool> {
    for filter in filters {
        if filter.holds(facts)? {
            return Ok(true);
        }
    }
    Ok(false)
}
