//! A fault of a text at an offset, before its file is known.

use std::path::Path;

use crate::error::SettingsError;

#[derive(Debug)]
pub(crate) struct Fault {
    at: usize,
    kind: FaultKind,
}

#[derive(Debug)]
enum FaultKind {
    Syntax(String),
    Unexpected(String, &'static str),
    Taken(String),
}

impl Fault {
    pub(crate) fn syntax(at: usize, why: impl ToString) -> Self {
        let why = why.to_string();
        // A fragment, as all messages are.
        let mut letters = why.trim_end().trim_end_matches('.').chars();
        let first = letters.next().map(|c| c.to_lowercase().to_string());
        let why = first.unwrap_or_default() + letters.as_str();
        Self {
            at,
            kind: FaultKind::Syntax(why),
        }
    }

    pub(crate) fn unexpected(at: usize, path: &[&str], expected: &'static str) -> Self {
        Self {
            at,
            kind: FaultKind::Unexpected(key(path), expected),
        }
    }

    pub(crate) fn twice(at: usize, name: &str) -> Self {
        Self {
            at,
            kind: FaultKind::Syntax(format!("the key {name} is there twice")),
        }
    }

    pub(crate) fn taken(at: usize, path: &[&str], name: &str) -> Self {
        Self {
            at,
            kind: FaultKind::Taken(key(&[path, &[name]].concat())),
        }
    }

    pub(crate) fn in_file(self, path: &Path, text: &str) -> SettingsError {
        let path = path.to_owned();
        let mut at = self.at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        let column = last.trim_start_matches('\u{feff}').chars().count() + 1;
        match self.kind {
            FaultKind::Syntax(why) => SettingsError::Syntax {
                path,
                line,
                column,
                why,
            },
            FaultKind::Unexpected(key, expected) => SettingsError::Unexpected {
                path,
                line,
                column,
                key,
                expected,
            },
            FaultKind::Taken(key) => SettingsError::NameTaken {
                path,
                line,
                column,
                key,
            },
        }
    }
}

fn key(path: &[&str]) -> String {
    if path.is_empty() {
        "the file".to_owned()
    } else {
        path.join(".")
    }
}
