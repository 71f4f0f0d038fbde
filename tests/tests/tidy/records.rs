//! The records of docs/FORMAT.md against records that are written: every field has its place, type and length.

use amem_format::base::{edge, header, node};
use amem_format::{Edge, EdgeType, EventType, Flags, Micros, NodeId, SessionId};

use crate::format::page;
use crate::tree::table;

/// Bytes of a type as the tables write it.
fn size(of: &str) -> usize {
    match of {
        "u8" => 1,
        "u16" => 2,
        "u32" | "f32" => 4,
        "u64" | "i64" => 8,
        array => {
            let count = array
                .strip_prefix("[u8; ")
                .and_then(|a| a.strip_suffix(']'));
            count
                .and_then(|n| n.parse().ok())
                .expect("a type of the tables")
        }
    }
}

/// Holds a table `at | type | field` against bytes in which every field is known.
fn layout(heading: &str, bytes: &[u8], fields: &[(&str, &str, &[u8])]) {
    let rows = table(&page(), heading, &["at", "type", "field"]);
    let mut next = 0;
    for row in &rows {
        let (at, len) = (row[0].parse().unwrap_or(usize::MAX), size(&row[1]));
        assert_eq!(
            at, next,
            "{heading}: {row:?} does not follow the row before"
        );
        let known = fields.iter().find(|(name, ..)| row[2].starts_with(name));
        let (_, of, expected) = known.unwrap_or_else(|| panic!("{heading}: what is {row:?}?"));
        assert_eq!(row[1], *of, "{heading}: {row:?}");
        assert_eq!(&bytes[at..at + len], *expected, "{heading}: {row:?}");
        next = at + len;
    }
    assert_eq!(next, bytes.len(), "{heading}: its length");
    assert_eq!(rows.len(), fields.len(), "{heading}: fields");
}

#[test]
fn format_describes_the_header_as_written() {
    let header = header::Header {
        dimension: 128,
        flags: 3,
        nodes: 10,
        edges: 11,
        node_table: 64,
        edge_table: 65,
        content: 66,
        vectors: 67,
    };
    layout(
        "Header",
        &header.encode(),
        &[
            ("magic", "[u8; 4]", b"AMEM"),
            ("version", "u32", &header::VERSION.to_le_bytes()),
            ("dimension", "u32", &128u32.to_le_bytes()),
            ("flags", "u32", &3u32.to_le_bytes()),
            ("nodes n", "u64", &10u64.to_le_bytes()),
            ("edges m", "u64", &11u64.to_le_bytes()),
            ("node table", "u64", &64u64.to_le_bytes()),
            ("edge table", "u64", &65u64.to_le_bytes()),
            ("content block", "u64", &66u64.to_le_bytes()),
            ("vectors", "u64", &67u64.to_le_bytes()),
        ],
    );
}

#[test]
fn format_describes_a_node_as_written() {
    let record = node::NodeRecord {
        id: NodeId(1 << 40),
        event_type: EventType::EPISODE,
        flags: Flags(41),
        created_at: Micros(1 << 50),
        session: SessionId(7),
        confidence: 0.25,
        access_count: 9,
        last_accessed: Micros(1 << 51),
        decay_score: 0.5,
        content_offset: 1 << 42,
        content_len: 77,
        edge_offset: 1 << 43,
        edge_count: 0x0002_0003,
        lambda: 0.125,
    };
    layout(
        "Node record",
        &record.encode(),
        &[
            ("id", "u64", &(1u64 << 40).to_le_bytes()),
            ("event type", "u8", &[5]),
            ("flags, ours", "u8", &[41]),
            ("zero", "[u8; 2]", &[0, 0]),
            ("created_at", "u64", &(1i64 << 50).to_le_bytes()),
            ("session", "u32", &7u32.to_le_bytes()),
            ("effective confidence", "f32", &0.25f32.to_le_bytes()),
            ("access count", "u32", &9u32.to_le_bytes()),
            ("last accessed", "u64", &(1i64 << 51).to_le_bytes()),
            ("decay score", "f32", &0.5f32.to_le_bytes()),
            ("content offset", "u64", &(1u64 << 42).to_le_bytes()),
            ("content length", "u32", &77u32.to_le_bytes()),
            ("edge offset", "u64", &(1u64 << 43).to_le_bytes()),
            ("edge count, low", "u16", &3u16.to_le_bytes()),
            ("edge count, high, ours", "u16", &2u16.to_le_bytes()),
            ("λ per day, ours", "f32", &0.125f32.to_le_bytes()),
        ],
    );
}

#[test]
fn format_describes_an_edge_as_written() {
    let edge = Edge {
        source: NodeId(1 << 40),
        target: NodeId(3),
        edge_type: EdgeType::PART_OF,
        weight: 0.5,
        created_at: Micros(1 << 50),
    };
    layout(
        "Edge record",
        &edge::encode(&edge),
        &[
            ("source", "u64", &(1u64 << 40).to_le_bytes()),
            ("target", "u64", &3u64.to_le_bytes()),
            ("type", "u8", &[5]),
            ("zero", "[u8; 3]", &[0; 3]),
            ("weight", "f32", &0.5f32.to_le_bytes()),
            ("created_at", "u64", &(1i64 << 50).to_le_bytes()),
        ],
    );
}
