//! Reads notes: each file is a document by its path, with an item for the note and one for each block.
//!
//! The part of a block is its `^id`, or a hash of its text and how often the text stood above: a line that moves keeps
//! its id, an edited line is another one.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::blocks::{BlockShape, NoteBlock, blocks};
use super::front_matter::FrontMatter;
use super::inline::{block_id, links, observation, relation, tags};
use super::note_index::NoteIndex;
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile, decode};
use crate::item::{EventTime, ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem};
use crate::limits;
use crate::output::{ItemOutput, cut};

/// Properties with a time of the note, the best first.
const TIME_NAMES: [&str; 8] = [
    "date",
    "created",
    "created_at",
    "creation date",
    "date created",
    "createdat",
    "datetime",
    "day",
];
/// How much of a file is read to learn its names.
const NAMES_BYTES_MAX: u64 = 8 << 10;

/// A note, divided.
pub(crate) struct NotePart<'t> {
    pub(crate) front: FrontMatter,
    /// Lines before the body.
    pub(crate) front_lines: u64,
    pub(crate) body: &'t str,
}

/// Divides a text into its front matter and its body.
pub(crate) fn split_note(text: &str) -> NotePart<'_> {
    let whole = NotePart {
        front: FrontMatter::default(),
        front_lines: 0,
        body: text,
    };
    let Some(first) = text.lines().next().filter(|line| line.trim_end() == "---") else {
        return whole;
    };
    let from = first.len() + text[first.len()..].find('\n').map_or(0, |at| at + 1);
    let mut at = from;
    for line in text[from..].split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            let body = &text[at + line.len()..];
            return NotePart {
                front: FrontMatter::parse(&text[from..at]),
                front_lines: text[..at + line.len()].lines().count() as u64,
                body,
            };
        }
        at += line.len();
    }
    // A rule at the top, and no front matter.
    whole
}

/// Reads the notes of a tree.
pub(crate) fn read_notes(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let index = names(tree, files);
    let documents: Vec<String> = files.iter().map(|file| out.document(tree, file)).collect();
    for (note, file) in files.iter().enumerate() {
        let place = tree.place(file, 0);
        let Some(text) = read_text(tree, file, out)? else {
            continue;
        };
        out.counts.files += 1;
        let reading = NoteReading {
            documents: &documents,
            index: &index,
            path: &file.path,
            document: &documents[note],
        };
        reading.read(&text, &place, out)?;
    }
    Ok(())
}

/// Paths first, so that a title cannot take a path's link.
fn names(tree: &FileTree, files: &[&TreeFile]) -> NoteIndex {
    let mut index = NoteIndex::default();
    for (note, file) in files.iter().enumerate() {
        index.add_path(&file.path, note);
    }
    for (note, file) in files.iter().enumerate() {
        let mut head = Vec::new();
        // A file that cannot be read is reported when its turn comes.
        let is_read = tree
            .read(file)
            .and_then(|bytes| bytes.take(NAMES_BYTES_MAX).read_to_end(&mut head));
        if is_read.is_err() || !head.starts_with(b"---") && !head.starts_with(b"\xef\xbb\xbf---") {
            continue;
        }
        let head = String::from_utf8_lossy(&head);
        let front = split_note(head.trim_start_matches('\u{feff}')).front;
        let mut named = front.list("aliases");
        named.extend(front.list("alias"));
        named.extend(front.text("title").map(str::to_owned));
        named.extend(front.text("permalink").map(str::to_owned));
        for name in named {
            index.add(&name, note);
        }
    }
    index
}

