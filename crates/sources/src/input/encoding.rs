//! Text as UTF-8: byte order marks go, UTF-16 is converted.

use std::io::{self, Read};

/// A stream of UTF-8, if the bytes are UTF-8, or UTF-16 with a mark. Invalid UTF-8 passes: its line is refused later.
pub(crate) struct TextStream<R> {
    inner: R,
    is_begun: bool,
    wide: Option<Endian>,
    /// Converted or looked at, and not yet given out.
    ready: Vec<u8>,
    given: usize,
    /// Half a unit.
    odd: Option<u8>,
    /// The first half of a pair.
    high: Option<u16>,
}

#[derive(Clone, Copy)]
enum Endian {
    Little,
    Big,
}

impl<R: Read> TextStream<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            is_begun: false,
            wide: None,
            ready: Vec::new(),
            given: 0,
            odd: None,
            high: None,
        }
    }

    fn begin(&mut self) -> io::Result<()> {
        self.is_begun = true;
        let mut mark = Vec::new();
        self.inner.by_ref().take(3).read_to_end(&mut mark)?;
        let rest = match mark[..] {
            [0xef, 0xbb, 0xbf] => 3,
            [0xff, 0xfe, ..] => {
                self.wide = Some(Endian::Little);
                2
            }
            [0xfe, 0xff, ..] => {
                self.wide = Some(Endian::Big);
                2
            }
            _ => 0,
        };
        let front = mark.split_off(rest);
        if self.wide.is_some() {
            self.convert(&front);
        } else {
            self.ready = front;
        }
        Ok(())
    }

    fn convert(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let Some(first) = self.odd.take() else {
                self.odd = Some(*byte);
                continue;
            };
            let unit = match self.wide {
                Some(Endian::Big) => u16::from_be_bytes([first, *byte]),
                _ => u16::from_le_bytes([first, *byte]),
            };
            let units = match self.high.take() {
                Some(high) => vec![high, unit],
                None if (0xd800..0xdc00).contains(&unit) => {
                    self.high = Some(unit);
                    continue;
                }
                None => vec![unit],
            };
            for decoded in char::decode_utf16(units) {
                let decoded = decoded.unwrap_or(char::REPLACEMENT_CHARACTER);
                let mut four = [0; 4];
                let utf8 = decoded.encode_utf8(&mut four);
                self.ready.extend_from_slice(utf8.as_bytes());
            }
        }
    }
}

impl<R: Read> Read for TextStream<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.is_begun {
            self.begin()?;
        }
        while self.given == self.ready.len() {
            if self.wide.is_none() {
                return self.inner.read(out);
            }
            self.ready.clear();
            self.given = 0;
            let mut part = [0; 8 << 10];
            let n = self.inner.read(&mut part)?;
            if n == 0 {
                return Ok(0);
            }
            self.convert(&part[..n]);
        }
        let ready = &self.ready[self.given..];
        let n = ready.len().min(out.len());
        out[..n].copy_from_slice(&ready[..n]);
        self.given += n;
        Ok(n)
    }
}

/// A small text as a whole; an error has the line of the first byte that is no text, from 1.
pub(crate) fn decode(bytes: &[u8]) -> Result<String, u64> {
    let mut text = Vec::new();
    // Reading from memory cannot fail.
    let _read = TextStream::new(bytes).read_to_end(&mut text);
    String::from_utf8(text).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        1 + valid.iter().filter(|b| **b == b'\n').count() as u64
    })
}
