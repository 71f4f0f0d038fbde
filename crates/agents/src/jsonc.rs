//! JSON with comments as people write it: entries are inserted into the text and cut out of it.
//!
//! Promises: what is not of the entry stays, byte for byte: comments, order, indentation, trailing commas, line ends,
//! a byte order mark.
//!
//! Not here: what an entry is (`entry`), and which insertions belong to connect (`record`).

use jsonc_parser::ast::{ObjectPropName, Value as AstValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::entry::EntrySlot;
use crate::fault::Fault;
use crate::splice::GrowingText;
use crate::style::LayoutStyle;

const BOM: &str = "\u{feff}";

/// A parsed text: its value, and where its parts stand.
#[derive(Debug)]
pub(crate) struct JsonText {
    root: Option<JsonNode>,
    tokens: Vec<Mark>,
}

/// A value with its place in the text.
#[derive(Debug)]
struct JsonNode {
    start: usize,
    end: usize,
    kind: NodeKind,
}

#[derive(Debug)]
enum NodeKind {
    Object(Vec<JsonMember>),
    Array(Vec<JsonNode>),
    Scalar(Value),
}

#[derive(Debug)]
struct JsonMember {
    start: usize,
    name: String,
    value: JsonNode,
}

/// A token: only commas and comments are of interest.
#[derive(Debug, Clone, Copy)]
struct Mark {
    start: usize,
    end: usize,
    kind: MarkKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum MarkKind {
    Comma,
    Comment,
    Word,
}

impl JsonText {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let bom = if text.starts_with(BOM) { BOM.len() } else { 0 };
        let collect = CollectOptions {
            comments: CommentCollectionStrategy::AsTokens,
            tokens: true,
        };
        // Comments and trailing commas are what editors and agents accept; the rest of JSON5 is not.
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(&text[bom..], &collect, &options);
        let parsed = parsed.map_err(|e| Fault::syntax(bom + e.range().start, e.kind()))?;
        let root = parsed.value.as_ref().map(|value| node(value, bom));
        let tokens = parsed.tokens.unwrap_or_default();
        let tokens = tokens.iter().map(|token| {
            let range = token.range();
            Mark {
                start: bom + range.start,
                end: bom + range.end,
                kind: match token.token {
                    Token::Comma => MarkKind::Comma,
                    Token::CommentLine(_) | Token::CommentBlock(_) => MarkKind::Comment,
                    _ => MarkKind::Word,
                },
            }
        });
        Ok(Self {
            tokens: tokens.collect(),
            root,
        })
    }

    /// The value of the text; null if it has none. Of a key that stands twice, the last one counts, as for clients.
    pub(crate) fn value(&self) -> Value {
        self.root.as_ref().map_or(Value::Null, JsonNode::value)
    }

    /// Where the value at a path begins.
    pub(crate) fn offset(&self, path: &[&str]) -> usize {
        let mut at = self.root.as_ref();
        let mut offset = at.map_or(0, |node| node.start);
        for key in path {
            let Some(NodeKind::Object(members)) = at.map(|node| &node.kind) else {
                break;
            };
            let Some(member) = members.iter().rev().find(|m| m.name == *key) else {
                break;
            };
            offset = member.start;
            at = Some(&member.value);
        }
        offset
    }

    /// The end of the comments that follow `from` in its line.
    fn tail(&self, text: &str, from: usize, until: usize) -> usize {
        let mut end = from;
        for mark in self.tokens.iter().filter(|m| m.start >= from) {
            let is_beside = mark.start < until && !text[end..mark.start].contains('\n');
            if mark.kind != MarkKind::Comment || !is_beside {
                break;
            }
            end = mark.end;
        }
        end
    }

    fn comma_between(&self, from: usize, until: usize) -> Option<Mark> {
        let mut commas = self.tokens.iter().filter(|m| m.kind == MarkKind::Comma);
        commas.find(|m| m.start >= from && m.end <= until).copied()
    }

    fn has_comment_between(&self, from: usize, until: usize) -> bool {
        let mut comments = self.tokens.iter().filter(|m| m.kind == MarkKind::Comment);
        comments.any(|m| m.start >= from && m.end <= until)
    }
}

fn node(value: &AstValue<'_>, bom: usize) -> JsonNode {
    let range = value.range();
    let kind = match value {
        AstValue::Object(object) => {
            let members = object.properties.iter().map(|property| JsonMember {
                start: bom + property.range.start,
                name: match &property.name {
                    ObjectPropName::String(name) => name.value.to_string(),
                    ObjectPropName::Word(name) => name.value.to_owned(),
                },
                value: node(&property.value, bom),
            });
            NodeKind::Object(members.collect())
        }
        AstValue::Array(array) => {
            NodeKind::Array(array.elements.iter().map(|v| node(v, bom)).collect())
        }
        AstValue::StringLit(text) => NodeKind::Scalar(Value::String(text.value.to_string())),
        AstValue::NumberLit(number) => {
            let parsed = serde_json::from_str(number.value);
            NodeKind::Scalar(parsed.unwrap_or_else(|_| Value::String(number.value.to_owned())))
        }
        AstValue::BooleanLit(boolean) => NodeKind::Scalar(Value::Bool(boolean.value)),
        AstValue::NullKeyword(_) => NodeKind::Scalar(Value::Null),
    };
    JsonNode {
        start: bom + range.start,
        end: bom + range.end,
        kind,
    }
}

impl JsonNode {
    fn value(&self) -> Value {
        match &self.kind {
            NodeKind::Object(members) => {
                let members = members.iter().map(|m| (m.name.clone(), m.value.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            NodeKind::Array(elements) => elements.iter().map(JsonNode::value).collect(),
            NodeKind::Scalar(value) => value.clone(),
        }
    }

    /// Where the children stand: start and end.
    fn children(&self) -> Vec<(usize, usize)> {
        match &self.kind {
            NodeKind::Object(members) => members.iter().map(|m| (m.start, m.value.end)).collect(),
            NodeKind::Array(elements) => elements.iter().map(|e| (e.start, e.end)).collect(),
            NodeKind::Scalar(_) => Vec::new(),
        }
    }

    fn member(&self, name: &str) -> Result<Option<&JsonMember>, Fault> {
        let NodeKind::Object(members) = &self.kind else {
            return Ok(None);
        };
        let mut found = members.iter().filter(|member| member.name == name);
        let first = found.next();
        match found.next() {
            Some(second) => Err(Fault::twice(second.start, name)),
            None => Ok(first),
        }
    }
}

/// Inserts a value at a slot below a path of keys; objects and arrays that are missing are inserted with it.
pub(crate) fn add(
    text: &mut GrowingText,
    path: &[&str],
    slot: &EntrySlot,
    value: &Value,
) -> Result<(), Fault> {
    let json = JsonText::parse(text.text())?;
    let style = LayoutStyle::of(text.text());
    let Some(root) = &json.root else {
        add_root(text, &style, &nested(path, slot, value));
        return Ok(());
    };
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        if !matches!(node.kind, NodeKind::Object(_)) {
            return Err(Fault::unexpected(node.start, &path[..depth], "an object"));
        }
        match node.member(key)? {
            Some(member) => node = &member.value,
            None => {
                let child = nested(&path[depth + 1..], slot, value);
                return add_child(text, &json, &style, node, Some(key), &child);
            }
        }
    }
    match (slot, &node.kind) {
        (EntrySlot::Member(name) | EntrySlot::Default(name), NodeKind::Object(_)) => {
            add_child(text, &json, &style, node, Some(name), value)
        }
        (EntrySlot::Element, NodeKind::Array(_)) => {
            add_child(text, &json, &style, node, None, value)
        }
        (EntrySlot::Element, _) => Err(Fault::unexpected(node.start, path, "an array")),
        _ => Err(Fault::unexpected(node.start, path, "an object")),
    }
}

/// The value with the objects and the array around it.
fn nested(path: &[&str], slot: &EntrySlot, value: &Value) -> Value {
    let object = |name: &str, value: Value| {
        let mut map = Map::new();
        map.insert(name.to_owned(), value);
        Value::Object(map)
    };
    let inner = match slot {
        EntrySlot::Member(name) | EntrySlot::Default(name) => object(name, value.clone()),
        EntrySlot::Element => Value::Array(vec![value.clone()]),
    };
    path.iter()
        .rev()
        .fold(inner, |inner, key| object(key, inner))
}

/// A text without a value: empty, or comments alone.
fn add_root(text: &mut GrowingText, style: &LayoutStyle, value: &Value) {
    let nl = style.newline;
    let front = match text.text() {
        "" | BOM => "",
        text if text.ends_with('\n') => "",
        _ => nl,
    };
    let more = format!("{front}{}{nl}", style.lines(value, ""));
    let end = text.text().len();
    text.insert(end, &more);
}

fn add_child(
    text: &mut GrowingText,
    json: &JsonText,
    style: &LayoutStyle,
    parent: &JsonNode,
    name: Option<&str>,
    value: &Value,
) -> Result<(), Fault> {
    let whole = text.text();
    let (open, close) = (parent.start, parent.end - 1);
    let outer = LayoutStyle::indentation(whole, open);
    let children = parent.children();
    let name = name.map(|name| style.key(name)).unwrap_or_default();
    let has_lines = whole[open..close].contains('\n');
    if let Some(&(first, last)) = children.last() {
        let comma = json.comma_between(last, close);
        let anchor = comma.map_or(last, |comma| comma.end);
        let tail = json.tail(whole, anchor, close);
        let mut more = if has_lines {
            let indent = LayoutStyle::own_indentation(whole, first)
                .unwrap_or_else(|| format!("{outer}{}", style.unit));
            format!(
                "{}{indent}{name}{}",
                style.newline,
                style.lines(value, &indent)
            )
        } else {
            format!("{}{name}{}", style.space(), style.line(value))
        };
        if comma.is_some() {
            more.push(',');
            text.insert(tail, &more);
        } else if tail == last {
            text.insert(last, &format!(",{more}"));
        } else {
            text.insert(tail, &more);
            text.insert(last, ",");
        }
        return Ok(());
    }
    let tail = json.tail(whole, open + 1, close);
    if !has_lines && style.is_one_line && parent.start != json.offset(&[]) {
        let more = format!("{name}{}", style.line(value));
        text.insert(tail, &more);
        return Ok(());
    }
    let indent = format!("{outer}{}", style.unit);
    let nl = style.newline;
    let mut more = format!("{nl}{indent}{name}{}", style.lines(value, &indent));
    if !has_lines {
        more.push_str(nl);
        more.push_str(&outer);
    }
    text.insert(tail, &more);
    Ok(())
}

/// The text without the child at a slot below a path; objects and arrays that become empty go with it.
///
/// `index` is that of an element; a member is found by its name.
pub(crate) fn cut(
    text: &str,
    path: &[&str],
    slot: &EntrySlot,
    index: usize,
) -> Result<String, Fault> {
    let json = JsonText::parse(text)?;
    let Some(parent) = json.root.as_ref().and_then(|root| at_path(root, path)) else {
        return Ok(text.to_owned());
    };
    let at = match (slot, &parent.kind) {
        (EntrySlot::Member(name) | EntrySlot::Default(name), NodeKind::Object(members)) => {
            members.iter().rposition(|member| member.name == *name)
        }
        (EntrySlot::Element, NodeKind::Array(elements)) => {
            Some(index).filter(|at| *at < elements.len())
        }
        _ => None,
    };
    let Some(at) = at else {
        return Ok(text.to_owned());
    };
    let out = cut_child(text, &json, parent, at);
    let Some((name, above)) = path.split_last() else {
        return Ok(out);
    };
    let json = JsonText::parse(&out)?;
    let parent = json.root.as_ref().and_then(|root| at_path(root, path));
    let is_empty = parent.is_some_and(|parent| {
        let start = json.offset(path);
        parent.children().is_empty() && !json.has_comment_between(start, parent.end)
    });
    if is_empty {
        return cut(&out, above, &EntrySlot::Member((*name).to_owned()), 0);
    }
    Ok(out)
}

fn at_path<'a>(root: &'a JsonNode, path: &[&str]) -> Option<&'a JsonNode> {
    path.iter().try_fold(root, |node, key| {
        let NodeKind::Object(members) = &node.kind else {
            return None;
        };
        let member = members.iter().rev().find(|member| member.name == *key);
        member.map(|member| &member.value)
    })
}

fn cut_child(text: &str, json: &JsonText, parent: &JsonNode, at: usize) -> String {
    let children = parent.children();
    let (start, end) = children[at];
    let (open, close) = (parent.start, parent.end - 1);
    if children.len() == 1 && !json.has_comment_between(open + 1, close) {
        return format!("{}{}", &text[..=open], &text[close..]);
    }
    let before = json.tokens.iter().rev().find(|mark| mark.end <= start);
    let before_end = before.map_or(start, |mark| mark.end);
    let has_line_comment = before.is_some_and(|mark| text[mark.start..].starts_with("//"));
    // What follows in a line must not get into the comment before it.
    let from = |until: usize| {
        let rest = text[until..].trim_start_matches([' ', '\t', '\r']);
        if has_line_comment && !rest.starts_with('\n') {
            let line_end = text[before_end..start].find('\n');
            return before_end + line_end.map_or(0, |at| at + 1);
        }
        before_end
    };
    if let Some(comma) = json.comma_between(end, close).filter(|comma| {
        let next = children.get(at + 1);
        next.is_none_or(|next| comma.end <= next.0)
    }) {
        return format!("{}{}", &text[..from(comma.end)], &text[comma.end..]);
    }
    // The comma before the last child goes with it.
    let previous = at.checked_sub(1).map(|at| children[at].1);
    let comma = previous.and_then(|previous| json.comma_between(previous, start));
    match comma {
        Some(comma) => {
            let between = &text[comma.end..from(end).max(comma.end)];
            format!("{}{between}{}", &text[..comma.start], &text[end..])
        }
        None => format!("{}{}", &text[..from(end)], &text[end..]),
    }
}
