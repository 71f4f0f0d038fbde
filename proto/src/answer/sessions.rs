//! ListSessions and GetSession.

use amem_format::base::sessions::Session;
use amem_format::view::View;
use amem_format::{NodeId, SessionId};
use amem_query::events::{SessionFilter, SessionSelector, SessionSpans, SpanOverview};
use amem_query::{ListSessions, ShowSession};

use super::event::check_bytes;
use super::question::Evaluate;
use super::refusal::{Refusal, Result};
use super::selection::{count, token, unknown};
use super::word::{moment, timestamp};
use crate::limits::PAGE_ROWS;
use crate::v1;
use crate::v1::get_session_request::Session as Asked;

/// Bytes of a span in an answer, without its texts and lists, at most.
const SPAN_BYTES: usize = 48;

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
        let sizes = page.sessions.iter().zip(&page.spans);
        check_bytes(sizes.map(|(session, spans)| size(session, spans)).sum())?;
        Ok(v1::ListSessionsResponse {
            moment: Some(moment(view)),
            sessions: page.sessions.iter().zip(&page.spans).map(session).collect(),
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
        check_bytes(size(&shown.session, &shown.spans))?;
        Ok(v1::GetSessionResponse {
            moment: Some(moment(view)),
            session: Some(session((&shown.session, &shown.spans))),
            event_count: shown.events as u64,
        })
    }
}

/// Bytes of the texts of a session, and of its spans.
fn size(session: &Session<'_>, spans: &SessionSpans<'_>) -> usize {
    let of = |span: &SpanOverview<'_>| {
        SPAN_BYTES + span.span.outcome.len() + span.episodes.len() * size_of::<NodeId>()
    };
    let texts = session.key.len() + session.agent.len() + session.outcome.len();
    texts + spans.newest.iter().map(of).sum::<usize>()
}

fn span(of: &SpanOverview<'_>) -> v1::SessionSpan {
    v1::SessionSpan {
        opened_at: Some(timestamp(of.span.opened)),
        closed_at: of.span.closed.map(timestamp),
        outcome: of.span.outcome.to_owned(),
        event_count: of.events as u64,
        episode_ids: of.episodes.iter().map(|id| id.0).collect(),
    }
}

fn session((session, spans): (&Session<'_>, &SessionSpans<'_>)) -> v1::Session {
    v1::Session {
        id: session.id.0,
        key: session.key.to_owned(),
        agent: session.agent.to_owned(),
        opened_at: Some(timestamp(session.opened)),
        explicit: session.explicit,
        last_event_at: Some(timestamp(session.last_event)),
        closed_at: session.closed.map(timestamp),
        outcome: session.outcome.to_owned(),
        spans: spans.newest.iter().map(span).collect(),
        span_count: spans.count as u64,
    }
}
