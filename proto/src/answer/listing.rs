//! Patterns and timelines, page by page.

use amem_format::NodeId;
use amem_format::view::View;
use amem_query::{Axis, Order, Pattern, Timeline};

use super::event::EventEncoder;
use super::question::{Evaluate, ids};
use super::refusal::Result;
use super::selection::{axis, count, selection, token, unknown};
use super::word::{moment, timestamp};
use crate::limits::PAGE_ROWS;
use crate::v1;

impl Evaluate for v1::PatternRequest {
    type Answer = v1::PatternResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let by = axis(self.axis, Axis::Recorded)?;
        let page = Pattern {
            selection: selection(self.selection)?,
            order: order(self.order, by)?,
            limit: count(self.page_size, PAGE_ROWS),
            cursor: token(self.page_token),
        }
        .run(view)?;
        Ok(v1::PatternResponse {
            moment: Some(moment(view)),
            events: EventEncoder::new(view).all(&page.ids)?,
            next_page_token: page.next.unwrap_or_default(),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(&answer.events)
    }
}

/// An order of events; newest first if unset.
pub(super) fn order(value: i32, by: Axis) -> Result<Order> {
    match v1::Order::try_from(value) {
        Ok(v1::Order::Unspecified | v1::Order::Newest) => Ok(Order::Newest(by)),
        Ok(v1::Order::Oldest) => Ok(Order::Oldest(by)),
        Ok(v1::Order::Strongest) => Ok(Order::Strongest),
        Err(_) => Err(unknown("order", value)),
    }
}

impl Evaluate for v1::TimelineRequest {
    type Answer = v1::TimelineResponse;

    fn evaluate(self, view: &View) -> Result<Self::Answer> {
        let page = Timeline {
            selection: selection(self.selection)?,
            axis: axis(self.axis, Axis::Happened)?,
            newest_first: self.newest_first,
            limit: count(self.page_size, PAGE_ROWS),
            cursor: token(self.page_token),
        }
        .run(view)?;
        let mut encoder = EventEncoder::new(view);
        let entries = page.moments.iter().map(|&(time, id)| {
            Ok(v1::TimelineEntry {
                time: Some(timestamp(time)),
                event: Some(encoder.whole(id)?),
            })
        });
        Ok(v1::TimelineResponse {
            entries: entries.collect::<Result<_>>()?,
            moment: Some(moment(view)),
            next_page_token: page.next.unwrap_or_default(),
        })
    }

    fn shown(answer: &Self::Answer) -> Vec<NodeId> {
        ids(answer.entries.iter().flat_map(|entry| &entry.event))
    }
}
