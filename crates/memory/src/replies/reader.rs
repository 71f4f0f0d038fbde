//! The lenient reader: the JSON values of a text that is nearly JSON.
//!
//! It reads past prose, fences and thoughts, and accepts tuples, single and smart quotes, comments, trailing commas,
//! bare keys and words of Python. It gives complete values only: a string without its closing quote, a number at the
//! end of a cut text and an item that is cut are dropped, never completed. What a container has before the cut stays.

use serde_json::{Map, Number, Value};

use crate::limits::{REPLY_BYTES_MAX, REPLY_DEPTH_MAX};

/// The complete values at the top of a text, in order: lists and objects, not single strings or numbers.
///
/// Texts over `limits::REPLY_BYTES_MAX` are read up to there; values deeper than `limits::REPLY_DEPTH_MAX` are dropped.
pub fn read_values(text: &str) -> Vec<Value> {
    let text = answer_part(text);
    let mut end = text.len().min(REPLY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut reader = Reader {
        text: &text[..end],
        at: 0,
    };
    let mut out = Vec::new();
    while let Some(start) = reader.text[reader.at..].find(['[', '{', '(']) {
        reader.at += start;
        let begin = reader.at;
        // A tuple is one of texts; prose has parentheses too.
        let inner = reader.text[begin..].strip_prefix('(');
        let first = inner.and_then(|inner| inner.trim_start().chars().next());
        if inner.is_some() && first.and_then(closing).is_none() {
            reader.at = begin + 1;
            continue;
        }
        match reader.value(0) {
            Some(part) if !is_empty(&part.value) => out.push(part.value),
            _ => {}
        }
        // A text that reads as nothing is prose: go on behind its bracket.
        if reader.at <= begin {
            reader.at = begin + 1;
        }
    }
    out
}

/// The text without what the model thought: all of it if the thought has no end.
fn answer_part(text: &str) -> &str {
    let text = text.trim_start_matches(['\u{feff}', '\u{200b}', ' ', '\n', '\r', '\t']);
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<reasoning>", "</reasoning>"),
    ] {
        match (text.starts_with(open), text.find(close)) {
            (_, Some(end)) => return answer_part(&text[end + close.len()..]),
            (true, None) => return "",
            (false, None) => {}
        }
    }
    text
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(object) => object.is_empty(),
        _ => false,
    }
}

