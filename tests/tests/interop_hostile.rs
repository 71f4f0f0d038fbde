//! Truncated and changed foreign bytes: an error or a graph, never a panic, in bounded memory.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

use amem_format::event::{Event, Graph, MemoryGraph};
use amem_interop::detect;
use amem_interop::foreign::{CompatOptions, Foreign, to_dense, write_compatible};
use amem_interop::spec1;
use amem_interop::spec1::Spec1;
use amem_tests::random;
use amem_tests::shared::reference_brain;

/// More than any file of these tests may cost: 8 MiB twice for a frame's blocks, and room for the
/// rest of the process.
const MEMORY_KIB_MAX: u64 = 256 << 10;

/// Reads all that can be read; true if the file opened.
fn read_all(bytes: &[u8]) -> bool {
    let _ = detect(bytes);
    let mut opened = false;
    if let Ok(foreign) = Foreign::open(bytes) {
        opened = true;
        walk(&foreign);
        if let Ok((dense, _)) = to_dense(&foreign.as_written()) {
            let options = CompatOptions { map_unknown: true };
            let mut out = Vec::new();
            write_compatible(&dense, options, &mut out).unwrap();
            Foreign::open(&out).unwrap();
        }
    }
    if let Ok(spec1) = Spec1::open(bytes) {
        opened = true;
        walk(&spec1);
        if let Ok((dense, _)) = to_dense(&spec1) {
            let mut out = Vec::new();
            spec1::write(&dense, &mut out).unwrap();
            Spec1::open(&out).unwrap();
        }
    }
    opened
}

fn walk(graph: &dyn Graph) {
    for position in 0..graph.event_count() {
        let _ = graph.event_at(position);
        let _ = graph.edges_at(position);
    }
    let _ = graph.stray_edges();
}

/// The most memory that this process ever had resident.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

fn check_every_cut(bytes: &[u8]) {
    assert!(read_all(bytes), "the whole file opens");
    for len in 0..bytes.len() {
        assert!(!read_all(&bytes[..len]), "cut at {len}, but opened");
    }
    assert!(peak_kib() < MEMORY_KIB_MAX, "{} KiB", peak_kib());
}

fn check_every_flip(bytes: &[u8], masks: &[u8]) {
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() {
        for mask in masks {
            bytes[at] ^= mask;
            read_all(&bytes);
            bytes[at] ^= mask;
        }
    }
    assert!(peak_kib() < MEMORY_KIB_MAX, "{} KiB", peak_kib());
}

/// A small graph with metadata, vectors, and texts that compress.
fn small_graph() -> MemoryGraph {
    let mut graph = random::graph(3);
    graph.dimension = 3;
    graph.events.truncate(6);
    let count = graph.events.len() as u64;
    graph.edges.retain(|e| e.source.0.max(e.target.0) < count);
    for event in &mut graph.events {
        event.vector = Some(vec![0.5, 1.0, -1.0]);
        event.text = format!("{} and again and again and again", event.id);
        let json = r#"{"key": "value", "other": "thing"}"#;
        event.attributes = serde_json::from_str(json).unwrap();
        event.flags = amem_format::Flags(3);
    }
    assert!(count == 6 && graph.edges.len() > 2);
    graph
}

fn reference_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    write_compatible(&small_graph(), CompatOptions::default(), &mut bytes).unwrap();
    bytes
}

fn spec1_bytes() -> Vec<u8> {
    let mut bytes = Vec::new();
    spec1::write(&small_graph(), &mut bytes).unwrap();
    bytes
}

const EVERY_BIT: [u8; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 255];

#[test]
fn files_cut_at_any_byte_are_refused() {
    check_every_cut(&reference_bytes());
    check_every_cut(&spec1_bytes());
    if let Some(brain) = reference_brain("small") {
        check_every_cut(&brain.bytes);
    }
}

#[test]
fn no_flip_in_a_reference_file_is_fatal() {
    check_every_flip(&reference_bytes(), &EVERY_BIT);
    if let Some(brain) = reference_brain("small") {
        check_every_flip(&brain.bytes, &[255]);
    }
}

#[test]
fn no_flip_in_a_spec1_file_is_fatal() {
    check_every_flip(&spec1_bytes(), &EVERY_BIT);
}

#[test]
fn noise_behind_a_good_header_is_not_fatal() {
    for (seed, good) in (0..2000).zip([reference_bytes(), spec1_bytes()].iter().cycle()) {
        let random = &mut random::Random::new(seed);
        let mut bytes = good.clone();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len() as u64) as usize;
            let noise = random.number().to_le_bytes();
            let len = random.below(8) as usize + 1;
            let end = (at + len).min(bytes.len());
            bytes[at..end].copy_from_slice(&noise[..end - at]);
        }
        read_all(&bytes);
    }
    assert!(peak_kib() < MEMORY_KIB_MAX, "{} KiB", peak_kib());
}

#[test]
fn one_text_cannot_be_shared_by_many_events() {
    // 1,000 records of 64 or 72 bytes that share a text of a mebibyte would be a gibibyte when read.
    let big = Event {
        text: "x".repeat(1 << 20),
        ..small_graph().events[0].clone()
    };
    let mut graph = MemoryGraph {
        dimension: 3,
        ..MemoryGraph::default()
    };
    for id in 0..1000 {
        graph.events.push(Event {
            id: amem_format::NodeId(id),
            text: if id == 0 {
                big.text.clone()
            } else {
                String::new()
            },
            ..big.clone()
        });
    }
    let mut native = Vec::new();
    write_compatible(&graph, CompatOptions::default(), &mut native).unwrap();
    let mut spec1 = Vec::new();
    spec1::write(&graph, &mut spec1).unwrap();
    for (bytes, record_len, fields) in [(&mut native, 72, 44..56), (&mut spec1, 64, 20..32)] {
        assert!(read_all(bytes));
        let first = bytes[64..][fields.clone()].to_vec();
        for id in 1..1000 {
            let at = 64 + id * record_len;
            bytes[at..][fields.clone()].copy_from_slice(&first);
        }
        assert!(!read_all(bytes));
    }
}
