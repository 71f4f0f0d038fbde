//! TOML as people write it: entries are appended as tables or inserted into inline tables, and cut out again.
//!
//! Promises: what is not of the entry stays, byte for byte.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Array, Document, InlineTable, Item, Table, TableLike, Value as TomlValue};

use crate::entry::EntrySlot;
use crate::fault::Fault;
use crate::splice::GrowingText;

const BOM: &str = "\u{feff}";

#[derive(Debug)]
pub(crate) struct TomlText {
    document: Document<String>,
    bom: usize,
}

impl TomlText {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let parsed = Document::parse(text[bom..].to_owned());
        let document = parsed.map_err(|e| {
            let at = e.span().map_or(0, |span| span.start);
            Fault::syntax(bom + at, e.message().replace('\n', ", "))
        })?;
        Ok(Self { document, bom })
    }

    pub(crate) fn value(&self) -> Value {
        of_table(self.document.as_table())
    }

    /// Where the value at a path begins.
    pub(crate) fn offset(&self, path: &[&str]) -> usize {
        let mut item = self.document.as_item();
        let mut offset = 0;
        for key in path {
            let Some(below) = item.get(key) else { break };
            offset = below.span().map_or(offset, |span| span.start);
            item = below;
        }
        self.bom + offset
    }

    fn range(&self, span: Option<Range<usize>>) -> Option<Range<usize>> {
        span.map(|span| self.bom + span.start..self.bom + span.end)
    }
}

fn of_table(table: &dyn TableLike) -> Value {
    let members = table.iter();
    let members = members.map(|(name, item)| (name.to_owned(), of_item(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
        Item::Value(value) => of_value(value),
    }
}

fn of_value(value: &TomlValue) -> Value {
    match value {
        TomlValue::String(text) => Value::from(text.value().as_str()),
        TomlValue::Integer(number) => Value::from(*number.value()),
        TomlValue::Float(number) => Value::from(*number.value()),
        TomlValue::Boolean(boolean) => Value::from(*boolean.value()),
        TomlValue::Datetime(time) => Value::from(time.value().to_string()),
        TomlValue::Array(elements) => elements.iter().map(of_value).collect(),
        TomlValue::InlineTable(table) => of_table(table),
    }
}

/// Adds a value at a slot below a path of keys.
pub(crate) fn add(
    text: &mut GrowingText,
    path: &[&str],
    slot: &EntrySlot,
    value: &Value,
) -> Result<(), Fault> {
    let toml = TomlText::parse(text.text())?;
    let mut item = toml.document.as_item();
    for (depth, key) in path.iter().enumerate() {
        match item.get(key) {
            Some(below) => item = below,
            None => {
                if let Item::Value(TomlValue::InlineTable(table)) = item {
                    let value = match slot {
                        EntrySlot::Element => Value::Array(vec![value.clone()]),
                        EntrySlot::Member(name) | EntrySlot::Default(name) => {
                            Value::Object(Map::from_iter([(name.clone(), value.clone())]))
                        }
                    };
                    let (first, deeper) = (&path[depth], &path[depth + 1..]);
                    let value = deeper.iter().rev().fold(value, |value, key| {
                        Value::Object(Map::from_iter([((*key).to_owned(), value)]))
                    });
                    return add_inline(text, &toml, table, first, &value);
                }
                if item.as_table().is_none() {
                    let at = toml.offset(&path[..depth]);
                    return Err(Fault::unexpected(at, &path[..depth], "a table"));
                }
                append(text, path, slot, value);
                return Ok(());
            }
        }
    }
    match (slot, item) {
        (EntrySlot::Element, Item::ArrayOfTables(_)) | (EntrySlot::Member(_), Item::Table(_)) => {
            append(text, path, slot, value);
            Ok(())
        }
        (EntrySlot::Member(name), Item::Value(TomlValue::InlineTable(table))) => {
            add_inline(text, &toml, table, name, value)
        }
        (EntrySlot::Element, Item::Value(TomlValue::Array(array))) => {
            let children = array_children(&toml, array);
            let range = toml.range(array.span());
            add_between(text, range, &children, &inline(value), "");
            Ok(())
        }
        (EntrySlot::Element, _) => Err(Fault::unexpected(toml.offset(path), path, "an array")),
        _ => Err(Fault::unexpected(toml.offset(path), path, "a table")),
    }
}

/// A table of its own at the end of the text.
fn append(text: &mut GrowingText, path: &[&str], slot: &EntrySlot, value: &Value) {
    let whole = text.text();
    let nl = match whole.find('\n') {
        Some(at) if whole[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    };
    let mut block = String::new();
    if !whole.is_empty() && whole != BOM {
        if !whole.ends_with('\n') {
            block.push_str(nl);
        }
        block.push_str(nl);
    }
    let name = path.join(".");
    match slot {
        EntrySlot::Member(key) | EntrySlot::Default(key) => {
            block.push_str(&format!("[{name}.{key}]{nl}"))
        }
        EntrySlot::Element => block.push_str(&format!("[[{name}]]{nl}")),
    }
    for (key, value) in value.as_object().into_iter().flatten() {
        block.push_str(&format!("{key} = {}{nl}", inline(value)));
    }
    let end = whole.len();
    text.insert(end, &block);
}

fn add_inline(
    text: &mut GrowingText,
    toml: &TomlText,
    table: &InlineTable,
    key: &str,
    value: &Value,
) -> Result<(), Fault> {
    let children = table_children(toml, table);
    let more = format!("{key} = {}", inline(value));
    add_between(text, toml.range(table.span()), &children, &more, " ");
    Ok(())
}

/// Inserts behind the last child of an inline table or an array.
fn add_between(
    text: &mut GrowingText,
    range: Option<Range<usize>>,
    children: &[Range<usize>],
    more: &str,
    space: &str,
) {
    // A parsed text has a range for every value.
    let Some(range) = range else { return };
    let Some(last) = children.iter().map(|child| child.end).max() else {
        text.insert(range.start + 1, &format!("{space}{more}{space}"));
        return;
    };
    match comma(&text.text()[last..range.end - 1]) {
        Some(at) => text.insert(last + at + 1, &format!(" {more},")),
        None => text.insert(last, &format!(", {more}")),
    }
}

/// The offset of a comma that is in no comment.
fn comma(text: &str) -> Option<usize> {
    let mut is_comment = false;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '#' => is_comment = true,
            '\n' => is_comment = false,
            ',' if !is_comment => return Some(at),
            _ => {}
        }
        None
    })
}

