//! Who recorded an event, as a condition: names are looked up once, then numbers of actors are compared.

use crate::limits::AUTHOR_NAMES_MAX;
use amem_format::error::{Error, Result};
use amem_format::limits::NAME_BYTES_MAX;
use amem_format::types::ActorId;
use amem_format::view::View;

/// Principals and agents. Each list that is given must have the author's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthorNames {
    /// Any of these principals, such as `uid:1000`; empty for all.
    pub by: Vec<String>,
    /// Any of these agents, by the names they gave; empty for all.
    pub agents: Vec<String>,
}

impl AuthorNames {
    /// True if every author passes.
    pub fn is_open(&self) -> bool {
        self.by.is_empty() && self.agents.is_empty()
    }

    /// The actors of these names, ascending; `None` if every author passes.
    pub(crate) fn actors(&self, view: &View) -> Result<Option<Vec<ActorId>>> {
        if self.is_open() {
            return Ok(None);
        }
        let is_named = |names: &[String], name: &str| {
            names.is_empty() || names.iter().any(|wanted| wanted == name)
        };
        let mut found = Vec::new();
        for id in (1..=view.actors()?).map(|id| ActorId(id as u32)) {
            let actor = view.actor(id)?;
            if is_named(&self.by, actor.principal) && is_named(&self.agents, actor.agent) {
                found.push(id);
            }
        }
        Ok(Some(found))
    }

    pub(crate) fn check(&self) -> Result<()> {
        for (what, names) in [("by", &self.by), ("agents", &self.agents)] {
            let (count, max) = (names.len() as u64, AUTHOR_NAMES_MAX as u64);
            Error::check_limit("the number of authors", count, max)?;
            for name in names {
                if name.is_empty() {
                    let why = "a name is empty: leave it out for events of every author";
                    return Err(Error::invalid(what, why));
                }
                let (bytes, max) = (name.len() as u64, NAME_BYTES_MAX as u64);
                Error::check_limit("the bytes of an author's name", bytes, max)?;
            }
        }
        Ok(())
    }

    /// The names for hashing: equal conditions give equal JSON.
    pub(crate) fn canonical(&self) -> [Vec<&str>; 2] {
        [&self.by, &self.agents].map(|names| {
            let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
            names.sort_unstable();
            names.dedup();
            names
        })
    }
}
