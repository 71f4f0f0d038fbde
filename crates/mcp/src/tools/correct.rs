//! `correct`: what is true now in place of a memory, and what rested on it.

use amem_proto::answer::Code;
use amem_proto::v1;

use super::remember::IN_QUARANTINE;
use crate::answer::{Answer, id_of, line, one_line, shortened};
use crate::arguments::{Arguments, Words};
use crate::calls::MemoryCalls;
use crate::limits::{STATEMENT_BYTES_MAX, TOKENS_DEFAULT};
use crate::memories::{Memories, in_words};

pub(super) async fn run<C: MemoryCalls>(
    memories: &Memories<'_, C>,
    mut arguments: Arguments<'_>,
) -> Words<String> {
    let id = arguments.needed("id")?;
    let text = arguments.needed("text")?;
    let reason = arguments.text("reason")?.unwrap_or_default();
    if text.len() > STATEMENT_BYTES_MAX {
        return Err(format!(
            "the statement has {} bytes, and {STATEMENT_BYTES_MAX} is the most",
            text.len()
        ));
    }
    let named = memories.formed_version(&id).await?;
    let old = named.fact;
    let shown = |fact: &v1::Fact| shortened(&one_line(&fact.memory), 300);
    if let Some(event) = named.replaced
        && old.memory != text
    {
        // Another agent was first: what the caller read is not what it would replace.
        return Err(format!(
            "[{}] was replaced already by [{}]: {}; if that is wrong as well, correct {}",
            id_of(event),
            id_of(old.event_id),
            shown(&old),
            id_of(old.event_id)
        ));
    }
    if old.memory == text {
        return Ok(format!(
            "[{}] says so already: {}",
            id_of(old.event_id),
            shown(&old)
        ));
    }
    let request = v1::UpdateFactRequest {
        brain: memories.brain(),
        id: old.id.clone(),
        text: Some(text),
        expected_text: Some(old.memory.clone()),
        reason,
        options: memories.options(),
        ..v1::UpdateFactRequest::default()
    };
    let updated = memories.calls.update_fact(request).await;
    let updated = updated.map_err(|refusal| match refusal.code {
        Code::Aborted => format!(
            "[{}] changed in the meantime: recall it by its id, and correct what it says then",
            id_of(old.event_id)
        ),
        _ => in_words(refusal),
    })?;
    let new = updated.fact.unwrap_or_default();
    let head = format!(
        "[{}] replaces [{}], which is kept as history: {}",
        id_of(new.event_id),
        id_of(old.event_id),
        shown(&new)
    );
    let head = match new.quarantined && !old.quarantined {
        true => head + IN_QUARANTINE,
        false => head,
    };
    let rested = memories.resting_on(&old.id, None).await?;
    let mut answer = Answer::within(TOKENS_DEFAULT);
    let mut left = 0;
    for fact in &rested {
        if !answer.push(&line(fact, &[], memories.place, 300)) {
            left += 1;
        }
    }
    let head = match rested.len() {
        0 => format!("{head}\nnothing rested on it"),
        count => format!("{head}\n{count} rested on it; think over whether they still hold:"),
    };
    let end = match left {
        0 => String::new(),
        left => format!("{left} more: why with direction consequences shows them"),
    };
    Ok(answer.finish(&head, &end))
}
