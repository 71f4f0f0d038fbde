//! The native layout without the extensions of amemd: header, four tables, sections.
//!
//! Promises: the tables of a `ForeignTables` are inside the file and do not overlap, and its sections end at the end of
//! the file or at the journal. Parsing costs one step per section, independent of the counts.
//! Not here: records (`file`), the sections of amemd.

use amem_format::base::section::tag;
use amem_format::bytes::{get_u32, get_u64, slice};
use amem_format::error::{Error, Result};
use amem_format::limits;

/// The first four bytes of every layout.
pub(crate) const MAGIC: [u8; 4] = *b"AMEM";
/// The version of the native layout.
pub(super) const VERSION: u32 = 1;
/// Bytes of the header.
pub(crate) const HEADER_BYTES: usize = 64;
/// Bytes of a node record.
pub(super) const NODE_BYTES: usize = 72;
/// Bytes of an edge record.
pub(super) const EDGE_BYTES: usize = 32;
/// Bytes of a section header: tag and length.
const SECTION_HEAD_BYTES: u64 = 9;
/// Header flags of the reference, and the section that each one requires.
const PROMISED: [(u32, u8); 2] = [(1, 0x05), (2, 0x06)];
/// The length field of the journal section.
const JOURNAL_LENGTH: u64 = 1 << 62;

/// A table and its offset.
#[derive(Debug, Clone, Copy)]
pub(super) struct ForeignTable<'a> {
    pub(super) bytes: &'a [u8],
    /// Offset in the file.
    pub(super) at: u64,
}

impl ForeignTable<'_> {
    fn end(&self) -> u64 {
        self.at + self.bytes.len() as u64
    }

    fn holds(&self, position: u64) -> bool {
        (self.at..self.end()).contains(&position)
    }
}

/// The tables of a native file.
#[derive(Debug)]
pub(crate) struct ForeignTables<'a> {
    /// Numbers in a vector.
    pub(super) dimension: u32,
    /// Node records.
    pub(super) nodes: ForeignTable<'a>,
    /// Edge records.
    pub(super) edges: ForeignTable<'a>,
    /// Text blocks.
    pub(super) content: ForeignTable<'a>,
    /// Vectors, dense.
    pub(super) vectors: ForeignTable<'a>,
    /// True if amemd wrote the file: it has at least one section that only amemd writes.
    pub is_ours: bool,
}

impl<'a> ForeignTables<'a> {
    /// Reads the header and locates the tables.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self> {
        check_magic(bytes)?;
        let version = get_u32(bytes, 4);
        if version != VERSION {
            return Err(Error::Version { found: version });
        }
        let dimension = get_u32(bytes, 8);
        let node_count = get_u64(bytes, 16);
        let edge_count = get_u64(bytes, 24);
        Error::check_limit("dimension", dimension.into(), limits::DIMENSION_MAX.into())?;
        Error::check_limit("number of events", node_count, limits::NODES_MAX)?;
        Error::check_limit("number of edges", edge_count, limits::EDGES_MAX)?;

        let nodes = table(bytes, 32, node_count * NODE_BYTES as u64, "node table")?;
        let edges = table(bytes, 40, edge_count * EDGE_BYTES as u64, "edge table")?;
        let vectors_len = node_count * u64::from(dimension) * 4;
        let vectors = table(bytes, 56, vectors_len, "feature vectors")?;
        let content = content(bytes, nodes, edges, vectors)?;
        let tags = section_tags(bytes, vectors.end())?;
        let flags = get_u32(bytes, 12);
        for (flag, tag) in PROMISED {
            if flags & flag != 0 && !tags.contains(&tag) {
                let why = format!("a flag requires section {tag:#04x}, which does not exist");
                return Err(Error::corrupt("header", 12, why));
            }
        }
        Ok(Self {
            dimension,
            nodes,
            edges,
            content,
            vectors,
            is_ours: tags
                .iter()
                .any(|tag| tag::OURS.contains(tag) || *tag == tag::JOURNAL),
        })
    }

    /// The number of node records.
    pub(super) fn node_count(&self) -> u64 {
        (self.nodes.bytes.len() / NODE_BYTES) as u64
    }

    /// The number of edge records.
    pub(super) fn edge_count(&self) -> u64 {
        (self.edges.bytes.len() / EDGE_BYTES) as u64
    }
}

/// Checks magic and length of the header, which all layouts share.
pub(crate) fn check_magic(bytes: &[u8]) -> Result<()> {
    if let Some(&found) = bytes.first_chunk::<4>()
        && found != MAGIC
    {
        return Err(Error::Magic { found });
    }
    slice(bytes, 0, HEADER_BYTES as u64, "header").map(|_| ())
}

/// The table whose offset is in the header at `field`.
fn table<'a>(
    bytes: &'a [u8],
    field: usize,
    len: u64,
    what: &'static str,
) -> Result<ForeignTable<'a>> {
    let at = get_u64(bytes, field);
    if at < HEADER_BYTES as u64 {
        return Err(Error::corrupt(
            what,
            field as u64,
            format!("it begins at byte {at}, inside the header"),
        ));
    }
    Ok(ForeignTable {
        bytes: slice(bytes, at, len, what)?,
        at,
    })
}

