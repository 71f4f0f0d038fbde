//! What a merge knows of sessions: which of ours are theirs, the spans of theirs, and whether ours are open.

use std::collections::{BTreeSet, HashMap};

use amem_format::base::sessions::Session;
use amem_format::base::spans::SessionSpan;
use amem_format::{Micros, SessionId};

/// What a merge knows and does about sessions.
#[derive(Debug, Default)]
pub(super) struct MergedSessions<'v> {
    /// Our session, by theirs.
    pub(super) ours: HashMap<SessionId, SessionId>,
    /// Each pair of sessions (ours, theirs) that share an event, or are the same: one that two brains began apart may
    /// be two in a third.
    pub(super) pairs: BTreeSet<(SessionId, SessionId)>,
    /// The newest recorded time of an event that both have, by their session.
    pub(super) known_until: HashMap<SessionId, Micros>,
    /// Spans of their sessions whose events are new here.
    pub(super) theirs: HashMap<SessionId, SpanProgress<'v>>,
    /// Our sessions as the plan so far leaves them.
    pub(super) states: HashMap<SessionId, SpanState>,
    /// Our sessions that the plan opens or closes.
    pub(super) changed: BTreeSet<SessionId>,
    /// Sessions that this merge adds.
    pub(super) added: u32,
}

/// The spans of one of their sessions, and the one that was reached.
#[derive(Debug)]
pub(super) struct SpanProgress<'v> {
    pub(super) spans: Vec<SessionSpan<'v>>,
    pub(super) reached: usize,
}

/// When the merge itself opened a session: each of their closes comes after that.
pub(super) const BY_MERGE: Micros = Micros::MIN;

/// Whether a session is open. Closed is greater, and so is the greater outcome.
#[derive(Debug, Clone)]
pub(super) enum SpanState {
    /// Since a time.
    Open(Micros),
    /// With an outcome.
    Closed(String),
}

impl SpanState {
    pub(super) fn of(session: &Session<'_>) -> Self {
        match session.closed {
            None => Self::Open(session.opened),
            Some(_) => Self::Closed(session.outcome.to_owned()),
        }
    }
}

/// How a session ends, and when it was closed or opened again last; `None`: never.
#[derive(Debug, Clone)]
pub(super) struct SessionEnd {
    pub(super) at: Option<Micros>,
    pub(super) state: SpanState,
}

impl SpanState {
    /// The outcome; `None` if the session is open.
    pub(super) fn outcome(&self) -> Option<&str> {
        match self {
            Self::Open(_) => None,
            Self::Closed(outcome) => Some(outcome),
        }
    }
}

impl<'v> SpanProgress<'v> {
    /// The span with the events of a time.
    pub(super) fn position(&self, recorded: Micros) -> usize {
        let begun = self.spans.partition_point(|span| span.opened <= recorded);
        begun.saturating_sub(1)
    }
}