/// A value, and whether the text has its end.
struct Part {
    value: Value,
    is_whole: bool,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.at += c.len_utf8();
        }
        is_next
    }

    /// Skips spaces, invisible characters and comments.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| {
                c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{feff}' | '\u{2060}')
            });
            self.at += rest.len() - trimmed.len();
            let end = if trimmed.starts_with("//") || trimmed.starts_with('#') {
                trimmed.find('\n').unwrap_or(trimmed.len())
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map_or(trimmed.len(), |end| end + 2)
            } else {
                return;
            };
            self.at += end;
        }
    }

    /// The value here; `None` if there is none that is complete.
    fn value(&mut self, depth: usize) -> Option<Part> {
        self.space();
        let c = self.peek()?;
        match c {
            '[' | '(' | '{' if depth >= REPLY_DEPTH_MAX => {
                self.at += 1;
                None
            }
            '[' | '(' => Some(self.list(depth)),
            '{' => Some(self.object(depth)),
            _ if closing(c).is_some() => self.string().map(whole),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Part {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => {
                    return Part {
                        value: Value::Array(items),
                        is_whole: false,
                    };
                }
                Some(']' | ')') => {
                    self.at += 1;
                    return whole(Value::Array(items));
                }
                // The end of the container around it: the own end is missing.
                Some('}') => return whole(Value::Array(items)),
                Some(',' | ';') => self.at += 1,
                Some(_) => {
                    let before = self.at;
                    // Of a cut item nothing is kept: its missing part may change what it says.
                    match self.value(depth + 1) {
                        Some(part) if part.is_whole => items.push(part.value),
                        _ => {}
                    }
                    self.progress(before);
                }
            }
        }
    }

    fn object(&mut self, depth: usize) -> Part {
        self.at += 1;
        let mut members = Map::new();
        loop {
            self.space();
            match self.peek() {
                None => {
                    return Part {
                        value: Value::Object(members),
                        is_whole: false,
                    };
                }
                Some('}') => {
                    self.at += 1;
                    return whole(Value::Object(members));
                }
                Some(']' | ')') => return whole(Value::Object(members)),
                Some(',' | ';') => self.at += 1,
                Some(_) => {
                    let before = self.at;
                    if let Some(key) = self.key() {
                        self.space();
                        if self.skip(':') || self.skip('=') {
                            self.skip('>');
                            // Containers around the cut keep what is whole in them.
                            let part = self.value(depth + 1);
                            let keeps = part.filter(|part| {
                                part.is_whole || depth == 0 || part.value.is_array()
                            });
                            if let Some(part) = keeps {
                                members.insert(key, part.value);
                            }
                        }
                    }
                    self.progress(before);
                }
            }
        }
    }

    /// Skips a character that nothing could read.
    fn progress(&mut self, before: usize) {
        if self.at == before {
            self.at += self.peek().map_or(0, char::len_utf8);
        }
    }

    fn key(&mut self) -> Option<String> {
        if self.peek().is_some_and(|c| closing(c).is_some()) {
            return self
                .string()
                .and_then(|value| value.as_str().map(str::to_owned));
        }
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-'))
            .unwrap_or(rest.len());
        let key = rest[..end].to_owned();
        self.at += end;
        (!key.is_empty()).then_some(key)
    }

    /// A string with its closing quote; `None`, and the text used up, if it has none.
    fn string(&mut self) -> Option<Value> {
        let open = self.peek()?;
        let close = closing(open)?;
        self.at += open.len_utf8();
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.at += c.len_utf8();
            match c {
                '\\' => self.escape(&mut out)?,
                _ if close.contains(c) && self.ends_string() => return Some(Value::String(out)),
                _ => out.push(c),
            }
        }
        None
    }

    /// True if the quote that was just read ends its string: an inner quote is followed by other text.
    fn ends_string(&self) -> bool {
        let mut ahead = Reader {
            text: self.text,
            at: self.at,
        };
        ahead.space();
        match ahead.peek() {
            // The text ends here: an inner quote, or the last one? What may be cut counts as cut.
            None => false,
            Some(':' | ']' | '}' | ')' | ';') => true,
            Some(',') => {
                while ahead.skip(',') {
                    ahead.space();
                }
                ahead
                    .peek()
                    .is_none_or(|c| "[]{}()\"'\u{201c}\u{2018}`-".contains(c) || c.is_ascii_digit())
                    || ahead.is_word_value()
                    || ahead.is_bare_key()
            }
            // A comma is missing between two lines.
            Some(c) => closing(c).is_some() && self.text[self.at..ahead.at].contains('\n'),
        }
    }

    fn is_word_value(&self) -> bool {
        let rest = self.rest();
        WORDS.iter().any(|(word, _)| {
            let behind = rest.strip_prefix(word);
            behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
                || word.starts_with(rest)
        })
    }

    fn is_bare_key(&self) -> bool {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        end > 0 && rest[end..].starts_with(':')
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' | 'f' => out.push(' '),
            'u' => out.push(self.unicode()?),
            _ => out.push(c),
        }
        Some(())
    }

    /// The character of "\u" and four digits, or of two of them.
    fn unicode(&mut self) -> Option<char> {
        let high = self.hex()?;
        if (0xd800..0xdc00).contains(&high) && self.rest().starts_with("\\u") {
            self.at += 2;
            let low = self.hex()?;
            let code = 0x10000 + ((high - 0xd800) << 10) + low.saturating_sub(0xdc00);
            return Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Some(char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(code)
    }

    /// A number, or a word such as `true`; `None` for anything else, and for what the end of the text may cut.
    fn word(&mut self) -> Option<Part> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '-' | '.' | '_'))
            .unwrap_or(rest.len());
        let (word, is_cut) = (&rest[..end], end == rest.len());
        let known = WORDS
            .iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| match value {
                Some(truth) => Value::Bool(*truth),
                None => Value::Null,
            });
        let value = known.or_else(|| number(word));
        self.at += end;
        value.filter(|_| !is_cut).map(whole)
    }
}

/// Words that are values.
const WORDS: [(&str, Option<bool>); 9] = [
    ("true", Some(true)),
    ("false", Some(false)),
    ("null", None),
    ("True", Some(true)),
    ("False", Some(false)),
    ("None", None),
    ("nil", None),
    ("undefined", None),
    ("NaN", None),
];

fn number(word: &str) -> Option<Value> {
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
        return None;
    }
    if let Ok(whole) = word.parse::<i64>() {
        return Some(Value::Number(whole.into()));
    }
    word.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
}

fn whole(value: Value) -> Part {
    Part {
        value,
        is_whole: true,
    }
}

