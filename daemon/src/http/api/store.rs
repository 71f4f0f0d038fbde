//! Items, in the shapes that LangGraph's SDK reads and writes: namespaces are lists of labels, in a query one text with
//! periods between them; times to live are minutes.
//!
//! Not here: what the calls do (`calls::items`).

use amem_items::limits::{ITEM_HITS_DEFAULT, ITEM_HITS_MAX, NAMESPACE_PAGE_MAX};
use amem_memory::Error as MemoryError;
use amem_proto::answer::{Code, micros};
use amem_proto::{Duration, Timestamp, v1};
use amem_query::time::display;
use hyper::StatusCode;
use prost::Message;
use serde_json::{Value, json};

use super::call::RestCall;
use super::options::Options;
use super::output::Output;
use crate::limits::HTTP_ANSWER_BYTES_MAX;
use crate::refusal::{Refusal, Result};

/// Namespaces of an answer, unless the request says how many.
const NAMESPACES: u32 = 100;

/// Stores a value.
pub(super) async fn put(call: &mut RestCall) -> Result<Output> {
    let value = call.options.object("value")?;
    let value = value.ok_or_else(|| Refusal::invalid("value", "it is missing: send an object"))?;
    let request = v1::PutItemRequest {
        brain: call.brain.clone(),
        put: Some(v1::ItemPut {
            namespace: labels(&mut call.options, "namespace")?,
            key: key(&mut call.options)?,
            value_json: Some(value.to_string()),
            index: index(&mut call.options)?,
            ttl: minutes(&mut call.options)?,
        }),
        options: Some(call.repeatable()),
    };
    call.item(request).await?;
    Ok(Output::empty(StatusCode::NO_CONTENT))
}

/// An item; null if there is none.
pub(super) async fn get(call: &mut RestCall) -> Result<Output> {
    let request = v1::GetItemRequest {
        brain: call.brain.clone(),
        get: Some(v1::ItemGet {
            namespace: labels(&mut call.options, "namespace")?,
            key: key(&mut call.options)?,
            refresh_ttl: call.options.switch("refresh_ttl")?.unwrap_or(true),
        }),
    };
    let item = call.item(request).await?.item;
    let item = item.map(|one| item_json(&one)).transpose()?;
    Ok(item.unwrap_or(Value::Null).into())
}

/// Deletes an item.
pub(super) async fn delete(call: &mut RestCall) -> Result<Output> {
    let request = v1::DeleteItemRequest {
        brain: call.brain.clone(),
        namespace: labels(&mut call.options, "namespace")?,
        key: key(&mut call.options)?,
        options: Some(call.repeatable()),
    };
    call.item(request).await?;
    Ok(Output::empty(StatusCode::NO_CONTENT))
}

/// Finds items.
pub(super) async fn search(call: &mut RestCall) -> Result<Output> {
    let limit = count(&mut call.options, "limit", ITEM_HITS_MAX)?;
    let limit = limit.unwrap_or(ITEM_HITS_DEFAULT as u32);
    let filter = call.options.object("filter")?;
    let mut search = v1::ItemSearch {
        namespace_prefix: labels(&mut call.options, "namespace_prefix")?,
        filter_json: filter.map_or(String::new(), |filter| filter.to_string()),
        query: call.options.text("query")?.unwrap_or_default(),
        limit,
        offset: count(&mut call.options, "offset", u32::MAX as usize)?.unwrap_or_default(),
        refresh_ttl: call.options.switch("refresh_ttl")?.unwrap_or(true),
    };
    let (mut items, mut bytes) = (Vec::new(), 0);
    while search.limit > 0 {
        let request = v1::SearchItemsRequest {
            brain: call.brain.clone(),
            search: Some(search.clone()),
        };
        let answer = call.item(request).await?;
        bytes += answer.encoded_len();
        if bytes > HTTP_ANSWER_BYTES_MAX {
            let message = format!(
                "the items have more than {HTTP_ANSWER_BYTES_MAX} bytes, the limit: ask for fewer, and for the others by offset"
            );
            return Err(Refusal::new(Code::InvalidArgument, "ANSWER_SIZE", message));
        }
        // An answer has room for less than a page at times.
        search.offset = search.offset.saturating_add(answer.hits.len() as u32);
        search.limit = search.limit.min(answer.left_off);
        for hit in answer.hits {
            let mut item = item_json(&hit.item.unwrap_or_default())?;
            item["score"] = json!(hit.score);
            items.push(item);
        }
    }
    Ok(json!({ "items": items }).into())
}

