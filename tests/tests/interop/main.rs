//! Our files in other implementations, and theirs in ours.
//!
//! The peer is the published reference implementation, in the same process; its own files and dumps come from the
//! folder of shared files.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

mod live;
mod reference;

use amem_format::NodeId;
use amem_format::event::{Edge, Event, Graph, MemoryGraph};
use amem_interop::foreign::{
    CompatOptions, CompatReport, Foreign, ORIGIN_ID, to_dense, write_compatible,
};
use amem_interop::spec1;
use amem_interop::{Layout, detect};
use amem_tests::graphs::{assert_same, collect};
use amem_tests::random;
use amem_tests::shared::{ReferenceBrain, reference_brain, reference_brains};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Seeds of random graphs; each run makes the same ones.
const SEEDS: std::ops::Range<u64> = 0..200;

fn compatible(graph: &dyn Graph) -> (Vec<u8>, CompatReport) {
    let mut bytes = Vec::new();
    let report = write_compatible(graph, CompatOptions::default(), &mut bytes).unwrap();
    (bytes, report)
}

fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}

/// The records of a dump; the empty brain's stands for them with a number.
fn records<'d>(brain: &'d ReferenceBrain, field: &str) -> &'d [Value] {
    brain.dump[field].as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn reference_brains_read_as_their_dumps_say() {
    for brain in reference_brains() {
        assert_eq!(detect(&brain.bytes).unwrap(), Layout::Reference);
        let foreign = Foreign::open(&brain.bytes).unwrap();
        let graph = collect(&foreign.as_written());
        let dimension = &brain.dump["header"]["dimension"];
        assert_eq!(*dimension, graph.dimension);
        let nodes = records(&brain, "nodes");
        assert_eq!(graph.events.len(), nodes.len(), "{}", brain.name);
        for (event, node) in graph.events.iter().zip(nodes) {
            check_event(event, node, graph.dimension);
        }
        let edges = records(&brain, "edges");
        assert_eq!(graph.edges.len(), edges.len(), "{}", brain.name);
        for (edge, dumped) in graph.edges.iter().zip(edges) {
            check_edge(edge, dumped);
        }
    }
}

fn check_event(event: &Event, node: &Value, dimension: u32) {
    let vector = match &event.vector {
        Some(vector) => vector.clone(),
        None => vec![0.0; dimension as usize],
    };
    let vector_bytes: Vec<u8> = vector.iter().flat_map(|n| n.to_le_bytes()).collect();
    let bits: Vec<u32> = vector.iter().take(4).map(|n| n.to_bits()).collect();
    for (field, found) in [
        ("id", Value::from(event.id.0)),
        ("event_type", event.event_type.0.into()),
        ("event_type_name", event.event_type.to_string().into()),
        ("created_at", event.created_at.0.into()),
        ("session_id", event.session.0.into()),
        ("confidence_bits", event.confidence.to_bits().into()),
        ("access_count", event.access_count.into()),
        ("last_accessed", event.last_accessed.0.into()),
        ("decay_score_bits", event.decay_score.to_bits().into()),
        ("content", event.text.as_str().into()),
        ("content_sha256", sha256(event.text.as_bytes()).into()),
        ("vec_len", vector.len().into()),
        ("vec4_bits", bits.into()),
        ("vec_sha256", sha256(&vector_bytes).into()),
    ] {
        assert_eq!(found, node[field], "{field} of event {}", event.id);
    }
}

fn check_edge(edge: &Edge, dumped: &Value) {
    for (field, found) in [
        ("source_id", Value::from(edge.source.0)),
        ("target_id", edge.target.0.into()),
        ("edge_type", edge.edge_type.0.into()),
        ("weight_bits", edge.weight.to_bits().into()),
        ("created_at", edge.created_at.0.into()),
    ] {
        assert_eq!(found, dumped[field], "{field} of {edge:?}");
    }
}

#[test]
fn reference_brains_are_written_back_byte_for_byte() {
    for brain in reference_brains() {
        let foreign = Foreign::open(&brain.bytes).unwrap();
        let (bytes, report) = compatible(&foreign.as_written());
        if brain.name == "sparse_ids" {
            assert_eq!(report.renumbered, 16);
            continue;
        }
        assert_eq!(report.renumbered, 0);
        assert_eq!(sha256(&bytes), brain.dump["file_sha256"], "{}", brain.name);
        assert!(bytes == brain.bytes, "{}", brain.name);
    }
}

