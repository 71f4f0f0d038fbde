//! The names of an entity: those that facts and callers say are of one.
//!
//! An entity is its names: two facts are about one entity if they name it by the same key, or if something in the scope
//! says that two of their names are of one.

use std::collections::{BTreeMap, BTreeSet};

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::FactScope;
use amem_memory::graph::entity_key;
use amem_memory::store::aliases_said;
use amem_query::planner::{count_with, events_with};
use uuid::Uuid;

use crate::error::Result;
use crate::limits::{ENTITY_NAMES_MAX, LIGHT_EVENTS_MAX};
use crate::listing::version_shown;
use crate::memory_chain::ChainEvent;
use crate::record::{EntityRecord, EventAttributes, also_named, named, path, scoped_key};
use crate::scope_plan::FactMoment;

/// When and for whom entities are looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntityView<'v> {
    pub(crate) moment: &'v FactMoment,
    pub(crate) scope: &'v FactScope,
    /// What was so then; `None` for what is current.
    pub(crate) at: Option<Micros>,
    /// The present.
    pub(crate) now: Micros,
}

/// What a caller said of an entity, and the scope in which it did.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EntityStatement {
    pub(crate) node: NodeId,
    pub(crate) scope: FactScope,
    pub(crate) record: EntityRecord,
}

impl EntityStatement {
    pub(crate) fn read(view: &View, id: NodeId) -> Result<Option<Self>> {
        let node = view.node(id)?;
        let attributes = EventAttributes::read(&node)?.filter(|_| !node.is_erased());
        Ok(attributes.and_then(|attributes| {
            Some(Self {
                node: id,
                scope: attributes.scope(),
                record: attributes.entity?,
            })
        }))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.record.name).chain(&self.record.aliases)
    }
}

/// The key under which the fewest events of a scope are, of those of its fields; and how many are.
fn least_key(
    view: &View,
    scope: &FactScope,
    (path, what): (&str, &str),
) -> Result<Option<(u64, String)>> {
    let mut best: Option<(u64, String)> = None;
    for (field, value) in scope.fields() {
        let Some(value) = value else { continue };
        let key = scoped_key(field, value, what);
        let count = count_with(view, path, &key)?;
        if best.as_ref().is_none_or(|(least, _)| count < *least) {
            best = Some((count, key));
        }
    }
    Ok(best)
}

/// True if few events of a scope have a name, and none says that it is another's: by the index alone.
pub(crate) fn is_light(view: &View, scope: &FactScope, name: &str) -> Result<bool> {
    let count = |path, what: &str| {
        let least = least_key(view, scope, (path, what))?;
        Ok::<u64, crate::error::Error>(least.map_or(0, |(count, _)| count))
    };
    Ok(count(path::FACT_KEYS, &named(name))? <= LIGHT_EVENTS_MAX
        && count(path::FACT_KEYS, &also_named(name))? == 0
        && count(path::ENTITY_KEYS, &also_named(name))? == 0)
}

impl EntityView<'_> {
    fn view(&self) -> &View {
        &self.moment.view
    }

    /// The events under a key of the scope; they are to be compared.
    pub(crate) fn with_key(&self, path: &str, what: &str) -> Result<Vec<NodeId>> {
        match least_key(self.view(), self.scope, (path, what))? {
            Some((0, _)) | None => Ok(Vec::new()),
            Some((_, key)) => Ok(events_with(self.view(), path, &key)?),
        }
    }

    /// The version that is shown, if an event is one of a memory of the scope.
    pub(crate) fn shown(&self, id: NodeId) -> Result<Option<ChainEvent>> {
        let Some(event) = ChainEvent::read(&self.view().node(id)?)? else {
            return Ok(None);
        };
        // Orders to a model say nothing of anyone.
        if !self.scope.covers(&event.scope) || event.record.quarantined {
            return Ok(None);
        }
        version_shown(event, self.moment, self.at, self.now)
    }

    /// All that a caller said of the entity of a statement, in order.
    pub(crate) fn history_of(&self, id: Uuid) -> Result<Vec<EntityStatement>> {
        let mut found = Vec::new();
        for node in events_with(self.view(), path::ENTITY_ID, &id.to_string())? {
            let statement = EntityStatement::read(self.view(), node)?;
            found.extend(
                statement.filter(|one| {
                    one.record.id == id && self.at.is_none_or(|at| one.record.at <= at)
                }),
            );
        }
        Ok(found)
    }

    /// What callers say of an entity by one of its names: the newest statement of each.
    pub(crate) fn statements(&self, name: &str) -> Result<Vec<EntityStatement>> {
        let mut found: Vec<EntityStatement> = Vec::new();
        for node in self.with_key(path::ENTITY_KEYS, &also_named(name))? {
            let Some(statement) = EntityStatement::read(self.view(), node)? else {
                continue;
            };
            let id = statement.record.id;
            if !self.scope.covers(&statement.scope) || found.iter().any(|one| one.record.id == id) {
                continue;
            }
            let newest = self.history_of(id)?.pop();
            let key = entity_key(name);
            let has_name = |one: &EntityStatement| one.names().any(|own| entity_key(own) == key);
            found.extend(newest.filter(has_name));
        }
        Ok(found)
    }

    /// The names that are of one entity with `name`, by their keys, each as it is written first; with the statements
    /// of callers. At most `limits::ENTITY_NAMES_MAX`.
    pub(crate) fn names_of(
        &self,
        name: &str,
    ) -> Result<(BTreeMap<String, String>, Vec<EntityStatement>)> {
        let mut names = BTreeMap::from([(entity_key(name), name.to_owned())]);
        let mut statements: Vec<EntityStatement> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut left = vec![name.to_owned()];
        while let Some(next) = left.pop() {
            let mut also: Vec<String> = Vec::new();
            for statement in self.statements(&next)? {
                if seen.insert(statement.node) {
                    also.extend(statement.names().cloned());
                    statements.push(statement);
                }
            }
            let key = entity_key(&next);
            for node in self.with_key(path::FACT_KEYS, &also_named(&next))? {
                let Some(shown) = self.shown(node)? else {
                    continue;
                };
                for (one, other) in aliases_said(&shown.record.graph, &shown.text) {
                    if entity_key(&one) == key || entity_key(&other) == key {
                        also.extend([one, other]);
                    }
                }
            }
            for name in also {
                if names.len() < ENTITY_NAMES_MAX && !names.contains_key(&entity_key(&name)) {
                    names.insert(entity_key(&name), name.clone());
                    left.push(name);
                }
            }
        }
        Ok((names, statements))
    }
}
