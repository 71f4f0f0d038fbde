//! A scan of all vectors of a file just opened: open, one query, the ten best.
//!
//! Compared: ids and cosines, with the reference's mapped reader and with a plain scan in f64.

use agentic_memory::MmapReader;
use amem_format::reader::Reader;

use super::super::list;
use super::super::measure::{Contest, Outcome};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::{ranking, similar};

/// The row.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.clustered()?;
    world.file()?;
    let path = world.reference_path();
    let question = held.corpus.questions(1).remove(0);
    let ours = || similar::ours(&Reader::open(&held.path)?.view()?, &question);
    let theirs = || {
        let found = MmapReader::open(&path)?.batch_similarity(&question, similar::LIMIT, -1.0)?;
        Ok(found
            .into_iter()
            .map(|hit| (hit.node_id, hit.similarity.into()))
            .collect::<Vec<_>>())
    };
    let naive = similar::cosines(&held.reader.view()?, &question)?;
    let naive = ranking::best(naive.into_iter(), similar::LIMIT);
    ranking::same(list::SCAN, &ours()?, &naive)?;
    ranking::same(list::SCAN, &theirs()?, &naive)?;
    let medians = Contest::new()
        .again("ours", ours)
        .again("reference", theirs)
        .run()?;
    findings.add(Measurement {
        row: list::SCAN,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        note: "open, one question, the ten best".into(),
        ..Measurement::default()
    });
    Ok(())
}
