//! Conversations: the session that turns belong to, and the turn that each one follows.
//!
//! A conversation is stored as an ingest with `follow` stores one: its turns are events of one session, and each has an
//! edge temporal-next to the one before. Memories of the same session are no part of that chain.
//!
//! Promises: a turn costs the same however long its session is.

use amem_format::NodeId;
use amem_format::limits::NAME_BYTES_MAX;
use amem_format::types::SessionId;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::store::FactBatch;
use amem_store::mutation::Mutation;

use crate::error::Result;
use crate::fact_brain::FactBrain;
use crate::limits::SESSION_LOOKBACK_MAX;
use crate::record::{EventAttributes, run_digest};

/// The session of the turns of a batch: the caller's, or else that of the run, which is opened if need be; `None` if
/// the batch has no turns or names neither.
pub(crate) fn session_of(brain: &dyn FactBrain, batch: &FactBatch) -> Result<Option<SessionId>> {
    if batch.turns.is_empty() || batch.session.is_some() {
        return Ok(batch.session.map(SessionId));
    }
    let Some(key) = run_key(&batch.scope) else {
        return Ok(None);
    };
    if let Some(known) = brain.view().session_by_key(&key)? {
        return Ok(Some(known));
    }
    Ok(brain.commit(Mutation::OpenSession { key })?.session)
}

/// The key of the session of a run. Runs of two users may have one name, and are two sessions.
fn run_key(scope: &FactScope) -> Option<String> {
    let run = scope.run.as_ref()?;
    let digest = run_digest(scope);
    let is_alone = scope.user.is_none() && scope.agent.is_none() && scope.app.is_none();
    let key = if is_alone {
        run.clone()
    } else {
        format!("{run}@{digest}")
    };
    Some(if key.len() <= NAME_BYTES_MAX {
        key
    } else {
        digest
    })
}

/// The event that the next turn of a session follows: the newest one that is no memory.
pub(crate) fn last_said(view: &View, session: SessionId) -> Result<Option<NodeId>> {
    let mut at = view.last_of_session(session)?;
    for _ in 0..SESSION_LOOKBACK_MAX {
        let Some(id) = at else { break };
        let node = view.node(id)?;
        let attributes = EventAttributes::read(&node)?;
        if !node.is_erased() && attributes.is_none_or(|known| known.fact.is_none()) {
            return Ok(Some(id));
        }
        at = view.before_in_session(session, id)?;
    }
    Ok(None)
}
