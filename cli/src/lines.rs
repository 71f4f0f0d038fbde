//! Lines of a text that somebody else wrote: one at a time, of bounded length, numbered from 1.
//!
//! Promises: memory is bounded by the longest line allowed; blank lines are passed over, and counted.

use std::io::{self, BufRead, Read};

/// Why there is no next line.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LineError {
    /// It can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It has no end.
    #[error("it is longer than the {0} bytes allowed")]
    Long(u64),
}

/// The lines of a text.
pub(crate) struct Lines<R> {
    input: R,
    bytes_max: u64,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Of lines of so many bytes at most.
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

    /// The next line that is not blank; none at the end.
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
