//! Reading the turns that were stored before standing instructions were set apart, or by earlier rules.
//!
//! A hidden event with `amem.standing` says below which event all turns were read, so that a restart goes on there.
//! Each reading looks at a bounded number of turns and marks a bounded number of turns, in their attributes.
//! Promises: a turn that is marked already is not written again; what is forgotten or erased stays as it is.
//! Not here: when brains are read (`amemd`), and what a standing instruction is (`amem_memory`).

use amem_format::NodeId;
use amem_format::event::Attributes;
use amem_format::types::EventType;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::add::STANDING_RULES;
use amem_query::planner::events_with;
use amem_store::mutation::{Ingest, Mutation, NewEvent};
use serde_json::{Value, json};

use crate::batch_plan::{derive_none, hide_all};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::limits::{STANDING_MARKED_MAX, STANDING_NOTED_AFTER, STANDING_READ_MAX};
use crate::record::{EventAttributes, StandingReadRecord, path};
use crate::standing_turns::standing_of;

/// The text of the event that says how far turns were read.
const READ_TEXT: &str = "turns were read for standing instructions";
/// Who a person's turn is from.
const PERSON: &str = "user";
/// What the attributes of a turn have.
const TURN: &str = "amem.turn";

/// What one reading did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StandingRead {
    /// Turns that it marked.
    pub marked: usize,
    /// True if no turn is left that was not read.
    pub is_done: bool,
}

impl Facts<'_> {
    /// Reads the next turns of the brain for standing instructions, from where the reading before ended.
    ///
    /// # Errors
    /// Of the brain: what was marked before stays marked.
    pub fn read_standing(&self) -> Result<StandingRead> {
        // The same turns are not read twice at once.
        let _alone = self.state.hold_standing();
        let view = self.brain.view();
        let from = read_before(&view)?;
        let mut turns = events_with(&view, path::TURN_ROLE, PERSON)?;
        turns.retain(|turn| turn.0 >= from);
        let (mut read, mut marked) = (0, 0);
        for turn in &turns {
            if read == STANDING_READ_MAX || marked == STANDING_MARKED_MAX {
                break;
            }
            if let Some(attributes) = unmarked(&view, *turn)? {
                marked += usize::from(self.mark(*turn, attributes)?);
            }
            read += 1;
        }
        let next = turns.get(read).map_or(view.nodes(), |turn| turn.0);
        if marked > 0 || read >= STANDING_NOTED_AFTER {
            self.note_read(next)?;
        }
        Ok(StandingRead {
            marked,
            is_done: read == turns.len(),
        })
    }

    /// Marks a turn; false if it was forgotten or erased meanwhile.
    fn mark(&self, target: NodeId, attributes: Attributes) -> Result<bool> {
        let change = Mutation::SetAttributes {
            target,
            attributes: Some(attributes),
        };
        match self.brain.commit(change) {
            Ok(_) => Ok(true),
            Err(failure) => {
                let view = self.brain.view();
                let node = view.node(target)?;
                match node.is_forgotten() || node.is_erased() {
                    true => Ok(false),
                    false => Err(Error::Engine(failure)),
                }
            }
        }
    }

    fn note_read(&self, read: u64) -> Result<()> {
        let mut attributes = EventAttributes::of(&FactScope::default());
        attributes.standing_read = Some(StandingReadRecord {
            rules: STANDING_RULES.to_string(),
            read,
        });
        let mut event = NewEvent::new(EventType::FACT, READ_TEXT);
        event.attributes = Some(attributes.to_attributes()?);
        derive_none(&mut event, &self.brain.view());
        let mut ingest = Ingest {
            events: vec![event],
            ..Ingest::default()
        };
        hide_all(&mut ingest);
        self.brain.commit(Mutation::Ingest(ingest))?;
        Ok(())
    }
}

/// Below which event the turns were read by these rules.
fn read_before(view: &View) -> Result<u64> {
    let mut notes = events_with(view, path::STANDING_RULES, &STANDING_RULES.to_string())?;
    while let Some(note) = notes.pop() {
        let attributes = EventAttributes::read(&view.node(note)?)?;
        let record = attributes.and_then(|attributes| attributes.standing_read);
        if let Some(record) = record {
            return Ok(record.read);
        }
    }
    Ok(0)
}

/// The attributes of a person's turn with what it states, unless it states nothing or has them.
fn unmarked(view: &View, id: NodeId) -> Result<Option<Attributes>> {
    let node = view.node(id)?;
    if node.is_forgotten() || node.is_erased() {
        return Ok(None);
    }
    let Some(known) = EventAttributes::read(&node)? else {
        return Ok(None);
    };
    let scope = known.scope();
    let Some(turn) = known.turn.filter(|turn| turn.role == PERSON) else {
        return Ok(None);
    };
    let standing = standing_of(&node.text()?, &scope);
    if standing.is_none() || standing == turn.standing {
        return Ok(None);
    }
    // What others keep with the turn stays.
    let parsed = node
        .attributes_json()?
        .and_then(|json| serde_json::from_str(&json).ok());
    let Some(Value::Object(mut attributes)) = parsed else {
        return Ok(None);
    };
    if let Some(Value::Object(turn)) = attributes.get_mut(TURN) {
        turn.insert("standing".into(), json!(standing));
    }
    Ok(Some(attributes))
}
