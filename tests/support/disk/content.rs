//! The bytes of a file, in shared chunks: a copy costs a pointer per 4 KiB, a patch only the chunks it touches.

use std::sync::{Arc, LazyLock, OnceLock};

use amem_format::mapping::Map;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

const CHUNK: usize = 4096;
static ZEROS: [u8; CHUNK] = [0; CHUNK];

static DIGEST_OF_ZEROS: LazyLock<u64> = LazyLock::new(|| xxh3_64(&ZEROS));

/// A file's bytes.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// `None` is a chunk of zeros. Bytes past `len` are zeros.
    chunks: Vec<Option<Arc<Chunk>>>,
    len: u64,
}

#[derive(Debug)]
struct Chunk {
    bytes: [u8; CHUNK],
    digest: OnceLock<u64>,
}

impl Clone for Chunk {
    fn clone(&self) -> Self {
        // Cloned only to be changed: the digest will be another.
        Self {
            bytes: self.bytes,
            digest: OnceLock::new(),
        }
    }
}

impl Content {
    /// A file of these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        let mut content = Self::default();
        content.write(0, bytes);
        content
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes the file at least `len` long, with zeros.
    pub fn grow(&mut self, len: u64) {
        if len > self.len {
            self.len = len;
            self.chunks.resize((len as usize).div_ceil(CHUNK), None);
        }
    }

    /// Writes bytes at a position, growing the file if needed.
    pub fn write(&mut self, position: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.grow(position + bytes.len() as u64);
        let mut at = position as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let within = at % CHUNK;
            let (now, later) = rest.split_at(rest.len().min(CHUNK - within));
            let slot = &mut self.chunks[at / CHUNK];
            if slot.is_some() || *now != ZEROS[..now.len()] {
                let chunk = Arc::make_mut(slot.get_or_insert_with(|| {
                    Arc::new(Chunk {
                        bytes: [0; CHUNK],
                        digest: OnceLock::new(),
                    })
                }));
                chunk.digest.take();
                chunk.bytes[within..within + now.len()].copy_from_slice(now);
            }
            at += now.len();
            rest = later;
        }
    }

    /// The first `len` bytes; fewer if the file is shorter.
    pub fn read(&self, len: u64) -> Vec<u8> {
        let len = len.min(self.len) as usize;
        let mut bytes = Vec::with_capacity(len.next_multiple_of(CHUNK));
        for chunk in self.chunks.iter().take(len.div_ceil(CHUNK)) {
            match chunk {
                Some(chunk) => bytes.extend_from_slice(&chunk.bytes),
                None => bytes.resize(bytes.len() + CHUNK, 0),
            }
        }
        bytes.truncate(len);
        bytes
    }

    /// Fills a buffer with the bytes at a position; how many there are.
    pub fn read_at(&self, position: u64, into: &mut [u8]) -> usize {
        let left = usize::try_from(self.len.saturating_sub(position)).unwrap_or(usize::MAX);
        let count = into.len().min(left);
        let mut done = 0;
        while done < count {
            let at = position as usize + done;
            let part = (CHUNK - at % CHUNK).min(count - done);
            let chunk = self.chunks[at / CHUNK].as_ref();
            let bytes = chunk.map_or(&ZEROS, |chunk| &chunk.bytes);
            into[done..done + part].copy_from_slice(&bytes[at % CHUNK..at % CHUNK + part]);
            done += part;
        }
        count
    }

    /// The first `len` bytes as they are mapped; `None` if the file is shorter.
    pub fn map(&self, len: u64) -> Option<Map> {
        if len > self.len {
            return None;
        }
        let mut words = vec![0u64; len.div_ceil(8) as usize];
        // Zeros are there already.
        for (place, chunk) in words.chunks_mut(CHUNK / 8).zip(&self.chunks) {
            if let Some(chunk) = chunk {
                for (word, bytes) in place.iter_mut().zip(chunk.bytes.as_chunks().0) {
                    *word = u64::from_ne_bytes(*bytes);
                }
            }
        }
        Some(Map::of_words(words.into_boxed_slice(), len))
    }

    /// True if these bytes, which are not all zeros, are in it. Long stretches of zeros cost nothing.
    pub fn contains(&self, needle: &[u8]) -> bool {
        let Some(&first) = needle.first() else {
            return true;
        };
        let margin = vec![0; needle.len()];
        let mut written = margin.clone();
        for chunk in self.chunks.iter().chain([&None]) {
            if let Some(chunk) = chunk {
                written.extend_from_slice(&chunk.bytes);
                continue;
            }
            // A needle may begin or end with zeros.
            written.extend_from_slice(&margin);
            let mut rest = written.as_slice();
            while let Some(at) = rest.iter().position(|&byte| byte == first) {
                if rest[at..].starts_with(needle) {
                    return true;
                }
                rest = &rest[at + 1..];
            }
            written.truncate(margin.len());
        }
        false
    }

    /// A number that equal files share, and (with all but certainty) no others.
    pub fn digest(&self) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(&self.len.to_le_bytes());
        for chunk in &self.chunks {
            let digest = match chunk {
                Some(chunk) => *chunk.digest.get_or_init(|| xxh3_64(&chunk.bytes)),
                None => *DIGEST_OF_ZEROS,
            };
            hash.update(&digest.to_le_bytes());
        }
        hash.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Chance;
    use super::*;

    #[test]
    fn content_equals_a_plain_vector_under_random_writes() {
        let mut chance = Chance::new(7);
        let (mut content, mut plain) = (Content::default(), Vec::new());
        for _ in 0..400 {
            let position = chance.below(20_000);
            let bytes = vec![chance.below(3) as u8; chance.below(9000)];
            let snapshot = (content.clone(), plain.clone());
            content.write(position as u64, &bytes);
            let end = position + bytes.len();
            if !bytes.is_empty() && plain.len() < end {
                plain.resize(end, 0);
            }
            if !bytes.is_empty() {
                plain[position..end].copy_from_slice(&bytes);
            }
            assert_eq!(content.len(), plain.len() as u64);
            assert!(content.read(u64::MAX) == plain);
            let (len, map) = (plain.len() as u64, content.map(plain.len() as u64));
            assert!(map.unwrap().slice(0, len) == Some(plain.as_slice()));
            assert!(content.map(len + 1).is_none());
            assert_eq!(content.digest(), Content::new(&plain).digest());
            assert!(snapshot.0.read(u64::MAX) == snapshot.1);
        }
    }

    #[test]
    fn written_bytes_are_found_at_any_offset() {
        let needle = b"\0needle\0\0";
        for at in [0, 1, 4090, 4095, 4096, 9000] {
            let mut content = Content::default();
            content.grow(20_000);
            assert!(!content.contains(needle));
            content.write(at, needle);
            assert!(content.contains(needle), "at {at}");
            content.write(at + 3, b"x");
            assert!(!content.contains(needle), "at {at}");
        }
    }

    #[test]
    fn zeros_and_length_count_in_the_digest() {
        let mut longer = Content::new(b"a");
        longer.grow(2);
        assert_ne!(longer.digest(), Content::new(b"a").digest());
        assert_eq!(longer.digest(), Content::new(b"a\0").digest());
    }
}
