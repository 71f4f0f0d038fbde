//! Sessions: a list of them, page by page, and one of them.
//!
//! What is known of a session is told as of now, in an `as_of` view, too.

use serde_json::json;

use crate::answer::{Answered, check_limit};
use crate::planner::cursor::Cursor;
use crate::planner::listing::check_moment;
use amem_format::base::sessions::Session;
use amem_format::error::{Error, Result};
use amem_format::types::{NodeId, SessionId};
use amem_format::view::View;

/// Which sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum State {
    /// All.
    #[default]
    Any,
    /// Those that were not closed.
    Open,
    /// Those that were.
    Closed,
}

/// Asks for sessions, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// Which.
    pub state: State,
    /// The lowest number first; otherwise the highest.
    pub oldest_first: bool,
    /// Sessions of one page, 1 to `limits::PAGE_MAX`; 50 unless told otherwise.
    pub limit: usize,
    /// The token of the page before; none for the first.
    pub cursor: Option<String>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            state: State::Any,
            oldest_first: false,
            limit: 50,
            cursor: None,
        }
    }
}

/// One page of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionPage<'v> {
    /// Who answered.
    pub answered: Answered,
    /// The sessions, in order.
    pub sessions: Vec<Session<'v>>,
    /// The token of the next page; none at the end. Sessions that are opened meanwhile show if their number is
    /// still to come.
    pub next: Option<String>,
}

impl Sessions {
    /// Answers from a view.
    pub fn run<'v>(&self, view: &'v View) -> Result<SessionPage<'v>> {
        check_limit(self.limit)?;
        let state = match self.state {
            State::Any => "any",
            State::Open => "open",
            State::Closed => "closed",
        };
        let canonical = json!(["sessions", state, self.oldest_first]);
        let query = Cursor::hash(canonical.to_string().as_bytes());
        let decode = |token: &String| Cursor::decode(token, view.instance(), query);
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
                State::Any => true,
                State::Open => session.closed.is_none(),
                State::Closed => session.closed.is_some(),
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
            Cursor {
                instance: view.instance(),
                lsn: cursor.map_or(view.moment().0, |c| c.lsn),
                query,
                keys: [0; 2],
                id: NodeId(last.id.0.into()),
            }
            .encode()
        });
        Ok(SessionPage {
            answered: Answered::by(view),
            sessions,
            next,
        })
    }
}

/// Names a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By number.
    Id(SessionId),
    /// By the client's own key.
    Key(String),
}

/// Asks for one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShowSession {
    /// Which.
    pub session: Named,
}

impl Default for ShowSession {
    fn default() -> Self {
        Self {
            session: Named::Id(SessionId(0)),
        }
    }
}

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'v> {
    /// Who answered.
    pub answered: Answered,
    /// What is known of it.
    pub session: Session<'v>,
    /// Its events at the moment asked about, hidden ones counted. A pattern lists them.
    pub events: usize,
}

impl ShowSession {
    /// Answers from a view.
    pub fn run<'v>(&self, view: &'v View) -> Result<Shown<'v>> {
        let id = match &self.session {
            Named::Id(id) => Some(*id),
            Named::Key(key) => view.session_by_key(key)?,
        };
        let session = id.map_or(Ok(None), |id| view.session(id))?;
        let session = session.ok_or_else(|| {
            let name = match &self.session {
                Named::Id(id) => format!("number {id}"),
                Named::Key(key) => format!(
                    "the key {:?}",
                    amem_format::attributes::place::shortened(key)
                ),
            };
            Error::UnknownSession { name }
        })?;
        Ok(Shown {
            answered: Answered::by(view),
            events: view.of_session(session.id)?.len(),
            session,
        })
    }
}
