//! English text as tokens, sentences, verbs and normal forms.

pub(crate) mod forms;
pub(crate) mod predicate;
pub(crate) mod sentences;
pub(crate) mod tokens;
pub(crate) mod verbs;
