//! Replaces `:authority` in the header blocks of a client's frames.

use super::error::HeaderError;
use super::hpack::BlockEncoder;
use crate::limits::{AHEAD_BYTES, HEADER_BLOCK_BYTES_MAX, HEADER_BLOCK_FRAMES_MAX};

/// Bytes of a frame header (RFC 9113, 4.1).
const HEAD_BYTES: usize = 9;
/// Bytes of a frame: the server announces the smallest limit that there is.
const FRAME_BYTES_MAX: usize = 16_384;
/// Bytes of the priority fields (RFC 9113, 6.2).
const PRIORITY_BYTES: usize = 5;

const HEADERS: u8 = 0x1;
const CONTINUATION: u8 = 0x9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The position in the frames.
#[derive(Debug, Clone, Copy)]
enum FramePosition {
    /// In a frame header, of which this many bytes have arrived.
    Head(usize),
    /// In a frame that passes, of which this many bytes are to come.
    Passing(usize),
    /// In a frame of headers, of which this many bytes are to come.
    Headers(usize),
}

/// A header block that is not complete.
#[derive(Debug)]
struct PartialBlock {
    stream: [u8; 4],
    /// The flags of its first frame that are kept.
    flags: u8,
    priority: Vec<u8>,
    frames: usize,
}

/// Replaces the authority in the frames of one client.
#[derive(Debug)]
pub struct Authority {
    at: FramePosition,
    head: [u8; HEAD_BYTES],
    /// The frame of headers that is being read.
    frame: Vec<u8>,
    open: Option<PartialBlock>,
    /// The header block as far as it has arrived.
    block: Vec<u8>,
    encoded: Vec<u8>,
    encoder: BlockEncoder,
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Authority {
    /// Begins after the preface.
    pub fn new() -> Self {
        Self {
            at: FramePosition::Head(0),
            head: [0; HEAD_BYTES],
            frame: Vec::new(),
            open: None,
            block: Vec::new(),
            encoded: Vec::new(),
            encoder: BlockEncoder::new(),
        }
    }

    /// How many of the next bytes pass unchanged. A caller that forwards some itself reports them to `passed`.
    pub(crate) fn passing(&self) -> usize {
        match self.at {
            FramePosition::Passing(left) => left,
            _ => 0,
        }
    }

    /// Reports bytes that the caller has forwarded.
    pub(crate) fn passed(&mut self, bytes: usize) {
        if let FramePosition::Passing(left) = self.at {
            self.pass(left.saturating_sub(bytes));
        }
    }

    fn pass(&mut self, left: usize) {
        self.at = match left {
            0 => FramePosition::Head(0),
            left => FramePosition::Passing(left),
        };
    }

    /// Consumes the client's bytes, and appends those for the server. Once `AHEAD_BYTES` are appended, the rest of the
    /// input stays: a few bytes can refer to a large header many times.
    pub fn take(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<(), HeaderError> {
        while !input.is_empty() && out.len() < AHEAD_BYTES {
            match self.at {
                FramePosition::Head(have) => {
                    let part = cut(input, HEAD_BYTES - have);
                    let now = have + part.len();
                    self.head[have..now].copy_from_slice(part);
                    self.at = FramePosition::Head(now);
                    if now == HEAD_BYTES {
                        self.begin(out)?;
                    }
                }
                FramePosition::Passing(left) => {
                    let part = cut(input, left);
                    out.extend_from_slice(part);
                    self.pass(left - part.len());
                }
                FramePosition::Headers(left) => {
                    let part = cut(input, left);
                    self.frame.extend_from_slice(part);
                    self.at = FramePosition::Headers(left - part.len());
                    if left == part.len() {
                        self.end(out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles a frame header that has arrived.
    fn begin(&mut self, out: &mut Vec<u8>) -> Result<(), HeaderError> {
        let [a, b, c, kind, ..] = self.head;
        let bytes = u32::from_be_bytes([0, a, b, c]) as usize;
        match (kind, &self.open) {
            (HEADERS, None) => {}
            (CONTINUATION, Some(open)) if open.stream == self.stream() => {}
            (CONTINUATION, _) | (_, Some(_)) => return Err(HeaderError::Order),
            _ => {
                out.extend_from_slice(&self.head);
                self.pass(bytes);
                return Ok(());
            }
        }
        if bytes > FRAME_BYTES_MAX {
            return Err(HeaderError::Frame);
        }
        self.frame.clear();
        self.at = FramePosition::Headers(bytes);
        match bytes {
            0 => self.end(out),
            _ => Ok(()),
        }
    }

    fn stream(&self) -> [u8; 4] {
        let [.., a, b, c, d] = self.head;
        // The highest bit is reserved.
        [a & 0x7f, b, c, d]
    }

    /// Handles a frame of headers that has arrived.
    fn end(&mut self, out: &mut Vec<u8>) -> Result<(), HeaderError> {
        self.at = FramePosition::Head(0);
        let flags = self.head[4];
        let mut payload = self.frame.as_slice();
        if self.head[3] == HEADERS {
            if flags & PADDED != 0 {
                let (padding, rest) = payload.split_first().ok_or(HeaderError::Frame)?;
                let bytes = rest.len().checked_sub(usize::from(*padding));
                payload = &rest[..bytes.ok_or(HeaderError::Frame)?];
            }
            let mut priority = Vec::new();
            if flags & PRIORITY != 0 {
                let (said, rest) = payload
                    .split_at_checked(PRIORITY_BYTES)
                    .ok_or(HeaderError::Frame)?;
                priority.extend_from_slice(said);
                payload = rest;
            }
            self.block.clear();
            self.open = Some(PartialBlock {
                stream: self.stream(),
                flags: flags & (END_STREAM | PRIORITY),
                priority,
                frames: 0,
            });
        }
        let open = self.open.as_mut().ok_or(HeaderError::Order)?;
        open.frames += 1;
        self.block.extend_from_slice(payload);
        if self.block.len() > HEADER_BLOCK_BYTES_MAX || open.frames > HEADER_BLOCK_FRAMES_MAX {
            return Err(HeaderError::TooLarge);
        }
        if flags & END_HEADERS != 0
            && let Some(open) = self.open.take()
        {
            self.encoded.clear();
            self.encoded.extend_from_slice(&open.priority);
            self.encoder.encode(&self.block, &mut self.encoded)?;
            emit(&open, &self.encoded, out);
            for spent in [&mut self.block, &mut self.encoded, &mut self.frame] {
                spent.clear();
                spent.shrink_to(FRAME_BYTES_MAX);
            }
        }
        Ok(())
    }
}

/// Splits off at most this many bytes.
fn cut<'a>(input: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (part, rest) = input.split_at(most.min(input.len()));
    *input = rest;
    part
}

/// Appends the frames of a block.
fn emit(open: &PartialBlock, encoded: &[u8], out: &mut Vec<u8>) {
    let mut rest = encoded;
    let (mut kind, mut flags) = (HEADERS, open.flags);
    loop {
        let part = cut(&mut rest, FRAME_BYTES_MAX);
        if rest.is_empty() {
            flags |= END_HEADERS;
        }
        let [_, a, b, c] = (part.len() as u32).to_be_bytes();
        out.extend_from_slice(&[a, b, c, kind, flags]);
        out.extend_from_slice(&open.stream);
        out.extend_from_slice(part);
        if rest.is_empty() {
            return;
        }
        (kind, flags) = (CONTINUATION, 0);
    }
}

#[cfg(test)]
mod tests;
