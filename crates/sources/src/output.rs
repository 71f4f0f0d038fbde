//! The way of every item from its reader to the sink: injected context and secrets go, long texts are divided, the
//! hash is made.

use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;

use amem_texts::{mask_secrets, strip_injected};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use crate::error::SourceError;
use crate::event_time::TimeReading;
use crate::input::{FileTree, TreeFile};
use crate::item::{
    EventTime, ItemPlace, ItemType, SkipReason, SkippedEntry, SourceId, SourceItem, SourceSink,
};
use crate::kind::SourceKind;
use crate::limits;
use crate::options::{ReadCounts, ReadOptions, SecretPolicy};

/// What the readers write to.
pub(crate) struct ItemOutput<'s> {
    sink: &'s mut dyn SourceSink,
    pub(crate) options: &'s ReadOptions,
    pub(crate) times: TimeReading,
    pub(crate) counts: ReadCounts,
    pub(crate) kind: SourceKind,
}

impl SourceItem {
    /// An item that says nothing more yet; its hash is made on its way out.
    pub(crate) fn new(
        id: SourceId,
        item_type: ItemType,
        text: impl Into<String>,
        place: ItemPlace,
    ) -> Self {
        Self {
            id,
            hash: 0,
            item_type,
            text: text.into(),
            role: None,
            title: None,
            headings: Vec::new(),
            time: None,
            ends: None,
            attributes: Map::new(),
            relations: Vec::new(),
            place,
        }
    }

    /// Sets an attribute unless the value is null or blank.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<Value>) {
        let value = value.into();
        let is_blank = match &value {
            Value::Null => true,
            Value::String(text) => text.trim().is_empty(),
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => false,
        };
        if !is_blank {
            self.attributes.insert(name.to_owned(), value);
        }
    }

    fn content_hash(&self) -> u128 {
        let mut hash = Xxh3::new();
        let mut add = |text: &str| {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        };
        add(self.item_type.name());
        add(&self.text);
        add(self.role.as_ref().map_or("", |role| role.name()));
        add(self.title.as_deref().unwrap_or(""));
        add(&self.headings.join("\n"));
        let time = |time: Option<EventTime>| time.map_or(String::new(), |t| t.0.to_string());
        add(&time(self.time));
        add(&time(self.ends));
        add(&Value::Object(self.attributes.clone()).to_string());
        for relation in &self.relations {
            add(&relation.name);
            add(&relation.to.to_string());
        }
        hash.digest128()
    }
}

impl<'s> ItemOutput<'s> {
    pub(crate) fn new(sink: &'s mut dyn SourceSink, options: &'s ReadOptions) -> Self {
        Self {
            sink,
            options,
            times: options.times(),
            counts: ReadCounts::default(),
            kind: SourceKind::Chat,
        }
    }

    pub(crate) fn id(&self, document: impl Into<String>, part: impl Into<String>) -> SourceId {
        SourceId {
            kind: self.kind,
            document: document.into(),
            part: part.into(),
        }
    }

