//! A page of a listing: which list is read, in which order, from where to where.
//!
//! If the requested order has an index, the listing walks it until the page is full. If another list is so short that
//! the walk would skip more events than that, the listing reads the whole list and keeps the best.
//!
//! `cursor` states what a page token promises.

use std::collections::BinaryHeap;

use crate::answer;
use crate::planner::cursor::PageCursor;
use crate::planner::driver::Driver;
use crate::planner::order::{Axis, Rank, SortKey};
use crate::planner::selected::PlannedSelection;
use crate::planner::selection::Selection;
use crate::planner::strength_order::{self, StrengthOrder};
use crate::planner::strength_scan::StrengthScan;
use crate::planner::subject::Strength;
use crate::planner::time_order::{self, TimeOrder};
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::{Node, View};

#[derive(Debug)]
pub(crate) struct Listing<'r> {
    pub(crate) selection: &'r Selection,
    pub(crate) by: SortKey,
    pub(crate) descending: bool,
    pub(crate) limit: usize,
    /// The token of the previous page.
    pub(crate) cursor: Option<&'r str>,
    /// The name of the query: a token of one query is not valid for another.
    pub(crate) name: &'static str,
}

pub(crate) struct ListingPage {
    pub(crate) rows: Vec<Rank>,
    pub(crate) next: Option<String>,
}

