//! What callers say of entities, and forgetting one.

use std::collections::BTreeSet;

use amem_format::NodeId;
use amem_format::types::{EventType, Micros};
use amem_memory::graph::{EntityKind, FactGraph, entity_key};
use amem_memory::limits::{
    ENTITY_ALIASES_MAX, ENTITY_DESCRIPTION_BYTES_MAX, ENTITY_NAME_BYTES_MAX,
};
use amem_memory::{Error as MemoryError, FactScope};
use amem_store::mutation::{Answer, Ingest, Mutation, NewEvent};
use uuid::Uuid;

use crate::batch_plan::{derive_none, hide_all};
use crate::entities::{memories_naming, statement_events};
use crate::entity_names::{EntityStatement, EntityView};
use crate::erasure::events_of_memory;
use crate::error::Result;
use crate::fact_brain::FactBrain;
use crate::fact_state::FactState;
use crate::limits::{MENTION_BYTES_MAX, MENTIONS_LISTED_MAX};
use crate::record::{EntityRecord, EventAttributes, also_named, scoped_keys};
use crate::scope_plan::{FactMoment, events_of};

/// The text of the event: it says nothing of the entity.
const ENTITY_TEXT: &str = "an entity was described";

/// What a caller says of an entity. What is not set stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntityStatementRequest {
    /// Its name, or any of its names; an entity that nothing names yet is new.
    pub name: String,
    /// Its name from now on.
    pub new_name: Option<String>,
    /// What it is.
    pub kind: Option<EntityKind>,
    /// What there is to say of it; empty takes a description away.
    pub description: Option<String>,
    /// More names of it: what has one of them is the same entity from now on.
    pub aliases: Vec<String>,
    /// Names that it does not have any more, as far as a caller gave them.
    pub removed_aliases: Vec<String>,
}

fn check_limit(what: &'static str, found: usize, limit: usize) -> Result<()> {
    if found <= limit {
        return Ok(());
    }
    Err(MemoryError::TooLarge {
        what,
        found: found as u64,
        limit: limit as u64,
    }
    .into())
}

fn check_name(field: &str, name: &str) -> Result<()> {
    if entity_key(name).is_empty() {
        return Err(MemoryError::invalid(field, "a name is empty, or has no letter").into());
    }
    check_limit("a name in bytes", name.len(), ENTITY_NAME_BYTES_MAX)?;
    Ok(())
}

impl EntityStatementRequest {
    fn validate(&self) -> Result<()> {
        check_name("name", &self.name)?;
        if let Some(name) = &self.new_name {
            check_name("new_name", name)?;
        }
        for (field, names) in [
            ("aliases", &self.aliases),
            ("removed_aliases", &self.removed_aliases),
        ] {
            check_limit("the number of names", names.len(), ENTITY_ALIASES_MAX)?;
            for name in names {
                check_name(field, name)?;
            }
        }
        let description = self.description.as_deref().unwrap_or_default();
        check_limit(
            "the description in bytes",
            description.len(),
            ENTITY_DESCRIPTION_BYTES_MAX,
        )?;
        Ok(())
    }

    /// The record after the one before.
    fn record(
        &self,
        before: Option<&EntityStatement>,
        scope: &FactScope,
        at: Micros,
    ) -> Result<EntityRecord> {
        let old = before.map(|before| &before.record);
        let old_name = old.map_or(&self.name, |old| &old.name);
        let name = self.new_name.clone().unwrap_or_else(|| old_name.clone());
        let name = name.trim().to_owned();
        let mut aliases: Vec<String> = old.map(|old| old.aliases.clone()).unwrap_or_default();
        // An old name is still a name.
        aliases.extend([old_name.clone(), self.name.clone()]);
        aliases.extend(self.aliases.iter().map(|alias| alias.trim().to_owned()));
        let mut gone: BTreeSet<String> = self
            .removed_aliases
            .iter()
            .map(|one| entity_key(one))
            .collect();
        gone.insert(entity_key(&name));
        aliases.retain(|alias| gone.insert(entity_key(alias)));
        check_limit(
            "the number of names of an entity",
            aliases.len(),
            ENTITY_ALIASES_MAX,
        )?;
        let names: Vec<String> = std::iter::once(&name)
            .chain(&aliases)
            .map(|one| also_named(one))
            .collect();
        Ok(EntityRecord {
            id: old.map_or_else(Uuid::new_v4, |old| old.id),
            kind: self.kind.or(old.and_then(|old| old.kind)),
            description: match &self.description {
                Some(text) => text.trim().to_owned(),
                None => old.map(|old| old.description.clone()).unwrap_or_default(),
            },
            keys: scoped_keys(scope, "entity", &[], &names),
            name,
            aliases,
            at,
        })
    }
}

