//! Search: words and a vector in one question, the ten best.
//!
//! The two fuse differently: the reference adds reciprocal ranks, amemd adds scaled scores and the shares of neighbours
//! and sessions. So the answers cannot be the same. Compared: without these shares, search by words alone equals the
//! text query, and by a vector alone the similar query; and both return the requested number.

use agentic_memory::{HybridSearchParams, MemoryGraph, QueryEngine};
use amem_format::view::View;
use amem_query::nearest::SimilarityTarget;
use amem_query::{Search, Similar, TextSearch};

use super::super::list;
use super::super::measure::{Contest, Outcome, same};
use super::super::table::{Findings, Measurement};
use super::super::world::World;
use super::text;

const LIMIT: usize = 10;

/// The row.
pub(super) fn run(world: &World, findings: &mut Findings) -> Outcome<()> {
    let (held, graph) = (world.clustered()?, world.graph()?);
    let index = graph
        .term_index()
        .ok_or("the reference has no index of terms")?;
    let words = text::questions(index);
    let vectors = held.corpus.questions(words.len() as u64);
    let questions: Vec<_> = words.into_iter().zip(vectors).collect();
    let view = held.reader.view()?;
    for question in &questions {
        check(&view, question)?;
        same(list::SEARCH, &ours(&view, question)?.len(), &LIMIT)?;
        same(list::SEARCH, &theirs(graph, question)?.len(), &LIMIT)?;
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
    findings.add(Measurement {
        row: list::SEARCH,
        ours: medians.of("ours"),
        reference: medians.of("reference"),
        ..Measurement::default()
    });
    Ok(())
}

fn ours(view: &View, (words, vector): &(String, Vec<f32>)) -> Outcome<Vec<u64>> {
    let search = Search {
        question: words.clone(),
        vector: vector.clone(),
        limit: LIMIT,
        ..Search::default()
    };
    ids(&search, view)
}

fn ids(search: &Search, view: &View) -> Outcome<Vec<u64>> {
    let hits = search.run(view)?.hits.into_iter();
    Ok(hits.map(|hit| hit.id.0).collect())
}

fn theirs(graph: &MemoryGraph, (words, vector): &(String, Vec<f32>)) -> Outcome<Vec<u64>> {
    let params = HybridSearchParams {
        query_text: words.clone(),
        query_vec: Some(vector.clone()),
        max_results: LIMIT,
        event_types: Vec::new(),
        text_weight: 0.4,
        vector_weight: 0.6,
        rrf_k: 60,
    };
    let found =
        QueryEngine::new().hybrid_search(graph, graph.term_index(), graph.doc_lengths(), params)?;
    Ok(found.into_iter().map(|hit| hit.node_id).collect())
}

/// By one part alone, search finds what that part's own query finds.
fn check(view: &View, (words, vector): &(String, Vec<f32>)) -> Outcome<()> {
    let alone = Search {
        limit: LIMIT,
        neighbour_share: 0.0,
        session_share: 0.0,
        include_superseded: true,
        include_duplicates: true,
        tie_margin: 0.0,
        ..Search::default()
    };
    let text = TextSearch {
        question: words.clone(),
        limit: LIMIT,
        ..TextSearch::default()
    };
    let found: Vec<_> = text
        .run(view)?
        .hits
        .into_iter()
        .map(|hit| hit.id.0)
        .collect();
    let by_words = Search {
        question: words.clone(),
        ..alone.clone()
    };
    same("search by words", &ids(&by_words, view)?, &found)?;
    let similar = Similar {
        like: SimilarityTarget::Vector(vector.clone()),
        limit: 1,
        ..Similar::default()
    };
    let found: Vec<_> = similar
        .run(view)?
        .hits
        .into_iter()
        .map(|hit| hit.0.0)
        .collect();
    let by_vector = Search {
        vector: vector.clone(),
        limit: 1,
        ..alone
    };
    same("search by a vector", &ids(&by_vector, view)?, &found)
}
