//! A settings file as text: which entries it has, with them, and without them.

use std::path::Path;

use serde_json::Value;

use crate::client_file::Content;
use crate::entry::{Entry, EntryRole, EntrySlot, EntryState};
use crate::error::SettingsError;
use crate::fault::Fault;
use crate::jsonc::{self, JsonText};
use crate::record::Insertion;
use crate::splice::{GrowingText, Spans};
use crate::toml_text::{self, TomlText};
use crate::whole;

/// A new text, and where the insertions stand in it.
#[derive(Debug)]
pub(crate) struct EditedText {
    pub(crate) text: String,
    pub(crate) spans: Spans,
}

/// The state of the servers and of the hooks of a file; `None` if none belong into it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ContentState {
    pub(crate) server: Option<EntryState>,
    pub(crate) hooks: Option<EntryState>,
    is_whole_missing: bool,
}

impl ContentState {
    pub(crate) fn is_satisfied(self) -> bool {
        let mut states = [self.server, self.hooks].into_iter().flatten();
        !self.is_whole_missing && states.all(EntryState::is_satisfied)
    }
}

/// The least that can be said of several entries.
pub(crate) fn least(states: impl IntoIterator<Item = EntryState>) -> Option<EntryState> {
    let rank = |state: &EntryState| match state {
        EntryState::Foreign => 0,
        EntryState::Missing => 1,
        EntryState::Outdated => 2,
        EntryState::ByHand => 3,
        EntryState::Current => 4,
    };
    states.into_iter().min_by_key(rank)
}

/// The state of a file with this text; `None` is no file.
pub(crate) fn state(
    path: &Path,
    text: Option<&str>,
    content: &Content,
) -> Result<ContentState, SettingsError> {
    let text = text.unwrap_or_default();
    let (entries, value) = match content {
        Content::Json(entries) => (entries, json_value(path, text)?),
        Content::Toml(entries) => (entries, toml_value(path, text)?),
        Content::Whole(wanted) => {
            let state = match text {
                text if text == wanted => EntryState::Current,
                "" => EntryState::Missing,
                text if whole::is_ours(text) => EntryState::Outdated,
                _ => EntryState::Foreign,
            };
            return Ok(ContentState {
                hooks: Some(state),
                ..ContentState::default()
            });
        }
    };
    let of = |role: EntryRole| {
        let entries = entries.iter().filter(|entry| entry.role == role);
        least(entries.map(|entry| entry.state(&value)))
    };
    Ok(ContentState {
        server: of(EntryRole::Server),
        hooks: of(EntryRole::Hook),
        is_whole_missing: of(EntryRole::Frame).is_some_and(|state| !state.is_satisfied()),
    })
}

fn json_value(path: &Path, text: &str) -> Result<Value, SettingsError> {
    let parsed = JsonText::parse(text).map_err(|fault| fault.in_file(path, text))?;
    Ok(parsed.value())
}

/// The value of a file; its ending says its form.
pub(crate) fn value(path: &Path, text: &str) -> Result<Value, SettingsError> {
    match path.extension().is_some_and(|ending| ending == "toml") {
        true => toml_value(path, text),
        false => json_value(path, text),
    }
}

fn toml_value(path: &Path, text: &str) -> Result<Value, SettingsError> {
    let parsed = TomlText::parse(text).map_err(|fault| fault.in_file(path, text))?;
    Ok(parsed.value())
}

