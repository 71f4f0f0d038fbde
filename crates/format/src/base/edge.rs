//! An edge record: 32 bytes, sorted by source, target, type (FORMAT.md, "Edge record").
//!
//! In files of amemd a (source, target, type) occurs once.

use crate::bytes::{get_f32, get_u64, put_f32, put_u64};
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::types::{EdgeType, Micros, NodeId};

/// Bytes of a record.
pub const LEN: usize = 32;

/// Encodes a record.
pub fn encode(edge: &Edge) -> [u8; LEN] {
    let mut out = [0; LEN];
    put_u64(&mut out, 0, edge.source.0);
    put_u64(&mut out, 8, edge.target.0);
    out[16] = edge.edge_type.0;
    put_f32(&mut out, 20, edge.weight);
    put_u64(&mut out, 24, edge.created_at.0 as u64);
    out
}

/// Decodes the record at `position` in the file.
#[inline]
pub fn decode(bytes: &[u8; LEN], position: u64) -> Result<Edge> {
    let edge = Edge {
        source: NodeId(get_u64(bytes, 0)),
        target: NodeId(get_u64(bytes, 8)),
        edge_type: EdgeType(bytes[16]),
        weight: get_f32(bytes, 20),
        created_at: Micros(get_u64(bytes, 24) as i64),
    };
    if !edge.weight.is_finite() || edge.created_at.0 < 0 {
        return Err(Error::corrupt(
            "edge record",
            position,
            "a weight that is not finite, or a time out of range",
        ));
    }
    Ok(edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back() {
        let edge = Edge {
            source: NodeId(1),
            target: NodeId(2),
            edge_type: EdgeType(99),
            weight: 0.5,
            created_at: Micros(8),
        };
        let mut bytes = encode(&edge);
        assert_eq!(decode(&bytes, 0).unwrap(), edge);
        put_f32(&mut bytes, 20, f32::INFINITY);
        assert!(decode(&bytes, 0).is_err());
    }
}
