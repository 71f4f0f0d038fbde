//! Messages of FactService from and to the types of fact memory.

use std::time::Duration;

use amem_facts::recall::{RecalledEntry, RecalledSource, SaidSentence, SpokenMemory, TurnEnd};
use amem_facts::search::FactHit;
use amem_facts::{
    FactFeedback, FeedbackRating, HistoryEntry, PendingEntry, ScopeCount, SourceTurn,
};
use amem_format::attributes::validate;
use amem_format::{Micros, attributes};
use amem_memory::add::{AddAnswer, AddEvent, FactResult};
use amem_memory::graph::{EntityKind, EntityMention, EntityRelation};
use amem_memory::store::{HistoryEvent, MemoryItem};
use amem_memory::{
    ContentPart, FactFilter, FactKind, FactScope, Message, PendingReason, PendingWork, Role,
    Validity,
};
use amem_proto::Timestamp;
use amem_proto::answer::{micros, timestamp};
use amem_proto::v1;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::refusal::{Refusal, Result};

/// Whose memories; a field that is set and empty is refused later.
pub(super) fn scope(message: Option<v1::Scope>) -> FactScope {
    let message = message.unwrap_or_default();
    FactScope {
        user: message.user,
        agent: message.agent,
        app: message.app,
        run: message.run,
    }
}

pub(super) fn filter(json: &str) -> Result<Option<FactFilter>> {
    if json.is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_str(json)
        .map_err(|e| Refusal::invalid("filter_json", format!("not JSON: {e}")))?;
    Ok(Some(FactFilter::parse(&value)?))
}

/// What memories are, as a request names it.
pub(super) fn kind_named(name: &str) -> Result<Option<FactKind>> {
    if name.is_empty() {
        return Ok(None);
    }
    let known = serde_json::from_value(json!(name)).ok();
    known
        .filter(|kind| *kind != FactKind::Retraction)
        .map(Some)
        .ok_or_else(|| {
            let why = format!(
                "unknown kind {name:?}: use fact, preference, event, plan, decision, inference, correction, skill or episode"
            );
            Refusal::invalid("kind", why)
        })
}

/// A reason, if there is one.
pub(super) fn reason(text: String) -> Option<String> {
    Some(text).filter(|text| !text.trim().is_empty())
}

/// The caller's keys, within the limits of attributes, among which they are stored.
pub(super) fn metadata(json: &str) -> Result<Map<String, Value>> {
    if json.is_empty() {
        return Ok(Map::new());
    }
    let parsed = attributes::parse(json);
    let metadata = parsed.map_err(|e| Refusal::invalid("metadata_json", e))?;
    let stored: Map<String, Value> = [("metadata".to_owned(), json!(metadata))]
        .into_iter()
        .collect();
    validate(&stored).map_err(|e| Refusal::invalid("metadata_json", e))?;
    Ok(metadata)
}

pub(super) fn time(what: &str, time: Option<Timestamp>) -> Result<Option<Micros>> {
    Ok(time.map(|time| micros(what, time)).transpose()?)
}

/// The id of a memory or of a turn.
pub(super) fn id(text: &str) -> Result<Uuid> {
    Ok(amem_memory::change::memory_id(text)?)
}

pub(super) fn messages(messages: Vec<v1::FactMessage>) -> Result<Vec<Message>> {
    let one = |message: v1::FactMessage| {
        let role = match message.role() {
            v1::FactRole::Unspecified | v1::FactRole::User => Role::User,
            v1::FactRole::System => Role::System,
            v1::FactRole::Assistant => Role::Assistant,
            v1::FactRole::Tool => Role::Tool,
        };
        Ok(Message {
            role,
            name: Some(message.name).filter(|name| !name.trim().is_empty()),
            content: vec![ContentPart::Text(message.text)],
            time: time("messages.time", message.time)?,
        })
    };
    messages.into_iter().map(one).collect()
}

fn texts(ids: &[Uuid]) -> Vec<String> {
    ids.iter().map(Uuid::to_string).collect()
}

fn kind(kind: FactKind) -> String {
    match json!(kind) {
        Value::String(name) => name,
        _ => String::new(),
    }
}