fn table_children(toml: &TomlText, table: &InlineTable) -> Vec<Range<usize>> {
    let keys = table.iter().filter_map(|(name, value)| {
        let key = table.key(name).and_then(|key| toml.range(key.span()))?;
        let value = toml.range(value.span())?;
        Some(key.start.min(value.start)..value.end)
    });
    keys.collect()
}

fn array_children(toml: &TomlText, array: &Array) -> Vec<Range<usize>> {
    let spans = array.iter().filter_map(|value| toml.range(value.span()));
    spans.collect()
}

/// A value in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name} = {}", inline(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(elements) => {
            let elements = elements.iter().map(inline);
            format!("[{}]", elements.collect::<Vec<_>>().join(", "))
        }
        // The escapes of JSON are escapes of TOML.
        scalar => scalar.to_string(),
    }
}

/// The text without the child at a slot below a path. A text that has it as dotted keys is returned as it is.
pub(crate) fn cut(
    text: &str,
    path: &[&str],
    slot: &EntrySlot,
    index: usize,
) -> Result<String, Fault> {
    let toml = TomlText::parse(text)?;
    let mut item = toml.document.as_item();
    for key in path {
        match item.get(key) {
            Some(below) => item = below,
            None => return Ok(text.to_owned()),
        }
    }
    let out = match (slot, item) {
        (EntrySlot::Member(name), Item::Table(table)) => match table.get(name) {
            Some(Item::Table(child)) if !child.is_dotted() => cut_table(text, &toml, child),
            _ => None,
        },
        (EntrySlot::Element, Item::ArrayOfTables(tables)) => tables
            .get(index)
            .and_then(|table| cut_table(text, &toml, table)),
        (EntrySlot::Member(name), Item::Value(TomlValue::InlineTable(table))) => {
            let at = table.iter().position(|(key, _)| key == name);
            let children = table_children(&toml, table);
            at.and_then(|at| cut_between(text, toml.range(table.span())?, &children, at))
        }
        (EntrySlot::Element, Item::Value(TomlValue::Array(array))) => {
            let children = array_children(&toml, array);
            let range = toml.range(array.span());
            range.and_then(|range| cut_between(text, range, &children, index))
        }
        _ => None,
    };
    Ok(out.unwrap_or_else(|| text.to_owned()))
}

/// From the line of the header to the line of the last value, with an empty line before.
fn cut_table(text: &str, toml: &TomlText, table: &Table) -> Option<String> {
    let header = toml.range(table.span())?;
    let ends = table.iter().filter_map(|(_, item)| toml.range(item.span()));
    let last = ends.map(|range| range.end).max().unwrap_or(header.start);
    let mut start = text[..header.start].rfind('\n').map_or(0, |at| at + 1);
    if start == 0 {
        start = toml.bom;
    }
    let end = text[last..]
        .find('\n')
        .map_or(text.len(), |at| last + at + 1);
    for blank in ["\r\n", "\n"] {
        let before = text[..start].strip_suffix(blank);
        if let Some(before) = before.filter(|before| before.ends_with('\n') || before.is_empty()) {
            start = before.len();
            break;
        }
    }
    Some(format!("{}{}", &text[..start], &text[end..]))
}

fn cut_between(
    text: &str,
    range: Range<usize>,
    children: &[Range<usize>],
    at: usize,
) -> Option<String> {
    let child = children.get(at)?;
    let (from, until) = match (at.checked_sub(1), children.get(at + 1)) {
        (Some(previous), _) => (children[previous].end, child.end),
        (None, Some(next)) => (child.start, next.start),
        (None, None) => (range.start + 1, range.end - 1),
    };
    Some(format!("{}{}", &text[..from], &text[until..]))
}
