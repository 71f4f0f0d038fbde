//! `remember`: one statement, unless it is known already.

use amem_format::Micros;
use amem_memory::add::{SlotRelation, slot_relation};
use amem_proto::answer::{Refusal, timestamp};
use amem_proto::v1;

use super::parameters::REACHES;
use crate::answer::{day, id_of, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::STATEMENT_BYTES_MAX;
use crate::memories::{AskedMemory, Memories, in_words, write_again};
use crate::memory_place::{MemoryPlace, Reach};

/// The kinds of a statement; the first is that of one without.
pub const STATEMENT_KINDS: [&str; 5] = ["fact", "decision", "inference", "skill", "episode"];
/// What is said of a memory that recall does not show.
pub(super) const IN_QUARANTINE: &str = "\nin quarantine: it reads like an order to a model, so recall does not show it; \
    a person decides with \"amemctl fact review\"";
/// Memories that are compared with a new one.
const COMPARED: u32 = 5;

/// What is left of a text without case, punctuation and spaces.
fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: Vec<String> = words
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

/// A statement to remember.
#[derive(Debug, Clone)]
pub struct Statement {
    /// One to three sentences.
    pub text: String,
    /// One of `STATEMENT_KINDS`.
    pub kind: String,
    /// Ids of the memories that it rests on, as recall shows them.
    pub because: Vec<String>,
    /// Where it is stored.
    pub reach: Reach,
    /// When it happened; unset if that is now.
    pub happened_at: Option<Micros>,
}

/// A statement after `remember`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RememberedStatement {
    /// The memory that says it.
    pub event_id: u64,
    /// True if a memory said the same before: nothing was stored.
    pub was_known: bool,
    /// True if it waits for a person's decision.
    pub is_quarantined: bool,
    /// The answer in words.
    pub words: String,
}

/// Why a statement was not stored.
#[derive(Debug)]
pub enum StatementError {
    /// What is wrong with it.
    Words(String),
    /// What a call refused.
    Refused(Box<Refusal>),
}

impl From<String> for StatementError {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

impl From<Refusal> for StatementError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl StatementError {
    fn in_words(self) -> String {
        match self {
            Self::Words(words) => words,
            Self::Refused(refusal) => in_words(*refusal),
        }
    }
}

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let statement = Statement {
        text: arguments.needed("text")?,
        kind: arguments
            .choice("type", &STATEMENT_KINDS.map(|kind| (kind, kind)))?
            .unwrap_or(STATEMENT_KINDS[0])
            .to_owned(),
        because: arguments.texts("because")?,
        reach: arguments
            .choice("scope", &REACHES[..2])?
            .unwrap_or(Reach::All),
        happened_at: arguments.time("happened_at", &memories.clock())?,
    };
    let done = store(memories, &statement).await;
    done.map(|done| done.words)
        .map_err(StatementError::in_words)
}

/// Stores a statement of an agent, or of a person at a command line, unless a memory in reach says it already.
///
/// # Errors
/// What is wrong with the statement, or what the daemon refuses.
pub async fn remember<C: MemoryCalls>(
    calls: &C,
    place: &MemoryPlace,
    agent: &str,
    statement: &Statement,
) -> Result<RememberedStatement, StatementError> {
    let memories = Memories {
        calls,
        place,
        agent,
    };
    store(&memories, statement).await
}

/// The same, with what a request opened.
async fn store<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    statement: &Statement,
) -> Result<RememberedStatement, StatementError> {
    let text = &statement.text;
    if text.len() > STATEMENT_BYTES_MAX {
        let why = format!(
            "the statement has {} bytes, and {STATEMENT_BYTES_MAX} is the most: store what lasts in one to three \
             sentences, and several things in several calls",
            text.len()
        );
        return Err(why.into());
    }
    if statement.reach == Reach::All {
        memories.place.check_project_named()?;
    }
    let scope = memories.scope(statement.reach)?;
    let reach = match scope.app {
        Some(_) => Reach::Project,
        None => Reach::User,
    };
    let mut because_ids = Vec::new();
    for id in &statement.because {
        let cause = memories.formed(id).await?;
        if !because_ids.contains(&cause.id) {
            because_ids.push(cause.id);
        }
    }
    let near = near(memories, text, reach).await?;
    let same = near
        .iter()
        .find(|fact| normal(&fact.memory) == normal(text));
    if let Some(same) = same {
        return Ok(known(same.event_id, &same.memory));
    }
    let request = v1::AddFactsRequest {
        brain: memories.brain(),
        messages: vec![v1::FactMessage {
            text: text.clone(),
            time: statement.happened_at.map(timestamp),
            ..v1::FactMessage::default()
        }],
        scope: Some(scope),
        infer: Some(false),
        kind: statement.kind.clone(),
        because_ids,
        options: memories.options(),
        // What was done once, and how something is done, contradicts nothing.
        mark_conflicts: !matches!(statement.kind.as_str(), "skill" | "episode"),
        ..v1::AddFactsRequest::default()
    };
    let added = write_again(|| memories.calls.add_facts(request.clone())).await?;
    let Some(result) = added.results.first() else {
        let why = added.rejected.first().map(|rejected| rejected.why.clone());
        let why = why.or_else(|| added.skipped.first().map(|skipped| skipped.why.clone()));
        let why = why.unwrap_or_else(|| "no statement was found in it".to_owned());
        return Err(format!("it was not stored: {why}").into());
    };
    if result.event() == v1::FactEvent::None {
        return Ok(known(result.event_id, &result.memory));
    }
    let stored = stored(memories.place, &statement.kind, reach, &added);
    let beside = beside(memories, text, result, &near).await?;
    Ok(RememberedStatement {
        event_id: result.event_id,
        was_known: false,
        is_quarantined: result.quarantined,
        words: format!("{stored}{beside}"),
    })
}