fn validity(validity: Validity) -> Option<v1::FactValidity> {
    if validity == Validity::default() {
        return None;
    }
    Some(v1::FactValidity {
        from: validity.from.map(timestamp),
        to: validity.to.map(timestamp),
        precision: match json!(validity.precision) {
            Value::String(name) => name,
            _ => String::new(),
        },
    })
}

/// A scope as a message.
pub(super) fn scope_message(scope: &FactScope) -> v1::Scope {
    v1::Scope {
        user: scope.user.clone(),
        agent: scope.agent.clone(),
        run: scope.run.clone(),
        app: scope.app.clone(),
    }
}

pub(super) fn fact(item: MemoryItem) -> v1::Fact {
    v1::Fact {
        id: item.id.to_string(),
        scope: Some(scope_message(&item.scope)),
        metadata_json: if item.metadata.is_empty() {
            String::new()
        } else {
            Value::Object(item.metadata).to_string()
        },
        memory: item.memory,
        hash: item.hash,
        kind: kind(item.kind),
        confidence: item.confidence,
        created_at: Some(timestamp(item.created_at)),
        updated_at: Some(timestamp(item.updated_at)),
        expires_at: item.expires_at.map(timestamp),
        validity: validity(item.validity),
        quarantined: item.is_quarantined,
        source_ids: texts(&item.sources),
        event_id: item.event.map_or(0, |event| event.0),
        because_ids: texts(&item.because),
        happened_at: item.happened_at.map(timestamp),
        said: None,
    }
}

/// A sentence of a turn as a message.
pub(super) fn said(said: SaidSentence) -> v1::SaidSentence {
    v1::SaidSentence {
        text: said.text,
        speaker: said.speaker,
        event_id: said.event.0,
        happened_at: Some(timestamp(said.happened)),
    }
}

/// An entry of a recall as a message.
pub(super) fn entry(entry: RecalledEntry) -> v1::RecallEntry {
    let source = match entry.source {
        RecalledSource::Formed => v1::RecallSource::Formed,
        RecalledSource::Said => v1::RecallSource::Said,
        RecalledSource::Written => v1::RecallSource::Written,
    };
    v1::RecallEntry {
        source: source.into(),
        event_id: entry.event.0,
        id: entry.id.map_or_else(String::new, |id| id.to_string()),
        text: entry.text,
        passage: entry.is_passage,
        speaker: entry.speaker,
        happened_at: Some(timestamp(entry.happened)),
        until: entry.until.map(timestamp),
        relevance: entry.relevance,
        weak: entry.is_weak,
        fact: entry.item.map(fact),
        conflict_ids: texts(&entry.conflicts),
        double_ids: entry.doubles.into_iter().map(|event| event.0).collect(),
        session_id: entry.session.0,
        because_event_ids: entry.because.into_iter().map(|event| event.0).collect(),
    }
}

/// What was said or written as a memory of the kind `said` or `written`, with the speaker among its keys.
pub(super) fn spoken(said: SpokenMemory) -> v1::Fact {
    let kind = match said.id {
        Some(_) => "said",
        None => "written",
    };
    let mut metadata = said.metadata;
    metadata.insert("kind".into(), kind.into());
    if !said.speaker.is_empty() {
        metadata.insert("speaker".into(), said.speaker.into());
    }
    let happened = Some(timestamp(said.happened));
    v1::Fact {
        id: said.id.map_or_else(String::new, |id| id.to_string()),
        scope: Some(scope_message(&said.scope)),
        metadata_json: Value::Object(metadata).to_string(),
        hash: amem_memory::text_hash(&said.text),
        memory: said.text,
        kind: kind.to_owned(),
        confidence: 1.0,
        created_at: happened,
        updated_at: happened,
        event_id: said.event.0,
        happened_at: happened,
        ..v1::Fact::default()
    }
}

/// The only record of the history of a turn: that it was said.
pub(super) fn spoken_record(said: &SpokenMemory) -> v1::FactRecord {
    let id = said.id.map_or_else(String::new, |id| id.to_string());
    v1::FactRecord {
        id: id.clone(),
        event: v1::FactEvent::Add.into(),
        new_memory: Some(said.text.clone()),
        time: Some(timestamp(said.happened)),
        why: "said".to_owned(),
        sources: vec![v1::FactSource {
            id,
            role: said.role.clone(),
            text: said.text.clone(),
            time: Some(timestamp(said.happened)),
            cut: false,
        }],
        source_count: 1,
        event_id: said.event.0,
        ..v1::FactRecord::default()
    }
}

