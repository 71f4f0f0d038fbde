//! `search` and `fetch`: hits as objects with id, title and url, in JSON.

use amem_proto::v1;
use serde_json::{Value, json};

use crate::answer::{id_of, kind, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::SCORE_FLOOR;
use crate::memories::{Memories, in_words};
use crate::memory_place::Reach;
use crate::said_hits::with_said;

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    tool: &str,
    mut arguments: Arguments<'_>,
) -> Option<Words<String>> {
    Some(match tool {
        "search" => match arguments.needed("query") {
            Ok(query) => search(memories, query).await,
            Err(words) => Err(words),
        },
        "fetch" => match arguments.needed("id") {
            Ok(id) => memories.readable(&id, None).await.map(|fact| {
                let mut document = head(&fact);
                document["text"] = json!(fact.memory);
                document["metadata"] = json!({"type": kind(&fact)});
                document.to_string()
            }),
            Err(words) => Err(words),
        },
        _ => return None,
    })
}

fn head(fact: &v1::Fact) -> Value {
    let id = id_of(fact.event_id);
    json!({
        "id": id,
        "title": shortened(&one_line(&fact.memory), 80),
        "url": format!("amem://event/{id}"),
    })
}

async fn search<C: MemoryCalls>(memories: &Memories<'_, C>, query: String) -> Words<String> {
    let request = v1::SearchFactsRequest {
        brain: memories.brain(),
        query,
        filter_json: memories.place.filter(Reach::All, Vec::new())?,
        limit: 20,
        threshold: SCORE_FLOOR,
        ..v1::SearchFactsRequest::default()
    };
    let found = memories.calls.search_facts(request.clone()).await;
    let hits = found.map_err(in_words)?.hits;
    let hits = with_said(memories.calls, &request, hits).await;
    let hits = hits.map_err(in_words)?;
    let hits = hits.iter().filter_map(|hit| hit.fact.as_ref());
    let results: Vec<Value> = hits.map(head).collect();
    Ok(json!({"results": results}).to_string())
}
