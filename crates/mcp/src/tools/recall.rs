//! `recall`: the memories that answer a question, or those of ids in full.

use amem_proto::v1;
use serde_json::Value;

use super::parameters::{REACHES, condition, tokens};
use crate::answer::{Answer, id_of, line, minute, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{ANSWER_CHARS_MAX, HITS_MAX, IDS_MAX, LINE_CHARS_MAX, SCORE_FLOOR};
use crate::memories::{Memories, as_of, asked, in_words, now};
use crate::memory_place::Reach;

const TYPES: [(&str, &str); 6] = [
    ("fact", "fact"),
    ("decision", "decision"),
    ("inference", "inference"),
    ("correction", "correction"),
    ("skill", "skill"),
    ("episode", "episode"),
];

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let query = arguments.text("query")?;
    let ids = arguments.texts("ids")?;
    let kind = arguments.choice("type", &TYPES)?;
    let reach = arguments.choice("scope", &REACHES)?.unwrap_or(Reach::All);
    let at = arguments.time("as_of", &memories.clock())?;
    if at.is_some_and(|at| at > now()) {
        return Err("\"as_of\" of recall is in the future: nothing is known of then".to_owned());
    }
    let tokens = tokens(&mut arguments)?;
    match (query, ids.is_empty()) {
        (Some(query), true) => search(memories, &query, kind, reach, at, tokens).await,
        (None, false) => by_ids(memories, &ids, at, tokens).await,
        (Some(_), false) => Err("recall takes a query or ids, not both".to_owned()),
        (None, true) => Err("recall needs a query, or ids".to_owned()),
    }
}

/// The first line of an answer.
fn head<C>(
    memories: &Memories<'_, C>,
    moment: Option<&v1::Moment>,
    at: Option<amem_format::Micros>,
    (shown, found): (usize, String),
    tokens: usize,
) -> String {
    let place = memories.place;
    let time = match at {
        Some(at) => Some(amem_proto::answer::timestamp(at)),
        None => moment.and_then(|moment| moment.time),
    };
    let project = place.project.as_ref().map_or_else(
        || format!("user {}", place.user),
        |project| format!("project {}", project.label),
    );
    format!(
        "{project} · brain {} · as of {} · {shown} of {found} · ~{tokens} tokens",
        place.brain_name(),
        minute(time, place)
    )
}

async fn search<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    query: &str,
    kind: Option<&str>,
    reach: Reach,
    at: Option<amem_format::Micros>,
    tokens: u64,
) -> Words<String> {
    // A correction is of any kind: it is a memory with an earlier version.
    let and: Vec<Value> = kind
        .filter(|kind| *kind != "correction")
        .map(condition)
        .into_iter()
        .collect();
    let request = v1::SearchFactsRequest {
        brain: memories.brain(),
        query: query.to_owned(),
        filter_json: memories.place.filter(reach, and)?,
        limit: HITS_MAX,
        threshold: SCORE_FLOOR,
        as_of: as_of(at),
        ..v1::SearchFactsRequest::default()
    };
    let found = memories
        .calls
        .search_facts(request)
        .await
        .map_err(in_words)?;
    let is_wanted = |fact: &v1::Fact| {
        kind != Some("correction")
            || fact.kind == "correction"
            || fact.created_at != fact.updated_at
    };
    let facts: Vec<v1::Fact> = found
        .hits
        .into_iter()
        .filter_map(|hit| hit.fact)
        .filter(is_wanted)
        .collect();
    if facts.is_empty() {
        let what = kind.map_or_else(String::new, |kind| format!(" of type {kind}"));
        return Ok(format!(
            "nothing known about \"{}\"{what} in {}",
            shortened(query, 200),
            memories.place.in_words()
        ));
    }
    // The best that fit are chosen by rank, and shown by time.
    let mut answer = Answer::within(tokens);
    let (mut chosen, mut left) = (Vec::new(), Vec::new());
    for fact in &facts {
        let causes = memories.causes(fact, at).await;
        let line = line(fact, &causes, memories.place, LINE_CHARS_MAX);
        if left.is_empty() && answer.push(&line) {
            chosen.push((fact.updated_at.map(|time| (time.seconds, time.nanos)), line));
        } else {
            left.push(format!("[{}]", id_of(fact.event_id)));
        }
    }
    chosen.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let mut sorted = Answer::within(tokens);
    for (_, line) in &chosen {
        sorted.push(line);
    }
    let many = if facts.len() as u32 >= HITS_MAX || found.left_off > 0 {
        "+"
    } else {
        ""
    };
    let count = (chosen.len(), format!("{}{many}", facts.len()));
    let head = head(memories, found.moment.as_ref(), at, count, answer.tokens());
    let end = match left.as_slice() {
        [] => String::new(),
        left => {
            let shown = left.iter().take(20).cloned().collect::<Vec<_>>().join(" ");
            format!("left out for max_tokens: {shown}")
        }
    };
    Ok(sorted.finish(&head, &end))
}

async fn by_ids<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    ids: &[String],
    at: Option<amem_format::Micros>,
    tokens: u64,
) -> Words<String> {
    if ids.len() > IDS_MAX {
        return Err(format!(
            "{} ids are too many: {IDS_MAX} at a time",
            ids.len()
        ));
    }
    let mut answer = Answer::within(tokens);
    let (mut shown, mut notes) = (0, Vec::new());
    for id in ids {
        let asked = asked(id)?;
        let Some(fact) = memories.find(&asked, at).await.map_err(in_words)? else {
            notes.push(format!("no memory [{}]", id.trim_matches(['[', ']'])));
            continue;
        };
        let causes = memories.causes(&fact, at).await;
        let mut text = line(&fact, &causes, memories.place, ANSWER_CHARS_MAX);
        if let crate::memories::AskedMemory::Event(event) = asked
            && event != fact.event_id
        {
            text.push_str(&format!(" (replaces [{}])", id_of(event)));
        }
        if answer.push(&text) {
            shown += 1;
        } else {
            notes.push(format!(
                "left out for max_tokens: [{}]",
                id_of(fact.event_id)
            ));
        }
    }
    if shown == 0 {
        return Err(format!(
            "{} in {}",
            notes.join(", "),
            memories.place.in_words()
        ));
    }
    let head = head(
        memories,
        None,
        at.or(Some(now())),
        (shown, ids.len().to_string()),
        answer.tokens(),
    );
    Ok(answer.finish(&head, &notes.join("; ")))
}
