//! Pattern: the events that meet conditions, in an order, page by page.

use crate::answer::AnswerStamp;
use crate::planner::listing::Listing;
use crate::planner::order::{Axis, SortKey};
use crate::planner::selection::Selection;
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::View;

/// The order of events. Of equals, the event with the higher id comes first, except for `Oldest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Order {
    /// The newest first; of equals, the highest id.
    Newest(Axis),
    /// The oldest first; of equals, the lowest id.
    Oldest(Axis),
    /// The strongest first; of equals, the highest id.
    ///
    /// Read from an index. The query computes the strength of every other match instead if it uses another time than
    /// the last decay run's, the view is an `as_of` view, or a decay run came after the last checkpoint.
    Strongest,
}

impl Default for Order {
    fn default() -> Self {
        Self::Newest(Axis::Recorded)
    }
}

/// Lists the events that a selection contains.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// The events to list.
    pub selection: Selection,
    /// The order.
    pub order: Order,
    /// Events per page, 1 to `limits::PAGE_MAX`; default 50.
    pub limit: usize,
    /// The token of the previous page; none for the first.
    pub cursor: Option<String>,
}

impl Default for Pattern {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            order: Order::default(),
            limit: 50,
            cursor: None,
        }
    }
}

/// One page of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternPage {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The events, in order.
    pub ids: Vec<NodeId>,
    /// The token of the next page; none at the end. Events committed after the first page stay out.
    pub next: Option<String>,
}

impl Pattern {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<PatternPage> {
        let (by, descending) = match self.order {
            Order::Newest(axis) => (SortKey::Time(axis), true),
            Order::Oldest(axis) => (SortKey::Time(axis), false),
            Order::Strongest => (SortKey::Strength, true),
        };
        let page = Listing {
            selection: &self.selection,
            by,
            descending,
            limit: self.limit,
            cursor: self.cursor.as_deref(),
            name: "pattern",
        }
        .page(view)?;
        Ok(PatternPage {
            answered: AnswerStamp::by(view),
            ids: page.rows.into_iter().map(|rank| rank.id).collect(),
            next: page.next,
        })
    }
}
