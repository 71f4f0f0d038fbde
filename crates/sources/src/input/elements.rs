//! Elements of a large JSON file, one at a time: those of the outer array, or of every array in the outer object.
//!
//! Only the element at hand is in memory. A malformed element does not end the reading unless its brackets are wrong.

use std::io::{self, BufReader, Read};

use serde_json::Value;

use super::encoding::TextStream;
use crate::item::SkipReason;
use crate::limits;

/// One element.
#[derive(Debug)]
pub(crate) struct Element {
    /// The key of the outer object under which it stands.
    pub(crate) key: Option<String>,
    /// From 1: how many elements there were until now.
    pub(crate) number: u64,
    pub(crate) value: Result<Value, ElementError>,
}

/// Why an element is none.
#[derive(Debug)]
pub(crate) enum ElementError {
    Malformed(String),
    TooLarge,
    CutOff,
}

impl ElementError {
    /// For the report.
    pub(crate) fn reason(&self) -> (SkipReason, String) {
        match self {
            Self::Malformed(why) => (SkipReason::Malformed, format!("not JSON: {why}")),
            Self::TooLarge => {
                let why = format!(
                    "more than the {} bytes of an element",
                    limits::ELEMENT_BYTES_MAX
                );
                (SkipReason::TooLarge, why)
            }
            Self::CutOff => (
                SkipReason::CutOff,
                "the file ends in the middle of it".to_owned(),
            ),
        }
    }
}

/// Where the reader is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// Before a value.
    Outside,
    /// In the outer array, or in an array of the outer object.
    List {
        is_inner: bool,
    },
    /// In the outer object, before a key.
    Object,
    End,
}

/// Reads elements. Values may follow each other: then each is read like the first.
pub(crate) struct JsonElements<R: Read> {
    bytes: BufReader<TextStream<R>>,
    peeked: Option<u8>,
    state: State,
    key: Option<String>,
    number: u64,
    bytes_max: usize,
}

impl<R: Read> JsonElements<R> {
    pub(crate) fn new(bytes: R) -> Self {
        Self {
            bytes: BufReader::with_capacity(64 << 10, TextStream::new(bytes)),
            peeked: None,
            state: State::Outside,
            key: None,
            number: 0,
            bytes_max: limits::ELEMENT_BYTES_MAX,
        }
    }

    /// The next element; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Element>> {
        loop {
            let byte = self.skip_blank()?;
            let Some(byte) = byte else {
                let was = std::mem::replace(&mut self.state, State::End);
                let is_cut = !matches!(was, State::Outside | State::End);
                return Ok(is_cut.then(|| self.failed(ElementError::CutOff)));
            };
            match (self.state, byte) {
                (State::End, _) => return Ok(None),
                (State::Outside, b'[') => self.enter(State::List { is_inner: false }),
                (State::Outside, b'{') => self.enter(State::Object),
                (State::Outside, _) => {
                    self.state = State::End;
                    let why = "neither an object nor a list".to_owned();
                    return Ok(Some(self.failed(ElementError::Malformed(why))));
                }
                (State::List { is_inner }, b']') => {
                    self.peeked = None;
                    self.state = if is_inner {
                        State::Object
                    } else {
                        State::Outside
                    };
                    self.key = None;
                }
                (State::Object, b'}') => self.enter(State::Outside),
                (State::List { .. } | State::Object, b',') => self.peeked = None,
                (State::List { .. }, _) => return self.element().map(Some),
                (State::Object, b'"') => {
                    if let Some(element) = self.field()? {
                        return Ok(Some(element));
                    }
                }
                (State::Object, _) => {
                    self.state = State::End;
                    let why = "a key is missing".to_owned();
                    return Ok(Some(self.failed(ElementError::Malformed(why))));
                }
            }
        }
    }

    fn enter(&mut self, state: State) {
        self.peeked = None;
        self.state = state;
    }

    fn failed(&mut self, error: ElementError) -> Element {
        self.number += 1;
        Element {
            key: self.key.clone(),
            number: self.number,
            value: Err(error),
        }
    }

    /// A key and its value; nothing if that is an array, whose elements follow.
    fn field(&mut self) -> io::Result<Option<Element>> {
        let key = self.raw_value()?;
        let key = key
            .ok()
            .and_then(|raw| serde_json::from_slice::<String>(&raw).ok());
        let colon = self.skip_blank()?;
        let (Some(key), Some(b':')) = (key, colon) else {
            self.state = State::End;
            let error = match colon {
                None => ElementError::CutOff,
                Some(_) => ElementError::Malformed("a key is not a string".to_owned()),
            };
            return Ok(Some(self.failed(error)));
        };
        self.peeked = None;
        self.key = Some(key);
        if self.skip_blank()? == Some(b'[') {
            self.enter(State::List { is_inner: true });
            return Ok(None);
        }
        self.element().map(Some)
    }

    fn element(&mut self) -> io::Result<Element> {
        let raw = self.raw_value()?;
        self.number += 1;
        let value = raw.and_then(|raw| {
            serde_json::from_slice(&raw).map_err(|e| ElementError::Malformed(e.to_string()))
        });
        if matches!(value, Err(ElementError::CutOff)) {
            self.state = State::End;
        }
        Ok(Element {
            key: self.key.clone(),
            number: self.number,
            value,
        })
    }

    /// The bytes of a value, up to the comma, bracket or colon behind it.
    fn raw_value(&mut self) -> io::Result<Result<Vec<u8>, ElementError>> {
        let mut raw = Vec::new();
        let (mut depth, mut in_text, mut is_escaped, mut total) = (0_usize, false, false, 0_usize);
        loop {
            let Some(byte) = self.peek()? else {
                return Ok(Err(ElementError::CutOff));
            };
            if !in_text && depth == 0 && total > 0 && matches!(byte, b',' | b']' | b'}' | b':') {
                break;
            }
            if !in_text && depth == 0 && total == 0 && matches!(byte, b'}' | b']' | b':' | b',') {
                // A bracket that closes nothing would be read forever.
                self.peeked = None;
                return Ok(Err(ElementError::Malformed(
                    "a value is missing".to_owned(),
                )));
            }
            self.peeked = None;
            total += 1;
            if total <= self.bytes_max {
                raw.push(byte);
            } else {
                raw = Vec::new();
            }
            if in_text {
                in_text = is_escaped || byte != b'"';
                is_escaped = !is_escaped && byte == b'\\';
            } else {
                match byte {
                    b'"' => in_text = true,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            let is_closed = !in_text && depth == 0 && matches!(byte, b'"' | b'}' | b']');
            if is_closed {
                break;
            }
        }
        Ok(if total > self.bytes_max {
            Err(ElementError::TooLarge)
        } else {
            Ok(raw)
        })
    }

    /// The next byte that is no blank, which stays.
    fn skip_blank(&mut self) -> io::Result<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.peeked = None;
        }
        Ok(None)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if self.peeked.is_none() {
            let mut one = [0];
            loop {
                match self.bytes.read(&mut one) {
                    Ok(0) => return Ok(None),
                    Ok(_) => break,
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
            self.peeked = Some(one[0]);
        }
        Ok(self.peeked)
    }
}
