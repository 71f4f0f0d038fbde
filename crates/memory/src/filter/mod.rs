//! Filters of memories: two spellings, one meaning.
//!
//! The specification's: `{"field": "tag", "operator": "eq", "value": "work"}`. mem0's: `{"tag": "work"}`,
//! `{"created_at": {"gte": "2024-01-01", "lt": "2025-01-01"}}`. Both take `{"AND": […]}`, `{"OR": […]}` and `{"NOT":
//! …}` in capitals; all entries of an object must hold. `NOT` of a list: none of them holds. `"*"` as a value: the
//! field is present. A list as a value: `in`.
//!
//! **Meaning.** A field is a path with dots into the memory's JSON (`MemoryItem` and its metadata). An array matches if
//! any element does. A missing field makes a condition false, and `ne` and `nin` true; `null` counts as missing.
//! Numbers compare as numbers; times (`…_at`, `…_date`) as instants; strings by bytes; other pairs of kinds never
//! match. `contains` and `icontains` look for a part of a string, or for an element of an array that equals it.
//!
//! Promises: depth, nodes and values are limited; what makes no sense is an error that names its path; `scoped` holds
//! only if every way to match names a field of the scope.

mod matching;
mod parse;
mod scopes;
mod tree;

pub use parse::is_time;
pub use tree::{FactFilter, FilterCondition, FilterOp};

#[cfg(test)]
mod tests;