impl Listing<'_> {
    pub(crate) fn page(&self, view: &View) -> Result<ListingPage> {
        answer::check_limit(self.limit)?;
        let query = self.hash()?;
        let cursor = self
            .cursor
            .map(|token| {
                let cursor = PageCursor::decode(token, view.instance(), query)?;
                check_moment(&cursor, view).map(|()| cursor)
            })
            .transpose()?;
        let after = cursor.map(|c| Rank {
            key: c.keys[0] as i64,
            id: c.id,
        });
        // The end of the first page's view: later events are not part of this listing.
        let end = cursor.map_or(view.nodes(), |c| c.keys[1]);
        let rows = self.rows(view, end, after)?;
        let next = rows
            .last()
            .filter(|_| rows.len() == self.limit)
            .map(|last| {
                PageCursor {
                    instance: view.instance(),
                    lsn: cursor.map_or(view.moment().0, |c| c.lsn),
                    query,
                    keys: [last.key as u64, end],
                    id: last.id,
                }
                .encode()
            });
        Ok(ListingPage { rows, next })
    }

    fn hash(&self) -> Result<u64> {
        let by = match self.by {
            SortKey::Time(Axis::Recorded) => "recorded",
            SortKey::Time(Axis::Happened) => "happened",
            SortKey::Strength => "strength",
        };
        let selection = self.selection.canonical();
        let mut canonical = Vec::with_capacity(256);
        // Writing to memory does not fail, and every part of a selection has a JSON form.
        serde_json::to_writer(&mut canonical, &(self.name, by, self.descending, selection))
            .map_err(|e| Error::invalid("selection", e.to_string()))?;
        Ok(PageCursor::hash(&canonical))
    }

    fn rows(&self, view: &View, end: u64, after: Option<Rank>) -> Result<Vec<Rank>> {
        let mut selected = PlannedSelection::new(view, self.selection, end)?;
        let (driver, shortest) = selected.driver()?;
        let is_short = |len: u64, of: u64| {
            // A walk over `of` events visits about `limit · of / len` of them before the page is full.
            u128::from(len) * u128::from(len) <= self.limit as u128 * u128::from(of)
        };
        match self.by {
            SortKey::Time(Axis::Happened) if !time_order::is_recorded(view)? => {
                let of = time_order::count(view, &selected.happened)?;
                if is_short(shortest, of) {
                    return self.best_of(view, &mut selected, &driver, after);
                }
                let mut walk = TimeOrder::new(view, &selected.happened, after, self.descending)?;
                self.walk(view, &mut selected, || walk.next())
            }
            SortKey::Time(_) => {
                if !selected.happened.is_open()
                    && is_short(time_order::count(view, &selected.happened)?, shortest)
                {
                    return self.best_happened(view, &mut selected, after);
                }
                let mut within = selected.ids.clone();
                match after {
                    Some(after) if self.descending => within.end = within.end.min(after.id.0),
                    Some(after) => within.start = within.start.max(after.id.0.saturating_add(1)),
                    None => {}
                }
                let mut walk = driver.walk(within, self.descending);
                self.walk(view, &mut selected, || {
                    // Ids are in the order of recorded time; the key is not used.
                    Ok(walk.next()?.map(|id| Rank { key: 0, id }))
                })
            }
            SortKey::Strength => {
                let is_walkable = self.descending
                    && selected.strength == Strength::LastRun
                    && strength_order::is_ordered(view);
                if !is_walkable || is_short(shortest, view.nodes()) {
                    if let Some(walk) = self.fading(view, &selected, &driver) {
                        return self.best_faded(view, &mut selected, walk, after);
                    }
                    return self.best_of(view, &mut selected, &driver, after);
                }
                let mut walk = StrengthOrder::new(view, after)?;
                self.walk(view, &mut selected, || walk.next())
            }
        }
    }

    fn walk(
        &self,
        view: &View,
        selected: &mut PlannedSelection<'_>,
        mut next: impl FnMut() -> Result<Option<Rank>>,
    ) -> Result<Vec<Rank>> {
        let mut rows = Vec::with_capacity(self.limit.min(64));
        while let Some(rank) = next()? {
            let node = view.node(rank.id)?;
            if selected.admits(&node)? {
                rows.push(self.rank(&node, &selected.strength)?);
                if rows.len() == self.limit {
                    break;
                }
            }
        }
        Ok(rows)
    }

    fn best_of(
        &self,
        view: &View,
        selected: &mut PlannedSelection<'_>,
        driver: &Driver<'_>,
        after: Option<Rank>,
    ) -> Result<Vec<Rank>> {
        let mut walk = driver.walk(selected.ids.clone(), false);
        self.best(view, selected, after, |_| walk.next())
    }

    /// A scan that skips weak events, if the listing allows one.
    fn fading<'v>(
        &self,
        view: &'v View,
        selected: &PlannedSelection<'v>,
        driver: &Driver<'v>,
    ) -> Option<StrengthScan<'v>> {
        if !self.descending || !matches!(driver, Driver::All) {
            return None;
        }
        StrengthScan::new(view, &selected.strength, selected.ids.clone())
    }

    /// Runs the scan and keeps the best.
    fn best_faded(
        &self,
        view: &View,
        selected: &mut PlannedSelection<'_>,
        mut walk: StrengthScan<'_>,
        after: Option<Rank>,
    ) -> Result<Vec<Rank>> {
        self.best(view, selected, after, |worst| {
            let worst = worst.map(|&place| Rank::from_turned(place, self.descending));
            walk.next(worst.map(Rank::strength))
        })
    }

    /// Reads all events that happened within the window and keeps the best.
    fn best_happened(
        &self,
        view: &View,
        selected: &mut PlannedSelection<'_>,
        after: Option<Rank>,
    ) -> Result<Vec<Rank>> {
        let mut walk = TimeOrder::new(view, &selected.happened, None, false)?;
        self.best(view, selected, after, |_| {
            Ok(walk.next()?.map(|rank| rank.id))
        })
    }

    /// Keeps the best events of a source. `next` gets the position of the worst kept event once the page is full.
    fn best(
        &self,
        view: &View,
        selected: &mut PlannedSelection<'_>,
        after: Option<Rank>,
        mut next: impl FnMut(Option<&(i64, u64)>) -> Result<Option<NodeId>>,
    ) -> Result<Vec<Rank>> {
        let after = after.map(|after| after.turned(self.descending));
        let mut worst_first = BinaryHeap::new();
        loop {
            let is_full = worst_first.len() == self.limit;
            let worst = worst_first.peek().filter(|_| is_full);
            let Some(id) = next(worst)? else { break };
            let node = view.node(id)?;
            let place = self
                .rank(&node, &selected.strength)?
                .turned(self.descending);
            let is_kept = after.is_none_or(|after| place > after)
                && worst.is_none_or(|worst| place < *worst)
                && selected.admits(&node)?;
            if is_kept {
                if is_full {
                    worst_first.pop();
                }
                worst_first.push(place);
            }
        }
        let places = worst_first.into_sorted_vec().into_iter();
        let ranks = places.map(|place| Rank::from_turned(place, self.descending));
        Ok(ranks.collect())
    }

    fn rank(&self, node: &Node<'_>, strength: &Strength) -> Result<Rank> {
        Ok(match self.by {
            SortKey::Time(Axis::Recorded) => Rank::of_time(node.created_at(), node.id()),
            SortKey::Time(Axis::Happened) => Rank::of_time(node.happened()?, node.id()),
            SortKey::Strength => Rank::of_strength(strength.of(node), node.id()),
        })
    }
}

/// A listing continues at the moment of its first page, or on a newer view of the brain.
pub(crate) fn check_moment(cursor: &PageCursor, view: &View) -> Result<()> {
    let moment = view.moment().0;
    if cursor.lsn == moment || (!view.is_as_of() && cursor.lsn < moment) {
        return Ok(());
    }
    if view.is_as_of() {
        let why = format!(
            "it began at LSN {}, this view is at LSN {moment}: start the listing again without a token",
            cursor.lsn
        );
        return Err(Error::invalid("page token", why));
    }
    Err(Error::UnknownLsn {
        asked: cursor.lsn,
        last: moment,
    })
}
