//! The spec-1 header, and the location of sections.
//!
//! Promises: the sections of a `Spec1Sections` are inside the file, in the order of the specification, without overlap.
//! Not here: the content of sections.

use crate::foreign::layout::{HEADER_BYTES, MAGIC, check_magic};
use amem_format::bytes::{get_u16, get_u32, get_u64, put_u16, put_u32, put_u64, slice};
use amem_format::error::{Error, Result};
use amem_format::limits;

/// The version of the specification.
const VERSION: u16 = 1;
/// Bytes of a node record.
pub(super) const NODE_BYTES: usize = 64;
/// Bytes of an edge record.
pub(super) const EDGE_BYTES: usize = 13;
/// Flag: the file has a vector slot for each event.
pub(super) const HAS_VECTORS: u16 = 1;
/// Flag: the file has indexes.
pub(super) const HAS_INDEXES: u16 = 2;
/// Flag: the content block is an LZ4 frame.
pub(super) const IS_COMPRESSED: u16 = 4;
/// Every flag of version 1.
pub(crate) const FLAGS_KNOWN: u16 = HAS_VECTORS | HAS_INDEXES | IS_COMPRESSED;

/// The fields of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spec1Header {
    pub(super) flags: u16,
    pub(super) node_count: u32,
    pub(super) edge_count: u32,
    pub(super) dimension: u16,
    pub(super) session_count: u16,
    pub(super) content_offset: u64,
    pub(super) content_length: u64,
    pub(super) vector_offset: u64,
    pub(super) index_offset: u64,
    pub(super) content_uncompressed: u32,
}

impl Spec1Header {
    /// Decodes and checks the fields.
    fn decode(bytes: &[u8]) -> Result<Self> {
        check_magic(bytes)?;
        let version = get_u16(bytes, 4);
        if version != VERSION {
            return Err(Error::Version {
                found: version.into(),
            });
        }
        let header = Self {
            flags: get_u16(bytes, 6),
            node_count: get_u32(bytes, 8),
            edge_count: get_u32(bytes, 12),
            dimension: get_u16(bytes, 16),
            session_count: get_u16(bytes, 18),
            content_offset: get_u64(bytes, 20),
            content_length: get_u64(bytes, 28),
            vector_offset: get_u64(bytes, 36),
            index_offset: get_u64(bytes, 44),
            content_uncompressed: get_u32(bytes, 52),
        };
        let bad = |at, why: &str| Err(Error::corrupt("spec-1 header", at, why));
        if header.flags & !FLAGS_KNOWN != 0 {
            return bad(6, "a flag that version 1 does not have");
        }
        if bytes[56..HEADER_BYTES].iter().any(|&b| b != 0) {
            return bad(56, "reserved bytes that are not zero");
        }
        if header.has(HAS_VECTORS) && header.dimension == 0 {
            return bad(16, "vectors of dimension 0");
        }
        let dimension = header.vector_dimension();
        Error::check_limit("dimension", dimension.into(), limits::DIMENSION_MAX.into())?;
        let (nodes, edges) = (header.node_count.into(), header.edge_count.into());
        Error::check_limit("number of events", nodes, limits::NODES_MAX)?;
        Error::check_limit("number of edges", edges, limits::EDGES_MAX)?;
        Ok(header)
    }

    /// The bytes of the header.
    pub(super) fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        put_u16(&mut bytes, 4, VERSION);
        put_u16(&mut bytes, 6, self.flags);
        put_u32(&mut bytes, 8, self.node_count);
        put_u32(&mut bytes, 12, self.edge_count);
        put_u16(&mut bytes, 16, self.dimension);
        put_u16(&mut bytes, 18, self.session_count);
        put_u64(&mut bytes, 20, self.content_offset);
        put_u64(&mut bytes, 28, self.content_length);
        put_u64(&mut bytes, 36, self.vector_offset);
        put_u64(&mut bytes, 44, self.index_offset);
        put_u32(&mut bytes, 52, self.content_uncompressed);
        bytes
    }

    /// True if the flag is set.
    pub(super) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }

    /// Numbers in a vector; 0 if the file has none, whatever its dimension field says.
    pub(super) fn vector_dimension(&self) -> u32 {
        if self.has(HAS_VECTORS) {
            self.dimension.into()
        } else {
            0
        }
    }
}