/// The end of a turn that was forgotten: without its words.
pub(super) fn turn_end_record(end: TurnEnd) -> v1::FactRecord {
    v1::FactRecord {
        event: v1::FactEvent::Delete.into(),
        time: Some(timestamp(end.at)),
        why: "caller".to_owned(),
        reason: end.reason.unwrap_or_default(),
        event_id: end.event.0,
        ..v1::FactRecord::default()
    }
}

fn add_event(event: AddEvent) -> v1::FactEvent {
    match event {
        AddEvent::Add => v1::FactEvent::Add,
        AddEvent::Update => v1::FactEvent::Update,
        AddEvent::Delete => v1::FactEvent::Delete,
        AddEvent::None => v1::FactEvent::None,
    }
}

fn result(result: FactResult) -> v1::FactResult {
    v1::FactResult {
        event: add_event(result.event).into(),
        id: result.id.to_string(),
        memory: result.memory,
        old_memory: result.old_memory,
        kind: kind(result.kind),
        validity: validity(result.validity),
        why: Some(v1::FactReason {
            by: result.why.by,
            confidence: result.why.confidence,
            source_ids: texts(&result.why.source_turns),
        }),
        conflict_ids: texts(&result.conflicts),
        quarantined: result.is_quarantined,
        event_id: 0,
        relations: result.graph.relations.into_iter().map(relation).collect(),
        entities: result.graph.entities.into_iter().map(mention).collect(),
    }
}

/// The name of what an entity is; empty if nothing tells.
pub(super) fn entity_kind(kind: Option<EntityKind>) -> String {
    kind.map_or("", EntityKind::name).to_owned()
}

fn mention(mention: EntityMention) -> v1::EntityMention {
    v1::EntityMention {
        kind: entity_kind(mention.kind),
        name: mention.name,
    }
}

/// A relation as a message.
pub(super) fn relation(relation: EntityRelation) -> v1::EntityRelation {
    v1::EntityRelation {
        source: relation.source,
        relation: relation.relation,
        target: relation.target,
    }
}

/// A turn as a message.
pub(super) fn source(turn: SourceTurn) -> v1::FactSource {
    v1::FactSource {
        id: turn.id.to_string(),
        role: turn.role,
        text: turn.text,
        cut: turn.is_cut,
        time: turn.time.map(timestamp),
    }
}

fn pending_work(work: &PendingWork) -> v1::PendingFacts {
    let reason = match work.reason {
        PendingReason::Unreachable => "unreachable",
        PendingReason::RateLimit => "rate_limit",
        PendingReason::Refused => "refused",
        PendingReason::Budget => "budget",
        PendingReason::Embed => "embed",
    };
    v1::PendingFacts {
        id: String::new(),
        scope: None,
        reason: reason.into(),
        detail: work.detail.clone(),
        turn_ids: texts(&work.turns),
        fact_ids: texts(&work.facts),
        tries: work.tries,
        next_try: work.next_try.map(timestamp),
    }
}

pub(super) fn pending(entry: &PendingEntry) -> v1::PendingFacts {
    v1::PendingFacts {
        id: entry.id.to_string(),
        scope: Some(scope_message(&entry.scope)),
        ..pending_work(&entry.work)
    }
}

pub(super) fn added(answer: AddAnswer, moment: v1::Moment) -> v1::AddFactsResponse {
    let skipped = answer.skipped.into_iter().map(|part| v1::SkippedMessage {
        index: u32::try_from(part.message).unwrap_or(u32::MAX),
        what: part.what,
        why: part.why,
    });
    let rejected = answer.rejected.into_iter().map(|fact| v1::RejectedFact {
        // Nothing was stored that a review could name.
        id: fact
            .id
            .filter(|_| !answer.is_dry_run)
            .map_or(String::new(), |id| id.to_string()),
        text: fact.text,
        why: fact.why,
    });
    let stages = answer.stages.into_iter().map(|stage| v1::FactStage {
        stage: stage.stage,
        counts: stage
            .counts
            .into_iter()
            .map(|(what, count)| v1::FactStageCount { what, count })
            .collect(),
    });
    v1::AddFactsResponse {
        stages: stages.collect(),
        moment: Some(moment),
        results: answer.results.into_iter().map(result).collect(),
        pending: answer.pending.iter().map(pending_work).collect(),
        rejected: rejected.collect(),
        skipped: skipped.collect(),
        usage: Some(v1::FactUsage {
            calls: answer.usage.calls,
            retries: answer.usage.retries,
            tokens_in: answer.usage.tokens_in,
            tokens_out: answer.usage.tokens_out,
            model_time: Duration::from_millis(answer.usage.model_millis)
                .try_into()
                .ok(),
        }),
        turn_ids: texts(&answer.turns),
    }
}

