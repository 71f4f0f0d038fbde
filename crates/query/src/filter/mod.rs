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
mod subject;
mod tree;

pub use condition::Condition;
pub use subject::Subject;
pub use tree::Filter;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
