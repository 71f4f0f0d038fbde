//! `remember`: one statement, unless it is known already.

use amem_memory::{SlotRelation, slot_relation};
use amem_proto::answer::timestamp;
use amem_proto::v1;

use super::parameters::REACHES;
use crate::answer::{day, id_of, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::STATEMENT_BYTES_MAX;
use crate::memories::{AskedMemory, Memories, in_words, write_again};
use crate::memory_place::{MemoryPlace, Reach};

const TYPES: [(&str, &str); 5] = [
    ("fact", "fact"),
    ("decision", "decision"),
    ("inference", "inference"),
    ("skill", "skill"),
    ("episode", "episode"),
];
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

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let text = arguments.needed("text")?;
    if text.len() > STATEMENT_BYTES_MAX {
        return Err(format!(
            "the statement has {} bytes, and {STATEMENT_BYTES_MAX} is the most: store what lasts in one to three \
             sentences, and several things in several calls",
            text.len()
        ));
    }
    let kind = arguments.choice("type", &TYPES)?.unwrap_or("fact");
    let because = arguments.texts("because")?;
    let reach = arguments
        .choice("scope", &REACHES[..2])?
        .unwrap_or(Reach::All);
    let happened_at = arguments.time("happened_at", &memories.clock())?;
    if reach == Reach::All {
        memories.place.check_project_named()?;
    }
    let scope = memories.scope(reach)?;
    let reach = match scope.app {
        Some(_) => Reach::Project,
        None => Reach::User,
    };
    let mut because_ids = Vec::new();
    for id in &because {
        let cause = memories.named(id, None).await?;
        if !because_ids.contains(&cause.id) {
            because_ids.push(cause.id);
        }
    }
    let near = near(memories, &text, reach).await?;
    let same = near
        .iter()
        .find(|fact| normal(&fact.memory) == normal(&text));
    if let Some(same) = same {
        return Ok(known(same.event_id, &same.memory));
    }
    let options = memories.options();
    let request = v1::AddFactsRequest {
        brain: memories.brain(),
        messages: vec![v1::FactMessage {
            text: text.clone(),
            time: happened_at.map(timestamp),
            ..v1::FactMessage::default()
        }],
        scope: Some(scope),
        infer: Some(false),
        kind: kind.to_owned(),
        because_ids,
        options,
        // What was done once, and how something is done, contradicts nothing.
        mark_conflicts: !matches!(kind, "skill" | "episode"),
        ..v1::AddFactsRequest::default()
    };
    let added = write_again(|| memories.calls.add_facts(request.clone())).await;
    let added = added.map_err(in_words)?;
    let Some(result) = added.results.first() else {
        let why = added.rejected.first().map(|rejected| rejected.why.clone());
        let why = why.or_else(|| added.skipped.first().map(|skipped| skipped.why.clone()));
        return Err(format!(
            "it was not stored: {}",
            why.unwrap_or_else(|| "no statement was found in it".to_owned())
        ));
    };
    if result.event() == v1::FactEvent::None {
        return Ok(known(result.event_id, &result.memory));
    }
    let place = match (reach, &memories.place.project) {
        (Reach::Project, Some(project)) => format!("project {}", project.label),
        _ => format!("user {}, in every project", memories.place.user),
    };
    let mut answer = format!(
        "remembered as [{}] ({kind}, {place})",
        id_of(result.event_id)
    );
    if result.quarantined {
        answer.push_str(IN_QUARANTINE);
    }
    for masked in added
        .skipped
        .iter()
        .filter(|part| part.what.starts_with("secret"))
    {
        answer.push_str(&format!("\n{}: {}", masked.what, masked.why));
    }
    for id in &result.conflict_ids {
        let known = near.iter().find(|fact| fact.id == *id).cloned();
        let other = match known {
            Some(fact) => Some(fact),
            None => memories
                .find(&AskedMemory::Id(id.clone()), None)
                .await
                .map_err(in_words)?,
        };
        // It may have ended meanwhile.
        if let Some(other) = other.filter(|other| !other.quarantined) {
            answer.push_str(&conflict(&other, result.event_id, memories.place));
        }
    }
    let is_close = |fact: &&v1::Fact| {
        !result.conflict_ids.contains(&fact.id)
            && slot_relation(&text, &fact.memory) == SlotRelation::Close
    };
    for fact in near.iter().filter(is_close) {
        let id = id_of(fact.event_id);
        answer.push_str(&format!(
            "\nclose to [{id}]: \"{}\"; if it replaces that, call correct with id {id} and forget [{}]",
            shortened(&one_line(&fact.memory), 200),
            id_of(result.event_id)
        ));
    }
    Ok(answer)
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

fn known(event: u64, text: &str) -> String {
    format!(
        "already known as [{}]: {}",
        id_of(event),
        shortened(&one_line(text), 300)
    )
}

/// The memories in reach that are nearest to a text.
async fn near<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    text: &str,
    reach: Reach,
) -> Words<Vec<v1::Fact>> {
    let request = v1::SearchFactsRequest {
        brain: memories.brain(),
        query: text.to_owned(),
        filter_json: memories.place.filter(reach, Vec::new())?,
        limit: COMPARED,
        ..v1::SearchFactsRequest::default()
    };
    let found = memories
        .calls
        .search_facts(request)
        .await
        .map_err(in_words)?;
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
