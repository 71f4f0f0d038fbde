//! Lists of events in order of id from which a selection is read, and walks over them in both directions.

use std::collections::BinaryHeap;
use std::ops::Range;

use crate::planner::keyword::TermIds;
use crate::planner::values::ValueIds;
use amem_format::error::Result;
use amem_format::types::NodeId;
use amem_format::view::Ids;

/// A list of events in order of id that contains every selected event.
#[derive(Debug)]
pub(crate) enum Driver<'v> {
    All,
    /// The union of disjoint lists: of types, of sessions.
    Lists(Vec<Ids<'v>>),
    /// The events whose text contains a term.
    Term(Box<TermIds<'v>>),
    /// The events whose attributes may match a filter.
    Values(Box<ValueIds<'v>>),
}

impl<'v> Driver<'v> {
    /// The number of events within a range of ids, or an upper bound where that is cheaper.
    pub(crate) fn count(&self, within: &Range<u64>) -> u64 {
        let width = within.end.saturating_sub(within.start);
        match self {
            Self::All => width,
            Self::Lists(lists) => lists
                .iter()
                .map(|ids| {
                    let to = ids.position(NodeId(within.end));
                    to.saturating_sub(ids.position(NodeId(within.start))) as u64
                })
                .sum(),
            Self::Term(ids) => ids.len().min(width),
            Self::Values(ids) => ids.len().min(width),
        }
    }

    pub(crate) fn walk(&self, within: Range<u64>, descending: bool) -> IdWalk<'_, 'v> {
        let at = match self {
            Self::All => IdSource::All,
            Self::Lists(lists) => {
                let mut cursors: Vec<ListCursor<'_, 'v>> = lists
                    .iter()
                    .map(|ids| ListCursor {
                        ids,
                        from: ids.position(NodeId(within.start)),
                        to: ids.position(NodeId(within.end)),
                    })
                    .collect();
                let heads = cursors.iter_mut().enumerate();
                let heads = heads.filter_map(|(i, cursor)| {
                    let id = cursor.next(descending)?;
                    Some((sooner(id, descending), i))
                });
                IdSource::Lists(heads.collect(), cursors)
            }
            Self::Term(ids) => IdSource::Term(ids.clone()),
            Self::Values(ids) => IdSource::Values(ids.clone()),
        };
        IdWalk {
            within,
            descending,
            at,
        }
    }
}

/// A walk over events in order of id.
#[derive(Debug)]
pub(crate) struct IdWalk<'d, 'v> {
    /// The ids that remain.
    within: Range<u64>,
    descending: bool,
    at: IdSource<'d, 'v>,
}

#[derive(Debug)]
enum IdSource<'d, 'v> {
    All,
    /// The next event of each list, the one that comes first on top.
    Lists(BinaryHeap<(u64, usize)>, Vec<ListCursor<'d, 'v>>),
    Term(Box<TermIds<'v>>),
    Values(Box<ValueIds<'v>>),
}

#[derive(Debug)]
struct ListCursor<'d, 'v> {
    ids: &'d Ids<'v>,
    from: usize,
    to: usize,
}

impl ListCursor<'_, '_> {
    fn next(&mut self, descending: bool) -> Option<u64> {
        if self.from >= self.to {
            return None;
        }
        let at = if descending {
            self.to -= 1;
            self.to
        } else {
            self.from += 1;
            self.from - 1
        };
        self.ids.get(at).map(|id| id.0)
    }
}

/// A key by which the next event is the greatest. It is its own inverse.
fn sooner(id: u64, descending: bool) -> u64 {
    if descending { id } else { !id }
}

impl IdWalk<'_, '_> {
    pub(crate) fn next(&mut self) -> Result<Option<NodeId>> {
        let (descending, within) = (self.descending, &mut self.within);
        let found = match &mut self.at {
            IdSource::All if within.is_empty() => None,
            IdSource::All if descending => Some(within.end - 1),
            IdSource::All => Some(within.start),
            IdSource::Lists(heads, cursors) => heads.pop().map(|(key, i)| {
                if let Some(next) = cursors[i].next(descending) {
                    heads.push((sooner(next, descending), i));
                }
                sooner(key, descending)
            }),
            IdSource::Term(ids) if descending => ids.last_before(within.end as u32)?.map(u64::from),
            IdSource::Term(ids) => ids.first_from(within.start as u32)?.map(u64::from),
            IdSource::Values(ids) if descending => {
                ids.last_before(within.end as u32)?.map(u64::from)
            }
            IdSource::Values(ids) => ids.first_from(within.start as u32)?.map(u64::from),
        };
        let Some(id) = found.filter(|id| within.contains(id)) else {
            return Ok(None);
        };
        if descending {
            within.end = id;
        } else {
            within.start = id + 1;
        }
        Ok(Some(NodeId(id)))
    }
}
