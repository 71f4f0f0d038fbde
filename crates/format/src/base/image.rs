//! Writes a base: buffered streams at known positions of a file, with checksums of every byte.
//!
//! Memory is one buffer a stream, whatever the size of the base, apart from what indexes need while they are sorted.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3;

use super::chunk::{CHUNK, Chunk};
use super::section::{ALIGN, HEADER, tag};
use super::source_table::SourceTable;
use crate::bytes::align_up;
use crate::error::{Error, Result};

/// Where a base is written.
pub trait Sink {
    /// Writes all of `bytes` at `position`; grows the file if needed.
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> Result<()>;
}

impl Sink for Vec<u8> {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> Result<()> {
        let end = position as usize + bytes.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[position as usize..end].copy_from_slice(bytes);
        Ok(())
    }
}

const BUFFER: usize = 256 << 10;

/// A buffered run of consecutive bytes in the file.
pub struct Stream {
    start: u64,
    position: u64,
    buffer: Vec<u8>,
    hasher: Xxh3,
    chunk_start: u64,
    /// This chunk has bytes of a range with a wrong checksum.
    tainted: bool,
    chunks: Vec<Chunk>,
}

impl Stream {
    /// A stream that begins at a position.
    pub fn at(position: u64) -> Self {
        Self {
            start: position,
            position,
            buffer: Vec::with_capacity(BUFFER),
            hasher: Xxh3::new(),
            chunk_start: position,
            tainted: false,
            chunks: Vec::new(),
        }
    }

    /// Position of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Bytes written so far.
    pub fn len(&self) -> u64 {
        self.position - self.start
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes.
    pub fn write(&mut self, sink: &mut dyn Sink, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let room = (CHUNK - (self.position - self.chunk_start)) as usize;
            let part = &bytes[..bytes.len().min(room)];
            self.hasher.update(part);
            if self.buffer.len() + part.len() > BUFFER {
                self.flush(sink)?;
            }
            if part.len() >= BUFFER {
                sink.write_at(self.position, part)?;
            } else {
                self.buffer.extend_from_slice(part);
            }
            self.position += part.len() as u64;
            bytes = &bytes[part.len()..];
            if self.position - self.chunk_start == CHUNK {
                self.end_chunk();
            }
        }
        Ok(())
    }

    /// Appends bytes of a stream of an older base. A whole chunk at the same offset keeps its checksum unread. Other
    /// bytes are checked, and a chunk made from damaged bytes gets a wrong checksum: damage stays damage.
    pub(crate) fn copy(
        &mut self,
        sink: &mut dyn Sink,
        old: &SourceTable<'_>,
        range: Range<u64>,
    ) -> Result<()> {
        let mut at = range.start;
        while at < range.end {
            let same_place = self.len() == at && at.is_multiple_of(CHUNK);
            if same_place
                && range.end - at >= CHUNK
                && let Some(sum) = old.sum(at)
            {
                self.flush(sink)?;
                sink.write_at(self.position, old.bytes(at..at + CHUNK)?)?;
                self.chunks.push(Chunk {
                    offset: self.position,
                    len: CHUNK,
                    sum,
                });
                self.position += CHUNK;
                self.chunk_start = self.position;
                at += CHUNK;
            } else {
                let room = CHUNK - self.len() % CHUNK;
                let end = range.end.min(at + room.min(CHUNK - at % CHUNK));
                self.taint(old, at);
                self.write(sink, old.bytes(at..end)?)?;
                at = end;
            }
        }
        Ok(())
    }

    /// Marks the chunk as damaged if the older stream is damaged at a position that the next bytes are made from.
    pub(crate) fn taint(&mut self, old: &SourceTable<'_>, at: u64) {
        self.tainted |= !old.holds(at);
    }

