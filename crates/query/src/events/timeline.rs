//! Timeline: events along one of their two times, each with that time.

use crate::answer::AnswerStamp;
use crate::planner::listing::Listing;
use crate::planner::order::{Axis, SortKey};
use crate::planner::selection::Selection;
use amem_format::error::Result;
use amem_format::types::{Micros, NodeId};
use amem_format::view::View;

/// Asks for events along a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Which; its windows may bound either time.
    pub selection: Selection,
    /// Along which time: that in which they happened, unless told otherwise.
    pub axis: Axis,
    /// The newest first, and of equals the highest id; otherwise the oldest, and the lowest.
    pub newest_first: bool,
    /// Events of one page, 1 to `limits::PAGE_MAX`; 50 unless told otherwise.
    pub limit: usize,
    /// The token of the page before; none for the first.
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
    /// Who answered.
    pub answered: AnswerStamp,
    /// The events and their times, in order.
    pub moments: Vec<(Micros, NodeId)>,
    /// The token of the next page, as of a pattern.
    pub next: Option<String>,
}

impl Timeline {
    /// Answers from a view.
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
