//! Sessions: opened, closed, and whether an event may join one.

use amem_format::journal::op::Op;
use amem_format::{SessionId, limits};

use crate::error::{Error, Result};
use crate::plan::builder::PlanBuilder;
use crate::plan::values::limit;

impl PlanBuilder<'_> {
    /// Refuses a session that an event cannot join. Session 0 is always open.
    pub(super) fn open(&self, id: SessionId) -> Result<()> {
        if id == SessionId(0) {
            return Ok(());
        }
        match self.view.session(id)? {
            None => Err(Error::UnknownSession { id }),
            Some(session) if session.closed.is_some() => Err(Error::SessionClosed { id }),
            Some(_) => Ok(()),
        }
    }

    pub(super) fn open_session(&mut self, key: &str, agent: &str) -> Result<()> {
        limit(
            "the session's key (bytes)",
            key.len(),
            limits::NAME_BYTES_MAX,
        )?;
        limit(
            "the agent's name (bytes)",
            agent.len(),
            limits::NAME_BYTES_MAX,
        )?;
        if !key.is_empty()
            && let Some(id) = self.view.session_by_key(key)?
        {
            self.open(id)?;
            self.answer.session = Some(id);
            return Ok(());
        }
        let session = self.view.next_session()?;
        self.push(&Op::OpenSession {
            session,
            key,
            agent,
            at: self.next_time,
        });
        self.answer.session = Some(session);
        Ok(())
    }

    pub(super) fn close_session(&mut self, session: SessionId, outcome: &str) -> Result<()> {
        limit(
            "the outcome (bytes)",
            outcome.len(),
            limits::OUTCOME_BYTES_MAX,
        )?;
        if session == SessionId(0) {
            return Err(Error::invalid(
                "session",
                "session 0 belongs to no client and never closes",
            ));
        }
        self.open(session)?;
        self.push(&Op::CloseSession {
            session,
            outcome,
            at: self.next_time,
        });
        self.answer.session = Some(session);
        Ok(())
    }
}
