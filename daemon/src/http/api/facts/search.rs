//! Searching memories: those that were formed, and what was said, unless one that was found says it.

use amem_proto::answer::Code;
use amem_proto::v1;
use serde_json::{Value, json};

use super::super::call::RestCall;
use super::super::output::Output;
use super::shapes::hit;
use crate::refusal::{Refusal, Result};

/// Hits of a search that names no limit.
const HITS_DEFAULT: usize = 10;
/// Hits of which what was said is looked up, at most.
const RECALL_ENTRIES_MAX: u32 = 200;

pub(in super::super) async fn search(call: &mut RestCall) -> Result<Output> {
    let is_bare = call.wants_bare_list()?;
    let query = call.options.text_of(&["query", "q"])?;
    let query =
        query.ok_or_else(|| Refusal::invalid("query", "it is missing: say what to look for"))?;
    let threshold = call.options.number("threshold")?.unwrap_or(0.0);
    let request = v1::SearchFactsRequest {
        brain: call.brain.clone(),
        query,
        scope: call.options.scope()?,
        filter_json: call.options.selection()?,
        limit: call.options.count_of(&["limit", "top_k"])?.unwrap_or(0),
        threshold: threshold as f32,
        at: call.options.time("at")?,
        graph: call.options.switch("enable_graph")?.unwrap_or(false),
        ..v1::SearchFactsRequest::default()
    };
    let limit = match request.limit {
        0 => HITS_DEFAULT,
        limit => limit as usize,
    };
    let recall = v1::RecallRequest {
        brain: request.brain.clone(),
        question: request.query.clone(),
        scope: request.scope.clone(),
        filter_json: request.filter_json.clone(),
        limit: u32::try_from(limit)
            .unwrap_or(u32::MAX)
            .min(RECALL_ENTRIES_MAX),
        at: request.at,
        ..v1::RecallRequest::default()
    };
    let mut hits = call.fact(request).await?.hits;
    let said = said_hits(call, recall, threshold as f32, &hits).await?;
    hits.extend(said);
    // The order of equal scores stays: formed before said.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits.truncate(limit);
    let results = hits.iter().map(hit).collect::<Result<Vec<_>>>()?;
    Ok(match is_bare {
        true => Value::from(results).into(),
        false => json!({"results": results}).into(),
    })
}

/// What was said about a question, as memories of the kind `said`: without turns that one of the memories is from.
async fn said_hits(
    call: &RestCall,
    recall: v1::RecallRequest,
    threshold: f32,
    formed: &[v1::FactHit],
) -> Result<Vec<v1::FactHit>> {
    let facts = || formed.iter().filter_map(|hit| hit.fact.as_ref());
    let is_known = |entry: &v1::RecallEntry| {
        let memory = entry.fact.as_ref().map(|fact| &fact.id);
        facts().any(|fact| Some(&fact.id) == memory || fact.source_ids.contains(&entry.id))
    };
    let (brain, scope) = (recall.brain.clone(), recall.scope.clone());
    let mut hits = Vec::new();
    for entry in call.fact(recall).await?.entries {
        let is_said = entry.source() == v1::RecallSource::Said && entry.relevance >= threshold;
        if !is_said || is_known(&entry) {
            continue;
        }
        let get = v1::GetFactRequest {
            brain: brain.clone(),
            id: entry.id.clone(),
            scope: scope.clone(),
            ..v1::GetFactRequest::default()
        };
        let fact = match call.fact(get).await {
            Ok(answer) => answer.fact,
            // It was forgotten meanwhile.
            Err(refusal) if refusal.code == Code::NotFound => None,
            Err(refusal) => return Err(refusal),
        };
        hits.extend(fact.map(|fact| v1::FactHit {
            fact: Some(v1::Fact {
                memory: entry.text,
                ..fact
            }),
            score: entry.relevance,
            conflict_ids: entry.conflict_ids,
            ..v1::FactHit::default()
        }));
    }
    Ok(hits)
}
