//! Whose memory a query is about, and which events it may show.
//!
//! An event's scope is in its attributes `amem.user`, `amem.agent`, `amem.run` and `amem.app`. A query neither shows
//! nor walks through events outside its scope. It does not show forgotten events either, but walks through them: there
//! a forgotten event appears as a stub, its id only.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::filter::{Filter, Subject};
use crate::planner::driver::Driver;
use crate::planner::subject::{NodeSubject, Strength};
use crate::planner::values::ValueIds;
use amem_format::brain::ScopeList;
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::{GraphReader, Node, View};

/// User, agent, run and app. Each one that is given must be equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// `amem.user`
    pub user: Option<String>,
    /// `amem.agent`
    pub agent: Option<String>,
    /// `amem.run`
    pub run: Option<String>,
    /// `amem.app`
    pub app: Option<String>,
}

impl Scope {
    /// The scope as a filter; `None` if every event passes.
    pub fn to_filter(&self) -> Result<Option<Filter>> {
        let parts = [
            ("amem.user", &self.user),
            ("amem.agent", &self.agent),
            ("amem.run", &self.run),
            ("amem.app", &self.app),
        ];
        let conditions: Vec<Value> = parts
            .into_iter()
            .filter_map(|(field, value)| Some(json!({field: value.as_ref()?})))
            .collect();
        if conditions.is_empty() {
            return Ok(None);
        }
        Filter::parse(&json!({"and": conditions})).map(Some)
    }

    /// The events of the scope at a view's moment, hidden ones included; `None` if every event belongs to it. Computed
    /// once per scope and commit.
    pub(crate) fn events(&self, view: &View) -> Result<Option<Arc<ScopeList>>> {
        let Some(filter) = self.to_filter()? else {
            return Ok(None);
        };
        let name = json!(self.canonical()).to_string();
        let members = |from, ids: &mut Vec<u32>| {
            let driver = match ValueIds::new(view, &filter)? {
                Some(values) => Driver::Values(Box::new(values)),
                None => Driver::All,
            };
            let mut walk = driver.walk(from..view.nodes(), false);
            while let Some(id) = walk.next()? {
                let node = view.node(id)?;
                if filter.matches(&NodeSubject::new(&node, &Strength::LastRun))? {
                    // Ids fit 32 bits (`NODES_MAX`).
                    ids.push(id.0 as u32);
                }
            }
            Ok(())
        };
        view.scope_list(&name, members).map(Some)
    }

    /// The scope for hashing: equal scopes give equal JSON. Without an app it is what it was before there were apps, so
    /// that page tokens outlive an update.
    pub(crate) fn canonical(&self) -> Vec<Option<&str>> {
        let all = [&self.user, &self.agent, &self.run].map(|part| part.as_deref());
        all.into_iter()
            .chain(self.app.as_deref().map(Some))
            .collect()
    }
}

/// What a query that follows edges may show of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// The event.
    Shown,
    /// Its id only, and only if something beyond it is shown: the event is forgotten.
    Stub,
    /// Nothing: the event is out of scope.
    Outside,
}

/// Decides what a query may show: a compiled scope, and whether forgotten events are included.
#[derive(Debug)]
pub struct Sight {
    scope: Option<Filter>,
    /// The events of the scope, if they are listed.
    listed: Option<Arc<ScopeList>>,
    include_forgotten: bool,
}

impl Sight {
    /// Compiles a scope.
    pub fn new(scope: &Scope, include_forgotten: bool) -> Result<Self> {
        Self::within(scope, include_forgotten, None)
    }

    /// The same, with the events of the scope if they are listed.
    pub(crate) fn within(
        scope: &Scope,
        include_forgotten: bool,
        listed: Option<Arc<ScopeList>>,
    ) -> Result<Self> {
        Ok(Self {
            scope: scope.to_filter()?,
            listed,
            include_forgotten,
        })
    }

    /// True if all events but forgotten ones are visible, as for most requests.
    pub(crate) fn is_default(&self) -> bool {
        self.scope.is_none() && !self.include_forgotten
    }

    /// The visibility of an event.
    pub fn of(&self, node: &Node<'_>) -> Result<Visibility> {
        if let Some(listed) = &self.listed {
            if !listed.contains(node.id()) {
                return Ok(Visibility::Outside);
            }
        } else if let Some(scope) = &self.scope {
            let candidate = NodeSubject::new(node, &Strength::LastRun);
            if !scope.matches(&candidate as &dyn Subject)? {
                return Ok(Visibility::Outside);
            }
        }
        Ok(if node.is_forgotten() && !self.include_forgotten {
            Visibility::Stub
        } else {
            Visibility::Shown
        })
    }

    /// The visibility of an event of a graph.
    #[inline(always)]
    pub(crate) fn at(&self, web: &GraphReader<'_>, id: NodeId) -> Result<Visibility> {
        // Without a scope, the cached forgotten flag decides.
        match web.known_forgotten(id).filter(|_| self.scope.is_none()) {
            Some(true) if !self.include_forgotten => Ok(Visibility::Stub),
            Some(_) => Ok(Visibility::Shown),
            None => self.read_visibility(web, id),
        }
    }

    #[inline(never)]
    fn read_visibility(&self, web: &GraphReader<'_>, id: NodeId) -> Result<Visibility> {
        if self.scope.is_some() {
            return self.of(&web.view().node(id)?);
        }
        Ok(if web.is_forgotten(id)? && !self.include_forgotten {
            Visibility::Stub
        } else {
            Visibility::Shown
        })
    }

    /// True if an event of a graph is out of scope. Reads nothing if there is no scope.
    #[inline]
    pub(crate) fn is_outside(&self, web: &GraphReader<'_>, id: NodeId) -> Result<bool> {
        Ok(self.scope.is_some() && self.at(web, id)? == Visibility::Outside)
    }

    /// Opens an event that a request names; an error if it may not be shown.
    pub fn open<'v>(&self, view: &'v View, id: NodeId) -> Result<Node<'v>> {
        let node = view.node(id)?;
        match self.of(&node)? {
            Visibility::Shown => Ok(node),
            Visibility::Stub => Err(Error::Forgotten { id }),
            Visibility::Outside => Err(Error::invalid(
                "event",
                format!("{id} is outside the scope asked about"),
            )),
        }
    }
}
