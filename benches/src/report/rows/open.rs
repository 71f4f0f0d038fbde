//! Open to the first answer: a file after a checkpoint, and one with the largest journal that the daemon allows.
//!
//! The answer is the text of an event in the middle; compared with the data. The reference reads all of its file.

use agentic_memory::AmemReader;
use amem_format::NodeId;
use amem_format::reader::Reader;
use amem_store::{Mutation, Request};

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::bulk::BATCH;
use super::ingest::Numbers;
use super::new_event::batch;

/// Both rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.fresh("opened")?;
    world.file()?;
    let (corpus, numbers) = (held.corpus, Numbers::after(&held.corpus));
    let mut store = held.store.borrow_mut();
    let middle = corpus.nodes / 2;
    let text = corpus.text(middle);
    let answer = || -> Outcome<()> {
        let view = Reader::open(&held.path)?.view()?;
        let found = view.node(NodeId(middle))?.text()?.into_owned();
        same("open to first answer", &found, &text)
    };
    let theirs = || {
        let graph = AmemReader::read_from_file(&world.reference_path())?;
        let node = graph.get_node(middle).ok_or("no such event")?;
        same("open to first answer", &node.content, &text)
    };
    store.checkpoint()?;
    let medians = Contest::new()
        .again("ours", answer)
        .again("reference", theirs)
        .run()?;
    let reference = medians.of("reference");
    findings.add(Measurement {
        row: list::OPEN_EMPTY,
        ours: medians.of("ours"),
        reference,
        ..Measurement::default()
    });
    let largest = largest_journal(std::fs::metadata(&held.path)?.len());
    while store.journal_bytes() < largest {
        let ingest = batch(&corpus, numbers.take(BATCH), BATCH, corpus.nodes);
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
    }
    let medians = Contest::new().again("ours", answer).run()?;
    findings.add(Measurement {
        row: list::OPEN_LARGEST,
        ours: medians.of("ours"),
        reference,
        note: format!("{} bytes of journal", store.journal_bytes()),
        ..Measurement::default()
    });
    Ok(())
}

/// Bytes of journal above which the daemon checkpoints a busy brain.
pub(super) fn largest_journal(base: u64) -> u64 {
    (base / 7).clamp(16 << 20, 1 << 30)
}
