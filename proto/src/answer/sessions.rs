//! ListSessions and GetSession.

use amem_format::SessionId;
use amem_format::base::sessions::Session;
use amem_format::view::View;
use amem_query::events::{SessionFilter, SessionSelector};
use amem_query::{ListSessions, ShowSession};

use super::event::check_bytes;
use super::question::Evaluate;
use super::refusal::{Refusal, Result};
use super::selection::{count, token, unknown};
use super::word::{moment, timestamp};
use crate::limits::PAGE_ROWS;
use crate::v1;
use crate::v1::get_session_request::Session as Asked;

impl Evaluate for v1::ListSessionsRequest {
    type Answer = v1::ListSessionsResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let state = match v1::SessionState::try_from(self.state) {
            Ok(v1::SessionState::Unspecified) => SessionFilter::Any,
            Ok(v1::SessionState::Open) => SessionFilter::Open,
            Ok(v1::SessionState::Closed) => SessionFilter::Closed,
            Err(_) => return Err(unknown("state", self.state)),
        };
        let page = ListSessions {
            state,
            oldest_first: self.oldest_first,
            limit: count(self.page_size, PAGE_ROWS),
            cursor: token(self.page_token),
        };
        let page = page.run(view)?;
        let texts =
            |session: &Session<'_>| session.key.len() + session.agent.len() + session.outcome.len();
        check_bytes(page.sessions.iter().map(texts).sum())?;
        Ok(v1::ListSessionsResponse {
            moment: Some(moment(view)),
            sessions: page.sessions.iter().map(session).collect(),
            next_page_token: page.next.unwrap_or_default(),
        })
    }
}

impl Evaluate for v1::GetSessionRequest {
    type Answer = v1::GetSessionResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let named = match self.session {
            Some(Asked::SessionId(id)) => SessionSelector::Id(SessionId(id)),
            Some(Asked::Key(key)) => SessionSelector::Key(key),
            None => return Err(Refusal::invalid("session", "say its number or its key")),
        };
        let question = ShowSession { session: named };
        let shown = question.run(view)?;
        Ok(v1::GetSessionResponse {
            moment: Some(moment(view)),
            session: Some(session(&shown.session)),
            event_count: shown.events as u64,
        })
    }
}

fn session(session: &Session<'_>) -> v1::Session {
    v1::Session {
        id: session.id.0,
        key: session.key.to_owned(),
        agent: session.agent.to_owned(),
        opened_at: Some(timestamp(session.opened)),
        explicit: session.explicit,
        last_event_at: Some(timestamp(session.last_event)),
        closed_at: session.closed.map(timestamp),
        outcome: session.outcome.to_owned(),
    }
}
