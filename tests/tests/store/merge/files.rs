//! Files of other layouts, which have no history, beside brains that were made of such.

use amem_format::event::{Attributes, Event, MemoryGraph};
use amem_format::view::View;
use amem_format::{EventType, Flags, Micros, NodeId, SessionId};
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_interop::spec1;
use amem_store::{IncomingFile, MergeReport, MergeSource, Mutation, Store};

use super::World;
use crate::run;

/// An event as a file of another layout has it.
fn event(at: u64, vector: Vec<f32>, says: &str) -> Event {
    let mut attributes = Attributes::new();
    attributes.insert("says".into(), says.into());
    Event {
        id: NodeId(at),
        event_type: EventType::FACT,
        flags: Flags::default(),
        created_at: Micros(1_700_000_000_000_000 + at as i64),
        event_time: None,
        session: SessionId(0),
        confidence: 1.0,
        access_count: 0,
        last_accessed: Micros(1_700_000_000_000_000 + at as i64),
        decay_score: 1.0,
        lambda: 0.0,
        text: format!("of a file {at}"),
        vector: Some(vector),
        attributes: Some(attributes),
    }
}

/// A file of the layout of the specification, which has attributes, and one of the reference, which has vectors.
fn files(events: &[Event]) -> [Vec<u8>; 2] {
    let graph = MemoryGraph {
        dimension: 2,
        events: events.to_vec(),
        ..MemoryGraph::default()
    };
    let (mut spec, mut reference) = (Vec::new(), Vec::new());
    spec1::write(&graph, &mut spec).unwrap();
    write_compatible(&graph, CompatOptions::default(), &mut reference).unwrap();
    [spec, reference]
}

fn received(world: &World, name: Option<&str>, bytes: &[u8]) -> IncomingFile {
    let size = bytes.len() as u64;
    let mut file = match name {
        Some(name) => IncomingFile::begin(&world.folder, name, size),
        None => IncomingFile::read_only(&world.folder, size),
    }
    .unwrap();
    file.push(bytes).unwrap();
    file
}

/// What an event says of itself: its attributes, and its vector.
fn told(view: &View, id: u64) -> (Attributes, Option<Vec<f32>>) {
    let node = view.node(NodeId(id)).unwrap();
    (
        node.attributes().unwrap().unwrap_or_default(),
        node.vector().unwrap().map(<[f32]>::to_vec),
    )
}

#[test]
fn changes_in_a_newer_version_of_an_imported_file_are_compared() {
    let first = [
        event(0, vec![0.25, 1.0], "a"),
        event(1, vec![0.5, 1.0], "b"),
    ];
    // One is greater than before, one is less; neither has a history that says which is later.
    let newer = [
        event(0, vec![0.5, 1.0], "z"),
        event(1, vec![0.25, 1.0], "a"),
    ];
    let world = World::of(1, 80);
    let both = files(&first).into_iter().zip(files(&newer));
    for (layout, (old, new)) in both.enumerate() {
        let name = format!("imported-{layout}");
        received(&world, Some(&name), &old).finish(false).unwrap();
        let mut brain = Store::open(&world.folder, &name).unwrap();
        let before = [0, 1].map(|id| told(&brain.view(), id));
        let (there, _) = received(&world, None, &new).into_view().unwrap();
        let expected = [told(&there, 0), before[1].clone()];
        assert_ne!(
            told(&there, 0),
            before[0],
            "layout {layout} says something else"
        );
        assert_ne!(
            told(&there, 1),
            before[1],
            "layout {layout} says something else"
        );
        let merged = run(&mut brain, Mutation::Merge(MergeSource::new(there))).unwrap();
        let merged = merged.merged.unwrap();
        assert_eq!((merged.matched, merged.events, merged.changed), (2, 0, 1));
        assert_eq!([0, 1].map(|id| told(&brain.view(), id)), expected);
        // And there is nothing more to merge.
        let (again, _) = received(&world, None, &new).into_view().unwrap();
        let known = MergeReport {
            matched: 2,
            ..MergeReport::default()
        };
        assert_eq!(
            MergeSource::new(again).would_do(&brain.view()).unwrap(),
            known
        );
    }
}