/// The sections of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec1Sections<'a> {
    pub(super) header: Spec1Header,
    pub(super) nodes: &'a [u8],
    pub(super) edges: &'a [u8],
    pub(super) content: &'a [u8],
    pub(super) vectors: &'a [u8],
    pub(super) indexes: Option<&'a [u8]>,
}

impl<'a> Spec1Sections<'a> {
    /// Locates the sections. Gaps between them are allowed, for alignment.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let header = Spec1Header::decode(bytes)?;
        let mut at = HEADER_BYTES as u64;
        let mut next = |offset: u64, len: u64, what| {
            if offset < at {
                let why = format!("it begins before byte {at}, inside the previous section");
                return Err(Error::corrupt(what, offset, why));
            }
            let section = slice(bytes, offset, len, what)?;
            at = offset + len;
            Ok(section)
        };
        let nodes_len = u64::from(header.node_count) * NODE_BYTES as u64;
        let edges_len = u64::from(header.edge_count) * EDGE_BYTES as u64;
        let edges_at = HEADER_BYTES as u64 + nodes_len;
        let nodes = next(HEADER_BYTES as u64, nodes_len, "spec-1 node records")?;
        let edges = next(edges_at, edges_len, "spec-1 edge records")?;
        let content = next(
            header.content_offset,
            header.content_length,
            "spec-1 content",
        )?;
        let mut vectors: &[u8] = &[];
        if header.has(HAS_VECTORS) {
            let len = u64::from(header.node_count) * u64::from(header.dimension) * 4;
            vectors = next(header.vector_offset, len, "spec-1 vectors")?;
        }
        let mut indexes = None;
        if header.has(HAS_INDEXES) {
            let len = (bytes.len() as u64).saturating_sub(header.index_offset);
            indexes = Some(next(header.index_offset, len, "spec-1 indexes")?);
        }
        if at != bytes.len() as u64 {
            return Err(Error::corrupt(
                "spec-1 file",
                at,
                "bytes after the last section",
            ));
        }
        Ok(Self {
            header,
            nodes,
            edges,
            content,
            vectors,
            indexes,
        })
    }
}

/// Checks that the header and the section offsets are those of a spec-1 file.
pub(crate) fn fits(bytes: &[u8]) -> Result<()> {
    Spec1Sections::parse(bytes).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::foreign::sample;

    fn bytes() -> Vec<u8> {
        let mut bytes = Vec::new();
        super::super::write(&sample::graph(5), &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn headers_survive() {
        let bytes = bytes();
        let header = Spec1Header::decode(&bytes).unwrap();
        assert_eq!(header.encode(), bytes[..HEADER_BYTES]);
        assert_eq!((header.node_count, header.dimension), (5, 3));
        assert_eq!(header.session_count, 3);
    }

    #[test]
    fn headers_that_cannot_be_are_refused_by_name() {
        let check = |change: &dyn Fn(&mut [u8]), expected: &str| {
            let mut bytes = bytes();
            change(&mut bytes);
            let error = fits(&bytes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(&|b| put_u16(b, 4, 2), "version 2");
        check(&|b| put_u16(b, 4, 0), "version 0");
        check(
            &|b| put_u16(b, 6, 8 + 7),
            "a flag that version 1 does not have",
        );
        check(&|b| b[63] = 1, "reserved bytes");
        check(&|b| put_u16(b, 16, 0), "vectors of dimension 0");
        check(&|b| put_u16(b, 16, 4097), "dimension is 4097");
        check(&|b| put_u32(b, 8, u32::MAX), "number of events");
        check(
            &|b| put_u32(b, 8, u32::MAX - 1),
            "truncated: spec-1 node records",
        );
        check(
            &|b| put_u32(b, 12, u32::MAX - 1),
            "truncated: spec-1 edge records",
        );
        check(&|b| put_u64(b, 20, 64), "inside the previous section");
        check(&|b| put_u64(b, 20, u64::MAX), "truncated: spec-1 content");
        check(&|b| put_u64(b, 28, u64::MAX), "truncated: spec-1 content");
        check(&|b| put_u64(b, 36, 64), "inside the previous section");
        check(&|b| put_u64(b, 44, u64::MAX), "truncated: spec-1 indexes");
        check(&|b| put_u16(b, 6, 5), "bytes after the last section");
    }
}
