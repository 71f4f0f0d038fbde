//! Filters: conditions on events, with one meaning in every query.
//!
//! As JSON: `{"and": […]}`, `{"or": […]}`, `{"not": …}`, `{"field": "a.b", "op": "gte", "value": 3}`; in short `{"a.b":
//! 3}` for equality and `{"a.b": {"gte": 3, "lt": 9}}`. All entries of an object must hold; `{}` and an empty `and`
//! match every event, an empty `or` none.
//!
//! **Fields.** `id`, `type`, `session`, `confidence`, `strength`, `created_at`, `event_time`, `happened_at` (event
//! time, else recorded time) and `text` (the content) are fields of the record. Every other name is a path into the
//! attributes, as is all that follows `attributes.`: an attribute named `type` is `attributes.type`. Dots in a path
//! step into objects; a key may contain dots itself. A path passes through arrays, nested ones too: a condition holds
//! if it holds for any element.
//!
//! **Operators.** `eq gt gte lt lte` compare with one value, `in` with a list; `contains` and `icontains` look for part
//! of a string, the latter regardless of case (`case`). `ne` and `nin` are the opposites of `eq` and `in`: for an
//! array, they say that no element is equal.
//! - Numbers compare as numbers, exactly; `confidence` and `strength`, which have 32 bits, with the operand rounded to
//!   32 bits. Strings compare by bytes, times as instants. A time is one that `time_phrase` reads; a span such as a day
//!   equals every instant in it (`time_span`).
//! - A missing field, an empty array, an object and a value of another kind make a condition false, and `ne` and `nin`
//!   true. `null` in an attribute is a value, equal only to `null`.
//! - An operand that never makes sense is an error: an order on a boolean, a list for `eq`, a part that is not a
//!   string, and for a field of the record any value of another kind.
//!
//! Promises: a filter has at most `limits::FILTER_NODES_MAX` parts; matching costs in proportion to the filter and the
//! event; text and attributes are read once, and only if a condition needs them.
//! Not here: choosing an index (`planner`); `needs` states what an index can decide.

mod case;
mod condition;
mod needs;
mod parse;
mod scalar;
mod subject;
mod time_span;
mod tree;

pub use condition::Condition;
pub use subject::Subject;
pub use tree::Filter;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
