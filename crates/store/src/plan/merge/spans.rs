//! What a merge knows of sessions: which of ours are theirs, the spans of theirs, and whether ours are open.

use std::collections::HashMap;

use amem_format::base::sessions::Session;
use amem_format::base::spans::SessionSpan;
use amem_format::{Micros, SessionId};

/// What a merge knows and does about sessions.
#[derive(Debug, Default)]
pub(super) struct MergedSessions<'v> {
    /// Our session, by theirs.
    pub(super) ours: HashMap<SessionId, SessionId>,
    /// The newest recorded time of an event that both have, by their session.
    pub(super) known_until: HashMap<SessionId, Micros>,
    /// Spans of their sessions whose events are new here.
    pub(super) theirs: HashMap<SessionId, SpanProgress<'v>>,
    /// Our sessions as the plan so far leaves them.
    pub(super) states: HashMap<SessionId, SpanState>,
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

/// Whether one of our sessions is open.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl<'v> SpanProgress<'v> {
    /// The span with the events of a time.
    pub(super) fn position(&self, recorded: Micros) -> usize {
        let begun = self.spans.partition_point(|span| span.opened <= recorded);
        begun.saturating_sub(1)
    }
}