    /// The document id of a file: its canonical path, with `~` for the home folder.
    pub(crate) fn document(&self, tree: &FileTree, file: &TreeFile) -> String {
        let shown = tree.shown(file);
        let home = self.options.home.as_ref();
        let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.clone()));
        match home.and_then(|home| {
            shown
                .strip_prefix(&format!("{}/", home.display()))
                .map(str::to_owned)
        }) {
            Some(below) => format!("~/{below}"),
            None => shown,
        }
    }

    pub(crate) fn skip(
        &mut self,
        place: ItemPlace,
        reason: SkipReason,
        detail: impl Into<String>,
    ) -> Result<(), SourceError> {
        self.pass_on(SkippedEntry {
            place,
            reason,
            detail: detail.into(),
        })
    }

    pub(crate) fn pass_on(&mut self, entry: SkippedEntry) -> Result<(), SourceError> {
        *self.counts.skipped.entry(entry.reason).or_default() += 1;
        match self.sink.skip(entry) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SourceError::Stopped),
        }
    }

    /// A file that cannot be read, or not to its end.
    pub(crate) fn skip_file(
        &mut self,
        place: ItemPlace,
        error: &io::Error,
    ) -> Result<(), SourceError> {
        let reason = match error.kind() {
            io::ErrorKind::UnexpectedEof => SkipReason::CutOff,
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => SkipReason::Malformed,
            _ => SkipReason::Unreadable,
        };
        self.skip(place, reason, error.to_string())
    }

    /// A time of JSON; one that is not understood is reported, and the item goes without.
    pub(crate) fn time(
        &mut self,
        value: Option<&Value>,
        place: &ItemPlace,
    ) -> Result<Option<EventTime>, SourceError> {
        match self.times.value(value.unwrap_or(&Value::Null)) {
            Ok(time) => Ok(time),
            Err(why) => {
                self.skip(place.clone(), SkipReason::BadTime, why)?;
                Ok(None)
            }
        }
    }

    /// Gives an item to the sink, in parts if its text is long.
    pub(crate) fn emit(&mut self, mut item: SourceItem) -> Result<(), SourceError> {
        let (said, injected) = strip_injected(&item.text);
        self.counts.injected += injected;
        let said = said.trim();
        if said.is_empty() {
            let (reason, why) = if injected > 0 {
                (
                    SkipReason::Injected,
                    "nothing but context that a client added",
                )
            } else {
                (SkipReason::Blank, "it has no text")
            };
            return self.skip(item.place, reason, why);
        }
        if said.len() != item.text.len() {
            item.text = said.to_owned();
        }
        if item.text.contains('\0') {
            item.text = item.text.replace('\0', "\u{fffd}");
        }
        if let Some(why) = self.guard(&mut item) {
            return self.skip(item.place, SkipReason::Secret, why);
        }
        self.bound(&mut item)?;
        if item.text.len() <= limits::TEXT_BYTES_MAX {
            return self.give(item);
        }
        let parts = divided(&item.text);
        for (number, part) in parts.iter().enumerate() {
            let mut one = SourceItem {
                text: (*part).to_owned(),
                ..item.clone()
            };
            one.set("text_part", number as u64 + 1);
            one.set("text_parts", parts.len() as u64);
            if number > 0 {
                one.id.part = format!("{}/{}", item.id.part, number + 1);
            }
            self.give(one)?;
        }
        Ok(())
    }

    fn give(&mut self, mut item: SourceItem) -> Result<(), SourceError> {
        item.hash = item.content_hash();
        self.counts.count(item.item_type);
        match self.sink.item(item) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(SourceError::Stopped),
        }
    }

    /// Masks secrets; or says why the item is refused.
    fn guard(&mut self, item: &mut SourceItem) -> Option<String> {
        if self.options.secrets == SecretPolicy::Keep {
            return None;
        }
        let mut first = None;
        let counts = &mut self.counts.secrets;
        let mut masked = |text: &mut String| {
            let (clean, found) = mask_secrets(text);
            for (kind, count) in found {
                first.get_or_insert(kind);
                *counts.entry(kind).or_default() += count;
            }
            if let Cow::Owned(clean) = clean {
                *text = clean;
            }
        };
        masked(&mut item.text);
        if let Some(title) = &mut item.title {
            masked(title);
        }
        item.headings.iter_mut().for_each(&mut masked);
        item.attributes
            .values_mut()
            .for_each(|value| each_text(value, &mut masked));
        let kind = first.filter(|_| self.options.secrets == SecretPolicy::Skip)?;
        Some(format!("it has a secret: {kind}"))
    }

    /// Cuts names, and leaves out attributes that do not fit.
    fn bound(&mut self, item: &mut SourceItem) -> Result<(), SourceError> {
        if let Some(title) = &mut item.title {
            cut(title, limits::NAME_BYTES_MAX);
        }
        item.headings
            .iter_mut()
            .for_each(|h| cut(h, limits::NAME_BYTES_MAX));
        let mut bytes = 0;
        let mut left_out = Vec::new();
        item.attributes.retain(|name, value| {
            let own = name.len() + value.to_string().len();
            let fits = bytes + own <= limits::ATTRIBUTES_BYTES_MAX;
            if fits {
                bytes += own;
            } else {
                left_out.push(name.clone());
            }
            fits
        });
        for name in left_out {
            let why = format!(
                "the property {name:?} is left out: all have more than {} bytes",
                limits::ATTRIBUTES_BYTES_MAX
            );
            self.skip(item.place.clone(), SkipReason::TooLarge, why)?;
        }
        Ok(())
    }
}

fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(list) => list.iter_mut().for_each(|value| each_text(value, change)),
        Value::Object(map) => map.values_mut().for_each(|value| each_text(value, change)),
        _ => {}
    }
}

/// Cuts a text between characters.
pub(crate) fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        text.truncate(boundary(text, bytes_max));
    }
}

/// The last boundary between characters up to `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Parts of a long text, cut between paragraphs, else lines, else words, else characters.
fn divided(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while rest.len() > limits::TEXT_BYTES_MAX {
        let window = &rest[..boundary(rest, limits::TEXT_BYTES_MAX)];
        let half = window.len() / 2;
        let cuts = ["\n\n", "\n", " "];
        let at = cuts
            .iter()
            .find_map(|cut| window.rfind(cut).filter(|at| *at > half));
        let (part, next) = rest.split_at(at.unwrap_or(window.len()));
        parts.push(part.trim());
        rest = next.trim_start();
    }
    parts.push(rest);
    parts.retain(|part| !part.is_empty());
    parts
}
