//! Patterns and timelines, page by page.

use amem_format::view::View;
use amem_query::{Axis, Order, Pattern, Timeline};

use super::event::Teller;
use super::refusal::Result;
use super::selection::{axis, count, selection, token, unknown};
use super::word::{moment, timestamp};
use crate::limits::PAGE_ROWS;
use crate::v1;

pub(super) fn pattern(view: &View, request: v1::PatternRequest) -> Result<v1::PatternResponse> {
    let by = axis(request.axis, Axis::Recorded)?;
    let page = Pattern {
        selection: selection(request.selection)?,
        order: order(request.order, by)?,
        limit: count(request.page_size, PAGE_ROWS),
        cursor: token(request.page_token),
    }
    .run(view)?;
    Ok(v1::PatternResponse {
        moment: Some(moment(view)),
        events: Teller::new(view).all(&page.ids)?,
        next_page_token: page.next.unwrap_or_default(),
    })
}

/// An order of events; the newest first if it is not said.
pub(super) fn order(value: i32, by: Axis) -> Result<Order> {
    match v1::Order::try_from(value) {
        Ok(v1::Order::Unspecified | v1::Order::Newest) => Ok(Order::Newest(by)),
        Ok(v1::Order::Oldest) => Ok(Order::Oldest(by)),
        Ok(v1::Order::Strongest) => Ok(Order::Strongest),
        Err(_) => Err(unknown("order", value)),
    }
}

pub(super) fn timeline(view: &View, request: v1::TimelineRequest) -> Result<v1::TimelineResponse> {
    let page = Timeline {
        selection: selection(request.selection)?,
        axis: axis(request.axis, Axis::Happened)?,
        newest_first: request.newest_first,
        limit: count(request.page_size, PAGE_ROWS),
        cursor: token(request.page_token),
    }
    .run(view)?;
    let mut teller = Teller::new(view);
    let entries = page.moments.iter().map(|&(time, id)| {
        Ok(v1::TimelineEntry {
            time: Some(timestamp(time)),
            event: Some(teller.whole(id)?),
        })
    });
    Ok(v1::TimelineResponse {
        entries: entries.collect::<Result<_>>()?,
        moment: Some(moment(view)),
        next_page_token: page.next.unwrap_or_default(),
    })
}
