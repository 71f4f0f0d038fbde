//! A filter as a tree of conditions.

use serde_json::{Value, json};

/// The operator of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterOp {
    /// Equal.
    Eq,
    /// Not equal, or missing.
    Ne,
    /// Greater.
    Gt,
    /// Greater or equal.
    Gte,
    /// Less.
    Lt,
    /// Less or equal.
    Lte,
    /// One of a list.
    In,
    /// None of a list, or missing.
    Nin,
    /// Has the part.
    Contains,
    /// Has the part, whatever its case.
    Icontains,
    /// Is there: `"*"`.
    Present,
}

impl FilterOp {
    /// The operators that requests name.
    pub(super) const NAMES: [(&str, Self); 10] = [
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
            .find(|(known, _)| *known == name)
            .map(|(_, op)| *op)
    }

    fn name(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, op)| *op == self)
            .map_or("present", |(name, _)| name)
    }
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterCondition {
    /// The path of the field.
    pub field: String,
    /// The operator.
    pub op: FilterOp,
    /// The operand: a list for `In` and `Nin`, null for `Present`, a string, number or boolean for the others.
    pub value: Value,
}

/// A filter of memories.
#[derive(Debug, Clone, PartialEq)]
pub enum FactFilter {
    /// All of them hold; an empty list matches everything.
    And(Vec<FactFilter>),
    /// One of them holds; an empty list matches nothing.
    Or(Vec<FactFilter>),
    /// It does not hold.
    Not(Box<FactFilter>),
    /// A condition.
    Condition(FilterCondition),
}

impl FactFilter {
    /// The filter that matches every memory.
    pub const ALL: Self = Self::And(Vec::new());

    /// The filter in the specification's spelling, which `parse` reads as the same filter.
    pub fn to_json(&self) -> Value {
        let list = |filters: &[Self]| filters.iter().map(Self::to_json).collect::<Value>();
        match self {
            Self::And(filters) => json!({"AND": list(filters)}),
            Self::Or(filters) => json!({"OR": list(filters)}),
            Self::Not(filter) => json!({"NOT": filter.to_json()}),
            Self::Condition(FilterCondition {
                field,
                op: FilterOp::Present,
                ..
            }) => json!({field: "*"}),
            Self::Condition(FilterCondition { field, op, value }) => {
                json!({"field": field, "operator": op.name(), "value": value})
            }
        }
    }
}
