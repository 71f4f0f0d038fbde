//! The spans of a session: when each was open, how it ended, its events, the episodes that cover them.

use crate::limits::SPANS_LISTED_MAX;
use amem_format::base::spans::SessionSpan;
use amem_format::error::Result;
use amem_format::types::{EdgeType, EventType, Micros, NodeId, SessionId};
use amem_format::view::{Direction, Ids, View};

/// A span with what was recorded in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanOverview<'v> {
    /// Its times and its outcome.
    pub span: SessionSpan<'v>,
    /// The number of its events, hidden ones and episodes included.
    pub events: usize,
    /// The episodes that cover some of its events, ascending; forgotten ones are not among them.
    pub episodes: Vec<NodeId>,
}

/// The newest spans of a session, the latest one last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionSpans<'v> {
    /// The newest ones.
    pub newest: Vec<SpanOverview<'v>>,
    /// The number of all.
    pub count: usize,
}

impl<'v> SessionSpans<'v> {
    /// The spans of a listed session, at most `SPANS_LISTED_MAX`.
    pub(super) fn listed(view: &'v View, id: SessionId) -> Result<Self> {
        Self::of(view, id, SPANS_LISTED_MAX)
    }

    /// At most `most` spans of a session at the view's moment.
    pub(super) fn of(view: &'v View, id: SessionId, most: usize) -> Result<Self> {
        let all = view.session_spans(id)?;
        let count = all.len();
        let ids = view.of_session(id)?;
        // An event belongs to the last span that began no later; what is before all of them, to the first.
        let mut starts = vec![0];
        for span in all.iter().skip(1) {
            starts.push(position(view, &ids, span.opened)?);
        }
        starts.push(ids.len());
        let mut spans: Vec<_> = all
            .into_iter()
            .zip(starts.windows(2))
            .map(|(span, bounds)| SpanOverview {
                span,
                events: bounds[1].saturating_sub(bounds[0]),
                episodes: Vec::new(),
            })
            .collect();
        for episode in episodes(view, id, &ids)? {
            for edge in view.edges_of(episode, Direction::Incoming)?.iter() {
                if edge.edge_type != EdgeType::PART_OF || view.node(edge.other)?.session() != id {
                    continue;
                }
                let at = ids.position(edge.other);
                let span = starts.partition_point(|&start| start <= at);
                let span = span.checked_sub(1).and_then(|at| spans.get_mut(at));
                if let Some(span) = span.filter(|span| span.episodes.last() != Some(&episode)) {
                    span.episodes.push(episode);
                }
            }
        }
        let newest = spans.split_off(count.saturating_sub(most));
        Ok(Self { newest, count })
    }
}

/// The first position of an event that was recorded at a time or later: recorded times ascend with ids.
fn position(view: &View, ids: &Ids<'_>, time: Micros) -> Result<usize> {
    let (mut from, mut to) = (0, ids.len());
    while from < to {
        let middle = (from + to) / 2;
        let id = ids.get(middle);
        let recorded = id.map(|id| view.node(id)).transpose()?;
        if recorded.is_some_and(|node| node.created_at() < time) {
            from = middle + 1
        } else {
            to = middle
        }
    }
    Ok(from)
}

/// The visible episodes of a session, from the shorter of two lists.
fn episodes(view: &View, id: SessionId, ids: &Ids<'_>) -> Result<Vec<NodeId>> {
    let all = view.of_type(EventType::EPISODE)?;
    let shorter = if all.len() < ids.len() { &all } else { ids };
    let mut found = Vec::new();
    for event in shorter.iter() {
        let node = view.node(event)?;
        let is_episode = node.event_type() == EventType::EPISODE && node.session() == id;
        if is_episode && !node.is_forgotten() {
            found.push(event);
        }
    }
    Ok(found)
}
