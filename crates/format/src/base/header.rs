//! The header: 64 bytes at the start of the file (FORMAT.md, "Header").

use crate::base::{edge, node};
use crate::bytes::{get_u16, get_u32, get_u64, put_u32, put_u64};
use crate::error::{Error, Result};
use crate::limits;

/// Bytes of a header.
pub const LEN: usize = 64;
/// The first four bytes of every `.amem` file.
pub const MAGIC: [u8; 4] = *b"AMEM";
/// The only version that this crate reads and writes.
pub const VERSION: u32 = 1;
/// Flags of what a program must know before it reads the file. This version knows none of them.
pub const MUST_READ: u32 = 0x00FF_0000;
/// Flags of what a program must know before it writes the file. This version knows none of them.
pub const MUST_WRITE: u32 = 0xFF00_0000;
/// Alignment of the vectors in files of amemd.
pub const VECTORS_ALIGN: u64 = 64;

/// Sizes and positions of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Numbers in a vector; 0 for none.
    pub dimension: u32,
    /// Bits 0 and 1: the reference's sections 0x05 and 0x06 are present. Then `MUST_READ` and `MUST_WRITE`.
    pub flags: u32,
    /// Events.
    pub nodes: u64,
    /// Edges.
    pub edges: u64,
    /// Position of the node table.
    pub node_table: u64,
    /// Position of the edge table.
    pub edge_table: u64,
    /// Position of the content block.
    pub content: u64,
    /// Position of the vectors.
    pub vectors: u64,
}

impl Header {
    /// Encodes the header.
    pub fn encode(&self) -> [u8; LEN] {
        let mut out = [0; LEN];
        out[..4].copy_from_slice(&MAGIC);
        put_u32(&mut out, 4, VERSION);
        put_u32(&mut out, 8, self.dimension);
        put_u32(&mut out, 12, self.flags);
        put_u64(&mut out, 16, self.nodes);
        put_u64(&mut out, 24, self.edges);
        put_u64(&mut out, 32, self.node_table);
        put_u64(&mut out, 40, self.edge_table);
        put_u64(&mut out, 48, self.content);
        put_u64(&mut out, 56, self.vectors);
        out
    }

    /// Decodes the header of a file of `file_len` bytes; checks that the tables fit into the file and do not overlap.
    pub fn decode(bytes: &[u8], file_len: u64) -> Result<Self> {
        if bytes.len() < LEN || file_len < LEN as u64 {
            if bytes.len() >= 4 && bytes[..4] != MAGIC {
                return Err(Error::Magic {
                    found: [bytes[0], bytes[1], bytes[2], bytes[3]],
                });
            }
            return Err(Error::Truncated {
                what: "header",
                needed: LEN as u64,
                len: file_len,
            });
        }
        if bytes[..4] != MAGIC {
            return Err(Error::Magic {
                found: [bytes[0], bytes[1], bytes[2], bytes[3]],
            });
        }
        let version = get_u32(bytes, 4);
        if version != VERSION {
            // spec-1 has a 16-bit version, then its flags.
            return Err(if get_u16(bytes, 4) == 1 && get_u16(bytes, 6) < 8 {
                Error::Spec1
            } else {
                Error::Version { found: version }
            });
        }
        let header = Self {
            dimension: get_u32(bytes, 8),
            flags: get_u32(bytes, 12),
            nodes: get_u64(bytes, 16),
            edges: get_u64(bytes, 24),
            node_table: get_u64(bytes, 32),
            edge_table: get_u64(bytes, 40),
            content: get_u64(bytes, 48),
            vectors: get_u64(bytes, 56),
        };
        header.check(file_len)?;
        Ok(header)
    }

    fn check(&self, file_len: u64) -> Result<()> {
        Error::check_limit(
            "the dimension of vectors",
            self.dimension.into(),
            limits::DIMENSION_MAX.into(),
        )?;
        Error::check_limit("the number of events", self.nodes, limits::NODES_MAX)?;
        Error::check_limit("the number of edges", self.edges, limits::EDGES_MAX)?;
        let parts = [
            (
                "node table",
                32,
                self.node_table,
                self.nodes.checked_mul(node::LEN as u64),
            ),
            (
                "edge table",
                40,
                self.edge_table,
                self.edges.checked_mul(edge::LEN as u64),
            ),
            (
                "content block",
                48,
                self.content,
                self.vectors.checked_sub(self.content),
            ),
            ("vectors", 56, self.vectors, self.vectors_len()),
        ];
        let mut free_from = LEN as u64;
        for (what, at, start, len) in parts {
            let end = len.and_then(|len| start.checked_add(len));
            let Some(end) = end else {
                return Err(Error::corrupt(
                    what,
                    at,
                    format!("it begins at {start}, and its length overflows"),
                ));
            };
            if start < free_from {
                let why =
                    format!("it begins at {start}, before the previous part ends at {free_from}");
                return Err(Error::corrupt(what, at, why));
            }
            if end > file_len {
                return Err(Error::Truncated {
                    what,
                    needed: end,
                    len: file_len,
                });
            }
            free_from = end;
        }
        Ok(())
    }

    fn vectors_len(&self) -> Option<u64> {
        self.nodes.checked_mul(u64::from(self.dimension) * 4)
    }

    /// Where the sections begin: after the vectors.
    pub fn sections(&self) -> u64 {
        self.vectors + self.nodes * u64::from(self.dimension) * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            dimension: 4,
            flags: 3,
            nodes: 10,
            edges: 5,
            node_table: 64,
            edge_table: 784,
            content: 944,
            vectors: 1024,
        }
    }

    #[test]
    fn a_header_reads_back() {
        assert_eq!(Header::decode(&header().encode(), 1184).unwrap(), header());
        assert_eq!(header().sections(), 1184);
    }

    #[test]
    fn the_error_names_the_part_that_does_not_fit() {
        let check = |header: Header, len: u64, expected: &str| {
            let error = Header::decode(&header.encode(), len)
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(header(), 1183, "vectors needs bytes up to 1184");
        check(header(), 63, "header needs");
        check(
            Header {
                edge_table: 700,
                ..header()
            },
            2000,
            "before the previous part ends at 784",
        );
        check(
            Header {
                content: u64::MAX,
                ..header()
            },
            2000,
            "content block",
        );
        check(
            Header {
                nodes: u64::MAX,
                ..header()
            },
            2000,
            "number of events",
        );
        check(
            Header {
                dimension: 5000,
                ..header()
            },
            2000,
            "dimension",
        );
        let mut wrong = header().encode();
        wrong[0] = b'X';
        assert!(matches!(
            Header::decode(&wrong, 2000),
            Err(Error::Magic { .. })
        ));
        let mut newer = header().encode();
        newer[4] = 2;
        assert!(matches!(
            Header::decode(&newer, 2000),
            Err(Error::Version { found: 2 })
        ));
        let mut spec1 = header().encode();
        spec1[6] = 7;
        assert!(matches!(Header::decode(&spec1, 2000), Err(Error::Spec1)));
    }
}
