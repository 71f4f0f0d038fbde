//! `recall`: the memories that answer a question, or those of ids in full.

use amem_proto::v1;
use serde_json::Value;

use super::parameters::{REACHES, condition, tokens};
use crate::answer::{AS_DATA, Answer, id_of, line, minute};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::entries::{nothing_found, push_entries};
use crate::limits::{ANSWER_CHARS_MAX, CAUSES_SHOWN, ENTRY_TOKENS, HITS_MAX, HITS_MIN, IDS_MAX};
use crate::memories::{AskedMemory, Memories, as_of, asked, in_quarantine, in_words, now};
use crate::memory_place::{MemoryPlace, Reach};
use crate::standing_part::StandingPart;

/// Ids of entries that had no room in an answer.
const LEFT_OUT_SHOWN: usize = 8;

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
    let project = match (&place.project, place.naming) {
        (Some(project), _) => format!("project {}", project.label),
        (None, Some(_)) => format!("user {}, no project named", place.user),
        (None, None) => format!("user {}", place.user),
    };
    format!(
        "{project} · brain {} · as of {} · {shown} of {found} · ~{tokens} tokens · {AS_DATA}",
        place.brain_name(),
        minute(time, place)
    )
}

/// As many entries as may have room: each costs the daemon time.
fn entries_within(tokens: u64) -> u32 {
    let count = u32::try_from(tokens / ENTRY_TOKENS).unwrap_or(HITS_MAX);
    count.clamp(HITS_MIN, HITS_MAX)
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
    // Corrections are picked from the entries, so that all are wanted.
    let limit = match kind {
        Some("correction") => HITS_MAX,
        _ => entries_within(tokens),
    };
    let request = v1::RecallRequest {
        brain: memories.brain(),
        question: query.to_owned(),
        filter_json: memories.place.filter(reach, and)?,
        limit,
        as_of: as_of(at),
        zone: memories.place.zone_name(),
        ..v1::RecallRequest::default()
    };
    let found = memories.calls.recall(request).await.map_err(in_words)?;
    let is_wanted = |entry: &v1::RecallEntry| {
        kind != Some("correction")
            || entry
                .fact
                .as_ref()
                .is_some_and(|fact| fact.kind == "correction" || fact.created_at != fact.updated_at)
    };
    let entries: Vec<v1::RecallEntry> = found.entries.into_iter().filter(is_wanted).collect();
    if entries.is_empty() {
        let asked = (query, kind, reach);
        let nothing = nothing(memories.place, asked, found.left_out_relevance);
        let nearest = found.nearest.into_iter().filter(is_wanted);
        return Ok(with_nearest(
            nothing,
            nearest.collect(),
            tokens,
            memories.place,
        ));
    }
    // The best that fit, the best first.
    let many = match entries.len() as u32 >= limit {
        true => "+",
        false => "",
    };
    let standing = match kind {
        None => StandingPart::within(tokens, &found.standing, memories.place),
        Some(_) => StandingPart::default(),
    };
    let entries = standing.without_doubles(entries);
    let mut answer = Answer::within(tokens);
    standing.push(&mut answer);
    let left = push_entries(&mut answer, &entries, memories.place);
    let shown = entries.len() - left.len();
    let count = (shown, format!("{}{many}", entries.len()));
    let head = head(memories, found.moment.as_ref(), at, count, answer.tokens());
    let end = match left.as_slice() {
        [] => String::new(),
        left => {
            let ids = left.iter().take(LEFT_OUT_SHOWN);
            let ids: Vec<String> = ids.map(|id| format!("[{}]", id_of(*id))).collect();
            format!("left out for max_tokens: {}", ids.join(" "))
        }
    };
    Ok(answer.finish(&head, &end))
}

/// What came nearest, beside that nothing answers.
fn with_nearest(
    nothing: String,
    nearest: Vec<v1::RecallEntry>,
    tokens: u64,
    place: &MemoryPlace,
) -> String {
    if nearest.is_empty() {
        return nothing;
    }
    let mut answer = Answer::within(tokens);
    push_entries(&mut answer, &nearest, place);
    let head = format!("{nothing}; nearest, and likely no answer · {AS_DATA}");
    answer.finish(&head, "")
}

/// The answer where nothing is relevant.
fn nothing(
    place: &MemoryPlace,
    (query, kind, reach): (&str, Option<&str>, Reach),
    best: f32,
) -> String {
    let what = kind.map_or_else(String::new, |kind| format!("memories of type {kind} in "));
    nothing_found(query, &format!("{what}{}", place.searched(reach)), best)
}

/// The memory that some words are about: of the best entry the memory, or the words themselves where none was formed.
///
/// # Errors
/// What the call refuses; that nothing answers.
pub(crate) async fn found_by<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    words: &str,
) -> Words<Result<v1::Fact, v1::RecallEntry>> {
    let request = v1::RecallRequest {
        brain: memories.brain(),
        question: words.to_owned(),
        filter_json: memories.place.filter(Reach::All, Vec::new())?,
        limit: 1,
        zone: memories.place.zone_name(),
        ..v1::RecallRequest::default()
    };
    let found = memories.calls.recall(request).await.map_err(in_words)?;
    let Some(entry) = found.entries.into_iter().next() else {
        let asked = (words, None, Reach::All);
        return Err(nothing(memories.place, asked, found.left_out_relevance));
    };
    if let Some(fact) = entry.fact.clone() {
        return Ok(Ok(fact));
    }
    let of_turn = AskedMemory::Event(entry.event_id);
    let fact = memories.find(&of_turn, None).await.map_err(in_words)?;
    Ok(fact.filter(|fact| !fact.quarantined).ok_or(entry))
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
    let asked_for = ids
        .iter()
        .map(|id| asked(id))
        .collect::<Words<Vec<AskedMemory>>>()?;
    let found = memories.look_up_all(&asked_for, at).await;
    let found = found.map_err(in_words)?;
    let there: Vec<&v1::Fact> = found.iter().flatten().map(|named| &named.fact).collect();
    let causes = memories.causes(&there, at).await.map_err(in_words)?;
    let mut answer = Answer::within(tokens);
    let (mut shown, mut notes) = (0, Vec::new());
    for (id, named) in ids.iter().zip(&found) {
        let Some(named) = named else {
            notes.push(format!("no memory [{}]", id.trim_matches(['[', ']'])));
            continue;
        };
        let fact = &named.fact;
        if fact.quarantined {
            notes.push(in_quarantine(fact.event_id));
            continue;
        }
        let because = fact.because_ids.iter().take(CAUSES_SHOWN);
        let because: Vec<String> = because.filter_map(|id| causes.get(id).cloned()).collect();
        let mut text = line(fact, &because, memories.place, ANSWER_CHARS_MAX);
        if let Some(event) = named.replaced {
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
