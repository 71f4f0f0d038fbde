//! The tools of mem0's server: answers are its JSON. Without a scope, memories are the user's.

use amem_proto::answer::micros;
use amem_proto::{Timestamp, v1};
use amem_query::time;
use serde_json::{Map, Value, json};

use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::memories::{Memories, in_quarantine, in_words, write_again};
use crate::said_hits::with_said;

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    tool: &str,
    arguments: Arguments<'_>,
) -> Option<Words<String>> {
    let answer = match tool {
        "add_memory" => add(memories, arguments).await,
        "search_memories" => search(memories, arguments).await,
        "get_memories" => list(memories, arguments).await,
        "get_memory" => get(memories, arguments).await,
        "update_memory" => update(memories, arguments).await,
        "delete_memory" => delete(memories, arguments).await,
        "delete_all_memories" => delete_all(memories, arguments).await,
        _ => return None,
    };
    Some(answer.map(|value| value.to_string()))
}

/// The scope that the arguments name.
fn scope(arguments: &mut Arguments<'_>) -> Words<Option<v1::Scope>> {
    let scope = v1::Scope {
        user: arguments.text("user_id")?,
        agent: arguments.text("agent_id")?,
        run: arguments.text("run_id")?,
        app: arguments.text("app_id")?,
    };
    Ok(Some(scope).filter(|scope| *scope != v1::Scope::default()))
}

fn of_user<C>(memories: &Memories<'_, C>) -> v1::Scope {
    v1::Scope {
        user: Some(memories.place.user.clone()),
        ..v1::Scope::default()
    }
}

fn written(time: Option<Timestamp>) -> Value {
    let time = time.and_then(|time| micros("time", time).ok());
    time.map_or(Value::Null, |at| json!(time::display(at).to_string()))
}

fn item(fact: &v1::Fact) -> Map<String, Value> {
    let scope = fact.scope.clone().unwrap_or_default();
    let metadata: Value = serde_json::from_str(&fact.metadata_json).unwrap_or(Value::Null);
    let mut out = Map::new();
    out.insert("id".into(), json!(fact.id));
    out.insert("memory".into(), json!(fact.memory));
    out.insert("hash".into(), json!(fact.hash));
    for (name, value) in [
        ("user_id", scope.user),
        ("agent_id", scope.agent),
        ("app_id", scope.app),
        ("run_id", scope.run),
    ] {
        if let Some(value) = value {
            out.insert(name.into(), json!(value));
        }
    }
    out.insert("metadata".into(), metadata);
    out.insert("created_at".into(), written(fact.created_at));
    out.insert("updated_at".into(), written(fact.updated_at));
    out
}

async fn add<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let text = arguments.text("text")?;
    let conversation = arguments.objects("messages")?;
    let scope = scope(&mut arguments)?.unwrap_or_else(|| of_user(memories));
    let metadata = arguments.objects("metadata")?.pop();
    // A text is a memory as it is; a conversation has facts.
    let infer = arguments.is_true("infer")? || text.is_none();
    let mut messages = Vec::new();
    for message in &conversation {
        let role = match message.get("role").and_then(Value::as_str) {
            Some("assistant") => v1::FactRole::Assistant,
            Some("system") => v1::FactRole::System,
            Some("tool") => v1::FactRole::Tool,
            _ => v1::FactRole::User,
        };
        let content = message.get("content").and_then(Value::as_str);
        messages.push(v1::FactMessage {
            role: role.into(),
            text: content
                .ok_or("a message has role and content, both texts")?
                .to_owned(),
            ..v1::FactMessage::default()
        });
    }
    messages.extend(text.map(|text| v1::FactMessage {
        text,
        ..v1::FactMessage::default()
    }));
    if messages.is_empty() {
        return Err("add_memory needs a text, or messages".to_owned());
    }
    let request = v1::AddFactsRequest {
        brain: memories.brain(),
        messages,
        scope: Some(scope),
        infer: Some(infer),
        metadata_json: metadata.map_or_else(String::new, |keys| Value::Object(keys).to_string()),
        options: memories.options(),
        ..v1::AddFactsRequest::default()
    };
    let added = write_again(|| memories.calls.add_facts(request.clone())).await;
    let results = added.map_err(in_words)?.results;
    let result = |result: &v1::FactResult| {
        let event = match result.event() {
            v1::FactEvent::Update => "UPDATE",
            v1::FactEvent::Delete => "DELETE",
            v1::FactEvent::None => "NONE",
            _ => "ADD",
        };
        json!({"id": result.id, "memory": result.memory, "event": event})
    };
    Ok(json!({"results": results.iter().map(result).collect::<Vec<_>>()}))
}

