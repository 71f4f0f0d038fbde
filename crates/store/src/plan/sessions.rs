//! Sessions: opened, closed, and opened again by their use after a close.

use amem_format::journal::op::Op;
use amem_format::{SessionId, limits};

use crate::error::{Error, Result};
use crate::plan::builder::PlanBuilder;
use crate::plan::values::limit;

impl PlanBuilder<'_> {
    /// Whether a session is open; an error if it does not exist. Session 0 is always open.
    pub(super) fn is_open(&self, id: SessionId) -> Result<bool> {
        if id == SessionId(0) {
            return Ok(true);
        }
        match self.view.session(id)? {
            None => Err(Error::UnknownSession { id }),
            Some(session) => Ok(session.closed.is_none()),
        }
    }

    /// Has an event join a session: a closed one is opened again, a new span of it.
    pub(super) fn join(&mut self, id: SessionId) -> Result<()> {
        if self.reopened.contains(&id) || self.is_open(id)? {
            return Ok(());
        }
        // The session was found above.
        if let Some(session) = self.view.session(id)? {
            self.push(&Op::OpenSession {
                session: id,
                key: session.key,
                agent: session.agent,
                at: self.next_time,
            });
            self.reopened.insert(id);
        }
        Ok(())
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
            self.join(id)?;
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
        if !self.is_open(session)? {
            return Err(Error::SessionClosed { id: session });
        }
        self.push(&Op::CloseSession {
            session,
            outcome,
            at: self.next_time,
        });
        self.answer.session = Some(session);
        Ok(())
    }
}
