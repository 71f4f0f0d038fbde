//! `ask`: sends questions to a brain of a running daemon, and writes the hits as a run to score.
//!
//! A line of questions is `{"conv", "qid", "question"}`, a line of the run `{"conv", "qid", "ranked", "ms"}`:
//! source ids, the best first, and the milliseconds that the answer took. `retrieval/run.py` makes the one and
//! scores the other. Not here: making the brains, scoring.

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
    /// The built-in embedder's vectors alone, from the file.
    Similar,
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
) -> Result<(), Box<dyn Error>> {
    let client = Client::connect_unix(socket).await?;
    let opened = client.open(brain).await?;
    let reader = opened.reader.ok_or("the brain's file can't be read")?;
    for line in BufReader::new(File::open(questions)?).lines() {
        let asked: Value = serde_json::from_str(&line?)?;
        let question = asked["question"].as_str().ok_or("a line has no question")?;
        let began = Instant::now();
        let ids = match mode {
            Mode::Search => search(&client, brain, question).await?,
            Mode::Text => text(&reader.view()?, question)?,
            Mode::Similar => similar(&reader.view()?, question)?,
        };
        let ms = began.elapsed().as_secs_f64() * 1e3;
        let ranked = sources(&reader, &ids)?;
        let run = json!({"conv": asked["conv"], "qid": asked["qid"], "ranked": ranked, "ms": ms});
        println!("{run}");
    }
    Ok(())
}

async fn search(
    client: &Client,
    brain: &str,
    question: &str,
) -> Result<Vec<NodeId>, Box<dyn Error>> {
    let request = v1::SearchRequest {
        brain: brain.into(),
        text: question.into(),
        limit: LIMIT as u32,
        ..Default::default()
    };
    let answer = client.queries().search(request).await?.into_inner();
    let events = answer.hits.into_iter().filter_map(|hit| hit.event);
    Ok(events.map(|event| NodeId(event.id)).collect())
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