/// The text of a small file; none if it is reported.
pub(crate) fn read_text(
    tree: &FileTree,
    file: &TreeFile,
    out: &mut ItemOutput<'_>,
) -> Result<Option<String>, SourceError> {
    let place = tree.place(file, 0);
    let mut bytes = Vec::new();
    let read = tree.read(file).and_then(|stream| {
        stream
            .take(limits::NOTE_BYTES_MAX + 1)
            .read_to_end(&mut bytes)
    });
    if let Err(error) = read {
        out.skip_file(place, &error)?;
        return Ok(None);
    }
    if bytes.len() as u64 > limits::NOTE_BYTES_MAX {
        let why = format!("more than the {} bytes of a note", limits::NOTE_BYTES_MAX);
        out.skip(place, SkipReason::TooLarge, why)?;
        return Ok(None);
    }
    match decode(&bytes) {
        Ok(text) => Ok(Some(text.replace("\r\n", "\n"))),
        Err(line) => {
            let place = ItemPlace { line, ..place };
            out.skip(place, SkipReason::BadEncoding, "the note is not UTF-8")?;
            Ok(None)
        }
    }
}

struct NoteReading<'n> {
    documents: &'n [String],
    index: &'n NoteIndex,
    path: &'n str,
    document: &'n str,
}

/// What the blocks of a note share.
struct NoteFrame {
    title: String,
    time: Option<EventTime>,
    tags: Vec<String>,
}