/// The quotes that close what a quote opens.
fn closing(open: char) -> Option<&'static str> {
    Some(match open {
        '"' => "\"",
        '\'' => "'",
        '`' => "`",
        '\u{201c}' | '\u{201d}' | '\u{201e}' => "\u{201d}\u{201c}",
        '\u{2018}' | '\u{2019}' => "\u{2019}",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(text: &str) -> Value {
        let mut values = read_values(text);
        assert_eq!(values.len(), 1, "{text}: {values:?}");
        values.remove(0)
    }

    #[test]
    fn what_is_nearly_json_is_read() {
        let facts = json!({"facts": ["a", "b"]});
        for text in [
            r#"{"facts": ["a", "b"]}"#,
            "```json\n{\"facts\": [\"a\", \"b\"]}\n```",
            r#"Sure! Here it is: {"facts": ["a", "b"]} I hope it helps."#,
            r#"<think>Is it [1] or {"x": "y"}?</think>{"facts": ["a", "b"]}"#,
            "\u{feff}{\"facts\": [\"a\", \"b\"]}",
            "{'facts': ('a', 'b')}",
            "{facts: [\u{201c}a\u{201d}, \u{201c}b\u{201d}]}",
            "{\"facts\": [\"a\", \"b\",],}",
            "{\"facts\": [\"a\", // first\n \"b\"] /* all */}",
            "{\"facts\": [\"a\"\n\"b\"]}",
            "{\"facts\": [\"a\", \"b\"}",
            "{\"facts\": [\"a\", \"b\"]",
            "{\"facts\": [\"a\", \"b\", \"c",
            "{\"facts\": [\"a\", \"b\", {\"text\": \"c\", \"turns\": [1",
        ] {
            assert_eq!(one(text), facts, "{text}");
        }
        assert_eq!(
            one("['User's name is Bob', 'x']"),
            json!(["User's name is Bob", "x"])
        );
        assert_eq!(
            one(r#"["User said "hi" to Bob"]"#),
            json!([r#"User said "hi" to Bob"#])
        );
        assert_eq!(
            one("[True, None, 1.5, -2, \"\\u00e9\\ud83d\\ude00\"]"),
            json!([true, null, 1.5, -2, "é😀"])
        );
    }

    #[test]
    fn nothing_is_completed() {
        for (text, expected) in [
            ("{\"facts\": [\"User lives in", json!({"facts": []})),
            ("[\"a\", 12", json!(["a"])),
            ("[\"a\", tru", json!(["a"])),
            (
                "[{\"text\": \"a\"}, {\"text\": \"b\", \"turns\": [0, 1",
                json!([{"text": "a"}]),
            ),
            ("[\"a\", \"b\"", json!(["a"])),
        ] {
            assert_eq!(one(text), expected, "{text}");
        }
        assert!(read_values("<think>[\"a\"]").is_empty());
        assert!(read_values("no json at all").is_empty());
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(100_000);
        assert!(
            read_values(&deep)
                .iter()
                .all(|value| value == &json!([]) || value.is_array())
        );
        let deep = "{\"a\":".repeat(10_000);
        assert!(read_values(&deep).len() < 10_000);
    }

    fn strings<'v>(value: &'v Value, out: &mut Vec<&'v str>) {
        match value {
            Value::String(text) => out.push(text),
            Value::Array(items) => items.iter().for_each(|item| strings(item, out)),
            Value::Object(members) => members.iter().for_each(|(key, member)| {
                out.push(key);
                strings(member, out);
            }),
            _ => {}
        }
    }

    fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
        use proptest::prelude::*;
        let leaf = prop_oneof![
            "[a-zA-Z ,.:'\\[\\]{}\u{e9}\\\\\"]{0,12}".prop_map(Value::String),
            any::<i32>().prop_map(|n| json!(n)),
            any::<bool>().prop_map(Value::Bool),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                proptest::collection::vec(("[a-z]{1,6}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest::proptest! {
        #[test]
        fn strict_json_is_read_as_it_is(value in any_json()) {
            let value = json!({"v": value, "end": [1]});
            // A quote inside of a string is escaped; one behind it that looks like an end is no matter then.
            let texts = [value.to_string(), format!("{value:#}")];
            for text in texts {
                proptest::prop_assert_eq!(&read_values(&text), &vec![value.clone()]);
            }
        }

        #[test]
        fn no_string_of_a_cut_text_is_new(value in any_json(), cut in 0.0_f64..1.0) {
            let value = json!({"facts": [value, "tail, and more"]});
            let text = value.to_string();
            let mut end = (text.len() as f64 * cut) as usize;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let mut whole = Vec::new();
            strings(&value, &mut whole);
            for found in read_values(&text[..end]) {
                let mut parts = Vec::new();
                strings(&found, &mut parts);
                for part in parts {
                    proptest::prop_assert!(whole.contains(&part), "{:?} of {:?}", part, &text[..end]);
                }
            }
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,80}|([\\[\\]{}(),:;'\"`\\\\]|\u{201c}|\u{2019}|//|/\\*|\\*/|#|\\\\u|d83d|true|None|1e9|-|a|<think>|</think>|\n){0,60}") {
            let _ = read_values(&text);
        }
    }
}
