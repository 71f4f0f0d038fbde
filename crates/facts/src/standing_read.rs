//! Reading the turns that were stored before standing instructions were set apart, or by earlier rules.
//!
//! A hidden event with `amem.standing` says below which event all turns were read, so that a restart goes on there.
//! Each reading looks at a bounded number of turns and marks a bounded number of turns, in their attributes.
//! Promises: a turn that is marked already is not written again; what is forgotten or erased stays as it is, and what
//! others change meanwhile; a turn whose attributes have no room holds up no other.
//! Not here: when brains are read (`amemd`), and what a standing instruction is (`amem_memory`).

use amem_engine::Error as EngineError;
use amem_format::event::Attributes;
use amem_format::types::EventType;
use amem_format::view::View;
use amem_format::{Error as FormatError, NodeId};
use amem_memory::FactScope;
use amem_memory::add::STANDING_RULES;
use amem_query::planner::events_with;
use amem_store::Error as StoreError;
use amem_store::mutation::{Ingest, Mutation, NewEvent};
use serde_json::{Value, json};

use crate::batch_plan::{derive_none, hide_all};
use crate::error::Result;
use crate::facts::Facts;
use crate::limits::{
    STANDING_MARK_TRIES, STANDING_MARKED_MAX, STANDING_NOTED_AFTER, STANDING_READ_MAX,
};
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
    /// Turns that cannot be marked: their attributes have no room.
    pub refused: usize,
    /// True if no turn is left that was not read.
    pub is_done: bool,
}

/// What became of one turn.
enum MarkOutcome {
    Marked,
    /// It states nothing, has its mark, or is gone.
    Unchanged,
    /// Its attributes have no room.
    Refused,
    /// Others change the brain all the time.
    Busy,
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
        let (mut read, mut marked, mut refused) = (0, 0, 0);
        let mut failure = None;
        for turn in &turns {
            if read == STANDING_READ_MAX || marked == STANDING_MARKED_MAX {
                break;
            }
            match self.mark(&view, *turn) {
                Ok(MarkOutcome::Marked) => marked += 1,
                Ok(MarkOutcome::Refused) => refused += 1,
                Ok(MarkOutcome::Unchanged) => {}
                // The next reading begins with this turn.
                Ok(MarkOutcome::Busy) => break,
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
            read += 1;
        }
        let next = turns.get(read).map_or(view.nodes(), |turn| turn.0);
        if marked > 0 || read >= STANDING_NOTED_AFTER {
            self.note_read(next)?;
        }
        match failure {
            Some(error) => Err(error),
            None => Ok(StandingRead {
                marked,
                refused,
                is_done: read == turns.len(),
            }),
        }
    }

    /// Marks a turn that the view has, if it states something and is not marked.
    fn mark(&self, view: &View, target: NodeId) -> Result<MarkOutcome> {
        if unmarked(view, target)?.is_none() {
            return Ok(MarkOutcome::Unchanged);
        }
        for _ in 0..STANDING_MARK_TRIES {
            // What others did since is kept: the change is refused if there is something newer than its view.
            let view = self.brain.view();
            let Some(attributes) = unmarked(&view, target)? else {
                return Ok(MarkOutcome::Unchanged);
            };
            let change = Mutation::SetAttributes {
                target,
                attributes: Some(attributes),
            };
            match self.brain.commit_after(change, view.lsn()) {
                Ok(_) => return Ok(MarkOutcome::Marked),
                Err(EngineError::Store(why)) if matches!(*why, StoreError::Aborted { .. }) => {}
                Err(EngineError::Format(why))
                    if matches!(
                        *why,
                        FormatError::Limit { .. } | FormatError::Invalid { .. }
                    ) =>
                {
                    return Ok(MarkOutcome::Refused);
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(MarkOutcome::Busy)
    }

    fn note_read(&self, read: u64) -> Result<()> {
        let mut attributes = EventAttributes::of(&FactScope::default());
        attributes.standing_read = Some(StandingReadRecord {
            instance: self.brain.view().instance(),
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
        if let Some(record) = record.filter(|record| record.instance == view.instance()) {
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
