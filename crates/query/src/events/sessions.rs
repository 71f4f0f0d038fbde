//! Sessions: a list, page by page, and a single session.
//!
//! A session has the times and the outcome of its latest span at the view's moment, and its earlier spans beside it.

use serde_json::json;

use super::spans::SessionSpans;
use crate::answer::{AnswerStamp, check_limit};
use crate::limits::SPANS_SHOWN_MAX;
use crate::planner::cursor::PageCursor;
use crate::planner::listing::check_moment;
use amem_format::base::sessions::Session;
use amem_format::error::{Error, Result};
use amem_format::types::{NodeId, SessionId};
use amem_format::view::View;

/// Filters sessions by state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SessionFilter {
    /// All sessions.
    #[default]
    Any,
    /// Sessions that are not closed.
    Open,
    /// Closed sessions.
    Closed,
}

/// Lists sessions by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListSessions {
    /// The sessions to list.
    pub state: SessionFilter,
    /// The lowest number first; otherwise the highest.
    pub oldest_first: bool,
    /// Sessions per page, 1 to `limits::PAGE_MAX`; default 50.
    pub limit: usize,
    /// The token of the previous page; none for the first.
    pub cursor: Option<String>,
}

impl Default for ListSessions {
    fn default() -> Self {
        Self {
            state: SessionFilter::Any,
            oldest_first: false,
            limit: 50,
            cursor: None,
        }
    }
}

/// One page of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage<'v> {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The sessions, in order.
    pub sessions: Vec<Session<'v>>,
    /// The spans of each of them, at most `limits::SPANS_LISTED_MAX`.
    pub spans: Vec<SessionSpans<'v>>,
    /// The token of the next page; none at the end. Sessions opened meanwhile appear if their number is still to come.
    pub next: Option<String>,
}

impl ListSessions {
    /// Runs the query on a view.
    pub fn run<'v>(&self, view: &'v View) -> Result<SessionPage<'v>> {
        check_limit(self.limit)?;
        let state = match self.state {
            SessionFilter::Any => "any",
            SessionFilter::Open => "open",
            SessionFilter::Closed => "closed",
        };
        let canonical = json!(["sessions", state, self.oldest_first]);
        let query = PageCursor::hash(canonical.to_string().as_bytes());
        let decode = |token: &String| PageCursor::decode(token, view.instance(), query);
        let cursor = self.cursor.as_ref().map(decode).transpose()?;
        if let Some(cursor) = &cursor {
            check_moment(cursor, view)?;
        }
        let after = cursor.map(|c| SessionId(c.id.0.min(u32::MAX.into()) as u32));
        let (mut sessions, mut is_more) = (Vec::new(), false);
        for id in view.session_ids(after, !self.oldest_first)? {
            let Some(session) = view.session(id?)? else {
                continue;
            };
            let is_wanted = match self.state {
                SessionFilter::Any => true,
                SessionFilter::Open => session.closed.is_none(),
                SessionFilter::Closed => session.closed.is_some(),
            };
            if !is_wanted {
                continue;
            }
            if sessions.len() == self.limit {
                is_more = true;
                break;
            }
            sessions.push(session);
        }
        let last = sessions.last().filter(|_| is_more);
        let next = last.map(|last| {
            PageCursor {
                instance: view.instance(),
                lsn: cursor.map_or(view.moment().0, |c| c.lsn),
                query,
                keys: [0; 2],
                id: NodeId(last.id.0.into()),
            }
            .encode()
        });
        let spans = sessions.iter();
        let spans = spans.map(|session| SessionSpans::listed(view, session.id));
        Ok(SessionPage {
            answered: AnswerStamp::by(view),
            spans: spans.collect::<Result<_>>()?,
            sessions,
            next,
        })
    }
}

/// Identifies a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSelector {
    /// By number.
    Id(SessionId),
    /// By the client's own key.
    Key(String),
}

/// Shows one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowSession {
    /// The session to show.
    pub session: SessionSelector,
}

impl Default for ShowSession {
    fn default() -> Self {
        Self {
            session: SessionSelector::Id(SessionId(0)),
        }
    }
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOverview<'v> {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The session.
    pub session: Session<'v>,
    /// The number of its events at the moment asked about, hidden ones included. `Pattern` lists them.
    pub events: usize,
    /// Its spans, at most `limits::SPANS_SHOWN_MAX`.
    pub spans: SessionSpans<'v>,
}

impl ShowSession {
    /// Runs the query on a view.
    pub fn run<'v>(&self, view: &'v View) -> Result<SessionOverview<'v>> {
        let id = match &self.session {
            SessionSelector::Id(id) => Some(*id),
            SessionSelector::Key(key) => view.session_by_key(key)?,
        };
        let session = id.map_or(Ok(None), |id| view.session(id))?;
        let session = session.ok_or_else(|| {
            let name = match &self.session {
                SessionSelector::Id(id) => format!("number {id}"),
                SessionSelector::Key(key) => format!(
                    "the key {:?}",
                    amem_format::attributes::json_path::shortened(key)
                ),
            };
            Error::UnknownSession { name }
        })?;
        Ok(SessionOverview {
            answered: AnswerStamp::by(view),
            events: view.of_session(session.id)?.len(),
            spans: SessionSpans::of(view, session.id, SPANS_SHOWN_MAX)?,
            session,
        })
    }
}
