//! The sentence that a memory is from: what a person said, instead of what was made of it.

use amem_format::types::Micros;
use amem_format::{NodeId, view::View};
use amem_memory::add::gives_orders;
use amem_memory::store::MemoryItem;
use amem_query::context::sentence_ranges;

use super::candidate::{FoundEvent, SaidTurn};
use super::said::TurnMemories;
use super::wording::Wording;
use crate::error::Result;
use crate::limits::PASSAGE_BYTES;
use crate::scope_plan::FactMoment;
use crate::stored_turns::turn_event;

/// Who a person's turn is from.
const PERSON: &str = "user";

/// A sentence of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidSentence {
    /// The words.
    pub text: String,
    /// Who said it; empty if that is not known.
    pub speaker: String,
    /// The event of the turn.
    pub event: NodeId,
    /// When it was said.
    pub happened: Micros,
}

/// The sentence of a person that says what a memory says, of the newest turn that has one; `None` if there is none, if
/// it is longer than a line, or was forgotten.
pub(crate) fn said_sentence(
    moment: &FactMoment,
    item: &MemoryItem,
) -> Result<Option<SaidSentence>> {
    let mut wording = Wording::default();
    let memory = wording.terms(&item.memory);
    for turn in item.sources.iter().rev() {
        let Some(said) = person_turn(&moment.view, *turn)? else {
            continue;
        };
        // A memory of a narrow scope may have been changed by what was said in a wider one.
        if !item.scope.covers(&said.text.scope) {
            continue;
        }
        let text = &said.text.text;
        let mut sentences = sentence_ranges(text).map(|range| &text[range]);
        let Some(sentence) = sentences.find(|sentence| wording.says(sentence, &memory)) else {
            continue;
        };
        let memories = TurnMemories::of(moment, *turn, &mut wording)?;
        let is_left_out = sentence.len() > PASSAGE_BYTES
            || gives_orders(sentence)
            || memories.is_forgotten(sentence, &mut wording)
            || memories.until(sentence, &mut wording).is_some();
        if !is_left_out {
            return Ok(Some(SaidSentence {
                text: sentence.to_owned(),
                speaker: said.text.speaker.clone(),
                event: said.text.node,
                happened: said.text.happened,
            }));
        }
    }
    Ok(None)
}

fn person_turn(view: &View, turn: uuid::Uuid) -> Result<Option<Box<SaidTurn>>> {
    let Some((event, record, _)) = turn_event(view, turn)? else {
        return Ok(None);
    };
    if record.role != PERSON {
        return Ok(None);
    }
    Ok(match FoundEvent::read(view, event)? {
        Some(FoundEvent::Said(said)) => Some(said),
        _ => None,
    })
}
