//! What `amemctl fact` shows.

use amem_client::v1;
use serde_json::Value;

use crate::args::scope::scope_text;
use crate::render::{Align, Column, TextPage, plural};
use crate::when;

/// A rating, as `amemctl fact feedback` takes it.
pub(super) fn rating_name(rating: v1::FactRating) -> &'static str {
    match rating {
        v1::FactRating::Positive => "positive",
        v1::FactRating::Negative => "negative",
        v1::FactRating::VeryNegative => "very-negative",
        v1::FactRating::Cleared => "cleared",
        v1::FactRating::Unspecified => "unknown",
    }
}

/// What a caller thinks of a memory.
pub(super) fn feedback_text(feedback: &v1::FactFeedback) -> String {
    let rating = rating_name(feedback.rating());
    match feedback.reason.as_str() {
        "" => rating.to_owned(),
        reason => format!("{rating}: {reason}"),
    }
}

/// What became of a memory, such as `ADD`.
pub(super) fn event_name(event: v1::FactEvent) -> &'static str {
    let name = event.as_str_name();
    name.strip_prefix("FACT_EVENT_").unwrap_or(name)
}

/// The keys of a memory; null if it has none.
pub(super) fn metadata(fact: &v1::Fact) -> Value {
    serde_json::from_str(&fact.metadata_json).unwrap_or(Value::Null)
}

/// A memory, with what a caller thinks of it.
pub(super) fn write_fact(
    fact: &v1::Fact,
    feedback: Option<&v1::FactFeedback>,
    page: &mut TextPage,
) {
    page.title(&fact.memory);
    page.field("id", &fact.id);
    page.field(
        "of",
        fact.scope.as_ref().map(scope_text).unwrap_or_default(),
    );
    page.field("kind", &fact.kind);
    page.field("added", when::long_of(fact.created_at));
    if fact.updated_at != fact.created_at {
        page.field("updated", when::long_of(fact.updated_at));
    }
    if fact.expires_at.is_some() {
        page.field("expires", when::long_of(fact.expires_at));
    }
    let metadata = metadata(fact);
    if metadata != Value::Null {
        page.field("metadata", metadata);
    }
    if fact.quarantined {
        page.field("quarantined", "it gives orders to a model");
    }
    if let Some(feedback) = feedback {
        page.field("feedback", feedback_text(feedback));
    }
}

const FACTS: [Column<v1::Fact>; 4] = [
    ("memory", Align::Left, |fact| fact.memory.clone()),
    ("kind", Align::Left, |fact| fact.kind.clone()),
    ("updated", Align::Left, |fact| {
        when::short_of(fact.updated_at)
    }),
    ("id", Align::Left, |fact| fact.id.clone()),
];

/// Memories of a scope.
pub(super) fn write_facts(facts: &[v1::Fact], page: &mut TextPage) {
    page.rows(&FACTS, facts);
    page.aside(match facts.len() {
        0 => "nothing is remembered".to_owned(),
        n => memories(n as u64),
    });
}

pub(super) fn memories(n: u64) -> String {
    match n {
        1 => "1 memory".to_owned(),
        n => format!("{n} memories"),
    }
}

/// The score from which on a memory is likely to be about the question.
const LIKELY_SCORE: f32 = 0.3;

const HITS: [Column<v1::FactHit>; 3] = [
    ("score", Align::Right, |hit| format!("{:.2}", hit.score)),
    ("memory", Align::Left, |hit| of_hit(hit).memory),
    ("id", Align::Left, |hit| of_hit(hit).id),
];

fn of_hit(hit: &v1::FactHit) -> v1::Fact {
    hit.fact.clone().unwrap_or_default()
}

/// Memories that were found.
pub(super) fn write_hits(answer: &v1::SearchFactsResponse, page: &mut TextPage) {
    page.rows(&HITS, &answer.hits);
    for hit in &answer.hits {
        let id = of_hit(hit).id;
        if !hit.via.is_empty() {
            page.line(format!("{id} by {}", hit.via));
        }
        if let Some(parts) = &hit.parts {
            page.line(format!(
                "{id}: words {}, vector {}, neighbours {}, rank {}; covered {} of the question, known {}",
                parts.text, parts.vector, parts.neighbours, parts.rank, parts.covered, parts.known
            ));
        }
        if !hit.conflict_ids.is_empty() {
            page.line(format!(
                "{id} may contradict {}",
                hit.conflict_ids.join(", ")
            ));
        }
    }
    if answer.hits.is_empty() {
        page.aside("nothing was found");
    } else if answer.hits.iter().all(|hit| hit.score < LIKELY_SCORE) {
        page.aside("no memory answers much of the question: it may not be known here");
    }
    if answer.left_off > 0 {
        let left = memories(answer.left_off.into());
        page.aside(format!(
            "{left} more had no room in the answer: ask for fewer"
        ));
    }
    if !answer.words_only.is_empty() {
        page.aside(format!("only words were compared: {}", answer.words_only));
    }
}

fn pending_line(work: &v1::PendingFacts) -> String {
    let next = work.next_try.map_or_else(
        || "it waits for other settings".to_owned(),
        |next| format!("it is tried again {}", when::short_of(Some(next))),
    );
    format!("pending ({}): {}; {next}", work.reason, work.detail)
}