impl NoteReading<'_> {
    fn read(
        &self,
        text: &str,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let note = split_note(text);
        let at = |line: u64| ItemPlace {
            file: place.file.clone(),
            line,
        };
        for (line, why) in &note.front.bad_lines {
            out.skip(at(line + 1), SkipReason::Malformed, why.clone())?;
        }
        let all = blocks(note.body);
        let frame = NoteFrame {
            title: self.title(&note),
            time: self.time(&note.front, place, out)?,
            tags: property_tags(&note.front),
        };
        self.document(&note, &frame, place, out)?;
        let starts = line_starts(note.body);
        let mut seen: HashMap<u64, u64> = HashMap::new();
        for block in all {
            let line = note.front_lines + starts.partition_point(|start| *start <= block.at) as u64;
            self.block(block, &frame, &mut seen, at(line), out)?;
        }
        Ok(())
    }

    /// The title property, else the only first heading, else the file's name.
    fn title(&self, note: &NotePart<'_>) -> String {
        if let Some(title) = note.front.text("title") {
            return title.to_owned();
        }
        let mut tops = note.body.lines().filter_map(|line| line.strip_prefix("# "));
        if let (Some(top), None) = (tops.next(), tops.next()) {
            return top.trim().trim_end_matches('#').trim().to_owned();
        }
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        name.rsplit_once('.')
            .map_or(name, |(stem, _)| stem)
            .to_owned()
    }

    /// Of a property, else of the file's name or its folders, as in 2026/2026-01-31.md.
    fn time(
        &self,
        front: &FrontMatter,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<Option<EventTime>, SourceError> {
        for name in TIME_NAMES {
            if let Some(value) = front.value(name) {
                let time = out.time(Some(value), place)?;
                if time.is_some() {
                    return Ok(time);
                }
            }
        }
        let name = self.path.rsplit('/').next().unwrap_or(self.path);
        Ok(out.times.day_within(name))
    }

    /// The note itself. Its text is its title and its properties, so that a search finds them.
    fn document(
        &self,
        note: &NotePart<'_>,
        frame: &NoteFrame,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let mut text = frame.title.clone();
        for (name, value) in &note.front.fields {
            if name.eq_ignore_ascii_case("title") {
                continue;
            }
            text.push_str(&format!("\n{name}: {}", shown(value)));
        }
        let place = ItemPlace {
            line: 1,
            ..place.clone()
        };
        let mut item = SourceItem::new(out.id(self.document, ""), ItemType::Document, text, place);
        item.title = Some(frame.title.clone());
        item.time = frame.time;
        item.set("tags", frame.tags.clone());
        item.set("properties", note.front.fields.clone());
        item.set("path", self.path);
        let mut linked = Vec::new();
        for value in note.front.fields.values() {
            linked.extend(links(&shown(value)).into_iter().map(|link| link.target));
        }
        self.relate(
            &mut item,
            linked.iter().map(|target| ("links_to", target.as_str())),
            out,
        )?;
        out.emit(item)
    }

    fn block(
        &self,
        block: NoteBlock,
        frame: &NoteFrame,
        seen: &mut HashMap<u64, u64>,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let (own_id, text) = block_id(&block.text);
        let hash = xxh3_64(text.as_bytes());
        let before = seen.entry(hash).or_default();
        *before += 1;
        let part = match (own_id, *before) {
            (Some(id), _) => format!("^{id}"),
            (None, 1) => format!("{hash:016x}"),
            (None, times) => format!("{hash:016x}.{times}"),
        };
        let is_item = block.shape == BlockShape::Item;
        let seen_as = observation(text).filter(|_| is_item && block.is_done.is_none());
        let related = relation(text).filter(|_| is_item && seen_as.is_none());
        let item_type = match (&seen_as, &related) {
            (Some(_), _) => ItemType::Observation,
            (_, Some(_)) => ItemType::Edge,
            _ => ItemType::Block,
        };
        let said = seen_as.as_ref().map_or(text, |seen| seen.text);
        let mut item = SourceItem::new(out.id(self.document, part), item_type, said, place);
        item.title = Some(frame.title.clone());
        // A day in a heading is nearer than the note's.
        let day = block
            .headings
            .iter()
            .rev()
            .find_map(|heading| out.times.day_within(heading));
        item.time = day.or(frame.time);
        item.headings = block.headings;
        let mut all_tags = frame.tags.clone();
        all_tags.extend(
            tags(text)
                .into_iter()
                .filter(|tag| !frame.tags.contains(tag)),
        );
        item.set("tags", all_tags);
        item.set("shape", block.shape.name());
        item.set("under", block.under);
        item.set("language", block.language);
        item.set("done", block.is_done);
        if let Some(seen) = &seen_as {
            item.set("category", seen.category);
            item.set("context", seen.context);
        }
        item.relations.push(ItemRelation {
            name: "part_of".to_owned(),
            to: out.id(self.document, ""),
        });
        match &related {
            Some((name, target)) => {
                self.relate(&mut item, [(name.as_str(), target.as_str())], out)?
            }
            None if block.shape != BlockShape::Code => {
                let linked = links(text);
                let linked = linked.iter().map(|link| ("links_to", link.target.as_str()));
                self.relate(&mut item, linked, out)?;
            }
            None => {}
        }
        out.emit(item)
    }

    /// Adds relations to notes; a target that is no note stays as an attribute: it may be written later.
    fn relate<'a>(
        &self,
        item: &mut SourceItem,
        targets: impl IntoIterator<Item = (&'a str, &'a str)>,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let (mut missing, mut known) = (Vec::new(), HashSet::new());
        for (name, target) in targets {
            match self.index.find(target, self.path) {
                Some(note) if known.insert((name.to_owned(), note)) => {
                    let mut name = name.to_owned();
                    cut(&mut name, limits::NAME_BYTES_MAX);
                    let to = out.id(self.documents[note].as_str(), "");
                    item.relations.push(ItemRelation { name, to });
                }
                Some(_) => {}
                None => missing.push(target.to_owned()),
            }
        }
        for target in &missing {
            let why = format!("a link to {target:?}, which is no note");
            out.skip(item.place.clone(), SkipReason::Dangling, why)?;
        }
        item.set("missing_links", missing);
        Ok(())
    }
}

fn property_tags(front: &FrontMatter) -> Vec<String> {
    let mut all = front.list("tags");
    all.extend(front.list("tag"));
    let words = all.iter().flat_map(|tag| tag.split_whitespace());
    let mut out: Vec<String> = Vec::new();
    for tag in words.map(|tag| tag.trim_start_matches('#')) {
        if !tag.is_empty() && !out.iter().any(|known| known == tag) {
            out.push(tag.to_owned());
        }
    }
    out
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Byte offsets.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
    std::iter::once(0)
        .chain(ends.map(|(at, _)| at + 1))
        .collect()
}