/// The text with what is missing. `None` is no file.
pub(crate) fn with(
    path: &Path,
    text: Option<&str>,
    content: &Content,
) -> Result<EditedText, SettingsError> {
    let before = text.unwrap_or_default();
    let in_file = |fault: Fault| fault.in_file(path, before);
    if let Content::Whole(wanted) = content {
        if !before.is_empty() {
            return Err(SettingsError::ForeignFile {
                path: path.to_owned(),
            });
        }
        return Ok(EditedText {
            spans: vec![(0, wanted.len())],
            text: wanted.clone(),
        });
    }
    let mut grown = GrowingText::new(before);
    for entry in content.entries() {
        let value = match content {
            Content::Toml(_) => toml_value(path, grown.text())?,
            _ => json_value(path, grown.text())?,
        };
        match entry.state(&value) {
            EntryState::Missing => {}
            EntryState::Foreign => return Err(in_file(taken(content, before, entry)?)),
            EntryState::Current | EntryState::Outdated | EntryState::ByHand => continue,
        }
        let add = match content {
            Content::Toml(_) => toml_text::add,
            _ => jsonc::add,
        };
        add(&mut grown, &entry.path, &entry.slot, &entry.value).map_err(in_file)?;
    }
    // An insertion that another parser would read differently must not reach the disk.
    let state = state(path, Some(grown.text()), content)?;
    if !state.is_satisfied() {
        let fault = Fault::syntax(0, "an entry cannot be added to this layout; add it by hand");
        return Err(in_file(fault));
    }
    Ok(EditedText {
        spans: grown.spans().clone(),
        text: grown.text().to_owned(),
    })
}

fn taken(content: &Content, text: &str, entry: &Entry) -> Result<Fault, SettingsError> {
    let name = match &entry.slot {
        EntrySlot::Member(name) | EntrySlot::Default(name) => name.as_str(),
        EntrySlot::Element => "",
    };
    let path = [&entry.path[..], &[name]].concat();
    let at = match content {
        Content::Toml(_) => TomlText::parse(text).map(|toml| toml.offset(&path)),
        _ => JsonText::parse(text).map(|json| json.offset(&path)),
    };
    Ok(Fault::taken(at.unwrap_or_default(), &entry.path, name))
}

/// The text without what connect wrote; `None` if no file is to be left.
///
/// The recorded insertion is undone if the text is unchanged since. Otherwise entries that are as connect writes them
/// are cut out, wherever they stand now.
pub(crate) fn without(
    path: &Path,
    text: &str,
    content: &Content,
    recorded: Option<&Insertion>,
) -> Result<Option<String>, SettingsError> {
    let created = recorded.is_some_and(|recorded| recorded.created);
    if let Some(before) = recorded.and_then(|recorded| recorded.undo(text)) {
        return Ok(Some(before).filter(|before| !(created && before.is_empty())));
    }
    if let Content::Whole(wanted) = content {
        return Ok(Some(text.to_owned()).filter(|text| text != wanted));
    }
    let in_file = |fault: Fault| fault.in_file(path, text);
    let mut out = text.to_owned();
    for entry in content.entries() {
        loop {
            let value = match content {
                Content::Toml(_) => toml_value(path, &out)?,
                _ => json_value(path, &out)?,
            };
            let Some(index) = entry.find_ours(&value) else {
                break;
            };
            let cut = match content {
                Content::Toml(_) => toml_text::cut,
                _ => jsonc::cut,
            };
            let less = cut(&out, &entry.path, &entry.slot, index).map_err(in_file)?;
            // Dotted keys stay: they were written by hand.
            if less == out {
                break;
            }
            out = less;
        }
    }
    let is_left = !(created && is_frame(path, &out, content)?);
    Ok(Some(out).filter(|_| is_left))
}

/// Whether a text has nothing but what a client requires around entries.
fn is_frame(path: &Path, text: &str, content: &Content) -> Result<bool, SettingsError> {
    let value = match content {
        Content::Toml(_) => toml_value(path, text)?,
        _ => json_value(path, text)?,
    };
    let is_default = |name: &String| {
        content
            .entries()
            .iter()
            .any(|entry| entry.path.is_empty() && entry.slot == EntrySlot::Default(name.clone()))
    };
    let has_comment = text.contains("//") || text.contains("/*") || text.contains('#');
    let is_bare = value.is_null() || value.as_object().is_some_and(|o| o.keys().all(is_default));
    Ok(is_bare && !has_comment)
}
