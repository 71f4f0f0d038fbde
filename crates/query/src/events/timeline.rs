//! Timeline: events along one of their two times, each with that time.

use crate::answer::AnswerStamp;
use crate::planner::listing::Listing;
use crate::planner::order::{Axis, SortKey};
use crate::planner::selection::Selection;
use amem_format::error::Result;
use amem_format::types::{Micros, NodeId};
use amem_format::view::View;

/// Lists events in the order of a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The events to list. Its windows may bound either time.
    pub selection: Selection,
    /// The time that gives the order; default `Happened`.
    pub axis: Axis,
    /// The newest first, of equals the highest id; otherwise the oldest first, of equals the lowest id.
    pub newest_first: bool,
    /// Events per page, 1 to `limits::PAGE_MAX`; default 50.
    pub limit: usize,
    /// The token of the previous page; none for the first.
    pub cursor: Option<String>,
}

impl Default for Timeline {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            axis: Axis::Happened,
            newest_first: false,
            limit: 50,
            cursor: None,
        }
    }
}

/// One page of a timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelinePage {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The events and their times, in order.
    pub moments: Vec<(Micros, NodeId)>,
    /// The token of the next page; none at the end.
    pub next: Option<String>,
}

impl Timeline {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<TimelinePage> {
        let page = Listing {
            selection: &self.selection,
            by: SortKey::Time(self.axis),
            descending: self.newest_first,
            limit: self.limit,
            cursor: self.cursor.as_deref(),
            name: "timeline",
        }
        .page(view)?;
        let moments = page.rows.into_iter();
        Ok(TimelinePage {
            answered: AnswerStamp::by(view),
            moments: moments.map(|rank| (Micros(rank.key), rank.id)).collect(),
            next: page.next,
        })
    }
}
