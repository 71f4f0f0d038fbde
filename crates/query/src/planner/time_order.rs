//! All events in the order in which they happened: a merge of three sorted lists.
//!
//! The base stores its own order. In the delta, a skip list holds the events with an event time; the others are already
//! in order of id.

use std::ops::Range;

use crate::planner::order::Rank;
use crate::planner::selection::Window;
use amem_format::append::AppendVec;
use amem_format::error::Result;
use amem_format::types::{Micros, NodeId};
use amem_format::view::View;

/// A walk over the events of a view by (happened, id), hidden events included.
#[derive(Debug)]
pub(crate) struct TimeOrder<'v> {
    lists: [SortedList<'v>; 2],
    timed: TimedEvents<'v>,
    /// The next event of each list, and of `timed`.
    heads: [Option<Rank>; 3],
    descending: bool,
    /// The first position after the end of the walk.
    end: Option<Rank>,
}

/// True if no event of the brain has an event time: then ids give the order.
pub(crate) fn is_recorded(view: &View) -> Result<bool> {
    let brain = view.brain();
    let delta = &brain.delta().events.happened;
    Ok(delta.is_empty() && brain.base().event_times()?.is_empty())
}

/// An upper bound of the number of events that happened within a window.
pub(crate) fn count(view: &View, window: &Window) -> Result<u64> {
    let times = view.brain().base().event_times()?;
    let until = |time: Option<Micros>, open: usize| {
        time.map_or(open, |t| {
            times.happened().partition_point(|&when| when < t.0)
        })
    };
    let from = until(window.from, 0);
    let to = until(window.until, times.happened().len());
    let untimed = if times.is_empty() {
        let before =
            |time: Option<Micros>, open| time.map_or(Ok(open), |t| view.recorded_before(t));
        before(window.until, view.nodes())?.saturating_sub(before(window.from, 0)?)
    } else {
        view.nodes().saturating_sub(view.brain().base().nodes())
    };
    Ok(to.saturating_sub(from) as u64 + untimed)
}

impl<'v> TimeOrder<'v> {
    /// Walks the events within a window; only those after `after`, if given.
    pub(crate) fn new(
        view: &'v View,
        window: &Window,
        after: Option<Rank>,
        descending: bool,
    ) -> Result<Self> {
        let edge = |time: Option<Micros>| time.map(|t| Rank::of_time(t, NodeId(0)));
        let (first, end) = if descending {
            (edge(window.until), edge(window.from))
        } else {
            (edge(window.from), edge(window.until))
        };
        // An ascending walk begins at this position, a descending one before it. `after` itself is excluded.
        let start = if descending {
            after.into_iter().chain(first).min().unwrap_or(Rank {
                key: i64::MAX,
                id: NodeId(u64::MAX),
            })
        } else {
            let after = after.map(next_place);
            after.into_iter().chain(first).max().unwrap_or(Rank {
                key: i64::MIN,
                id: NodeId(0),
            })
        };
        let mut walk = Self {
            lists: [
                SortedList::new(view, SortedSource::of_base(view)?, start, descending)?,
                SortedList::new(view, SortedSource::of_delta(view), start, descending)?,
            ],
            timed: TimedEvents { view, place: start },
            heads: [None; 3],
            descending,
            end,
        };
        walk.heads = [
            walk.lists[0].next(descending)?,
            walk.lists[1].next(descending)?,
            walk.timed.next(descending),
        ];
        Ok(walk)
    }

    pub(crate) fn next(&mut self) -> Result<Option<Rank>> {
        let (heads, descending) = (self.heads.iter().flatten(), self.descending);
        let found = heads.min_by_key(|rank| rank.turned(descending)).copied();
        let Some(rank) = found else { return Ok(None) };
        let is_past = self
            .end
            .is_some_and(|end| if descending { rank < end } else { rank >= end });
        if is_past {
            return Ok(None);
        }
        for i in 0..self.heads.len() {
            if self.heads[i] == Some(rank) {
                self.heads[i] = match self.lists.get_mut(i) {
                    Some(list) => list.next(descending)?,
                    None => self.timed.next(descending),
                };
            }
        }
        Ok(Some(rank))
    }
}

