//! The six tools, and what commands share with them.

mod parameters;

mod correct;
mod forget;
mod recall;
mod remember;
mod timeline;
mod why;

mod tool_call;

#[cfg(test)]
mod recall_calls_test;

pub(crate) use recall::found_by;
pub use remember::{RememberedStatement, STATEMENT_KINDS, Statement, StatementError, remember};
pub(crate) use tool_call::run;
