//! An entry of a settings file: where it belongs, what it says, and whether it is there.

use serde_json::Value;

use crate::program::{PROGRAM, hook_arguments, is_program};

/// Where a value belongs below a path of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EntrySlot {
    /// A member of an object, by name.
    Member(String),
    /// One more element of an array.
    Element,
    /// A member that clients require; any value serves.
    Default(String),
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) path: Vec<&'static str>,
    pub(crate) slot: EntrySlot,
    pub(crate) value: Value,
    pub(crate) role: EntryRole,
}

/// What an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryRole {
    Server,
    Hook,
    /// What the client requires beside the others.
    Frame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryState {
    Missing,
    /// As connect writes it now.
    Current,
    /// As connect wrote it, for another program or with other times; or twice.
    Outdated,
    /// It runs amemctl, and is not from connect.
    ByHand,
    /// The name is taken by another program.
    Foreign,
}

impl EntryState {
    pub(crate) fn is_satisfied(self) -> bool {
        matches!(self, Self::Current | Self::ByHand)
    }
}

impl Entry {
    pub(crate) fn state(&self, document: &Value) -> EntryState {
        let Some(parent) = self.parent(document) else {
            return EntryState::Missing;
        };
        match &self.slot {
            EntrySlot::Default(name) => match parent.get(name) {
                Some(_) => EntryState::Current,
                None => EntryState::Missing,
            },
            EntrySlot::Member(name) => match parent.get(name) {
                Some(value) if *value == self.value => EntryState::Current,
                Some(value) if self.is_written_by_us(value) => EntryState::Outdated,
                Some(value) if runs_amemctl(value) => EntryState::ByHand,
                Some(_) => EntryState::Foreign,
                None => {
                    let mut others = parent.as_object().into_iter().flat_map(|o| o.values());
                    if others.any(runs_amemctl) {
                        EntryState::ByHand
                    } else {
                        EntryState::Missing
                    }
                }
            },
            EntrySlot::Element => {
                let elements = parent.as_array().map(Vec::as_slice).unwrap_or_default();
                let running = elements.iter().filter(|value| runs_amemctl(value)).count();
                let ours = elements.iter().filter(|v| self.is_written_by_us(v));
                let is_current = elements.contains(&self.value);
                match (ours.count(), running) {
                    (1, 1) if is_current => EntryState::Current,
                    (0, 0) => EntryState::Missing,
                    (0, _) => EntryState::ByHand,
                    _ => EntryState::Outdated,
                }
            }
        }
    }

    /// The index of an element that connect wrote, or 0 for such a member.
    pub(crate) fn find_ours(&self, document: &Value) -> Option<usize> {
        let parent = self.parent(document)?;
        match &self.slot {
            EntrySlot::Default(_) => None,
            EntrySlot::Member(name) => {
                let value = parent.get(name)?;
                self.is_written_by_us(value).then_some(0)
            }
            EntrySlot::Element => {
                let mut elements = parent.as_array()?.iter();
                elements.position(|value| self.is_written_by_us(value))
            }
        }
    }

    fn parent<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        let mut path = self.path.iter();
        path.try_fold(document, |value, key| value.get(key))
    }

    fn is_written_by_us(&self, value: &Value) -> bool {
        normal(value) == normal(&self.value)
    }
}

/// The value without what differs between installations and versions: the program's folder, and times.
fn normal(value: &Value) -> Value {
    match value {
        Value::String(text) if is_program(text) => Value::from(PROGRAM),
        Value::String(text) => match hook_arguments(text) {
            Some(arguments) => Value::from(format!("{PROGRAM} hook {arguments}")),
            None => value.clone(),
        },
        Value::Array(elements) => elements.iter().map(normal).collect(),
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.filter(|(name, _)| !matches!(name.as_str(), "timeout" | "timeoutSec"));
            Value::Object(members.map(|(name, v)| (name.clone(), normal(v))).collect())
        }
        _ => value.clone(),
    }
}

/// Whether a word of any string is amemctl.
pub(crate) fn runs_amemctl(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            let mut words = text.split(|c: char| c.is_whitespace() || "'\"();&|".contains(c));
            words.any(|word| word.rsplit('/').next() == Some(PROGRAM))
        }
        Value::Array(elements) => elements.iter().any(runs_amemctl),
        Value::Object(members) => members.values().any(runs_amemctl),
        _ => false,
    }
}