/// The next position.
fn next_place(rank: Rank) -> Rank {
    Rank {
        id: NodeId(rank.id.0.saturating_add(1)),
        ..rank
    }
}

#[derive(Debug)]
struct SortedList<'v> {
    view: &'v View,
    kind: SortedSource<'v>,
    left: Range<u64>,
}

#[derive(Debug, Clone, Copy)]
enum SortedSource<'v> {
    /// The base's order: times and events.
    Ordered(&'v [i64], &'v [u32]),
    /// The events of a base without event times, in order of id.
    Recorded(u64),
    /// The events of the delta without an event time.
    Untimed(&'v AppendVec<u32>, u32),
}

impl<'v> SortedSource<'v> {
    fn of_base(view: &'v View) -> Result<Self> {
        let base = view.brain().base();
        let times = base.event_times()?;
        Ok(if times.is_empty() {
            Self::Recorded(view.nodes().min(base.nodes()))
        } else {
            Self::Ordered(times.happened(), times.order())
        })
    }

    fn of_delta(view: &'v View) -> Self {
        let list = &view.brain().delta().events.untimed;
        let nodes = view.nodes();
        let count = list.partition_point(list.len(), |&id| u64::from(id) < nodes);
        Self::Untimed(list, count)
    }

    fn len(&self) -> u64 {
        match self {
            Self::Ordered(times, _) => times.len() as u64,
            Self::Recorded(count) => *count,
            Self::Untimed(_, count) => (*count).into(),
        }
    }
}

impl<'v> SortedList<'v> {
    fn new(view: &'v View, kind: SortedSource<'v>, start: Rank, descending: bool) -> Result<Self> {
        let len = kind.len();
        let mut list = Self {
            view,
            kind,
            left: 0..len,
        };
        let (mut from, mut to) = (0, len);
        while from < to {
            let middle = from + (to - from) / 2;
            if list.at(middle)? < start {
                from = middle + 1
            } else {
                to = middle
            }
        }
        if descending {
            list.left.end = from
        } else {
            list.left.start = from
        }
        Ok(list)
    }

    fn at(&self, i: u64) -> Result<Rank> {
        let id = match self.kind {
            SortedSource::Ordered(times, order) => {
                return Ok(Rank {
                    key: times[i as usize],
                    id: NodeId(order[i as usize].into()),
                });
            }
            SortedSource::Recorded(_) => NodeId(i),
            SortedSource::Untimed(ids, _) => {
                NodeId(ids.get(i as u32).map_or(u64::MAX, |&id| id.into()))
            }
        };
        Ok(Rank::of_time(self.view.node(id)?.created_at(), id))
    }

    fn next(&mut self, descending: bool) -> Result<Option<Rank>> {
        loop {
            let i = if descending {
                self.left.next_back()
            } else {
                self.left.next()
            };
            let Some(i) = i else { return Ok(None) };
            let rank = self.at(i)?;
            // The base's order also has events after the moment asked about.
            if rank.id.0 < self.view.nodes() {
                return Ok(Some(rank));
            }
        }
    }
}

/// The events of the delta with an event time.
#[derive(Debug)]
struct TimedEvents<'v> {
    view: &'v View,
    /// An ascending walk continues at this position, a descending one before it.
    place: Rank,
}

impl TimedEvents<'_> {
    fn next(&mut self, descending: bool) -> Option<Rank> {
        let list = &self.view.brain().delta().events.happened;
        let nodes = self.view.nodes();
        let rank = |(key, id): (i64, u32)| Rank {
            key,
            id: NodeId(id.into()),
        };
        // Ids are below 2³² − 1, so the cast keeps every position.
        let mut bound = (self.place.key, self.place.id.0.min(u32::MAX.into()) as u32);
        let found = if descending {
            loop {
                let found = list.last_before(bound)?;
                if u64::from(found.1) < nodes {
                    break rank(found);
                }
                bound = found;
            }
        } else {
            let mut from = list.range_from(bound).map(rank);
            from.find(|found| found.id.0 < nodes)?
        };
        self.place = if descending { found } else { next_place(found) };
        Some(found)
    }
}
