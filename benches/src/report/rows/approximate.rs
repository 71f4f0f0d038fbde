//! Similar, approximately: by IVF lists, beside a graph index of another crate.
//!
//! The limit is a sixth of the exact answer's time, or a twentieth from a million events on. Compared: how many of the
//! ten best by the exact answer are found, which must be 99 of 100; that uniform vectors, where clusters can't keep
//! that, are answered exactly; and the peer, hnsw_rs, is given the smallest breadth of search at which it finds as
//! many. The peer is left out from a million events on, where building it takes longer than the rest of the report. The
//! build is that of codes and clusters from scratch on two threads, and of measuring them.

use std::time::Instant;

use amem_format::view::View;
use amem_query::Similar;
use amem_query::nearest::{SimilarHits, SimilarityTarget};
use amem_store::ScopedThreads;
use hnsw_rs::prelude::{DistDot, Hnsw};

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::similar;

const QUESTIONS: u64 = 32;
/// Of the ten best, found.
const RECALL: f64 = 0.99;
const BREADTHS: [usize; 6] = [16, 32, 64, 128, 256, 512];
/// Events from which on the answer is to be faster and the peer is left out.
const MANY: u64 = 1_000_000;
/// Neighbours of a point, layers, and breadth while building.
const NEIGHBOURS: usize = 16;
const LAYERS: usize = 16;
const BUILD_BREADTH: usize = 100;

/// Both rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let held = world.clustered()?;
    let questions = held.corpus.questions(QUESTIONS);
    let units: Vec<_> = questions.iter().map(|question| unit(question)).collect();
    let view = held.reader.view()?;
    let recall = recall(&view, &questions)?;
    if recall < RECALL {
        return Err(format!("of the ten best, {recall:.3} are found, not {RECALL}").into());
    }
    let uniform = world.uniform()?.reader.view()?;
    let scattered = world.uniform()?.corpus.questions(1).remove(0);
    let answer = approximate(&uniform, &scattered)?;
    same(
        "uniform vectors are answered exactly",
        &answer.is_exact,
        &true,
    )?;
    let (mut peers, mut builds, mut note) = (Vec::new(), Vec::new(), format!("finds {recall:.3}"));
    if world.nodes < MANY {
        let began = Instant::now();
        let index = build(&view)?;
        builds.push(("hnsw_rs", began.elapsed().as_secs_f64()));
        let breadth = breadth(&index, &view, &units)?;
        let mut at = 0;
        let medians = Contest::new()
            .again("hnsw_rs", || {
                at += 1;
                Ok(index.search(&units[at % questions.len()], similar::LIMIT, breadth.0))
            })
            .run()?;
        peers.extend(medians.of("hnsw_rs").map(|time| ("hnsw_rs", time)));
        note = format!(
            "{note}; hnsw_rs with a breadth of {} finds {:.3}",
            breadth.0, breadth.1
        );
    }
    let mut at = 0;
    let mut there = 0;
    let medians = Contest::new()
        .again("exact", || {
            at += 1;
            similar::ours(&held.reader.view()?, &questions[at % questions.len()])
        })
        .again("ours", || {
            there += 1;
            Ok(approximate(&held.reader.view()?, &questions[there % questions.len()])?.hits)
        })
        .run()?;
    let share = if world.nodes < MANY { 6.0 } else { 20.0 };
    findings.add(Measurement {
        row: list::APPROXIMATE,
        ours: medians.of("ours"),
        limit: medians.of("exact").map(|time| time / share),
        peers,
        note: note.clone(),
        ..Measurement::default()
    });
    findings.add(Measurement {
        row: list::APPROXIMATE_BUILD,
        ours: Some(built(&view)?),
        peers: builds,
        note,
        ..Measurement::default()
    });
    Ok(())
}

/// An approximate answer.
fn approximate(view: &View, question: &[f32]) -> Outcome<SimilarHits> {
    let similar = Similar {
        like: SimilarityTarget::Vector(question.to_vec()),
        limit: similar::LIMIT,
        approximate: true,
        ..Similar::default()
    };
    Ok(similar.run(view)?)
}

/// The share of the ten best that approximate answers find.
fn recall(view: &View, questions: &[Vec<f32>]) -> Outcome<f64> {
    let mut found = 0;
    for question in questions {
        let exact = similar::ours(view, question)?;
        let answer = approximate(view, question)?;
        let hits = answer.hits.iter();
        found += hits
            .filter(|(id, _)| exact.iter().any(|(other, _)| *other == id.0))
            .count();
    }
    Ok(found as f64 / (similar::LIMIT * questions.len()) as f64)
}

/// Seconds to build codes and IVF lists of all vectors from scratch.
fn built(view: &View) -> Outcome<f64> {
    let began = Instant::now();
    let made = amem_format::base_builder::codes_of(view, &ScopedThreads)?;
    let took = began.elapsed().as_secs_f64();
    same("codes were made", &made, &true)?;
    Ok(took)
}

fn build(view: &View) -> Outcome<Hnsw<'static, f32, DistDot>> {
    let nodes = view.nodes() as usize;
    let index = Hnsw::new(NEIGHBOURS, nodes, LAYERS, BUILD_BREADTH, DistDot {});
    let dimension = view.vector_dimension() as usize;
    let all = view.brain().base().vectors()?.chunks_exact(dimension);
    let vectors: Vec<Vec<f32>> = all.map(unit).collect();
    let points: Vec<_> = vectors.iter().zip(0..).collect();
    index.parallel_insert(&points);
    Ok(index)
}

/// The vector of length 1 that points the same way: of such the index takes products instead of cosines.
fn unit(vector: &[f32]) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

/// The smallest breadth that finds enough, or the greatest, and the share that it finds.
fn breadth(
    index: &Hnsw<'_, f32, DistDot>,
    view: &View,
    questions: &[Vec<f32>],
) -> Outcome<(usize, f64)> {
    let mut exact = Vec::with_capacity(questions.len());
    for question in questions {
        exact.push(similar::ours(view, question)?);
    }
    let mut best = (0, 0.0);
    for breadth in BREADTHS {
        let mut found = 0;
        for (question, exact) in questions.iter().zip(&exact) {
            let near = index.search(question, similar::LIMIT, breadth);
            found += near
                .iter()
                .filter(|n| exact.iter().any(|e| e.0 == n.d_id as u64))
                .count();
        }
        best = (
            breadth,
            found as f64 / (similar::LIMIT * questions.len()) as f64,
        );
        if best.1 >= RECALL {
            break;
        }
    }
    Ok(best)
}
