//! Lines of untrusted text: of bounded length, numbered from 1.
//!
//! Promises: memory is bounded by the longest line allowed; blank lines are skipped and counted.

use std::io::{self, BufRead, Read};

#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("it is longer than the {0} bytes allowed")]
    Long(u64),
}

pub(crate) struct Lines<R> {
    input: R,
    bytes_max: u64,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, bytes_max: u64) -> Self {
        Self {
            input,
            bytes_max,
            number: 0,
            buffer: Vec::new(),
        }
    }

    /// The number of the line that was read last.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, LineError> {
        loop {
            self.buffer.clear();
            self.number += 1;
            let mut bounded = self.input.by_ref().take(self.bytes_max + 1);
            let bytes = bounded.read_until(b'\n', &mut self.buffer)?;
            if bytes as u64 > self.bytes_max {
                return Err(LineError::Long(self.bytes_max));
            }
            if bytes == 0 {
                return Ok(None);
            }
            if !self.buffer.trim_ascii().is_empty() {
                return Ok(Some(&self.buffer));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_bounded_and_never_blank() {
        let mut lines = Lines::new(&b"one\n\n  \ntwo\nlonger\n"[..], 4);
        assert_eq!(lines.next().unwrap(), Some(&b"one\n"[..]));
        assert_eq!(lines.next().unwrap(), Some(&b"two\n"[..]));
        assert_eq!(lines.number(), 4);
        assert!(matches!(lines.next(), Err(LineError::Long(4))));
        assert_eq!(Lines::new(&b"\n\n"[..], 4).next().unwrap(), None);
    }
}
