//! What `amemctl fact` shows.

use amem_client::v1;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::json::event::{Time, number};
use crate::render::{Align, TextPage, TextTable, plural, printable};
use crate::when;

#[derive(Serialize)]
struct ScopeJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
}

impl ScopeJson {
    fn of(scope: Option<&v1::Scope>) -> Self {
        let scope = scope.cloned().unwrap_or_default();
        Self {
            user_id: scope.user,
            agent_id: scope.agent,
            app_id: scope.app,
            run_id: scope.run,
        }
    }

    fn text(&self) -> String {
        let parts = [
            ("user", &self.user_id),
            ("agent", &self.agent_id),
            ("app", &self.app_id),
            ("run", &self.run_id),
        ];
        let named = parts.into_iter().filter_map(|(name, value)| {
            let value = value.as_ref()?;
            Some(format!("{name} {value}"))
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

#[derive(Serialize)]
struct ValidityJson {
    from: Option<Time>,
    to: Option<Time>,
    precision: String,
}

impl ValidityJson {
    fn of(validity: Option<&v1::FactValidity>) -> Result<Option<Self>, Failure> {
        let read = |validity: &v1::FactValidity| {
            Ok(Self {
                from: Time::maybe(validity.from)?,
                to: Time::maybe(validity.to)?,
                precision: validity.precision.clone(),
            })
        };
        validity.map(read).transpose()
    }
}

/// What a caller thinks of a memory.
#[derive(Serialize)]
pub(super) struct FeedbackJson {
    rating: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    time: Time,
}

impl FeedbackJson {
    pub(super) fn of(feedback: &v1::FactFeedback) -> Result<Self, Failure> {
        Ok(Self {
            rating: match feedback.rating() {
                v1::FactRating::Positive => "positive",
                v1::FactRating::Negative => "negative",
                v1::FactRating::VeryNegative => "very-negative",
                v1::FactRating::Cleared => "cleared",
                v1::FactRating::Unspecified => "unknown",
            },
            reason: feedback.reason.clone(),
            time: Time::of(feedback.time)?,
        })
    }

    pub(super) fn text(&self) -> String {
        match self.reason.as_str() {
            "" => self.rating.to_owned(),
            reason => format!("{}: {reason}", self.rating),
        }
    }
}

/// A memory.
#[derive(Serialize)]
pub(super) struct FactOutput {
    id: String,
    memory: String,
    hash: String,
    #[serde(flatten)]
    scope: ScopeJson,
    metadata: Value,
    kind: String,
    confidence: Value,
    created_at: Time,
    updated_at: Time,
    expires_at: Option<Time>,
    validity: Option<ValidityJson>,
    quarantined: bool,
    sources: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<FeedbackJson>,
}

impl FactOutput {
    pub(super) fn of(fact: Option<&v1::Fact>) -> Result<Self, Failure> {
        let fact = fact.cloned().unwrap_or_default();
        Ok(Self {
            scope: ScopeJson::of(fact.scope.as_ref()),
            metadata: serde_json::from_str(&fact.metadata_json).unwrap_or(Value::Null),
            confidence: number(fact.confidence),
            created_at: Time::of(fact.created_at)?,
            updated_at: Time::of(fact.updated_at)?,
            expires_at: Time::maybe(fact.expires_at)?,
            validity: ValidityJson::of(fact.validity.as_ref())?,
            id: fact.id,
            memory: fact.memory,
            hash: fact.hash,
            kind: fact.kind,
            quarantined: fact.quarantined,
            sources: fact.source_ids,
            feedback: None,
        })
    }

    /// With what a caller thinks of it.
    pub(super) fn memory(&self) -> &str {
        &self.memory
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn with_feedback(
        self,
        feedback: Option<&v1::FactFeedback>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            feedback: feedback.map(FeedbackJson::of).transpose()?,
            ..self
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        page.title(printable(&self.memory));
        page.field("id", &self.id);
        page.field("of", printable(&self.scope.text()));
        page.field("kind", &self.kind);
        page.field("added", when::long(self.created_at.0));
        if self.updated_at != self.created_at {
            page.field("updated", when::long(self.updated_at.0));
        }
        if let Some(expires) = self.expires_at {
            page.field("expires", when::long(expires.0));
        }
        if self.metadata != Value::Null {
            page.field("metadata", printable(&self.metadata.to_string()));
        }
        if self.quarantined {
            page.field("quarantined", "it gives orders to a model");
        }
        if let Some(feedback) = &self.feedback {
            page.field("feedback", printable(&feedback.text()));
        }
    }
}

/// Memories of a scope.
#[derive(Serialize)]
pub(super) struct FactList {
    facts: Vec<FactOutput>,
}

impl FactList {
    pub(super) fn of(facts: &[v1::Fact]) -> Result<Self, Failure> {
        let facts = facts.iter().map(|fact| FactOutput::of(Some(fact)));
        Ok(Self {
            facts: facts.collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("memory", Align::Left),
            ("kind", Align::Left),
            ("updated", Align::Left),
            ("id", Align::Left),
        ]);
        for fact in &self.facts {
            table.row(vec![
                fact.memory.clone(),
                fact.kind.clone(),
                when::short(fact.updated_at.0),
                fact.id.clone(),
            ]);
        }
        table.write(page);
        page.aside(match self.facts.len() {
            0 => "nothing is remembered".to_owned(),
            n => memories(n as u64),
        });
    }
}

pub(super) fn memories(n: u64) -> String {
    match n {
        1 => "1 memory".to_owned(),
        n => format!("{n} memories"),
    }
}

#[derive(Serialize)]
struct HitJson {
    score: Value,
    #[serde(flatten)]
    fact: FactOutput,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    via: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<PartsJson>,
}

#[derive(Serialize)]
struct PartsJson {
    text: Value,
    vector: Value,
    neighbours: Value,
    rank: Value,
    covered: Value,
    known: Value,
    meaning: Option<Value>,
}

/// The score from which on a memory is likely to be about the question.
const LIKELY_SCORE: f64 = 0.3;

/// Memories that were found.
#[derive(Serialize)]
pub(super) struct SearchOutput {
    hits: Vec<HitJson>,
    #[serde(skip_serializing_if = "is_zero")]
    left_off: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    words_only: String,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl SearchOutput {
    pub(super) fn of(answer: &v1::SearchFactsResponse) -> Result<Self, Failure> {
        let hit = |hit: &v1::FactHit| {
            Ok(HitJson {
                score: number(hit.score),
                fact: FactOutput::of(hit.fact.as_ref())?,
                conflicts: hit.conflict_ids.clone(),
                via: hit.via.clone(),
                parts: hit.parts.map(|parts| PartsJson {
                    text: number(parts.text),
                    vector: number(parts.vector),
                    neighbours: number(parts.neighbours),
                    rank: number(parts.rank),
                    covered: number(parts.covered),
                    known: number(parts.known),
                    meaning: parts.meaning.map(number),
                }),
            })
        };
        let hits = answer.hits.iter().map(hit);
        Ok(Self {
            hits: hits.collect::<Result<_, Failure>>()?,
            left_off: answer.left_off,
            words_only: answer.words_only.clone(),
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("score", Align::Right),
            ("memory", Align::Left),
            ("id", Align::Left),
        ]);
        for hit in &self.hits {
            let score = hit.score.as_f64().unwrap_or_default();
            table.row(vec![
                format!("{score:.2}"),
                hit.fact.memory.clone(),
                hit.fact.id.clone(),
            ]);
        }
        table.write(page);
        for hit in &self.hits {
            if !hit.via.is_empty() {
                page.line(format!("{} by {}", hit.fact.id, printable(&hit.via)));
            }
            if let Some(parts) = &hit.parts {
                page.line(format!(
                    "{}: words {}, vector {}, neighbours {}, rank {}; covered {} of the question, known {}",
                    hit.fact.id,
                    parts.text,
                    parts.vector,
                    parts.neighbours,
                    parts.rank,
                    parts.covered,
                    parts.known
                ));
            }
            if !hit.conflicts.is_empty() {
                let conflicts = hit.conflicts.join(", ");
                page.line(format!("{} may contradict {conflicts}", hit.fact.id));
            }
        }
        let score = |hit: &HitJson| hit.score.as_f64().unwrap_or_default();
        if self.hits.is_empty() {
            page.aside("nothing was found");
        } else if self.hits.iter().all(|hit| score(hit) < LIKELY_SCORE) {
            page.aside("no memory answers much of the question: it may not be known here");
        }
        if self.left_off > 0 {
            let left = memories(self.left_off.into());
            page.aside(format!(
                "{left} more had no room in the answer: ask for fewer"
            ));
        }
        if !self.words_only.is_empty() {
            page.aside(format!(
                "only words were compared: {}",
                printable(&self.words_only)
            ));
        }
    }
}

#[derive(Serialize)]
struct ResultJson {
    event: &'static str,
    id: String,
    memory: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    old_memory: Option<String>,
    kind: String,
    why: String,
    confidence: Value,
    sources: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<String>,
    quarantined: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    entities: Vec<EntityMentionJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relations: Vec<RelationJson>,
}

#[derive(Serialize)]
struct RejectedJson {
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
    text: String,
    why: String,
}

#[derive(Serialize)]
struct SkippedJson {
    message: u32,
    what: String,
    why: String,
}

#[derive(Serialize)]
struct PendingJson {
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
    reason: String,
    detail: String,
    turns: Vec<String>,
    facts: Vec<String>,
    tries: u32,
    next_try: Option<Time>,
}

impl PendingJson {
    fn of(work: &v1::PendingFacts) -> Result<Self, Failure> {
        Ok(Self {
            id: work.id.clone(),
            reason: work.reason.clone(),
            detail: work.detail.clone(),
            turns: work.turn_ids.clone(),
            facts: work.fact_ids.clone(),
            tries: work.tries,
            next_try: Time::maybe(work.next_try)?,
        })
    }

    fn line(&self) -> String {
        let next = self.next_try.map_or_else(
            || "it waits for other settings".to_owned(),
            |next| format!("it is tried again {}", when::short(next.0)),
        );
        format!("pending ({}): {}; {next}", self.reason, self.detail)
    }
}

fn event_name(event: v1::FactEvent) -> &'static str {
    match event {
        v1::FactEvent::Add => "ADD",
        v1::FactEvent::Update => "UPDATE",
        v1::FactEvent::Delete => "DELETE",
        v1::FactEvent::None => "NONE",
        v1::FactEvent::Feedback => "FEEDBACK",
        v1::FactEvent::Unspecified => "UNKNOWN",
    }
}

/// What an add did.
#[derive(Serialize)]
pub(super) struct AddOutput {
    results: Vec<ResultJson>,
    pending: Vec<PendingJson>,
    rejected: Vec<RejectedJson>,
    skipped: Vec<SkippedJson>,
    turns: Vec<String>,
    stages: Vec<StageJson>,
    dry_run: bool,
}

/// What one stage of an add did.
#[derive(Serialize)]
struct StageJson {
    stage: String,
    counts: Map<String, Value>,
}

impl StageJson {
    fn of(stage: &v1::FactStage) -> Self {
        let counts = stage.counts.iter();
        Self {
            stage: stage.stage.clone(),
            counts: counts
                .map(|one| (one.what.clone(), one.count.into()))
                .collect(),
        }
    }

    fn line(&self) -> String {
        let counts = self.counts.iter();
        let counts = counts.map(|(what, count)| format!("{} {count}", what.replace('_', " ")));
        format!(
            "{:<8} {}",
            self.stage,
            counts.collect::<Vec<_>>().join(", ")
        )
    }
}

/// An entity that a memory names.
#[derive(Serialize)]
struct EntityMentionJson {
    name: String,
    kind: String,
}

impl EntityMentionJson {
    fn of(mention: &v1::EntityMention) -> Self {
        Self {
            name: mention.name.clone(),
            kind: mention.kind.clone(),
        }
    }
}

/// How two entities are related.
#[derive(Serialize)]
pub(super) struct RelationJson {
    pub(super) source: String,
    pub(super) relation: String,
    pub(super) target: String,
}

impl RelationJson {
    pub(super) fn of(relation: &v1::EntityRelation) -> Self {
        Self {
            source: relation.source.clone(),
            relation: relation.relation.clone(),
            target: relation.target.clone(),
        }
    }

    pub(super) fn text(&self) -> String {
        format!("{} {} {}", self.source, self.relation, self.target)
    }
}

impl AddOutput {
    pub(super) fn of(answer: &v1::AddFactsResponse, is_dry_run: bool) -> Result<Self, Failure> {
        let result = |result: &v1::FactResult| {
            let why = result.why.clone().unwrap_or_default();
            ResultJson {
                event: event_name(result.event()),
                id: result.id.clone(),
                memory: result.memory.clone(),
                old_memory: result.old_memory.clone(),
                kind: result.kind.clone(),
                why: why.by,
                confidence: number(why.confidence),
                sources: why.source_ids,
                conflicts: result.conflict_ids.clone(),
                quarantined: result.quarantined,
                entities: result.entities.iter().map(EntityMentionJson::of).collect(),
                relations: result.relations.iter().map(RelationJson::of).collect(),
            }
        };
        let rejected = answer.rejected.iter().map(|fact| RejectedJson {
            id: fact.id.clone(),
            text: fact.text.clone(),
            why: fact.why.clone(),
        });
        let skipped = answer.skipped.iter().map(|part| SkippedJson {
            message: part.index,
            what: part.what.clone(),
            why: part.why.clone(),
        });
        let pending = answer.pending.iter().map(PendingJson::of);
        Ok(Self {
            results: answer.results.iter().map(result).collect(),
            pending: pending.collect::<Result<_, _>>()?,
            rejected: rejected.collect(),
            skipped: skipped.collect(),
            turns: answer.turn_ids.clone(),
            stages: answer.stages.iter().map(StageJson::of).collect(),
            dry_run: is_dry_run,
        })
    }

    /// Shows what was done; with `explain` also how: the stages, and what each fact relates.
    pub(super) fn write(&self, page: &mut TextPage, explain: bool) {
        for stage in self.stages.iter().filter(|_| explain) {
            page.line(stage.line());
        }
        for result in &self.results {
            let memory = printable(&result.memory);
            let before = result
                .old_memory
                .as_ref()
                .filter(|_| result.event == "UPDATE");
            let before = before.map(|old| format!(" (was: {})", printable(old)));
            let before = before.unwrap_or_default();
            page.line(format!(
                "{:<6} {memory}{before}  [{}] {}",
                result.event, result.why, result.id
            ));
            for relation in result.relations.iter().filter(|_| explain) {
                page.line(format!("         {}", printable(&relation.text())));
            }
        }
        for work in &self.pending {
            page.line(printable(&work.line()));
        }
        for fact in &self.rejected {
            let (text, why) = (printable(&fact.text), printable(&fact.why));
            page.line(format!("not stored: {text} ({why})"));
        }
        for part in &self.skipped {
            let (what, why) = (printable(&part.what), printable(&part.why));
            page.line(format!(
                "message {}: {what} is skipped ({why})",
                part.message
            ));
        }
        let stored = if self.dry_run {
            "; nothing was stored"
        } else {
            ""
        };
        let facts = plural(self.results.len() as u64, "fact");
        let turns = plural(self.turns.len() as u64, "turn");
        page.aside(format!("{facts} in {turns}{stored}"));
    }
}

/// A turn that a memory is from.
#[derive(Serialize)]
pub(super) struct SourceJson {
    id: String,
    role: String,
    text: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    time: Option<Time>,
}

impl SourceJson {
    pub(super) fn of(source: &v1::FactSource) -> Result<Self, Failure> {
        Ok(Self {
            id: source.id.clone(),
            role: source.role.clone(),
            text: source.text.clone(),
            is_cut: source.cut,
            time: Time::maybe(source.time)?,
        })
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn role(&self) -> &str {
        &self.role
    }
}

/// A version of a memory, its end, or feedback about it.
#[derive(Serialize)]
pub(super) struct RecordJson {
    id: String,
    event: &'static str,
    old_memory: Option<String>,
    new_memory: Option<String>,
    time: Time,
    why: String,
    /// Why the caller changed it.
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
    sources: Vec<SourceJson>,
    source_count: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    replaced_by: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    feedback: Option<FeedbackJson>,
}

impl RecordJson {
    pub(super) fn of(record: &v1::FactRecord) -> Result<Self, Failure> {
        let sources = record.sources.iter().map(SourceJson::of);
        let feedback = record.feedback.as_ref().map(FeedbackJson::of);
        Ok(Self {
            id: record.id.clone(),
            event: event_name(record.event()),
            old_memory: record.old_memory.clone(),
            new_memory: record.new_memory.clone(),
            time: Time::of(record.time)?,
            why: record.why.clone(),
            reason: record.reason.clone(),
            sources: sources.collect::<Result<_, Failure>>()?,
            source_count: record.source_count,
            replaced_by: record.replaced_by_id.clone(),
            feedback: feedback.transpose()?,
        })
    }
}

/// The history of a memory.
#[derive(Serialize)]
pub(super) struct HistoryOutput {
    records: Vec<RecordJson>,
    is_deleted: bool,
}

impl HistoryOutput {
    pub(super) fn of(records: &[v1::FactRecord], is_deleted: bool) -> Result<Self, Failure> {
        let records = records.iter().map(RecordJson::of);
        Ok(Self {
            records: records.collect::<Result<_, Failure>>()?,
            is_deleted,
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        for record in &self.records {
            let text = record.new_memory.as_ref().or(record.old_memory.as_ref());
            let text = match &record.feedback {
                Some(feedback) => feedback.text(),
                None => text.cloned().unwrap_or_default(),
            };
            let (text, why) = (printable(&text), printable(&record.why));
            let time = when::short(record.time.0);
            let reason = match record.reason.as_str() {
                "" => String::new(),
                reason => format!(": {}", printable(reason)),
            };
            page.line(format!(
                "{time}  {:<6} {text}  [{why}{reason}]",
                record.event
            ));
            for source in &record.sources {
                let said = source.time.map(|time| when::short(time.0));
                let said = said.unwrap_or_default();
                let text = match source.text.as_str() {
                    "" => "(erased)".to_owned(),
                    text if source.is_cut => format!("\"{} …\"", printable(text)),
                    text => format!("\"{}\"", printable(text)),
                };
                page.line(format!("    {said} {}: {text}", source.role));
            }
            let more = u64::from(record.source_count).saturating_sub(record.sources.len() as u64);
            if more > 0 {
                page.aside(format!("    and {} more", plural(more, "source")));
            }
        }
        if self.is_deleted {
            page.aside("it is deleted");
        }
    }
}

/// How many memories ended.
#[derive(Serialize)]
pub(super) struct DeletedOutput {
    pub(super) deleted: u64,
}

impl DeletedOutput {
    pub(super) fn write(&self, page: &mut TextPage) {
        let verb = if self.deleted == 1 { "is" } else { "are" };
        page.line(format!("{} {verb} deleted", memories(self.deleted)));
    }
}

/// How many events were erased.
#[derive(Serialize)]
pub(super) struct ResetOutput {
    pub(super) events: u64,
}

impl ResetOutput {
    pub(super) fn write(&self, page: &mut TextPage) {
        page.line(format!("{} erased", plural(self.events, "event")));
    }
}

#[derive(Serialize)]
struct ScopeCountJson {
    field: String,
    value: String,
    memories: u64,
    created_at: Time,
    updated_at: Time,
}

/// Who has memories.
#[derive(Serialize)]
pub(super) struct ScopesOutput {
    scopes: Vec<ScopeCountJson>,
}

impl ScopesOutput {
    pub(super) fn of(scopes: &[v1::FactScopeCount]) -> Result<Self, Failure> {
        let scope = |scope: &v1::FactScopeCount| {
            Ok(ScopeCountJson {
                field: scope.field.clone(),
                value: scope.value.clone(),
                memories: scope.memories,
                created_at: Time::of(scope.created_at)?,
                updated_at: Time::of(scope.updated_at)?,
            })
        };
        let scopes = scopes.iter().map(scope);
        Ok(Self {
            scopes: scopes.collect::<Result<_, Failure>>()?,
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("field", Align::Left),
            ("value", Align::Left),
            ("memories", Align::Right),
            ("updated", Align::Left),
        ]);
        for scope in &self.scopes {
            table.row(vec![
                scope.field.clone(),
                scope.value.clone(),
                scope.memories.to_string(),
                when::short(scope.updated_at.0),
            ]);
        }
        table.write(page);
        if self.scopes.is_empty() {
            page.aside("nothing is remembered");
        }
    }
}

/// Work that is left, and how many pieces another try has done.
#[derive(Serialize)]
pub(super) struct PendingOutput {
    pending: Vec<PendingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<u64>,
}

impl PendingOutput {
    pub(super) fn of(pending: &[v1::PendingFacts], done: Option<u64>) -> Result<Self, Failure> {
        let pending = pending.iter().map(PendingJson::of);
        Ok(Self {
            pending: pending.collect::<Result<_, _>>()?,
            done,
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        for work in &self.pending {
            page.line(printable(&work.line()));
        }
        if let Some(done) = self.done {
            page.line(format!("{done} done"));
        }
        if self.pending.is_empty() {
            page.aside("nothing is pending");
        }
    }
}

#[derive(Serialize)]
struct ConflictJson {
    fact: FactOutput,
    others: Vec<FactOutput>,
    #[serde(skip_serializing_if = "String::is_empty")]
    rejected: String,
}

/// Memories that may contradict others.
#[derive(Serialize)]
pub(super) struct ReviewOutput {
    conflicts: Vec<ConflictJson>,
}

impl ReviewOutput {
    pub(super) fn of(conflicts: &[v1::FactConflict]) -> Result<Self, Failure> {
        let conflict = |conflict: &v1::FactConflict| {
            let others = conflict.others.iter();
            Ok(ConflictJson {
                rejected: conflict.rejected.clone(),
                fact: FactOutput::of(conflict.fact.as_ref())?,
                others: others
                    .map(|other| FactOutput::of(Some(other)))
                    .collect::<Result<_, Failure>>()?,
            })
        };
        let conflicts = conflicts.iter().map(conflict);
        Ok(Self {
            conflicts: conflicts.collect::<Result<_, Failure>>()?,
        })
    }

    pub(super) fn write(&self, page: &mut TextPage) {
        for conflict in &self.conflicts {
            let (memory, id) = (printable(&conflict.fact.memory), &conflict.fact.id);
            let held = match (conflict.fact.quarantined, conflict.rejected.as_str()) {
                (true, _) => "  in quarantine: it gives orders to a model".to_owned(),
                (false, "") => String::new(),
                (false, why) => format!("  no memory yet: {}", printable(why)),
            };
            page.line(format!("{memory}  {id}{held}"));
            for other in &conflict.others {
                let (memory, id) = (printable(&other.memory), &other.id);
                page.line(format!("    may contradict: {memory}  {id}"));
            }
        }
        if self.conflicts.is_empty() {
            page.aside("nothing waits for a review");
        }
    }
}

/// The memories that were erased with a turn.
#[derive(Serialize)]
pub(super) struct ErasedOutput {
    pub(super) memories: Vec<String>,
}

impl ErasedOutput {
    pub(super) fn write(&self, page: &mut TextPage) {
        let count = memories(self.memories.len() as u64);
        page.line(format!("the turn is erased, and {count} with it"));
    }
}
