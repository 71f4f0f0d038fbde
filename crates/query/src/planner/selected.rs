//! A selection made ready for one view: the cheapest list to read it from, and the check of each event.

use std::borrow::Cow;
use std::ops::Range;

use crate::filter::Filter;
use crate::planner::driver::Driver;
use crate::planner::keyword::TermIds;
use crate::planner::selection::{Selection, Window};
use crate::planner::subject::{NodeSubject, Strength};
use crate::planner::time_order;
use crate::planner::values::ValueIds;
use crate::text::TextQuery;
use amem_format::error::{Error, Result};
use amem_format::types::{EventType, NodeId, SessionId};
use amem_format::view::{Node, View};

/// A list of who may meet the filter is walked if it leaves out all but one in so many events. Where it has more, walks
/// in the wanted order meet them soon, and pass over those that are not in it.
const FILTERED_SHARE: u64 = 4;

/// A selection on a view.
#[derive(Debug)]
pub(crate) struct PlannedSelection<'v> {
    view: &'v View,
    selection: &'v Selection,
    types: Vec<EventType>,
    sessions: Vec<SessionId>,
    filter: Option<Cow<'v, Filter>>,
    /// The keyword's words, the rarest first.
    terms: Vec<TermIds<'v>>,
    /// Who may meet the filter, if an index tells.
    values: Option<ValueIds<'v>>,
    /// Every wanted event is within.
    pub(crate) ids: Range<u64>,
    /// When a wanted event happened; open if `ids` says it all.
    pub(crate) happened: Window,
    pub(crate) strength: Strength,
}

impl<'v> PlannedSelection<'v> {
    /// Of the events below `end`.
    pub(crate) fn new(view: &'v View, selection: &'v Selection, end: u64) -> Result<Self> {
        selection.check()?;
        let scope = selection.scope.to_filter()?;
        let filter = match (scope, &selection.filter) {
            (None, None) => None,
            (None, Some(filter)) => Some(Cow::Borrowed(filter)),
            (Some(scope), None) => Some(Cow::Owned(scope)),
            (Some(scope), Some(filter)) => {
                Some(Cow::Owned(Filter::And(vec![scope, filter.clone()])))
            }
        };
        let (mut recorded, mut happened) = (selection.recorded, selection.happened);
        if !happened.is_open() && time_order::is_recorded(view)? {
            recorded = recorded.and(&happened);
            happened = Window::default();
        }
        let end = end.min(view.nodes());
        let ids = Range {
            start: recorded.from.map_or(Ok(0), |t| view.recorded_before(t))?,
            end: recorded
                .until
                .map_or(Ok(end), |t| Ok(view.recorded_before(t)?.min(end)))?,
        };
        let mut terms = Vec::new();
        if let Some(keyword) = &selection.keyword {
            let words = TextQuery::new(keyword);
            if words.is_empty() {
                let why = "it has no word to look for, only stop words or signs";
                return Err(Error::invalid("keyword", why));
            }
            for (term, _) in words.terms() {
                terms.push(TermIds::new(view, term)?);
            }
            terms.sort_by_key(TermIds::len);
        }
        let values = match &filter {
            Some(filter) => ValueIds::new(view, filter)?,
            None => None,
        };
        Ok(Self {
            view,
            selection,
            values,
            types: sorted(&selection.types),
            sessions: sorted(&selection.sessions),
            filter,
            terms,
            ids,
            happened,
            strength: Strength::new(view, selection.strength_at)?,
        })
    }

    /// The shortest list in order of id that has every wanted event, and its length within `ids`.
    pub(crate) fn driver(&self) -> Result<(Driver<'v>, u64)> {
        let mut drivers = vec![Driver::All];
        if !self.types.is_empty() {
            let lists = self.types.iter().map(|&t| self.view.of_type(t));
            drivers.push(Driver::Lists(lists.collect::<Result<_>>()?));
        }
        if !self.sessions.is_empty() {
            let lists = self.sessions.iter().map(|&s| self.view.of_session(s));
            drivers.push(Driver::Lists(lists.collect::<Result<_>>()?));
        }
        if let Some(rarest) = self.terms.first() {
            drivers.push(Driver::Term(Box::new(rarest.clone())));
        }
        if let Some(values) = &self.values
            && values.len() < self.view.nodes() / FILTERED_SHARE
        {
            drivers.push(Driver::Values(Box::new(values.clone())));
        }
        let counted = drivers.into_iter().map(|driver| {
            let count = driver.count(&self.ids);
            (driver, count)
        });
        let shortest = counted.min_by_key(|(_, count)| *count);
        Ok(shortest.unwrap_or((Driver::All, u64::MAX)))
    }

    /// True if the event is wanted.
    pub(crate) fn admits(&mut self, node: &Node<'_>) -> Result<bool> {
        let wanted = self.selection;
        let is_wanted = self.ids.contains(&node.id().0)
            && (wanted.include_forgotten || !node.is_forgotten())
            && (wanted.include_compressed || !node.is_compressed())
            && (self.types.is_empty() || self.types.binary_search(&node.event_type()).is_ok())
            && (self.sessions.is_empty() || self.sessions.binary_search(&node.session()).is_ok())
            && wanted.confidence.contains(node.confidence())
            && (self.happened.is_open() || self.happened.contains(node.happened()?));
        if !is_wanted {
            return Ok(false);
        }
        let strength = &wanted.strength;
        if (strength.min.is_some() || strength.max.is_some())
            && !strength.contains(self.strength.of(node))
        {
            return Ok(false);
        }
        if !self.terms.is_empty() {
            // An erased text is in the index until the next base.
            if node.is_erased() {
                return Ok(false);
            }
            for term in &mut self.terms {
                if !term.contains(node.id().0 as u32)? {
                    return Ok(false);
                }
            }
        }
        if let Some(values) = &mut self.values
            && !values.contains(node.id())?
        {
            return Ok(false);
        }
        match &self.filter {
            None => Ok(true),
            Some(filter) => filter.matches(&NodeSubject::new(node, &self.strength)),
        }
    }

    /// As `admits`, of an event of the view.
    pub(crate) fn admits_id(&mut self, id: NodeId) -> Result<bool> {
        self.admits(&self.view.node(id)?)
    }
}

fn sorted<T: Ord + Copy>(list: &[T]) -> Vec<T> {
    let mut list = list.to_vec();
    list.sort_unstable();
    list.dedup();
    list
}