pub(super) fn hit(hit: FactHit, explain: bool) -> v1::FactHit {
    let parts = hit.parts;
    v1::FactHit {
        score: hit.score,
        via: hit.via.unwrap_or_default(),
        parts: parts.filter(|_| explain).map(|parts| v1::FactScoreParts {
            text: parts.text,
            vector: parts.vector,
            neighbours: parts.neighbours + parts.session,
            rank: parts.score,
            covered: parts.relevance.covered,
            known: parts.relevance.known,
            meaning: hit.meaning,
        }),
        conflict_ids: texts(&hit.conflicts),
        fact: Some(fact(hit.item)),
    }
}

pub(super) fn feedback(feedback: FactFeedback) -> v1::FactFeedback {
    let rating = match feedback.rating {
        FeedbackRating::Positive => v1::FactRating::Positive,
        FeedbackRating::Negative => v1::FactRating::Negative,
        FeedbackRating::VeryNegative => v1::FactRating::VeryNegative,
        FeedbackRating::Cleared => v1::FactRating::Cleared,
    };
    v1::FactFeedback {
        rating: rating.into(),
        reason: feedback.reason,
        time: Some(timestamp(feedback.at)),
    }
}

/// The judgement of a request.
pub(super) fn rating(rating: i32) -> Result<FeedbackRating> {
    let known = v1::FactRating::try_from(rating).unwrap_or_default();
    Ok(match known {
        v1::FactRating::Positive => FeedbackRating::Positive,
        v1::FactRating::Negative => FeedbackRating::Negative,
        v1::FactRating::VeryNegative => FeedbackRating::VeryNegative,
        v1::FactRating::Cleared => FeedbackRating::Cleared,
        v1::FactRating::Unspecified => {
            let why = format!(
                "unknown rating {rating}: use POSITIVE, NEGATIVE, VERY_NEGATIVE or CLEARED"
            );
            return Err(Refusal::invalid("rating", why));
        }
    })
}

/// What became of a change of a batch.
pub(super) fn change(id: String, done: Result<AddEvent>) -> v1::FactChange {
    match done {
        Ok(event) => v1::FactChange {
            id,
            event: add_event(event).into(),
            ..v1::FactChange::default()
        },
        Err(refusal) => v1::FactChange {
            id,
            reason: refusal.0.reason.into_owned(),
            message: refusal.0.message,
            ..v1::FactChange::default()
        },
    }
}

pub(super) fn record(entry: HistoryEntry) -> v1::FactRecord {
    let event = match entry.record.event {
        HistoryEvent::Add => v1::FactEvent::Add,
        HistoryEvent::Update => v1::FactEvent::Update,
        HistoryEvent::Delete => v1::FactEvent::Delete,
        HistoryEvent::Feedback => v1::FactEvent::Feedback,
    };
    let sources = entry.turns.into_iter().map(source);
    let source_count = u32::try_from(entry.record.sources.len()).unwrap_or(u32::MAX);
    v1::FactRecord {
        source_count,
        id: entry.record.id.to_string(),
        event: event.into(),
        old_memory: entry.record.old_memory,
        new_memory: entry.record.new_memory,
        time: Some(timestamp(entry.record.at)),
        why: entry.record.why,
        sources: sources.collect(),
        replaced_by_id: entry.replaced_by.map_or(String::new(), |id| id.to_string()),
        feedback: entry.feedback.map(feedback),
        reason: entry.reason.unwrap_or_default(),
        event_id: entry.event.0,
    }
}

pub(super) fn scope_count(count: ScopeCount) -> v1::FactScopeCount {
    v1::FactScopeCount {
        field: count.field.into(),
        value: count.value,
        memories: count.memories,
        created_at: Some(timestamp(count.created_at)),
        updated_at: Some(timestamp(count.updated_at)),
    }
}
