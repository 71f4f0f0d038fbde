//! `ask`: sends questions to a brain of a running daemon, and writes the answers as a run to score.
//!
//! A line of questions is `{"conv", "qid", "question"}`, a line of the run `{"conv", "qid", "ranked", "ms"}`:
//! source ids, the best first, and the milliseconds that the answer took. Contexts have a line for each budget, with
//! `budget`, the `tokens` of the text, its `bytes`, and in `ranked` the events in the text. `retrieval/run.py` makes
//! the one and scores the other. Not here: making the brains, scoring.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use amem_client::{Client, Reader, v1};
use amem_format::NodeId;
use amem_format::view::View;
use amem_query::embed::Embedder;
use amem_query::nearest::SimilarityTarget;
use amem_query::{Similar, TextSearch};
use serde_json::{Value, json};

/// The query that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Mode {
    /// The daemon's search.
    Search,
    /// Words alone, from the file.
    Text,
    /// Vectors alone: from the file with the built-in embedder, by the daemon for a brain of a model's vectors.
    Similar,
    /// The daemon's contexts, one for each budget.
    Context,
}

/// Hits per question, as many as are scored.
const LIMIT: usize = 20;

/// Sends every question of a file, and prints the run.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn run(
    socket: &Path,
    brain: &str,
    questions: &Path,
    mode: Mode,
    (budgets, min_relevance): (&[u32], Option<f32>),
) -> Result<(), Box<dyn Error>> {
    let client = Client::connect_unix(socket).await?;
    let opened = client.open(brain).await?;
    let reader = opened.reader.ok_or("the brain's file can't be read")?;
    let is_builtin = reader.view()?.identity().space == Embedder::builtin().space();
    for line in BufReader::new(File::open(questions)?).lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let question = asked["question"].as_str().ok_or("a line has no question")?;
        let mut runs = Vec::new();
        match mode {
            Mode::Context => {
                for &budget in budgets {
                    runs.push(
                        context(&client, &reader, brain, question, (budget, min_relevance)).await?,
                    );
                }
            }
            Mode::Search | Mode::Text | Mode::Similar => {
                let began = Instant::now();
                let ids = match mode {
                    Mode::Text => text(&reader.view()?, question)?,
                    Mode::Similar if is_builtin => similar(&reader.view()?, question)?,
                    Mode::Similar => search(&client, by_vectors(brain, question)).await?,
                    _ => search(&client, by_default(brain, question)).await?,
                };
                let ms = began.elapsed().as_secs_f64() * 1e3;
                runs.push(json!({"ranked": sources(&reader, &ids)?, "ms": ms}));
            }
        }
        for run in runs {
            println!("{}", with_question(run, &asked));
        }
    }
    Ok(())
}

/// A line of a run, with the question that it answers.
fn with_question(mut run: Value, asked: &Value) -> Value {
    for key in ["conv", "qid"] {
        run[key] = asked[key].clone();
    }
    run
}

fn by_default(brain: &str, question: &str) -> v1::SearchRequest {
    v1::SearchRequest {
        brain: brain.into(),
        text: question.into(),
        limit: LIMIT as u32,
        ..Default::default()
    }
}

/// Nothing but the similarity of the vectors counts.
fn by_vectors(brain: &str, question: &str) -> v1::SearchRequest {
    v1::SearchRequest {
        text_weight: Some(0.0),
        vector_weight: Some(1.0),
        neighbour_share: Some(0.0),
        session_share: Some(0.0),
        speaker_boost: Some(0.0),
        time_boost: Some(0.0),
        question_share: Some(0.0),
        tie_margin: Some(0.0),
        include_superseded: true,
        include_duplicates: true,
        ..by_default(brain, question)
    }
}

async fn search(
    client: &Client,
    request: v1::SearchRequest,
) -> Result<Vec<NodeId>, Box<dyn Error>> {
    let answer = client.queries().search(request).await?.into_inner();
    let events = answer.hits.into_iter().filter_map(|hit| hit.event);
    Ok(events.map(|event| NodeId(event.id)).collect())
}

/// A context within a budget. Questions of a measurement count as no use of what they find.
async fn context(
    client: &Client,
    reader: &Reader,
    brain: &str,
    question: &str,
    (budget, min_relevance): (u32, Option<f32>),
) -> Result<Value, Box<dyn Error>> {
    let request = v1::ContextRequest {
        brain: brain.into(),
        text: question.into(),
        budget_tokens: budget,
        min_relevance,
        touch: Some(false),
        ..Default::default()
    };
    let began = Instant::now();
    let answer = client.queries().context(request).await?.into_inner();
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let ids: Vec<NodeId> = answer
        .items
        .iter()
        .map(|item| NodeId(item.event_id))
        .collect();
    Ok(json!({
        "budget": budget,
        "tokens": answer.tokens,
        "bytes": answer.text.len(),
        "ranked": sources(reader, &ids)?,
        "ms": ms,
    }))
}

fn text(view: &View, question: &str) -> Result<Vec<NodeId>, Box<dyn Error>> {
    let query = TextSearch {
        question: question.into(),
        limit: LIMIT,
        ..TextSearch::default()
    };
    let hits = query.run(view)?.hits.into_iter();
    Ok(hits.map(|hit| hit.id).collect())
}

fn similar(view: &View, question: &str) -> Result<Vec<NodeId>, Box<dyn Error>> {
    let Some(vector) = Embedder::builtin().embed(question) else {
        return Ok(Vec::new());
    };
    let query = Similar {
        like: SimilarityTarget::Vector(vector),
        limit: LIMIT,
        ..Similar::default()
    };
    Ok(query.run(view)?.hits.into_iter().map(|hit| hit.0).collect())
}

/// The events' ids in their source.
fn sources(reader: &Reader, ids: &[NodeId]) -> Result<Vec<Value>, Box<dyn Error>> {
    let view = reader.view()?;
    let mut sources = Vec::with_capacity(ids.len());
    for &id in ids {
        let attributes = view.node(id)?.attributes()?.unwrap_or_default();
        let source = attributes.get("source_id");
        sources.push(source.ok_or("an event has no source_id")?.clone());
    }
    Ok(sources)
}
