//! A selection planned for one view: the shortest list to read, and the check of each event.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::filter::Filter;
use crate::planner::driver::Driver;
use crate::planner::keyword::TermIds;
use crate::planner::selection::{Selection, Window};
use crate::planner::subject::{NodeSubject, Strength};
use crate::planner::time_order;
use crate::planner::values::ValueIds;
use crate::text::TextQuery;
use amem_format::brain::ScopeList;
use amem_format::error::{Error, Result};
use amem_format::types::{ActorId, EventType, NodeId, SessionId};
use amem_format::view::{Node, View};

/// The planner reads the filter's candidate list only if it has less than one event in this many. If more events match,
/// a walk in the requested order finds them soon and skips fewer.
const FILTERED_SHARE: u64 = 4;

/// A selection planned for a view.
#[derive(Debug)]
pub(crate) struct PlannedSelection<'v> {
    view: &'v View,
    selection: &'v Selection,
    types: Vec<EventType>,
    sessions: Vec<SessionId>,
    /// The actors that may have recorded an event, ascending; `None` for all.
    authors: Option<Vec<ActorId>>,
    filter: Option<Cow<'v, Filter>>,
    /// The events of the scope, if they are listed; otherwise the filter says which they are.
    scope: Option<Arc<ScopeList>>,
    /// The keyword's terms, the rarest first.
    terms: Vec<TermIds<'v>>,
    /// The events that may match the filter, if an index lists them.
    values: Option<ValueIds<'v>>,
    /// Every selected event has an id within.
    pub(crate) ids: Range<u64>,
    /// When a selected event happened; open if `ids` already decides it.
    pub(crate) happened: Window,
    pub(crate) strength: Strength,
}

impl<'v> PlannedSelection<'v> {
    /// Plans the selection for the events below `end`.
    pub(crate) fn new(view: &'v View, selection: &'v Selection, end: u64) -> Result<Self> {
        Self::within(view, selection, end, None)
    }

    /// The same, with the events of the selection's scope if they are listed: most of a scope need not be read then.
    pub(crate) fn within(
        view: &'v View,
        selection: &'v Selection,
        end: u64,
        listed: Option<Arc<ScopeList>>,
    ) -> Result<Self> {
        selection.check()?;
        let scope = match listed {
            Some(_) => None,
            None => selection.scope.to_filter()?,
        };
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
            let words = TextQuery::new(keyword).for_version(view.analyzer_version()?);
            if words.is_empty() {
                let why = "it has no word: give one to search for";
                return Err(Error::invalid("keyword", why));
            }
            for term in words.terms().filter(|term| !term.is_support) {
                let spellings = std::iter::once(&term.term).chain(&term.spellings);
                terms.push(TermIds::new(view, spellings)?);
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
            scope: listed,
            types: sorted(&selection.types),
            sessions: sorted(&selection.sessions),
            authors: selection.authors.actors(view)?,
            filter,
            terms,
            ids,
            happened,
            strength: Strength::new(view, selection.strength_at)?,
        })
    }

    /// The shortest list, in order of id, that contains every selected event, and its length within `ids`.
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
        if let Some(authors) = &self.authors {
            let lists = authors.iter().map(|&actor| self.view.of_author(actor));
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

    /// True if the selection contains the event.
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
        if let Some(scope) = &self.scope
            && !scope.contains(node.id())
        {
            return Ok(false);
        }
        if let Some(authors) = &self.authors
            && authors.binary_search(&node.author()?).is_err()
        {
            return Ok(false);
        }
        let strength = &wanted.strength;
        if (strength.min.is_some() || strength.max.is_some())
            && !strength.contains(self.strength.of(node))
        {
            return Ok(false);
        }
        if !self.terms.is_empty() {
            // The index keeps the terms of an erased text until the next checkpoint.
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

    /// `admits` for an event given by id.
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
