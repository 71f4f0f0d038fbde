//! Bytes of files: our brains, their sections, journals and texts; those of others.

use std::sync::{Arc, LazyLock};

use amem_doctor::repair::{readable, repair};
use amem_doctor::verify;
use amem_format::base::content;
use amem_format::brain::Brain;
use amem_format::bytes::get_u16;
use amem_format::event::{Event, Graph, MemoryGraph};
use amem_format::journal::frame::{self, Header, Kind};
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_format::{ActorId, Flags, Lsn, Micros, Result};
use amem_interop::detect;
use amem_interop::foreign::{CompatOptions, Foreign, to_dense, write_compatible};
use amem_interop::spec1;
use amem_interop::spec1::Spec1;
use uuid::Uuid;

use super::mend::{mend, table};
use crate::damaged::{open, picture};
use crate::model::World;
use crate::random::{self, Random};

/// A repair copies a file a few times over, so that not every input is repaired.
const REPAIRED_BYTES_MAX: usize = 64 << 10;

/// A small brain of many commits, folded, with more behind it.
fn world(seed: u64) -> Result<World> {
    let mut world = World::new(seed)?;
    for _ in 0..12 {
        world.step()?;
    }
    world.checkpoint()?;
    for _ in 0..4 {
        world.step()?;
    }
    Ok(world)
}

/// A view of a small brain.
///
/// # Panics
/// If it cannot be made.
pub(super) fn view() -> View {
    static VIEW: LazyLock<View> = LazyLock::new(|| worlds(1)[0].view());
    VIEW.clone()
}

fn worlds(count: u64) -> Vec<World> {
    let made = (1..=count).map(|seed| world(seed).unwrap_or_else(|e| panic!("world {seed}: {e}")));
    made.collect()
}

fn bytes_of(view: &View) -> Vec<u8> {
    let brain = view.brain();
    let all = brain.bytes(0, brain.mapped());
    all.unwrap_or_else(|e| panic!("a brain's bytes: {e}"))
        .to_vec()
}

/// Whole files.
pub(super) fn bases() -> Vec<Vec<u8>> {
    worlds(4)
        .iter()
        .map(|world| bytes_of(&world.view()))
        .collect()
}

/// A whole file, its checksums put right.
pub(super) fn base(data: &[u8]) {
    let mut bytes = data.to_vec();
    mend(&mut bytes);
    read_all(&bytes);
    // As it came, too: this is what opening refuses. What repair tries on it is slow, and tried in `tests/damage`.
    let _ = verify::native(Arc::new(Map::owned(data)), None);
}

fn read_all(bytes: &[u8]) {
    let _ = detect(bytes);
    if let Ok(view) = open(bytes) {
        picture(&view);
    }
    let _ = verify::native(Arc::new(Map::owned(bytes)), None);
    if bytes.len() > REPAIRED_BYTES_MAX {
        return;
    }
    if let Ok(repaired) = repair(bytes, Uuid::from_u128(9), Micros(1)) {
        picture(&repaired.view);
    }
}

/// The front of each edit: which section, and where in it.
const EDIT: usize = 3;

/// Edits of single sections.
pub(super) fn section_edits() -> Vec<Vec<u8>> {
    (0..24)
        .map(|tag| vec![tag, 8, 0, 255, 255, 0, 0, 1, 0, 0, 0])
        .collect()
}

/// Bytes that are written over a section of a whole brain, checksums put right: `u8` which section, `u16` where, and
/// the bytes.
pub(super) fn sections(data: &[u8]) {
    static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| bases().swap_remove(1));
    let Some((edit, new)) = data.split_at_checked(EDIT) else {
        return;
    };
    let mut bytes = WHOLE.clone();
    let Some(table) = table(&bytes) else { return };
    let place = table.places[usize::from(edit[0]) % table.places.len()];
    let at = place.offset + u64::from(get_u16(edit, 1)) % place.len.max(1);
    let len = new.len().min((place.offset + place.len - at) as usize);
    bytes[at as usize..][..len].copy_from_slice(&new[..len]);
    mend(&mut bytes);
    read_all(&bytes);
}

/// Payloads of frames that were committed, each with its kind in front.
pub(super) fn payloads() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for world in worlds(6) {
        let view = world.view();
        let Some(start) = view.brain().start() else {
            continue;
        };
        let bytes = bytes_of(&view);
        let frames = frame::split(&bytes[start.at as usize..], start.at);
        for frame in frames.unwrap_or_default() {
            let mut payload = vec![frame.header.kind as u8, frame.payload.len() as u8];
            payload.push((frame.payload.len() >> 8) as u8);
            payload.extend_from_slice(frame.payload);
            out.push(payload);
        }
    }
    out
}