/// The answer of a statement that was stored.
fn stored(place: &MemoryPlace, kind: &str, reach: Reach, added: &v1::AddFactsResponse) -> String {
    let whose = match (reach, &place.project) {
        (Reach::Project, Some(project)) => format!("project {}", project.label),
        _ => format!("user {}, in every project", place.user),
    };
    let result = added.results.first();
    let own = id_of(result.map_or(0, |result| result.event_id));
    let mut answer = format!("remembered as [{own}] ({kind}, {whose})");
    if result.is_some_and(|result| result.quarantined) {
        answer.push_str(IN_QUARANTINE);
    }
    for masked in added
        .skipped
        .iter()
        .filter(|part| part.what.starts_with("secret"))
    {
        answer.push_str(&format!("\n{}: {}", masked.what, masked.why));
    }
    answer
}

/// The memories that a statement is in conflict with, and those that it may replace.
async fn beside<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    text: &str,
    result: &v1::FactResult,
    near: &[v1::Fact],
) -> Result<String, Refusal> {
    let mut out = String::new();
    for id in &result.conflict_ids {
        let known = near.iter().find(|fact| fact.id == *id).cloned();
        let other = match known {
            Some(fact) => Some(fact),
            None => memories.find(&AskedMemory::Id(id.clone()), None).await?,
        };
        // It may have ended meanwhile.
        if let Some(other) = other.filter(|other| !other.quarantined) {
            out.push_str(&conflict(&other, result.event_id, memories.place));
        }
    }
    let is_close = |fact: &&v1::Fact| {
        !result.conflict_ids.contains(&fact.id)
            && slot_relation(text, &fact.memory) == SlotRelation::Close
    };
    for fact in near.iter().filter(is_close) {
        let id = id_of(fact.event_id);
        out.push_str(&format!(
            "\nclose to [{id}]: \"{}\"; if it replaces that, call correct with id {id} and forget [{}]",
            shortened(&one_line(&fact.memory), 200),
            id_of(result.event_id)
        ));
    }
    Ok(out)
}

/// Both are kept: the line says which memory, since when, and what to do.
fn conflict(other: &v1::Fact, new: u64, place: &MemoryPlace) -> String {
    let id = id_of(other.event_id);
    format!(
        "\nconflict with [{id}], so since {}: \"{}\"; both are kept: if the new one is right, call correct with id \
         {id} and forget [{new}]; if not, forget [{new}]",
        day(other.happened_at.or(other.updated_at), place),
        shortened(&one_line(&other.memory), 200),
        new = id_of(new),
    )
}

fn known(event: u64, text: &str) -> RememberedStatement {
    let shown = shortened(&one_line(text), 300);
    RememberedStatement {
        event_id: event,
        was_known: true,
        is_quarantined: false,
        words: format!("already known as [{}]: {shown}", id_of(event)),
    }
}

/// The memories in reach that are nearest to a text.
async fn near<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    text: &str,
    reach: Reach,
) -> Result<Vec<v1::Fact>, StatementError> {
    let request = v1::SearchFactsRequest {
        brain: memories.brain(),
        query: text.to_owned(),
        filter_json: memories.place.filter(reach, Vec::new())?,
        limit: COMPARED,
        ..v1::SearchFactsRequest::default()
    };
    let found = memories.calls.search_facts(request).await?;
    let hits = found.hits.into_iter();
    Ok(hits.filter_map(|hit| hit.fact).collect())
}

#[cfg(test)]
mod tests {
    use super::normal;

    #[test]
    fn case_and_punctuation_make_no_other_statement_and_numbers_do() {
        assert_eq!(normal("We use pnpm."), normal("we use  `pnpm`"));
        assert_ne!(normal("port 8080"), normal("port 8081"));
        assert_ne!(normal("we do not use npm"), normal("we do use npm"));
    }
}