fn stage_line(stage: &v1::FactStage) -> String {
    let counts = stage.counts.iter();
    let counts = counts.map(|one| format!("{} {}", one.what.replace('_', " "), one.count));
    let counts = counts.collect::<Vec<_>>().join(", ");
    format!("{:<8} {counts}", stage.stage)
}

/// How two entities are related.
pub(super) fn relation_text(relation: &v1::EntityRelation) -> String {
    format!(
        "{} {} {}",
        relation.source, relation.relation, relation.target
    )
}

/// What an add did; with `explain` also how: the stages, and what each fact relates.
pub(super) fn write_added(
    answer: &v1::AddFactsResponse,
    is_dry_run: bool,
    explain: bool,
    page: &mut TextPage,
) {
    for stage in answer.stages.iter().filter(|_| explain) {
        page.line(stage_line(stage));
    }
    for result in &answer.results {
        let is_update = result.event() == v1::FactEvent::Update;
        let before = match &result.old_memory {
            Some(old) if is_update => format!(" (was: {old})"),
            _ => String::new(),
        };
        let why = result.why.as_ref().map(|why| why.by.as_str());
        page.line(format!(
            "{:<6} {}{before}  [{}] {}",
            event_name(result.event()),
            result.memory,
            why.unwrap_or_default(),
            result.id
        ));
        for relation in result.relations.iter().filter(|_| explain) {
            page.line(format!("         {}", relation_text(relation)));
        }
    }
    for work in &answer.pending {
        page.line(pending_line(work));
    }
    for fact in &answer.rejected {
        page.line(format!("not stored: {} ({})", fact.text, fact.why));
    }
    for part in &answer.skipped {
        page.line(format!(
            "message {}: {} is skipped ({})",
            part.index, part.what, part.why
        ));
    }
    let stored = if is_dry_run {
        "; nothing was stored"
    } else {
        ""
    };
    let facts = plural(answer.results.len() as u64, "fact");
    let turns = plural(answer.turn_ids.len() as u64, "turn");
    page.aside(format!("{facts} in {turns}{stored}"));
}

/// The history of a memory.
pub(super) fn write_history(answer: &v1::GetFactHistoryResponse, page: &mut TextPage) {
    for record in &answer.records {
        let text = record.new_memory.as_ref().or(record.old_memory.as_ref());
        let text = match &record.feedback {
            Some(feedback) => feedback_text(feedback),
            None => text.cloned().unwrap_or_default(),
        };
        let reason = match record.reason.as_str() {
            "" => String::new(),
            reason => format!(": {reason}"),
        };
        page.line(format!(
            "{}  {:<6} {text}  [{}{reason}]",
            when::short_of(record.time),
            event_name(record.event()),
            record.why
        ));
        for source in &record.sources {
            let said = when::short_of(source.time);
            let text = match source.text.as_str() {
                "" => "(erased)".to_owned(),
                text if source.cut => format!("\"{text} …\""),
                text => format!("\"{text}\""),
            };
            page.line(format!("    {said} {}: {text}", source.role));
        }
        let more = u64::from(record.source_count).saturating_sub(record.sources.len() as u64);
        if more > 0 {
            page.aside(format!("    and {} more", plural(more, "source")));
        }
    }
    if answer.deleted {
        page.aside("it is deleted");
    }
}

/// How many memories ended.
pub(super) fn write_deleted(deleted: u64, page: &mut TextPage) {
    let verb = if deleted == 1 { "is" } else { "are" };
    page.line(format!("{} {verb} deleted", memories(deleted)));
}

const SCOPES: [Column<v1::FactScopeCount>; 4] = [
    ("field", Align::Left, |scope| scope.field.clone()),
    ("value", Align::Left, |scope| scope.value.clone()),
    ("memories", Align::Right, |scope| scope.memories.to_string()),
    ("updated", Align::Left, |scope| {
        when::short_of(scope.updated_at)
    }),
];

/// Who has memories.
pub(super) fn write_scopes(scopes: &[v1::FactScopeCount], page: &mut TextPage) {
    page.rows(&SCOPES, scopes);
    if scopes.is_empty() {
        page.aside("nothing is remembered");
    }
}

/// Work that is left, and how many pieces another try has done.
pub(super) fn write_pending(pending: &[v1::PendingFacts], done: Option<u64>, page: &mut TextPage) {
    for work in pending {
        page.line(pending_line(work));
    }
    if let Some(done) = done {
        page.line(format!("{done} done"));
    }
    if pending.is_empty() {
        page.aside("nothing is pending");
    }
}

/// Memories that may contradict others.
pub(super) fn write_conflicts(conflicts: &[v1::FactConflict], page: &mut TextPage) {
    for conflict in conflicts {
        let fact = conflict.fact.clone().unwrap_or_default();
        let held = match (fact.quarantined, conflict.rejected.as_str()) {
            (true, _) => "  in quarantine: it gives orders to a model".to_owned(),
            (false, "") => String::new(),
            (false, why) => format!("  no memory yet: {why}"),
        };
        page.line(format!("{}  {}{held}", fact.memory, fact.id));
        for other in &conflict.others {
            page.line(format!(
                "    may contradict: {}  {}",
                other.memory, other.id
            ));
        }
    }
    if conflicts.is_empty() {
        page.aside("nothing waits for a review");
    }
}