/// Frames behind a whole base: each `u8` kind (its top bit: more follows), `u16` length, payload.
pub(super) fn journal(mut data: &[u8]) {
    static FOLDED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let mut world = worlds(1).swap_remove(0);
        world
            .checkpoint()
            .unwrap_or_else(|e| panic!("a checkpoint: {e}"));
        bytes_of(&world.view())
    });
    let mut bytes = FOLDED.clone();
    let Some(mut position) = Brain::open(Map::owned(&bytes)).ok().and_then(|b| b.start()) else {
        return;
    };
    bytes.truncate(position.at as usize);
    while data.len() >= EDIT {
        let (kind, len) = (data[0], usize::from(get_u16(data, 1)));
        let payload = &data[EDIT..data.len().min(EDIT + len)];
        data = &data[EDIT + payload.len()..];
        position.lsn.0 += 1;
        let header = Header {
            kind: Kind::from_u8(kind & 0x7F).unwrap_or(Kind::Ingest),
            more: kind & 0x80 != 0,
            lsn: Lsn(position.lsn.0),
            time: Micros(1_800_000_000_000_000 + position.lsn.0 as i64),
            actor: ActorId(0),
        };
        match frame::encode(&mut bytes, &header, payload, position.checksum) {
            Ok(checksum) => position.checksum = checksum,
            Err(_) => break,
        }
    }
    read_all(&bytes);
}

/// Blocks of texts.
pub(super) fn texts() -> Vec<Vec<u8>> {
    let texts = [
        "",
        "short",
        &"again and ".repeat(80),
        &"größe 東京 ".repeat(400),
    ];
    let blocks = texts.map(|text| {
        let mut block = Vec::new();
        content::encode(&mut block, text);
        block
    });
    blocks.into()
}

/// A block of a text: LZ4 with its size in front.
pub(super) fn text(data: &[u8]) {
    if let Ok(text) = content::decode(data, 0) {
        assert!(text.len() <= amem_format::limits::TEXT_BYTES_MAX);
        // What is read can be written, and reads back.
        let mut block = Vec::new();
        content::encode(&mut block, &text);
        let again = content::decode(&block, 0);
        assert!(
            again.is_ok_and(|again| again == text),
            "{text:?} does not read back"
        );
    }
}

fn small_graph(seed: u64) -> MemoryGraph {
    let mut graph = random::graph(3);
    graph.dimension = 3;
    graph.events.truncate(5 + seed as usize);
    let count = graph.events.len() as u64;
    graph.edges.retain(|e| e.source.0.max(e.target.0) < count);
    let random = &mut Random::new(seed);
    for event in &mut graph.events {
        *event = Event {
            vector: Some(vec![0.5, random.unit() + 1.0, -1.0]),
            text: format!("{} and again and again", event.id),
            attributes: serde_json::from_str(r#"{"key": "value"}"#).ok(),
            flags: Flags(3),
            ..event.clone()
        };
    }
    graph
}

fn written(write: impl Fn(&MemoryGraph, &mut Vec<u8>)) -> Vec<Vec<u8>> {
    let of = |seed| {
        let mut out = Vec::new();
        write(&small_graph(seed), &mut out);
        out
    };
    (0..3).map(of).collect()
}

/// Files in the layout of the reference.
pub(super) fn foreign_files() -> Vec<Vec<u8>> {
    written(|graph, out| {
        let done = write_compatible(graph, CompatOptions::default(), out);
        done.map(drop)
            .unwrap_or_else(|e| panic!("a file of the reference: {e}"));
    })
}

/// Files in the layout of the specification, with one frame of texts.
pub(super) fn spec1_files() -> Vec<Vec<u8>> {
    written(|graph, out| {
        let done = spec1::write(graph, out);
        done.map(drop)
            .unwrap_or_else(|e| panic!("a file of spec-1: {e}"));
    })
}

/// A file in the layout of the reference.
pub(super) fn foreign(data: &[u8]) {
    let Ok(file) = Foreign::open(data) else {
        return;
    };
    walk(&file);
    if let Ok((dense, _)) = to_dense(&file.as_written()) {
        let mut out = Vec::new();
        let options = CompatOptions { map_unknown: true };
        if write_compatible(&dense, options, &mut out).is_ok() {
            Foreign::open(&out)
                .map(drop)
                .unwrap_or_else(|e| panic!("written, and not read: {e}"));
        }
    }
}

/// A file in the layout of the specification.
pub(super) fn spec1(data: &[u8]) {
    let Ok(file) = Spec1::open(data) else { return };
    walk(&file);
    if let Ok((dense, _)) = to_dense(&file) {
        let mut out = Vec::new();
        if spec1::write(&dense, &mut out).is_ok() {
            Spec1::open(&out)
                .map(drop)
                .unwrap_or_else(|e| panic!("written, and not read: {e}"));
        }
    }
}

fn walk(graph: &dyn Graph) {
    for position in 0..graph.event_count() {
        let _ = graph.event_at(position);
        let _ = graph.edges_at(position);
    }
    let _ = graph.stray_edges();
    readable(graph);
}
