//! The ladder of forms: how an answer is asked for, and what each model takes.
//!
//! Growing strictness makes small models worse, so that a step down is looser: a strict schema, then JSON with the
//! schema in words, then four example turns as chat.

use std::collections::HashMap;
use std::sync::Mutex;

use amem_locks::LockResultExt;

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReplyForm {
    /// A strict JSON schema.
    Schema,
    /// A JSON object, with the schema in the prompt, or a forced tool.
    JsonObject,
    /// Example turns, and a plain list.
    Demonstration,
}

impl ReplyForm {
    /// The next form down; `None` below the last: patterns.
    pub fn next(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::JsonObject),
            Self::JsonObject => Some(Self::Demonstration),
            Self::Demonstration => None,
        }
    }
}

/// The form that each model takes, by its key. Forms that a server refuses are not tried again.
#[derive(Debug, Default)]
pub struct FormTable {
    forms: Mutex<HashMap<String, ReplyForm>>,
}

impl FormTable {
    /// The form to begin with.
    pub fn form(&self, key: &str) -> ReplyForm {
        let forms = self.forms.lock().unpoisoned();
        forms.get(key).copied().unwrap_or(ReplyForm::Schema)
    }

    /// Sets the form to begin with, as a probe or a refusal found it.
    pub fn set(&self, key: &str, form: ReplyForm) {
        let mut forms = self.forms.lock().unpoisoned();
        forms.insert(key.to_owned(), form);
    }
}
