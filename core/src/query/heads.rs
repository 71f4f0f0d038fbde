//! The newest heads of many events: what `resolve` gives for each, with what they share walked once.
//!
//! Whether an event is a head, and which head is the newest above it, does not depend on where one comes from. So both
//! are worked out once for each event, those of a circle together (Tarjan's strongly connected components), and kept.

use std::collections::HashMap;

use super::scope::{Seen, Sight};
use crate::error::{Error, Result};
use crate::limits::TIES_MAX;
use crate::types::{EdgeType, NodeId};
use crate::view::{Direction, View, Web};

/// Newest heads on a view.
pub(crate) struct Heads<'v> {
    view: &'v View,
    web: Option<Web<'v>>,
    sight: &'v Sight,
    known: HashMap<NodeId, Above>,
    /// Ties looked at.
    looked: usize,
}

/// The newest of an event and all that replaces it.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    head: Option<NodeId>,
    shown: Option<NodeId>,
}

/// An event whose replacements are being looked at.
struct Open {
    id: NodeId,
    is_shown: bool,
    replacements: Vec<(NodeId, bool)>,
    next: usize,
    /// The first event of its circle, as a place in order of meeting.
    low: usize,
    place: usize,
    /// What is known of its replacements so far.
    above: Above,
    is_circular: bool,
}

impl<'v> Heads<'v> {
    pub(crate) fn new(view: &'v View, sight: &'v Sight) -> Self {
        Self {
            view,
            web: None,
            sight,
            known: HashMap::new(),
            looked: 0,
        }
    }

    /// The newest head of an event; none if it and all that replaces it are hidden.
    pub(crate) fn newest(&mut self, event: NodeId) -> Result<Option<NodeId>> {
        if !self.known.contains_key(&event) {
            let web = self.web()?;
            let is_shown = self.sight.at(&web, event)? != Seen::Stub;
            self.walk(event, is_shown)?;
        }
        let above = self.known.get(&event).copied().unwrap_or_default();
        Ok(above.head.or(above.shown))
    }

    /// Events whose heads are known.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    fn web(&mut self) -> Result<Web<'v>> {
        match self.web {
            Some(web) => Ok(web),
            None => Ok(*self.web.insert(self.view.web()?)),
        }
    }

    fn walk(&mut self, event: NodeId, is_shown: bool) -> Result<()> {
        // Events met and not yet known, with their places; those of unfinished circles, the last met on top.
        let mut places = HashMap::from([(event, 0)]);
        let mut met = 1;
        let mut circle: Vec<(NodeId, bool)> = vec![(event, is_shown)];
        let mut way = vec![self.open(event, is_shown, 0)?];
        while let Some(top) = way.last_mut() {
            if let Some(&(id, is_shown)) = top.replacements.get(top.next) {
                top.next += 1;
                if let Some(known) = self.known.get(&id) {
                    top.above.join(*known);
                } else if let Some(&place) = places.get(&id) {
                    top.low = top.low.min(place);
                    top.is_circular = true;
                } else {
                    places.insert(id, met);
                    circle.push((id, is_shown));
                    let open = self.open(id, is_shown, met)?;
                    way.push(open);
                    met += 1;
                }
                continue;
            }
            let Some(mut done) = way.pop() else { break };
            if done.low < done.place {
                // Part of a circle that began before it: what it knows belongs to all of that.
                if let Some(below) = way.last_mut() {
                    below.low = below.low.min(done.low);
                    below.above.join(done.above);
                    below.is_circular = true;
                }
                continue;
            }
            if !done.is_circular && done.is_shown && done.above.shown.is_none() {
                done.above.head = Some(done.id);
            }
            let first = circle.iter().rposition(|(id, _)| *id == done.id);
            let members = circle.split_off(first.unwrap_or_default());
            let shown = members.iter().filter(|(_, is_shown)| *is_shown);
            let newest = shown.map(|(id, _)| *id).max();
            done.above.shown = done.above.shown.max(newest);
            for (id, _) in members {
                self.known.insert(id, done.above);
            }
            if let Some(below) = way.last_mut() {
                below.above.join(done.above);
            }
        }
        Ok(())
    }

    fn open(&mut self, id: NodeId, is_shown: bool, place: usize) -> Result<Open> {
        let web = self.web()?;
        let mut replacements = Vec::new();
        for tie in web.ties(id, Direction::Incoming)?.iter() {
            self.looked += 1;
            let what = "the number of ties that a query looks at";
            Error::check_limit(what, self.looked as u64, TIES_MAX as u64)?;
            if tie.edge_type != EdgeType::SUPERSEDES {
                continue;
            }
            match self.sight.at(&web, tie.other)? {
                Seen::Shown => replacements.push((tie.other, true)),
                Seen::Stub => replacements.push((tie.other, false)),
                Seen::Outside => {}
            }
        }
        Ok(Open {
            id,
            is_shown,
            replacements,
            next: 0,
            low: place,
            place,
            above: Above::default(),
            is_circular: false,
        })
    }
}

impl Above {
    fn join(&mut self, other: Self) {
        self.head = self.head.max(other.head);
        self.shown = self.shown.max(other.shown);
    }
}
