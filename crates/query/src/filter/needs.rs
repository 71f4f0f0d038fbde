//! The values that a filter requires, as hashes that the index of attributes stores: one for each path and value.
//!
//! Promises: values that a condition considers equal have the same hash (different ones may, too); an event that
//! matches a filter has one of the required hashes, or more values than the index covers.
//! Not here: orders and parts of strings; they require nothing, and the query reads every event.

use super::condition::{Condition, FilterField, Operand, Operator};
use super::tree::Filter;
use crate::limits::NEEDED_VALUES_MAX;
use amem_format::attributes;
use amem_format::error::Result;

/// A matching event has one of these hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) hashes: Vec<u64>,
    /// Events with one of them, counted once per hash.
    pub(crate) count: u64,
}

impl Filter {
    /// The requirement of the filter, the rarest of several; `None` if an event may match whatever its attributes are.
    pub(crate) fn needs(&self, count: &dyn Fn(u64) -> Result<u64>) -> Result<Option<Need>> {
        match self {
            Self::Not(_) => Ok(None),
            Self::Condition(condition) => condition.needs(count),
            Self::And(filters) => {
                let mut rarest: Option<Need> = None;
                for filter in filters {
                    if let Some(need) = filter.needs(count)?
                        && rarest.as_ref().is_none_or(|known| need.count < known.count)
                    {
                        rarest = Some(need);
                    }
                }
                Ok(rarest)
            }
            Self::Or(filters) => {
                let (mut hashes, mut all) = (Vec::new(), 0);
                for filter in filters {
                    let Some(need) = filter.needs(count)? else {
                        return Ok(None);
                    };
                    hashes.extend(need.hashes);
                    all += need.count;
                }
                let is_few = hashes.len() <= NEEDED_VALUES_MAX;
                Ok(is_few.then_some(Need { hashes, count: all }))
            }
        }
    }
}

impl Condition {
    fn needs(&self, count: &dyn Fn(u64) -> Result<u64>) -> Result<Option<Need>> {
        let FilterField::Attribute(path) = &self.field else {
            return Ok(None);
        };
        let values = match (self.op, &self.operand) {
            (Operator::Eq, Operand::One(value)) => std::slice::from_ref(value),
            (Operator::In, Operand::Many(values)) if values.len() <= NEEDED_VALUES_MAX => values,
            _ => return Ok(None),
        };
        let mut bytes = path.as_bytes().to_vec();
        let hashes = values
            .iter()
            .map(|value| {
                let value = value.as_item().as_attribute()?;
                Some(attributes::hash(&mut bytes, &value))
            })
            .collect::<Option<Vec<u64>>>();
        let Some(hashes) = hashes else {
            return Ok(None);
        };
        let mut all = 0;
        for &hash in &hashes {
            all += count(hash)?;
        }
        Ok(Some(Need { hashes, count: all }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::attributes::values_of;
    use amem_format::limits::INDEXED_VALUES_MAX;
    use serde_json::{Value, json};

    fn needed(filter: &Value, rare: &[u64]) -> Option<Vec<u64>> {
        // What is rare is had by one event, all else by ten.
        let count = |hash: u64| Ok(if rare.contains(&hash) { 1 } else { 10 });
        let filter = Filter::parse(filter).unwrap();
        filter.needs(&count).unwrap().map(|need| need.hashes)
    }

    fn of(value: &Value) -> Vec<u64> {
        values_of(&value.to_string()).unwrap()
    }

    fn one(value: &Value) -> u64 {
        let all = of(value);
        assert_eq!(all.len(), 1, "{value}");
        all[0]
    }

    #[test]
    fn values_that_are_equal_to_a_filter_have_one_number() {
        for (a, b) in [
            (json!({"a": 1}), json!({"a": 1.0})),
            (json!({"a": 0}), json!({"a": -0.0})),
            (json!({"a": -7}), json!({"a": -7.0})),
            (
                json!({"a": 9_223_372_036_854_775_808_u64}),
                json!({"a": 9_223_372_036_854_775_808.0}),
            ),
            (json!({"a.b": "x"}), json!({"a": {"b": "x"}})),
            (json!({"a": [["x"]]}), json!({"a": "x"})),
            (json!({"a": [{"b": null}]}), json!({"a.b": null})),
            (json!({"a": {"": {"b": true}}}), json!({"a..b": true})),
        ] {
            assert_eq!(one(&a), one(&b), "{a} {b}");
        }
    }

    #[test]
    fn other_values_and_other_paths_have_other_numbers() {
        let all = [
            json!({"a": 1}),
            json!({"a": 1.5}),
            json!({"a": "1"}),
            json!({"a": true}),
            json!({"a": false}),
            json!({"a": null}),
            json!({"a": ""}),
            json!({"a": "x"}),
            json!({"a": "X"}),
            json!({"b": 1}),
            json!({"a.b": 1}),
            json!({"": 1}),
            json!({"a": 9_007_199_254_740_992_u64}),
            json!({"a": 9_007_199_254_740_993_u64}),
            json!({"a": 1e300}),
            json!({"a": -1e300}),
        ];
        let mut numbers: Vec<u64> = all.iter().map(one).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all.len());
    }

    #[test]
    fn a_filter_needs_what_equality_asks_for_and_the_rarest_of_it() {
        let (a, b) = (one(&json!({"a": 1})), one(&json!({"b": "x"})));
        for (filter, expected) in [
            (json!({"a": 1.0}), Some(vec![a])),
            (json!({"a": {"in": [1]}}), Some(vec![a])),
            (json!({"a": {"in": []}}), Some(vec![])),
            (json!({"a": 1, "b": "x"}), Some(vec![b])),
            (json!({"a": 1, "text": {"contains": "y"}}), Some(vec![a])),
            (json!({"a": 1, "c": {"gte": 3}}), Some(vec![a])),
            (json!({"or": [{"a": 1}, {"b": "x"}]}), Some(vec![a, b])),
            (json!({"or": [{"a": 1}, {"type": "fact"}]}), None),
            (json!({"not": {"a": 1}}), None),
            (json!({"a": {"ne": 1}}), None),
            (json!({"a": {"nin": [1]}}), None),
            (json!({"a": {"gte": 1}}), None),
            (json!({"b": {"contains": "x"}}), None),
            (json!({"b": {"icontains": "x"}}), None),
            (json!({"session": 1}), None),
            (json!({}), None),
        ] {
            assert_eq!(needed(&filter, &[b]), expected, "{filter}");
        }
    }

    #[test]
    fn more_values_than_are_told_of_are_not() {
        let list = |count: usize| json!({"a": (0..count).collect::<Vec<_>>()}).to_string();
        let last = values_of(&list(INDEXED_VALUES_MAX)).map(|all| all.len());
        assert_eq!(last, Some(INDEXED_VALUES_MAX));
        assert_eq!(values_of(&list(INDEXED_VALUES_MAX + 1)), None);
        assert_eq!(values_of("[1]"), None);
        assert_eq!(values_of("{}"), Some(vec![]));
        let many = |count: usize| json!({"a": {"in": (0..count).collect::<Vec<_>>()}});
        assert!(needed(&many(NEEDED_VALUES_MAX), &[]).is_some());
        assert!(needed(&many(NEEDED_VALUES_MAX + 1), &[]).is_none());
    }
}
