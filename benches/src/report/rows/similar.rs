//! Similar: the ten events whose vectors are nearest to a query's, exactly.
//!
//! Compared: ids and cosines, with a plain scan in f64 over the data and with the reference.

use agentic_memory::{MemoryGraph, QueryEngine, SimilarityParams};
use amem_format::view::View;
use amem_query::Similar;
use amem_query::nearest::SimilarityTarget;

use super::super::corpus::Vectors;
use super::super::list;
use super::super::measure::{Contest, Outcome};
use super::super::reference;
use super::super::table::{Findings, Measurement};
use super::super::world::{BenchBrain, World};
use super::ranking;

const QUESTIONS: u64 = 8;
/// Events of an answer.
pub(super) const LIMIT: usize = 10;

/// The exact rows.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    findings.add(one(
        list::SIMILAR_CLUSTERED,
        world.clustered()?,
        world.graph()?,
    )?);
    let other = reference::bare(&world.corpus(Vectors::Uniform))?;
    findings.add(one(list::SIMILAR_UNIFORM, world.uniform()?, &other)?);
    Ok(())
}

fn one(row: &'static str, held: &BenchBrain, graph: &MemoryGraph) -> Outcome<Measurement> {
    let questions = held.corpus.questions(QUESTIONS);
    let view = held.reader.view()?;
    for question in &questions {
        let naive = ranking::best(cosines(&view, question)?.into_iter(), LIMIT);
        ranking::same(row, &ours(&view, question)?, &naive)?;
        ranking::same(row, &theirs(graph, question)?, &naive)?;
    }
    let (mut at, mut there) = (0, 0);
    let medians = Contest::new()
        .again("ours", || {
            at += 1;
            ours(&held.reader.view()?, &questions[at % questions.len()])
        })
        .again("reference", || {
            there += 1;
            theirs(graph, &questions[there % questions.len()])
        })
        .run()?;
    Ok(Measurement {
        row,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        ..Measurement::default()
    })
}

/// The exact answer.
pub(super) fn ours(view: &View, question: &[f32]) -> Outcome<Vec<(u64, f64)>> {
    let similar = Similar {
        like: SimilarityTarget::Vector(question.to_vec()),
        limit: LIMIT,
        ..Similar::default()
    };
    let hits = similar.run(view)?.hits.into_iter();
    Ok(hits.map(|(id, cosine)| (id.0, cosine.into())).collect())
}

fn theirs(graph: &MemoryGraph, question: &[f32]) -> Outcome<Vec<(u64, f64)>> {
    let params = SimilarityParams {
        query_vec: question.to_vec(),
        top_k: LIMIT,
        min_similarity: -1.0,
        event_types: Vec::new(),
        skip_zero_vectors: true,
    };
    let found = QueryEngine::new().similarity(graph, params)?.into_iter();
    Ok(found
        .map(|hit| (hit.node_id, hit.similarity.into()))
        .collect())
}

/// Every event's cosine, by the definition.
pub(super) fn cosines(view: &View, question: &[f32]) -> Outcome<Vec<(u64, f64)>> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let products = a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b));
        products.sum()
    };
    let vectors = view.brain().base().vectors()?.chunks_exact(question.len());
    let length = dot(question, question).sqrt();
    let cosine = |vector: &[f32]| dot(vector, question) / (dot(vector, vector).sqrt() * length);
    Ok((0..).zip(vectors.map(cosine)).collect())
}
