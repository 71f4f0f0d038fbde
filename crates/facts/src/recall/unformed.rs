//! The sentences of a turn of which no memory was formed.

use amem_memory::add::sentence_texts;
use uuid::Uuid;

use super::said::TurnMemories;
use super::wording::Wording;
use crate::error::Result;
use crate::scope_plan::FactMoment;
use crate::stored_turns::turn_event;

/// Who a person's turn is from.
const PERSON: &str = "user";

/// The sentences of a person's turn that no memory says, also none that ended since. None for a turn of an agent, and
/// for one that is gone.
pub(crate) fn unformed(moment: &FactMoment, turn: Uuid) -> Result<Vec<String>> {
    let Some((event, record, _)) = turn_event(&moment.view, turn)? else {
        return Ok(Vec::new());
    };
    if record.role != PERSON {
        return Ok(Vec::new());
    }
    let text = moment.view.node(event)?.text()?.into_owned();
    let mut wording = Wording::default();
    let memories = TurnMemories::of(moment, turn, &mut wording)?;
    let mut held = Vec::new();
    for (_, version) in &memories.holding {
        let text = moment.view.node(*version)?.text()?.into_owned();
        held.push(wording.terms(&text));
    }
    let mut sentences = sentence_texts(&text);
    sentences.retain(|sentence| {
        let is_held = held.iter().any(|terms| wording.says(sentence, terms));
        !is_held
            && memories.until(sentence, &mut wording).is_none()
            && !memories.is_forgotten(sentence, &mut wording)
    });
    Ok(sentences)
}
