//! Searches that clients of other memories make: memories, and what was said beside them.

use amem_proto::answer::Code;
use amem_proto::v1;

use crate::calls::{CallResult, MemoryCalls};

/// Entries of a recall at most.
const ENTRIES_MAX: u32 = 200;
/// Hits of a search that names no limit.
const HITS_DEFAULT: u32 = 10;

/// The hits of a search and what was said about its question, as memories of the kind `said`, the best first: without
/// turns that one of the memories is from.
///
/// # Errors
/// What the calls refuse.
pub async fn with_said<C: MemoryCalls>(
    calls: &C,
    search: &v1::SearchFactsRequest,
    mut hits: Vec<v1::FactHit>,
) -> CallResult<Vec<v1::FactHit>> {
    let limit = match search.limit {
        0 => HITS_DEFAULT,
        limit => limit,
    };
    let recall = v1::RecallRequest {
        brain: search.brain.clone(),
        question: search.query.clone(),
        scope: search.scope.clone(),
        filter_json: search.filter_json.clone(),
        limit: limit.min(ENTRIES_MAX),
        as_of: search.as_of,
        at: search.at,
        ..v1::RecallRequest::default()
    };
    for entry in calls.recall(recall).await?.entries {
        let is_said = entry.source() == v1::RecallSource::Said;
        if !is_said || entry.relevance < search.threshold || is_known(&entry, &hits) {
            continue;
        }
        let get = v1::GetFactRequest {
            brain: search.brain.clone(),
            id: entry.id.clone(),
            scope: search.scope.clone(),
            as_of: search.as_of,
            ..v1::GetFactRequest::default()
        };
        let fact = match calls.get_fact(get).await {
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
    // The order of equal scores stays: memories before what was said.
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
    hits.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(hits)
}

/// True if one of the hits is the memory of an entry, or is from its turn.
fn is_known(entry: &v1::RecallEntry, hits: &[v1::FactHit]) -> bool {
    let memory = entry.fact.as_ref().map(|fact| &fact.id);
    let mut facts = hits.iter().filter_map(|hit| hit.fact.as_ref());
    facts.any(|fact| Some(&fact.id) == memory || fact.source_ids.contains(&entry.id))
}
