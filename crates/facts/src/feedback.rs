//! Feedback: what callers think of memories, as events of their own. The newest one of a memory holds; its text and its
//! history stay as they are.

use amem_format::NodeId;
use amem_format::types::{EventType, Micros};
use amem_format::view::View;
use amem_memory::{Error as MemoryError, FactScope};
use amem_store::mutation::{Answer, Ingest, Mutation, NewEvent};
use uuid::Uuid;

use crate::batch_plan::{derive_none, hide_all};
use crate::error::Result;
use crate::fact_brain::FactBrain;
use crate::fact_state::FactState;
use crate::limits::FEEDBACK_REASON_BYTES_MAX;
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::record::{EventAttributes, FeedbackRating, FeedbackRecord, path};
use amem_query::planner::events_with;

/// The text of the event: it says nothing of the memory.
const FEEDBACK_TEXT: &str = "feedback about a memory";

/// What a caller thinks of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactFeedback {
    /// Its judgement.
    pub rating: FeedbackRating,
    /// Why; empty for no reason.
    pub reason: String,
    /// When it was stored.
    pub at: Micros,
}

impl FactFeedback {
    fn of(record: FeedbackRecord) -> Self {
        Self {
            rating: record.rating,
            reason: record.reason,
            at: record.at,
        }
    }
}

/// All feedback about a memory, in order.
pub(crate) fn feedback_events(view: &View, id: Uuid) -> Result<Vec<(NodeId, FactFeedback)>> {
    let mut found = Vec::new();
    for node in events_with(view, path::FEEDBACK_ID, &id.to_string())? {
        let node = view.node(node)?;
        if node.is_erased() {
            continue;
        }
        let record = EventAttributes::read(&node)?.and_then(|attributes| attributes.feedback);
        if let Some(record) = record.filter(|record| record.id == id) {
            found.push((node.id(), FactFeedback::of(record)));
        }
    }
    Ok(found)
}

/// The feedback about a memory that holds; `None` if there is none, or it was cleared.
pub(crate) fn feedback_of(view: &View, id: Uuid) -> Result<Option<FactFeedback>> {
    let newest = feedback_events(view, id)?.pop();
    let newest = newest.map(|(_, feedback)| feedback);
    Ok(newest.filter(|feedback| feedback.rating != FeedbackRating::Cleared))
}

/// Stores feedback about a current memory (`Facts::set_feedback`).
pub(crate) fn set_feedback(
    brain: &dyn FactBrain,
    state: &FactState,
    (id, scope): (Uuid, &FactScope),
    feedback: FactFeedback,
) -> Result<(Option<FactFeedback>, Option<Answer>)> {
    feedback.validate()?;
    let head = current(&brain.view(), id, scope)?;
    let _held = state.locks.hold([&head.scope].into_iter());
    // What was looked at is compared with what is there now.
    let view = brain.view();
    let head = current(&view, id, scope)?;
    let before = feedback_of(&view, id)?;
    let is_so = match &before {
        Some(before) => before.rating == feedback.rating && before.reason == feedback.reason,
        None => feedback.rating == FeedbackRating::Cleared,
    };
    if is_so {
        return Ok((before, None));
    }
    let mut attributes = EventAttributes::of(&head.scope);
    attributes.feedback = Some(FeedbackRecord {
        id,
        rating: feedback.rating,
        reason: feedback.reason,
        at: feedback.at,
    });
    let mut event = NewEvent::new(EventType::FACT, FEEDBACK_TEXT);
    event.attributes = Some(attributes.to_attributes()?);
    derive_none(&mut event, &view);
    let mut ingest = Ingest {
        events: vec![event],
        ..Ingest::default()
    };
    hide_all(&mut ingest);
    let answer = brain.commit(Mutation::Ingest(ingest))?;
    Ok((feedback_of(&brain.view(), id)?, Some(answer)))
}

/// The current version of a memory within a scope.
fn current(view: &View, id: Uuid, scope: &FactScope) -> Result<ChainEvent> {
    let chain = MemoryChain::of(view, id)?;
    let last = chain.last_version();
    let id = id.to_string();
    if !last.is_some_and(|last| scope.covers(&last.scope)) {
        return Err(MemoryError::NotFound { id }.into());
    }
    let head = chain.head().cloned();
    head.ok_or_else(|| MemoryError::Deleted { id }.into())
}

impl FactFeedback {
    fn validate(&self) -> Result<()> {
        let bytes = self.reason.len();
        if bytes > FEEDBACK_REASON_BYTES_MAX {
            return Err(MemoryError::TooLarge {
                what: "the reason of feedback in bytes",
                found: bytes as u64,
                limit: FEEDBACK_REASON_BYTES_MAX as u64,
            }
            .into());
        }
        if self.rating == FeedbackRating::Cleared && !self.reason.is_empty() {
            let why = "feedback that is cleared has no reason: leave it out".to_owned();
            let field = "reason".to_owned();
            return Err(MemoryError::Invalid { field, why }.into());
        }
        Ok(())
    }
}