/// Scope and filter of a request for several memories.
fn selection<C>(
    memories: &Memories<'_, C>,
    arguments: &mut Arguments<'_>,
) -> Words<(Option<v1::Scope>, String)> {
    let filter = arguments
        .objects("filters")?
        .pop()
        .filter(|filter| !filter.is_empty());
    let scope = scope(arguments)?;
    Ok(match filter {
        Some(filter) => (scope, Value::Object(filter).to_string()),
        None => (
            Some(scope.unwrap_or_else(|| of_user(memories))),
            String::new(),
        ),
    })
}

async fn search<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let query = arguments.needed("query")?;
    let limit = arguments.number("limit", 1, 100)?.unwrap_or(10);
    let (scope, filter_json) = selection(memories, &mut arguments)?;
    let request = v1::SearchFactsRequest {
        brain: memories.brain(),
        query,
        scope,
        filter_json,
        limit: u32::try_from(limit).unwrap_or(10),
        threshold: crate::limits::SCORE_FLOOR,
        ..v1::SearchFactsRequest::default()
    };
    let found = memories.calls.search_facts(request.clone()).await;
    let hits = found.map_err(in_words)?.hits;
    let hits = with_said(memories.calls, &request, hits).await;
    let hits = hits.map_err(in_words)?;
    let hit = |hit: &v1::FactHit| {
        let mut item = hit.fact.as_ref().map(item).unwrap_or_default();
        item.insert("score".into(), json!(hit.score));
        Value::Object(item)
    };
    Ok(json!({"results": hits.iter().map(hit).collect::<Vec<_>>()}))
}

async fn list<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let page = arguments.number("page", 1, 100)?.unwrap_or(1);
    let size = arguments.number("page_size", 1, 100)?.unwrap_or(50);
    let (scope, filter_json) = selection(memories, &mut arguments)?;
    let mut request = v1::ListFactsRequest {
        brain: memories.brain(),
        scope,
        filter_json,
        page_size: u32::try_from(size).unwrap_or(50),
        ..v1::ListFactsRequest::default()
    };
    let mut facts = Vec::new();
    for number in 1..=page {
        let answer = memories
            .calls
            .list_facts(request.clone())
            .await
            .map_err(in_words)?;
        if number == page {
            facts = answer.facts;
        } else if answer.next_page_token.is_empty() {
            break;
        }
        request.page_token = answer.next_page_token;
    }
    let readable = facts.iter().filter(|fact| !fact.quarantined);
    let items: Vec<Value> = readable.map(|fact| Value::Object(item(fact))).collect();
    Ok(json!({"results": items}))
}

async fn get<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let request = v1::GetFactRequest {
        brain: memories.brain(),
        id: arguments.needed("memory_id")?,
        ..v1::GetFactRequest::default()
    };
    let found = memories.calls.get_fact(request).await.map_err(in_words)?;
    if let Some(fact) = found.fact.as_ref().filter(|fact| fact.quarantined) {
        return Err(in_quarantine(fact.event_id));
    }
    Ok(Value::Object(
        found.fact.as_ref().map(item).unwrap_or_default(),
    ))
}

async fn update<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let request = v1::UpdateFactRequest {
        brain: memories.brain(),
        id: arguments.needed("memory_id")?,
        text: Some(arguments.needed("text")?),
        options: memories.options(),
        ..v1::UpdateFactRequest::default()
    };
    let updated = write_again(|| memories.calls.update_fact(request.clone())).await;
    let fact = updated.map_err(in_words)?.fact.unwrap_or_default();
    Ok(Value::Object(item(&fact)))
}

async fn delete<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let request = v1::DeleteFactRequest {
        brain: memories.brain(),
        id: arguments.needed("memory_id")?,
        options: memories.options(),
        ..v1::DeleteFactRequest::default()
    };
    let deleted = write_again(|| memories.calls.delete_fact(request.clone())).await;
    deleted.map_err(in_words)?;
    Ok(json!({"message": "Memory deleted successfully!"}))
}

async fn delete_all<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<Value> {
    let scope = scope(&mut arguments)?;
    let scope = scope.ok_or(
        "delete_all_memories needs one of user_id, agent_id, app_id, run_id: nothing was deleted",
    )?;
    let mut deleted = 0;
    loop {
        let request = v1::ListFactsRequest {
            brain: memories.brain(),
            scope: Some(scope.clone()),
            page_size: 1_000,
            ..v1::ListFactsRequest::default()
        };
        let page = memories.calls.list_facts(request).await.map_err(in_words)?;
        if page.facts.is_empty() {
            return Ok(json!({"message": format!("{deleted} memories deleted")}));
        }
        for fact in page.facts {
            let request = v1::DeleteFactRequest {
                brain: memories.brain(),
                id: fact.id,
                options: memories.options(),
                ..v1::DeleteFactRequest::default()
            };
            let done = write_again(|| memories.calls.delete_fact(request.clone())).await;
            done.map_err(|refusal| format!("{}; {deleted} were deleted", in_words(refusal)))?;
            deleted += 1;
        }
    }
}
