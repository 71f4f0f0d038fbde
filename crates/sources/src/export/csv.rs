//! CSV (RFC 4180): a header with the names of the fields, one event a row.

use std::io::{self, BufRead, BufReader, Read, Write};

use serde_json::{Map, Value};

use super::columns::{COLUMNS, LISTS, cell, field};
use crate::limits;

/// Writes events as rows.
pub struct CsvWriter<W> {
    out: W,
}

fn names() -> impl Iterator<Item = &'static str> {
    COLUMNS.iter().map(|(name, _)| *name).chain(LISTS)
}

impl<W: Write> CsvWriter<W> {
    /// Writes the header.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn new(mut out: W) -> io::Result<Self> {
        let header: Vec<_> = names().collect();
        write!(out, "{}\r\n", header.join(","))?;
        Ok(Self { out })
    }

    /// Writes an event.
    ///
    /// # Errors
    ///
    /// If `out` fails.
    pub fn row(&mut self, line: &Map<String, Value>) -> io::Result<()> {
        for (at, name) in names().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            let cell = cell(line, name);
            if cell.contains(['"', ',', '\n', '\r']) || cell != cell.trim() {
                write!(self.out, "\"{}\"", cell.replace('"', "\"\""))?;
            } else {
                self.out.write_all(cell.as_bytes())?;
            }
        }
        self.out.write_all(b"\r\n")
    }

    /// Gives `out` back.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// True if the beginning of a file is the header of such a table: it has `text`, and only names of fields.
#[must_use]
pub fn is_csv_export(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Ok(line) = std::str::from_utf8(line) else {
        return false;
    };
    let line = line.trim_start_matches('\u{feff}').trim_end();
    let mut columns = line.split(',').map(|name| name.trim_matches('"'));
    let is_all = columns
        .clone()
        .all(|name| names().any(|known| known == name));
    is_all && columns.any(|name| name == "text") && line.contains(',')
}

/// Calls with each row as a JSON line, and the line of the file at which it begins, from 1. An invalid row is passed as
/// the reason in words.
///
/// # Errors
///
/// If the input cannot be read, or `each` fails.
pub fn read_csv<E: From<io::Error>>(
    input: impl Read,
    mut each: impl FnMut(u64, Result<Map<String, Value>, String>) -> Result<(), E>,
) -> Result<(), E> {
    let mut records = CsvRecords {
        bytes: BufReader::with_capacity(64 << 10, input),
        line: 1,
    };
    let Some((_, header)) = records.next()? else {
        return Ok(());
    };
    let header = match header {
        Ok(header) => header,
        Err(why) => return each(1, Err(why)),
    };
    let header: Vec<String> = header
        .iter()
        .map(|name| name.trim_start_matches('\u{feff}').trim().to_owned())
        .collect();
    while let Some((at, record)) = records.next()? {
        let row = record.and_then(|cells| fields(&header, cells));
        each(at, row)?;
    }
    Ok(())
}

fn fields(header: &[String], cells: Vec<String>) -> Result<Map<String, Value>, String> {
    if cells.len() != header.len() {
        let (has, wants) = (cells.len(), header.len());
        return Err(format!("a row of {has} cells, and the header has {wants}"));
    }
    let mut line = Map::new();
    for (name, cell) in header.iter().zip(cells) {
        if let Some(value) = field(name, cell)? {
            line.insert(name.clone(), value);
        }
    }
    Ok(line)
}

struct CsvRecords<R> {
    bytes: BufReader<R>,
    /// Of the next byte.
    line: u64,
}

type CsvRecord = (u64, Result<Vec<String>, String>);

impl<R: Read> CsvRecords<R> {
    /// The next record and its line; blank lines are none.
    fn next(&mut self) -> io::Result<Option<CsvRecord>> {
        loop {
            let at = self.line;
            let Some(raw) = self.raw()? else {
                return Ok(None);
            };
            let record = match raw {
                Ok(raw) if raw.trim_ascii().is_empty() => continue,
                Ok(raw) => split(&raw),
                Err(why) => Err(why),
            };
            return Ok(Some((at, record)));
        }
    }

    /// The bytes up to the end of a line that is in no quotes.
    fn raw(&mut self) -> io::Result<Option<Result<Vec<u8>, String>>> {
        let (mut raw, mut is_quoted, mut total) = (Vec::new(), false, 0_usize);
        loop {
            let part = match self.bytes.fill_buf() {
                Ok(part) => part,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            };
            if part.is_empty() {
                break;
            }
            let mut end = None;
            for (at, byte) in part.iter().enumerate() {
                is_quoted ^= *byte == b'"';
                if *byte == b'\n' {
                    self.line += 1;
                    if !is_quoted {
                        end = Some(at);
                        break;
                    }
                }
            }
            let used = end.map_or(part.len(), |at| at + 1);
            total += used;
            if total <= limits::LINE_BYTES_MAX {
                raw.extend_from_slice(&part[..used]);
            }
            self.bytes.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(match total {
            0 => None,
            total if total > limits::LINE_BYTES_MAX => {
                let max = limits::LINE_BYTES_MAX;
                Some(Err(format!("more than the {max} bytes of a row")))
            }
            _ if is_quoted => Some(Err("a quote that does not end".to_owned())),
            _ => Some(Ok(raw)),
        })
    }
}

fn split(raw: &[u8]) -> Result<Vec<String>, String> {
    let text = std::str::from_utf8(raw).map_err(|_| "the row is not UTF-8".to_owned())?;
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    let (mut cells, mut rest) = (Vec::new(), text);
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(',').unwrap_or(rest.len());
            cells.push(rest[..end].to_owned());
            match rest.get(end + 1..) {
                Some(next) => rest = next,
                None => return Ok(cells),
            }
            continue;
        };
        let (mut cell, mut at) = (String::new(), 0);
        loop {
            let Some(quote) = quoted[at..].find('"') else {
                return Err("a quote that does not end".to_owned());
            };
            cell.push_str(&quoted[at..at + quote]);
            at += quote + 1;
            if !quoted[at..].starts_with('"') {
                break;
            }
            cell.push('"');
            at += 1;
        }
        cells.push(cell);
        match quoted[at..].strip_prefix(',') {
            Some(next) => rest = next,
            None if at == quoted.len() => return Ok(cells),
            None => return Err("text behind a quoted cell".to_owned()),
        }
    }
}