/// Stores what a caller says of an entity; `None` if it says nothing new. Its state before stays as history.
pub(crate) fn state_entity(
    brain: &dyn FactBrain,
    state: &FactState,
    (scope, request): (&FactScope, &EntityStatementRequest),
    now: Micros,
) -> Result<Option<Answer>> {
    request.validate()?;
    scope.validate()?;
    let _held = state.locks.hold([scope].into_iter());
    let moment = FactMoment::new(brain.view(), None)?;
    let view = EntityView {
        moment: &moment,
        scope,
        at: None,
        now,
    };
    // What was said in another scope is a statement of its own.
    let own = view.statements(&request.name)?;
    let before = own.into_iter().find(|one| one.scope == *scope);
    let record = request.record(before.as_ref(), scope, now)?;
    let is_same = before.as_ref().is_some_and(|before| {
        let old = &before.record;
        (&old.name, old.kind, &old.description, &old.aliases)
            == (
                &record.name,
                record.kind,
                &record.description,
                &record.aliases,
            )
    });
    if is_same {
        return Ok(None);
    }
    let mut attributes = EventAttributes::of(scope);
    attributes.entity = Some(record);
    let mut event = NewEvent::new(EventType::FACT, ENTITY_TEXT);
    event.attributes = Some(attributes.to_attributes()?);
    derive_none(&mut event, &moment.view);
    let mut ingest = Ingest {
        events: vec![event],
        ..Ingest::default()
    };
    hide_all(&mut ingest);
    Ok(Some(brain.commit(Mutation::Ingest(ingest))?))
}

/// A memory that goes with an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedMemory {
    /// Its id.
    pub id: Uuid,
    /// The text of its last version.
    pub text: String,
    /// The person, else the thing, that it is about; empty if it names none.
    pub about: String,
}

/// Whom a memory is about: the first person that it names, else what it names first.
fn about(graph: &FactGraph) -> String {
    let mut people = graph.entities.iter();
    let person = people.find(|one| one.kind == Some(EntityKind::Person));
    let first = person.or(graph.entities.first());
    first.map(|one| one.name.clone()).unwrap_or_default()
}

/// What goes with an entity.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityErasure {
    /// The names of the entity.
    pub names: Vec<String>,
    /// The memories that name it, current or ended.
    pub memories: Vec<ErasedMemory>,
    /// All events that are erased: versions, ends, turns that only these memories are from, statements.
    pub events: Vec<NodeId>,
    /// Events that stay and have a name in their text: turns of other memories too. At most
    /// `limits::MENTIONS_LISTED_MAX`, each text cut to `limits::MENTION_BYTES_MAX`.
    pub mentions: Vec<(NodeId, String)>,
    /// How many there are.
    pub mention_count: u64,
}

/// What an erasure of an entity takes, and what only names it. Errors: `NotFound`.
pub(crate) fn erasure_of(
    moment: &FactMoment,
    scope: &FactScope,
    name: &str,
    now: Micros,
) -> Result<EntityErasure> {
    scope.validate()?;
    check_name("name", name)?;
    let view = EntityView {
        moment,
        scope,
        at: None,
        now,
    };
    let (names, statements) = view.names_of(name)?;
    let mut out = EntityErasure {
        names: names.values().cloned().collect(),
        ..EntityErasure::default()
    };
    let mut events = statement_events(&view, &statements)?;
    for id in memories_naming(&view, &names)? {
        events.extend(events_of_memory(&moment.view, scope, id)?.unwrap_or_default());
        let chain = crate::memory_chain::MemoryChain::of(&moment.view, id)?;
        let last = chain.last_version();
        out.memories.push(ErasedMemory {
            id,
            text: last.map(|last| last.text.clone()).unwrap_or_default(),
            about: last
                .map(|last| about(&last.record.graph))
                .unwrap_or_default(),
        });
    }
    if events.is_empty() {
        return Err(MemoryError::NotFound {
            id: name.to_owned(),
        }
        .into());
    }
    let keys: Vec<&String> = names.keys().collect();
    for id in events_of(&moment.view, scope)? {
        let node = moment.view.node(id)?;
        if events.contains(&id) || node.is_erased() {
            continue;
        }
        let attributes = EventAttributes::read(&node)?;
        if !attributes.is_some_and(|attributes| scope.covers(&attributes.scope())) {
            continue;
        }
        let text = node.text()?;
        let words = format!(" {} ", entity_key(&text));
        if keys.iter().any(|key| words.contains(&format!(" {key} "))) {
            out.mention_count += 1;
            if out.mentions.len() < MENTIONS_LISTED_MAX {
                let mut end = MENTION_BYTES_MAX.min(text.len());
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                out.mentions.push((id, text[..end].to_owned()));
            }
        }
    }
    out.events = events.into_iter().collect();
    Ok(out)
}
