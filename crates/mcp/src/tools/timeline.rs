//! `timeline`: what was learned or done, by day.

use amem_format::Micros;
use amem_proto::answer::micros;
use amem_proto::v1;
use amem_query::time;
use serde_json::{Value, json};

use super::parameters::{REACHES, tokens};
use crate::answer::{AS_DATA, Answer, day, fact_of, line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{LINE_CHARS_MAX, SESSION_GAP_SECS, TIMELINE_ENTRIES, TIMELINE_MAX};
use crate::memories::{Memories, in_words};
use crate::memory_place::{MemoryPlace, Reach};

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let clock = memories.clock();
    let since = arguments.time("since", &clock)?;
    let until = arguments.time("until", &clock)?;
    let about = arguments.text("about")?;
    let reach = arguments.choice("scope", &REACHES)?.unwrap_or(Reach::All);
    let tokens = tokens(&mut arguments)?;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err("\"until\" of timeline is not after \"since\"".to_owned());
    }
    let mut and = Vec::new();
    and.extend(since.map(|time| bound("gte", time)));
    and.extend(until.map(|time| bound("lt", time)));
    let mut facts = match &about {
        Some(about) => search(memories, about, reach, and).await?,
        None => memories.list(reach, and, TIMELINE_MAX, None).await?,
    };
    facts.sort_by_key(time_of);
    let is_last_session = since.is_none() && until.is_none() && about.is_none();
    if is_last_session {
        facts = last_session(facts);
    }
    let what = match (&about, is_last_session) {
        (Some(about), _) => format!(" about \"{}\"", shortened(about, 200)),
        (None, true) => " of the last session".to_owned(),
        (None, false) => " then".to_owned(),
    };
    if facts.is_empty() {
        return Ok(format!(
            "nothing known{what} in {}",
            memories.place.in_words()
        ));
    }
    let (answer, shown) = by_day(&facts, memories.place, tokens);
    let head = format!(
        "{} · brain {} · {shown} of {}{what} · ~{} tokens · {AS_DATA}",
        memories.place.in_words(),
        memories.place.brain_name(),
        facts.len(),
        answer.tokens()
    );
    let end = match facts.len() - shown {
        0 => String::new(),
        left => format!("{left} older ones left out for max_tokens: narrow since and until"),
    };
    Ok(answer.finish(&head, &end))
}

/// Memories in order of time under their days; the newest have room first. Returns how many are shown.
fn by_day(facts: &[v1::Fact], place: &MemoryPlace, tokens: u64) -> (Answer, usize) {
    let text = |fact: &v1::Fact| line(fact, &[], place, LINE_CHARS_MAX);
    let mut room = Answer::within(tokens);
    let shown = facts
        .iter()
        .rev()
        // A day's own line is as long as its date.
        .take_while(|fact| room.push(&format!("{}\n{}", day(fact.happened_at, place), text(fact))))
        .count();
    let mut answer = Answer::within(tokens);
    let mut last = String::new();
    for fact in &facts[facts.len() - shown..] {
        let day = day(fact.happened_at.or(fact.updated_at), place);
        if day != last {
            answer.push(&format!("{day}:"));
            last = day;
        }
        answer.push(&text(fact));
    }
    (answer, shown)
}

fn bound(operator: &str, time: Micros) -> Value {
    json!({"happened_at": {operator: time::display(time).to_string()}})
}

fn time_of(fact: &v1::Fact) -> i64 {
    let time = fact.happened_at.or(fact.updated_at);
    time.and_then(|time| micros("time", time).ok())
        .map_or(0, |time| time.0)
}

/// What was learned since the last long pause.
fn last_session(facts: Vec<v1::Fact>) -> Vec<v1::Fact> {
    let gap = SESSION_GAP_SECS * 1_000_000;
    let begin = (1..facts.len())
        .rev()
        .find(|at| time_of(&facts[*at]) - time_of(&facts[at - 1]) > gap);
    facts.into_iter().skip(begin.unwrap_or(0)).collect()
}

/// What is known about some words, formed or said, in no order.
async fn search<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    about: &str,
    reach: Reach,
    and: Vec<Value>,
) -> Words<Vec<v1::Fact>> {
    let request = v1::RecallRequest {
        brain: memories.brain(),
        question: about.to_owned(),
        filter_json: memories.place.filter(reach, and)?,
        limit: TIMELINE_ENTRIES,
        zone: memories.place.zone_name(),
        ..v1::RecallRequest::default()
    };
    let found = memories.calls.recall(request).await.map_err(in_words)?;
    let entries = found.entries.iter();
    // A memory whose words were said is shown by what was said.
    Ok(entries
        .map(|entry| match entry.source() {
            v1::RecallSource::Formed => fact_of(entry),
            _ => fact_of(&v1::RecallEntry {
                fact: None,
                ..entry.clone()
            }),
        })
        .collect())
}
