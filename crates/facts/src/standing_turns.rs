//! The standing instructions of turns: the attribute that names them, and the turns of a scope that have it.

use std::ops::Range;

use amem_format::NodeId;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::add::standing_spans;
use amem_query::planner::{count_with, events_with};

use crate::error::Result;
use crate::record::{StandingRecord, path, standing_keys};

/// What a person's turn states for every later answer; `None` for most turns.
pub(crate) fn standing_of(text: &str, scope: &FactScope) -> Option<StandingRecord> {
    let spans = standing_spans(text);
    let spans: Vec<String> = spans
        .into_iter()
        .map(|span| format!("{}-{}", span.start, span.end))
        .collect();
    (!spans.is_empty()).then(|| StandingRecord {
        keys: standing_keys(scope),
        spans: spans.join(" "),
    })
}

impl StandingRecord {
    /// The sentences of the turn's text; none of a text that is not the one that was read.
    pub(crate) fn sentences<'t>(&self, text: &'t str) -> Vec<&'t str> {
        let spans = self.spans.split(' ').filter_map(|span| {
            let (start, end) = span.split_once('-')?;
            let span: Range<usize> = start.parse().ok()?..end.parse().ok()?;
            text.get(span)
        });
        spans.collect()
    }
}

/// The turns of a scope that may state something, in the order of time; by the field that has the fewest.
pub(crate) fn standing_turns(view: &View, scope: &FactScope) -> Result<Vec<NodeId>> {
    let mut best: Option<(u64, String)> = None;
    for key in standing_keys(scope) {
        let count = count_with(view, path::TURN_STANDING, &key)?;
        if best.as_ref().is_none_or(|(least, _)| count < *least) {
            best = Some((count, key));
        }
    }
    match best {
        Some((_, key)) => Ok(events_with(view, path::TURN_STANDING, &key)?),
        None => Ok(Vec::new()),
    }
}