#[test]
fn sparse_ids_are_written_with_ids_that_are_positions() {
    let Some(brain) = reference_brain("sparse_ids") else {
        return;
    };
    let before = collect(&Foreign::open(&brain.bytes).unwrap());
    let (bytes, _) = compatible(&before);
    let after = collect(&Foreign::open(&bytes).unwrap());
    assert_same(&reference::read_sorted(&bytes), &after, "the reference");
    let position = |id: NodeId| {
        let found = before.events.binary_search_by_key(&id, |e| e.id);
        NodeId(found.unwrap() as u64)
    };
    let mut expected = before.clone();
    for event in &mut expected.events {
        event.id = position(event.id);
    }
    for edge in &mut expected.edges {
        edge.source = position(edge.source);
        edge.target = position(edge.target);
    }
    assert_same(&after, &expected, "renumbered");
}

#[test]
fn adopted_brains_keep_everything_and_their_old_ids() {
    for brain in reference_brains() {
        let foreign = Foreign::open(&brain.bytes).unwrap();
        let before = collect(&foreign);
        let (dense, report) = to_dense(&foreign.as_written()).unwrap();
        assert!(dense.events.is_sorted_by_key(|e| e.created_at));
        assert_eq!(dense.edges.len(), before.edges.len(), "{}", brain.name);
        let mut changed = 0;
        for (position, event) in (0..).zip(&dense.events) {
            assert_eq!(event.id, NodeId(position));
            let origin = event
                .attributes
                .as_ref()
                .map(|a| a[ORIGIN_ID].as_u64().unwrap());
            changed += u64::from(origin.is_some());
            let old = foreign.find(NodeId(origin.unwrap_or(position))).unwrap();
            let old = &before.events[old as usize];
            assert_eq!((&event.text, &event.vector), (&old.text, &old.vector));
            let edges =
                |graph: &MemoryGraph, id| graph.edges.iter().filter(|e| e.source == id).count();
            assert_eq!(edges(&dense, event.id), edges(&before, old.id));
        }
        assert_eq!(report.renumbered, changed, "{}", brain.name);
    }
}

#[test]
fn compatible_files_are_the_bytes_that_the_reference_writes() {
    for seed in SEEDS {
        let graph = random::graph(seed);
        assert!(
            compatible(&graph).0 == reference::write(&graph),
            "seed {seed}"
        );
    }
}

#[test]
fn compatible_files_are_read_by_both_readers_of_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    for seed in SEEDS {
        let graph = random::graph(seed);
        let (bytes, _) = compatible(&graph);
        let read = reference::read(&bytes);
        assert_same(&reference::collect(&read), &graph, &format!("seed {seed}"));
        if !graph.events.is_empty() {
            check_text_indexes(&read, &graph);
        }
        let path = folder.path().join("brain.amem");
        std::fs::write(&path, &bytes).unwrap();
        let mapped = reference::read_mapped(&path);
        assert_same(&mapped, &graph, &format!("seed {seed}, mapped"));
    }
}

/// The two indexes that the reference takes from the file instead of rebuilding them.
fn check_text_indexes(read: &agentic_memory::MemoryGraph, graph: &MemoryGraph) {
    let tokenizer = agentic_memory::Tokenizer::new();
    let (terms, lengths) = (read.term_index().unwrap(), read.doc_lengths().unwrap());
    assert_eq!(terms.doc_count(), graph.events.len() as u64);
    for event in &graph.events {
        let words = tokenizer.tokenize(&event.text);
        assert_eq!(lengths.get(event.id.0) as usize, words.len());
        for word in words {
            assert!(terms.get(&word).iter().any(|&(id, _)| id == event.id.0));
        }
    }
}

#[test]
fn files_of_the_reference_read_as_what_was_written() {
    for seed in SEEDS {
        let graph = random::graph(seed);
        let bytes = reference::write(&graph);
        let foreign = Foreign::open(&bytes).unwrap();
        assert_same(&collect(&foreign), &graph, &format!("seed {seed}"));
    }
}

#[test]
fn spec1_files_contain_what_their_report_says() {
    for seed in SEEDS {
        let graph = random::graph(seed);
        let mut bytes = Vec::new();
        let report = spec1::write(&graph, &mut bytes).unwrap();
        assert_eq!(detect(&bytes).unwrap(), Layout::Spec1);
        let read = collect(&spec1::Spec1::open(&bytes).unwrap());
        let mut expected = graph.clone();
        let mut sub_second = 0;
        for event in &mut expected.events {
            sub_second += u64::from(event.created_at.0 % 1_000_000 != 0);
            event.created_at.0 -= event.created_at.0 % 1_000_000;
            event.last_accessed = event.created_at;
            event.access_count = 0;
            event.decay_score = event.confidence;
        }
        let events = &expected.events;
        for edge in &mut expected.edges {
            let time = |id: NodeId| events[id.0 as usize].created_at;
            edge.created_at = time(edge.source).max(time(edge.target));
        }
        assert_same(&read, &expected, &format!("seed {seed}"));
        assert_eq!(report.sub_second_times, sub_second, "seed {seed}");
        assert_eq!(report.edges, graph.edges.len() as u64, "seed {seed}");
    }
}
