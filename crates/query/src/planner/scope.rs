//! Whose memory a query is about, and what of it may be shown.
//!
//! The scope of an event stands in its attributes `amem.user`, `amem.agent` and `amem.run`. What is outside a
//! request's scope is not there for it: neither shown nor walked through. A forgotten event is not shown
//! either, but what leads on is reached through it; there it stands as a stub, its id only.

use serde_json::{Value, json};

use crate::filter::{Filter, Subject};
use crate::planner::subject::{NodeSubject, Strength};
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::{Node, View, Web};

/// User, agent and run; each that is given must be equal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// `amem.user`
    pub user: Option<String>,
    /// `amem.agent`
    pub agent: Option<String>,
    /// `amem.run`
    pub run: Option<String>,
}

impl Scope {
    /// The scope as a filter; `None` if it lets everything pass.
    pub fn to_filter(&self) -> Result<Option<Filter>> {
        let parts = [
            ("amem.user", &self.user),
            ("amem.agent", &self.agent),
            ("amem.run", &self.run),
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

    /// What is the same JSON for the same scope.
    pub(crate) fn canonical(&self) -> [Option<&str>; 3] {
        [&self.user, &self.agent, &self.run].map(|part| part.as_deref())
    }
}

/// How a query that follows edges sees an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Shown.
    Shown,
    /// Forgotten: its id only, and only if something beyond it is shown.
    Stub,
    /// Out of scope: not there.
    Outside,
}

/// What a query that follows edges may show: a scope made ready, and whether what is forgotten is shown.
#[derive(Debug)]
pub struct Sight {
    scope: Option<Filter>,
    include_forgotten: bool,
}

impl Sight {
    /// Makes a scope ready.
    pub fn new(scope: &Scope, include_forgotten: bool) -> Result<Self> {
        Ok(Self {
            scope: scope.to_filter()?,
            include_forgotten,
        })
    }

    /// True if everything is in it that is not forgotten: what most questions see.
    pub(crate) fn is_default(&self) -> bool {
        self.scope.is_none() && !self.include_forgotten
    }

    /// How an event is seen.
    pub fn of(&self, node: &Node<'_>) -> Result<Visibility> {
        if let Some(scope) = &self.scope {
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

    /// How an event of a graph is seen.
    #[inline(always)]
    pub(crate) fn at(&self, web: &Web<'_>, id: NodeId) -> Result<Visibility> {
        // Without a scope, what was learnt of an event once says it all.
        match web.known_forgotten(id).filter(|_| self.scope.is_none()) {
            Some(true) if !self.include_forgotten => Ok(Visibility::Stub),
            Some(_) => Ok(Visibility::Shown),
            None => self.read_visibility(web, id),
        }
    }

    #[inline(never)]
    fn read_visibility(&self, web: &Web<'_>, id: NodeId) -> Result<Visibility> {
        if self.scope.is_some() {
            return self.of(&web.view().node(id)?);
        }
        Ok(if web.is_forgotten(id)? && !self.include_forgotten {
            Visibility::Stub
        } else {
            Visibility::Shown
        })
    }

    /// True if an event of a graph is outside; without a scope none is, and no event is looked at.
    #[inline]
    pub(crate) fn is_outside(&self, web: &Web<'_>, id: NodeId) -> Result<bool> {
        Ok(self.scope.is_some() && self.at(web, id)? == Visibility::Outside)
    }

    /// An event that a request names: an error if it may not be shown.
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