/// The content block extends to the next table. The vectors are the last table: the sections follow them.
fn content<'a>(
    bytes: &'a [u8],
    nodes: ForeignTable<'a>,
    edges: ForeignTable<'a>,
    vectors: ForeignTable<'a>,
) -> Result<ForeignTable<'a>> {
    let start = table(bytes, 48, 0, "content block")?;
    let records: Vec<ForeignTable<'_>> = [nodes, edges]
        .into_iter()
        .filter(|t| !t.bytes.is_empty())
        .collect();
    if let [a, b] = records[..]
        && a.at < b.end()
        && b.at < a.end()
    {
        return Err(Error::corrupt(
            "edge table",
            40,
            "it overlaps the node table",
        ));
    }
    let mut end = vectors.at;
    for records in &records {
        if records.end() > vectors.at {
            return Err(Error::corrupt(
                "feature vectors",
                56,
                format!("they begin at byte {}, before the records end", vectors.at),
            ));
        }
        if records.holds(start.at) {
            return Err(Error::corrupt(
                "content block",
                48,
                format!("it begins at byte {}, inside the records", start.at),
            ));
        }
        if records.at >= start.at {
            end = end.min(records.at);
        }
    }
    let len = end.checked_sub(start.at).ok_or_else(|| {
        Error::corrupt("content block", 48, "it begins after the feature vectors")
    })?;
    Ok(ForeignTable {
        bytes: slice(bytes, start.at, len, "content block")?,
        at: start.at,
    })
}

/// Walks the sections to the end of the file or to the journal.
fn section_tags(bytes: &[u8], mut at: u64) -> Result<Vec<u8>> {
    let end = bytes.len() as u64;
    let mut tags = Vec::new();
    while at < end {
        let head = slice(bytes, at, SECTION_HEAD_BYTES, "section header")?;
        let (tag, len) = (head[0], get_u64(head, 1));
        tags.push(tag);
        let (count, max) = (tags.len() as u64, limits::SECTIONS_MAX as u64);
        Error::check_limit("number of sections", count, max)?;
        if tag == tag::JOURNAL {
            if len != JOURNAL_LENGTH {
                let why = format!("its length field is {len} instead of the constant 1 << 62");
                return Err(Error::corrupt("journal section", at, why));
            }
            break;
        }
        at += SECTION_HEAD_BYTES;
        slice(bytes, at, len, "section")?;
        at += len;
    }
    Ok(tags)
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::bytes::{put_u32, put_u64};

    fn header(fields: &[(usize, u64)]) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 72 + 32 + 8];
        bytes[..4].copy_from_slice(&MAGIC);
        put_u32(&mut bytes, 4, 1);
        put_u32(&mut bytes, 8, 1);
        let good = [(16, 1), (24, 1), (32, 64), (40, 136), (48, 168), (56, 172)];
        for &(at, value) in good.iter().chain(fields) {
            put_u64(&mut bytes, at, value);
        }
        bytes
    }

    #[test]
    fn tables_are_where_the_header_says() {
        let bytes = header(&[]);
        let tables = ForeignTables::parse(&bytes).unwrap();
        assert_eq!((tables.nodes.at, tables.nodes.bytes.len()), (64, 72));
        assert_eq!((tables.edges.at, tables.edges.bytes.len()), (136, 32));
        assert_eq!((tables.content.at, tables.content.bytes.len()), (168, 4));
        assert_eq!((tables.vectors.at, tables.vectors.bytes.len()), (172, 4));
        assert!(!tables.is_ours);
    }

    #[test]
    fn tables_may_stand_in_another_order() {
        let bytes = header(&[(48, 64), (32, 68), (40, 140)]);
        let tables = ForeignTables::parse(&bytes).unwrap();
        assert_eq!((tables.content.at, tables.content.bytes.len()), (64, 4));
    }

    #[test]
    fn headers_that_cannot_be_are_refused_by_name() {
        let check = |fields: &[(usize, u64)], expected: &str| {
            let error = ForeignTables::parse(&header(fields))
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{fields:?}: {error}");
        };
        check(&[(16, u64::MAX)], "number of events");
        check(&[(24, u64::MAX)], "number of edges");
        check(&[(16, 1 << 31)], "truncated: node table");
        check(&[(24, 1 << 31)], "truncated: edge table");
        check(&[(32, 63)], "inside the header");
        check(&[(32, u64::MAX)], "truncated: node table");
        check(&[(40, 100)], "overlaps the node table");
        check(&[(48, 100)], "inside the records");
        check(&[(48, 173)], "after the feature vectors");
        check(&[(56, 150)], "before the records end");
        check(&[(56, 173)], "truncated: feature vectors");
        check(&[(4, 2)], "version 2");
        check(&[(8, 1 | 2 << 32)], "requires section 0x06");
        check(&[(8, 4097)], "dimension is 4097");
    }

    #[test]
    fn sections_end_where_the_file_does() {
        let with = |section: &[u8]| {
            let mut bytes = header(&[]);
            bytes.extend_from_slice(section);
            ForeignTables::parse(&bytes).map(|t| t.is_ours)
        };
        assert!(!with(&[1, 0, 0, 0, 0, 0, 0, 0, 0]).unwrap());
        assert!(with(&[0x41, 1, 0, 0, 0, 0, 0, 0, 0, 7]).unwrap());
        assert!(with(&[0x5F, 1, 0, 0, 0, 0, 0, 0, 0, 7]).unwrap());
        assert!(with(&[0x7F, 0, 0, 0, 0, 0, 0, 0, 0x40, 1, 2, 3]).unwrap());
        assert!(with(&[0x7F, 0, 0, 0, 0, 0, 0, 0, 0x41]).is_err());
        assert!(with(&[1, 1, 0, 0, 0, 0, 0, 0, 0]).is_err());
        assert!(with(&[1, 0, 0, 0]).is_err());
        assert!(with(&[1, 255, 255, 255, 255, 255, 255, 255, 255]).is_err());
        assert!(with(&[0; 9 * 257]).is_err());
    }
}
