//! `forget`: memories end, or are erased.

use amem_proto::v1;

use crate::answer::{id_of, is_spoken, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::IDS_MAX;
use crate::memories::{Memories, in_words, write_again};

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let ids = arguments.texts("ids")?;
    let reason = arguments.text("reason")?.unwrap_or_default();
    let erase = arguments.is_true("erase")?;
    if ids.is_empty() || ids.len() > IDS_MAX {
        return Err(format!(
            "forget takes 1 to {IDS_MAX} ids, not {}",
            ids.len()
        ));
    }
    // All are looked up first: a wrong id changes nothing.
    let mut facts: Vec<v1::Fact> = Vec::new();
    for id in &ids {
        let named = memories.named_version(id, None).await?;
        let fact = named.fact;
        if is_spoken(&fact) && (erase || fact.id.is_empty()) {
            return Err(not_by_agents(&fact));
        }
        if let Some(event) = named.replaced {
            return Err(format!(
                "[{}] was replaced by [{}]: {}; forget {} to end both",
                id_of(event),
                id_of(fact.event_id),
                shortened(&one_line(&fact.memory), 200),
                id_of(fact.event_id)
            ));
        }
        if !facts.iter().any(|known| known.id == fact.id) {
            facts.push(fact);
        }
    }
    let mut lines = Vec::new();
    for fact in &facts {
        let request = v1::DeleteFactRequest {
            brain: memories.brain(),
            id: fact.id.clone(),
            reason: reason.clone(),
            erase,
            options: memories.options(),
            ..v1::DeleteFactRequest::default()
        };
        let done = write_again(|| memories.calls.delete_fact(request.clone())).await;
        done.map_err(|refusal| match lines.len() {
            0 => in_words(refusal),
            count => format!("{}; {count} before it are done", in_words(refusal)),
        })?;
        let id = id_of(fact.event_id);
        // What is erased is not repeated.
        lines.push(match erase {
            true => format!("erased [{id}], with its history"),
            false => format!("forgot [{id}]: {}", shortened(&one_line(&fact.memory), 120)),
        });
    }
    Ok(lines.join("\n"))
}

/// Why an agent does not erase what was said, or end what another program wrote, and what a person can do.
fn not_by_agents(fact: &v1::Fact) -> String {
    let event = id_of(fact.event_id);
    match fact.id.as_str() {
        "" => format!(
            "[{event}] was written by another program: a person ends it with `amemctl forget`"
        ),
        turn => format!(
            "[{event}] is what was said: forget it without erase; a person erases it with `amemctl fact erase-source {turn}`"
        ),
    }
}
