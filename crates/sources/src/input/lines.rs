//! Lines of a stream, each bounded; and lines of JSON, with several objects on one line or none.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;

use super::encoding::TextStream;
use crate::item::SkipReason;
use crate::limits;

/// One line, without its end.
pub(crate) enum TextLine {
    Text(String),
    /// Why it is none.
    Bad(SkipReason, String),
}

/// Lines of a text.
pub(crate) struct LineReader<R: Read> {
    bytes: BufReader<TextStream<R>>,
    number: u64,
    line: Vec<u8>,
    bytes_max: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(bytes: R) -> Self {
        Self {
            bytes: BufReader::with_capacity(64 << 10, TextStream::new(bytes)),
            number: 0,
            line: Vec::new(),
            bytes_max: limits::LINE_BYTES_MAX,
        }
    }

    /// Of the last line, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line; none at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<TextLine>> {
        self.line.clear();
        let mut total: usize = 0;
        let mut is_any = false;
        loop {
            let part = match self.bytes.fill_buf() {
                Ok(part) => part,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if part.is_empty() {
                break;
            }
            is_any = true;
            let end = part.iter().position(|b| *b == b'\n');
            let text = &part[..end.unwrap_or(part.len())];
            total = total.saturating_add(text.len());
            if total <= self.bytes_max {
                self.line.extend_from_slice(text);
            } else {
                self.line = Vec::new();
            }
            let used = text.len() + usize::from(end.is_some());
            self.bytes.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        if total > self.bytes_max {
            let why = format!("a line of {total} bytes, of at most {}", self.bytes_max);
            return Ok(Some(TextLine::Bad(SkipReason::TooLarge, why)));
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        Ok(Some(match std::str::from_utf8(&self.line) {
            Ok(text) => TextLine::Text(text.to_owned()),
            Err(error) => TextLine::Bad(
                SkipReason::BadEncoding,
                format!("not UTF-8 at byte {} of the line", error.valid_up_to() + 1),
            ),
        }))
    }
}

/// An object of a line, or why there is none.
pub(crate) enum JsonLine {
    Value(Value),
    Bad(SkipReason, String),
}

/// Values of JSON lines. A line may have several values, because some writers forget the end of a line.
pub(crate) struct JsonLines<R: Read> {
    lines: LineReader<R>,
    /// Of the current line, last first.
    waiting: Vec<JsonLine>,
}

impl<R: Read> JsonLines<R> {
    pub(crate) fn new(bytes: R) -> Self {
        Self {
            lines: LineReader::new(bytes),
            waiting: Vec::new(),
        }
    }

    /// The line of the last value, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.lines.number()
    }

    pub(crate) fn next(&mut self) -> io::Result<Option<JsonLine>> {
        loop {
            if let Some(value) = self.waiting.pop() {
                return Ok(Some(value));
            }
            match self.lines.next()? {
                None => return Ok(None),
                Some(TextLine::Bad(reason, why)) => return Ok(Some(JsonLine::Bad(reason, why))),
                Some(TextLine::Text(line)) => self.waiting = values(&line),
            }
        }
    }
}

/// The values of a line, last first.
fn values(line: &str) -> Vec<JsonLine> {
    let mut out = Vec::new();
    let stream = serde_json::Deserializer::from_str(line.trim()).into_iter::<Value>();
    for value in stream {
        match value {
            Ok(value) => out.push(JsonLine::Value(value)),
            Err(error) => {
                let reason = if error.is_eof() {
                    SkipReason::CutOff
                } else {
                    SkipReason::Malformed
                };
                out.push(JsonLine::Bad(
                    reason,
                    format!("not JSON: {}", without_line(&error)),
                ));
                break;
            }
        }
    }
    out.reverse();
    out
}

/// serde counts lines within the line; the caller names the line of the file.
fn without_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned()
}