    fn flush(&mut self, sink: &mut dyn Sink) -> Result<()> {
        if !self.buffer.is_empty() {
            sink.write_at(self.position - self.buffer.len() as u64, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn end_chunk(&mut self) {
        if self.position > self.chunk_start {
            let sum = self.hasher.digest();
            self.chunks.push(Chunk {
                offset: self.chunk_start,
                len: self.position - self.chunk_start,
                sum,
            });
            if self.tainted
                && let Some(chunk) = self.chunks.last_mut()
            {
                chunk.spoil();
            }
        }
        self.tainted = false;
        self.hasher.reset();
        self.chunk_start = self.position;
    }

    /// Flushes the buffer; returns the checksums.
    pub fn finish(mut self, sink: &mut dyn Sink) -> Result<Vec<Chunk>> {
        self.flush(sink)?;
        self.end_chunk();
        Ok(self.chunks)
    }
}

/// The sections of a base, written one after the other.
pub struct SectionWriter<'s> {
    sink: &'s mut dyn Sink,
    position: u64,
    chunks: Vec<Chunk>,
    /// Tags of sections that carry damage on.
    damaged: Vec<u8>,
}

impl<'s> SectionWriter<'s> {
    /// Writes sections from a position on; `chunks` are the checksums of the bytes before it.
    pub fn at(position: u64, chunks: Vec<Chunk>, sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            position,
            chunks,
            damaged: Vec::new(),
        }
    }

    /// Gives sections of these tags wrong checksums: their sources are damaged.
    pub(crate) fn with_damage(mut self, damaged: &[u8]) -> Self {
        self.damaged = damaged.to_vec();
        self
    }

    /// Writes one section, its bytes aligned.
    pub fn write(&mut self, tag: u8, body: impl FnOnce(&mut Body<'_>) -> Result<()>) -> Result<()> {
        self.pad(ALIGN, HEADER)?;
        let at = self.position;
        let mut stream = Stream::at(at + HEADER);
        body(&mut Body {
            stream: &mut stream,
            sink: self.sink,
        })?;
        let len = stream.len();
        self.position = stream.position();
        let mut chunks = stream.finish(self.sink)?;
        if self.damaged.contains(&tag) {
            chunks.iter_mut().for_each(Chunk::spoil);
        }
        self.header(at, tag, len)?;
        self.chunks.extend(chunks);
        Ok(())
    }

    /// A padding section, so that `ahead` bytes after it are a multiple of `align` in the file.
    pub fn pad(&mut self, align: u64, ahead: u64) -> Result<()> {
        if (self.position + ahead).is_multiple_of(align) {
            return Ok(());
        }
        let at = self.position;
        let end = align_up(at + HEADER + ahead, align)
            .ok_or_else(|| Error::invalid("file", "too long"))?
            - ahead;
        let len = end - at - HEADER;
        let mut stream = Stream::at(at + HEADER);
        stream.write(self.sink, &vec![0; len as usize])?;
        let chunks = stream.finish(self.sink)?;
        self.header(at, tag::PADDING, len)?;
        self.chunks.extend(chunks);
        self.position = end;
        Ok(())
    }

    fn header(&mut self, at: u64, tag: u8, len: u64) -> Result<()> {
        let mut front = [0; HEADER as usize];
        front[0] = tag;
        front[1..].copy_from_slice(&len.to_le_bytes());
        let mut stream = Stream::at(at);
        stream.write(self.sink, &front)?;
        self.chunks.extend(stream.finish(self.sink)?);
        Ok(())
    }

    /// The position of the next section, and the checksums of all bytes before it.
    pub(crate) fn into_parts(self) -> (u64, Vec<Chunk>) {
        (self.position, self.chunks)
    }

    /// Position of the next section.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The checksums of everything written.
    pub fn chunks(&self) -> &[Chunk] {
        &self.chunks
    }
}

/// The bytes of a section under construction.
pub struct Body<'a> {
    stream: &'a mut Stream,
    sink: &'a mut dyn Sink,
}

impl Body<'_> {
    /// Appends bytes.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write(self.sink, bytes)
    }

    /// Appends values in little-endian order.
    pub fn array<T: bytemuck::NoUninit>(&mut self, values: &[T]) -> Result<()> {
        self.bytes(bytemuck::cast_slice(values))
    }

    /// Appends a number.
    pub fn u64(&mut self, value: u64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a signed number.
    pub fn i64(&mut self, value: i64) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends a number.
    pub fn u32(&mut self, value: u32) -> Result<()> {
        self.bytes(&value.to_le_bytes())
    }

    /// Appends zeros up to a multiple of `align` from the section's start.
    pub fn align(&mut self, align: u64) -> Result<()> {
        let rest = self.stream.len() % align;
        if rest == 0 {
            Ok(())
        } else {
            self.bytes(&vec![0; (align - rest) as usize])
        }
    }

    /// Bytes written so far.
    pub fn len(&self) -> u64 {
        self.stream.len()
    }

    /// True if nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::section::SectionTable;
    use xxhash_rust::xxh3::xxh3_64;

    #[test]
    fn sections_are_aligned_and_checksums_cover_every_byte_once() {
        let mut file = Vec::new();
        let mut sections = SectionWriter::at(0, Vec::new(), &mut file);
        for len in [0usize, 1, 7, 100, 3 << 20] {
            let tag = 0x41 + (len % 29) as u8;
            sections
                .write(tag, |body| body.bytes(&vec![tag; len]))
                .unwrap();
        }
        let chunks = sections.chunks().to_vec();
        let end = sections.position();
        assert_eq!(end, file.len() as u64);
        let table =
            SectionTable::walk(0, end, |at, len| file.get(at as usize..(at + len) as usize))
                .unwrap();
        assert_eq!(table.places.len(), 5);
        assert!(table.places.iter().all(|place| place.offset % ALIGN == 0));
        let mut covered = vec![0u8; file.len()];
        for chunk in chunks {
            let range = chunk.offset as usize..(chunk.offset + chunk.len) as usize;
            assert_eq!(xxh3_64(&file[range.clone()]), chunk.sum);
            covered[range].iter_mut().for_each(|c| *c += 1);
        }
        assert!(covered.iter().all(|&c| c == 1));
    }
}