/// Lists namespaces.
pub(super) async fn namespaces(call: &mut RestCall) -> Result<Output> {
    let limit = count(&mut call.options, "limit", NAMESPACE_PAGE_MAX)?.unwrap_or(NAMESPACES);
    let request = v1::ListItemNamespacesRequest {
        brain: call.brain.clone(),
        prefix: labels(&mut call.options, "prefix")?,
        suffix: labels(&mut call.options, "suffix")?,
        depth_max: call.options.count("max_depth")?.unwrap_or_default(),
        page_size: limit,
        skip: count(&mut call.options, "offset", u32::MAX as usize)?.unwrap_or_default(),
        page_token: String::new(),
    };
    if limit == 0 {
        return Ok(json!({"namespaces": []}).into());
    }
    let answer = call.item(request).await?;
    let namespaces: Vec<_> = answer
        .namespaces
        .into_iter()
        .map(|one| one.labels)
        .collect();
    Ok(json!({ "namespaces": namespaces }).into())
}

/// Labels: a list, or a text with periods between them. None if the option is not there.
fn labels(options: &mut Options, name: &str) -> Result<Vec<String>> {
    let wrong = || Refusal::invalid(name, "it must be a list of texts, or a text with periods");
    match options.any(name) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) if text.is_empty() => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.split('.').map(str::to_owned).collect()),
        Some(Value::Array(labels)) => {
            let text = |label: Value| label.as_str().map(str::to_owned).ok_or_else(wrong);
            labels.into_iter().map(text).collect()
        }
        Some(_) => Err(wrong()),
    }
}

fn key(options: &mut Options) -> Result<String> {
    Ok(options.text("key")?.unwrap_or_default())
}

/// A number from 0 to `max`.
fn count(options: &mut Options, name: &'static str, max: usize) -> Result<Option<u32>> {
    let Some(number) = options.number(name)? else {
        return Ok(None);
    };
    if number.fract() != 0.0 || !(0.0..=f64::from(u32::MAX)).contains(&number) {
        return Err(Refusal::invalid(
            name,
            "it must be a whole number from 0 on",
        ));
    }
    // Checked above.
    let number = number as u32;
    if number as usize > max {
        return Err(MemoryError::TooLarge {
            what: name,
            found: number.into(),
            limit: max as u64,
        }
        .into());
    }
    Ok(Some(number))
}

/// False for nothing, a list of paths, or all texts if it is not there.
fn index(options: &mut Options) -> Result<Option<v1::ItemIndex>> {
    let wrong = || Refusal::invalid("index", "it must be false or a list of paths");
    let mut index = v1::ItemIndex::default();
    match options.any("index") {
        None | Some(Value::Bool(true)) => return Ok(None),
        Some(Value::Bool(false)) => index.none = true,
        Some(Value::Array(paths)) => {
            let text = |path: Value| path.as_str().map(str::to_owned).ok_or_else(wrong);
            index.paths = paths.into_iter().map(text).collect::<Result<_>>()?;
            // No path: nothing is searched.
            index.none = index.paths.is_empty();
        }
        Some(_) => return Err(wrong()),
    }
    Ok(Some(index))
}

/// `ttl` in minutes.
fn minutes(options: &mut Options) -> Result<Option<Duration>> {
    let Some(minutes) = options.number("ttl")? else {
        return Ok(None);
    };
    let seconds = (minutes * 60.0).max(0.0);
    let duration = std::time::Duration::try_from_secs_f64(seconds).ok();
    let duration = duration.and_then(|duration| Duration::try_from(duration).ok());
    let duration = duration.filter(|duration| *duration != Duration::default());
    let why = "it must be minutes, more than 0";
    duration
        .map(Some)
        .ok_or_else(|| Refusal::invalid("ttl", why))
}

fn time(time: Option<Timestamp>) -> Result<Value> {
    let time = micros("time", time.unwrap_or_default())?;
    Ok(display(time).to_string().into())
}

fn item_json(item: &v1::Item) -> Result<Value> {
    let value: Value = serde_json::from_str(&item.value_json)
        .map_err(|e| Refusal::internal(format!("a stored value is no JSON: {e}")))?;
    Ok(json!({
        "namespace": item.namespace,
        "key": item.key,
        "value": value,
        "created_at": time(item.created_at)?,
        "updated_at": time(item.updated_at)?,
    }))
}
