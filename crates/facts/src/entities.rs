//! Entities and relations: what the memories of a scope say of who and what they name.
//!
//! Nothing is stored for them but the names of each memory, and what callers say of an entity: a relation holds as long
//! as its memory does, was so when its memory was, and is erased with it.
//!
//! Promises: a look at one entity costs in proportion to what names it, by the index of names; memories of other scopes
//! add nothing.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_memory::graph::{EntityKind, EntityRelation, entity_key};
use amem_memory::store::{MemoryItem, aliases_said};
use amem_memory::{Error as MemoryError, FactScope};
use amem_query::planner::events_with;
use uuid::Uuid;

use crate::entity::TallyKey;
use crate::entity_names::{EntityStatement, EntityView};
use crate::error::Result;
use crate::fact_state::FactState;
use crate::history::{SourceTurn, source_turns};
use crate::limits::{ENTITY_FACTS_MAX, ENTITY_FACTS_READ, FACT_PAGE_BYTES, FACT_PAGE_MAX};
use crate::listing::{FactCursor, ListRequest, page_bytes};
use crate::memory_chain::ChainEvent;
use crate::record::{named, path};
use crate::scope_plan::{FactMoment, events_of};

pub use crate::entity::Entity;

/// A relation, and the memory that says so.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRelation {
    /// The relation; its ends as the memory writes them.
    pub relation: EntityRelation,
    /// The memory.
    pub memory: Uuid,
    /// Its text.
    pub text: String,
    /// Since when it is so: the start that the memory states, else when it was said.
    pub since: Micros,
    /// Until when, if the memory states an end.
    pub until: Option<Micros>,
}

/// A memory on the page of an entity, and what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityFact {
    /// The memory.
    pub item: MemoryItem,
    /// The turns that it is from.
    pub turns: Vec<SourceTurn>,
}

/// What a caller said of an entity, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityChange {
    /// When.
    pub at: Micros,
    /// Its name from then on.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// What it is.
    pub kind: Option<EntityKind>,
    /// What it says of it.
    pub description: String,
}

/// Everything that is known about an entity.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityPage {
    /// The entity.
    pub entity: Entity,
    /// How it is related, by the memories of the page.
    pub relations: Vec<KnownRelation>,
    /// The memories that name it, the newest first.
    pub facts: Vec<EntityFact>,
    /// What callers said of it, the oldest first.
    pub changes: Vec<EntityChange>,
    /// The cursor of the next page of memories.
    pub next: Option<u64>,
}

/// Asks for entities or relations of a scope.
#[derive(Debug, Clone, Default)]
pub struct EntityRequest {
    /// Whose memories.
    pub scope: FactScope,
    /// What was so then; `None` for what is current.
    pub at: Option<Micros>,
    /// The present.
    pub now: Micros,
    /// Rows of a page, 1 to `limits::FACT_PAGE_MAX`; 0 for that.
    pub limit: usize,
    /// Where the page begins: the cursor of the one before.
    pub before: Option<u64>,
}

impl EntityRequest {
    fn view<'v>(&'v self, moment: &'v FactMoment) -> EntityView<'v> {
        EntityView {
            moment,
            scope: &self.scope,
            at: self.at,
            now: self.now,
        }
    }

    fn limit(&self) -> usize {
        match self.limit {
            0 => FACT_PAGE_MAX,
            limit => limit.min(FACT_PAGE_MAX),
        }
    }

    fn cursor(&self, moment: &FactMoment) -> Result<FactCursor> {
        let list = ListRequest {
            scope: self.scope.clone(),
            at: self.at,
            now: self.now,
            before: self.before,
            ..ListRequest::default()
        };
        FactCursor::new(moment, &list)
    }
}

/// Which spelling and which kind of an entity are said how often.
#[derive(Debug, Default)]
struct EntityTally {
    spellings: BTreeMap<String, u64>,
    kinds: BTreeMap<EntityKind, u64>,
    description: String,
    facts: u64,
    first: Option<Micros>,
    last: Option<Micros>,
}

impl EntityTally {
    /// Takes what a fact says of the entity.
    fn take(&mut self, event: &ChainEvent, keys: &BTreeSet<&str>) {
        let mut is_named = false;
        for mention in &event.record.graph.entities {
            if !keys.contains(entity_key(&mention.name).as_str()) {
                continue;
            }
            is_named = true;
            *self.spellings.entry(mention.name.clone()).or_default() += 1;
            if let Some(kind) = mention.kind {
                *self.kinds.entry(kind).or_default() += 1;
            }
            if self.description.is_empty() {
                self.description.clone_from(&mention.description);
            }
        }
        if is_named {
            self.facts += 1;
            self.first = Some(self.first.map_or(event.said, |first| first.min(event.said)));
            self.last = Some(self.last.map_or(event.said, |last| last.max(event.said)));
        }
    }

    fn join(&mut self, other: Self) {
        for (spelling, count) in other.spellings {
            *self.spellings.entry(spelling).or_default() += count;
        }
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        if self.description.is_empty() {
            self.description = other.description;
        }
        // A fact that has two names of one entity is counted for each: it says that they are of one.
        self.facts += other.facts;
        self.first = [self.first, other.first].into_iter().flatten().min();
        self.last = self.last.max(other.last);
    }

    /// The entity, with what callers say of it: the newest statement counts.
    fn entity(self, fallback: &str, statements: &[EntityStatement]) -> Entity {
        let mut newest: Vec<&EntityStatement> = statements.iter().collect();
        newest.sort_by_key(|statement| std::cmp::Reverse((statement.record.at, statement.node)));
        let said = newest
            .first()
            .map(|statement| statement.record.name.clone());
        // A name before the speaker that has none.
        let is_speaker = |name: &str| entity_key(name) == "user";
        let often = self.spellings.iter().max_by(|one, other| {
            let rank = |(name, count): &(&String, &u64)| (!is_speaker(name), **count, name.len());
            rank(one).cmp(&rank(other)).then(other.0.cmp(one.0))
        });
        let name = said.or_else(|| often.map(|(name, _)| name.clone()));
        let name = name.unwrap_or_else(|| fallback.to_owned());
        let mut seen = BTreeSet::from([entity_key(&name)]);
        let mut by_count: Vec<_> = self.spellings.iter().collect();
        by_count.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let spelled = by_count.into_iter().map(|(name, _)| name);
        let stated = newest.iter().flat_map(|statement| statement.names());
        let others = stated
            .chain(spelled)
            .filter(|other| seen.insert(entity_key(other)));
        let kind = newest.iter().find_map(|statement| statement.record.kind);
        let often = self.kinds.iter().max_by_key(|(_, count)| **count);
        let mut descriptions = newest.iter().map(|statement| &statement.record.description);
        let description = descriptions.find(|text| !text.is_empty());
        Entity {
            aliases: others.cloned().collect(),
            kind: kind.or(often.map(|(kind, _)| *kind)),
            description: description.cloned().unwrap_or(self.description),
            facts: self.facts,
            first_said: self.first,
            last_said: self.last,
            name,
        }
    }
}

/// The entity groups of a scope: names that are of one share a number.
#[derive(Default)]
struct NameGroups {
    number: HashMap<String, usize>,
    parents: Vec<usize>,
}

impl NameGroups {
    fn of(&mut self, key: String) -> usize {
        let next = self.parents.len();
        let at = *self.number.entry(key).or_insert(next);
        if at == next {
            self.parents.push(next);
        }
        self.root(at)
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
    }
}

/// All entities of a scope, those that most memories name first.
fn all_entities(moment: &FactMoment, request: &EntityRequest) -> Result<Vec<Entity>> {
    let mut cursor = FactCursor::new(
        moment,
        &ListRequest {
            scope: request.scope.clone(),
            at: request.at,
            now: request.now,
            ..ListRequest::default()
        },
    )?;
    let mut groups = NameGroups::default();
    let mut tallies: Vec<EntityTally> = Vec::new();
    let mut cued = BTreeSet::new();
    while let Some((_, event)) = cursor.advance_version()? {
        if event.record.quarantined {
            continue;
        }
        let graph = &event.record.graph;
        for mention in &graph.entities {
            let key = entity_key(&mention.name);
            let at = groups.of(key.clone());
            tallies.resize_with(groups.parents.len(), EntityTally::default);
            tallies[at].take(&event, &BTreeSet::from([key.as_str()]));
            // A name without a cue may be any word with a capital: it is an entity if something tells what it is.
            if mention.kind.is_some() {
                cued.insert(at);
            }
        }
        for relation in &graph.relations {
            for end in [&relation.source, &relation.target] {
                cued.insert(groups.of(entity_key(end)));
            }
        }
        for (one, other) in aliases_said(graph, &event.text) {
            let (one, other) = (groups.of(entity_key(&one)), groups.of(entity_key(&other)));
            groups.join(one, other);
            cued.extend([one, other]);
        }
    }
    let view = request.view(moment);
    let mut statements: Vec<(usize, EntityStatement)> = Vec::new();
    for statement in stated(&view)? {
        let first = groups.of(entity_key(&statement.record.name));
        for alias in &statement.record.aliases {
            let other = groups.of(entity_key(alias));
            groups.join(first, other);
        }
        cued.insert(first);
        statements.push((first, statement));
    }
    tallies.resize_with(groups.parents.len(), EntityTally::default);
    let mut joined: BTreeMap<usize, (EntityTally, Vec<EntityStatement>)> = BTreeMap::new();
    for (at, tally) in tallies.into_iter().enumerate() {
        joined.entry(groups.root(at)).or_default().0.join(tally);
    }
    for (at, statement) in statements {
        joined.entry(groups.root(at)).or_default().1.push(statement);
    }
    let cued: BTreeSet<usize> = cued.into_iter().map(|at| groups.root(at)).collect();
    let known = joined.into_iter().filter(|(at, (tally, statements))| {
        cued.contains(at) && (tally.facts > 0 || !statements.is_empty())
    });
    let mut out: Vec<Entity> = known
        .map(|(_, (tally, statements))| tally.entity("", &statements))
        .collect();
    out.sort_by(|one, other| other.facts.cmp(&one.facts).then(one.name.cmp(&other.name)));
    Ok(out)
}

/// The newest statement of callers about each entity of a scope.
fn stated(view: &EntityView<'_>) -> Result<Vec<EntityStatement>> {
    let mut newest: BTreeMap<Uuid, EntityStatement> = BTreeMap::new();
    for id in events_of(&view.moment.view, view.scope)? {
        let statement = EntityStatement::read(&view.moment.view, id)?;
        let of_scope = statement.filter(|one| {
            view.scope.covers(&one.scope) && view.at.is_none_or(|at| one.record.at <= at)
        });
        if let Some(statement) = of_scope {
            newest.insert(statement.record.id, statement);
        }
    }
    Ok(newest.into_values().collect())
}

/// A page of the entities of a scope that a text and a kind select, those that most memories name first; and the cursor
/// of the next one.
pub(crate) fn entities(
    moment: &FactMoment,
    state: &FactState,
    request: &EntityRequest,
    (query, kind): (&str, Option<EntityKind>),
) -> Result<(Vec<Entity>, Option<u64>)> {
    request.scope.validate()?;
    let identity = moment.view.identity();
    let key: TallyKey = (
        identity.instance,
        identity.generation,
        moment.view.lsn(),
        moment.view.nodes(),
        request.scope.clone(),
        request.at,
        moment.is_past(),
    );
    let all = match state.entities_at(&key) {
        Some(known) => known,
        None => {
            let all = Arc::new(all_entities(moment, request)?);
            state.keep_entities(key, all.clone());
            all
        }
    };
    let query = entity_key(query);
    let has_words = |name: &String| {
        let own = entity_key(name);
        let mut words = query.split(' ');
        words.all(|word| own.split(' ').any(|own| own.starts_with(word)))
    };
    let is_wanted = |entity: &&Entity| {
        let of_kind = kind.is_none() || entity.kind == kind;
        let mut names = std::iter::once(&entity.name).chain(&entity.aliases);
        of_kind && (query.is_empty() || names.any(has_words))
    };
    let from = usize::try_from(request.before.unwrap_or(0)).unwrap_or(usize::MAX);
    let mut wanted = all.iter().filter(is_wanted).skip(from);
    let page: Vec<Entity> = wanted.by_ref().take(request.limit()).cloned().collect();
    let next = wanted.next().map(|_| (from + page.len()) as u64);
    Ok((page, next))
}

/// The relations that a version says.
fn relations_of(event: &ChainEvent) -> impl Iterator<Item = KnownRelation> + '_ {
    event
        .record
        .graph
        .relations
        .iter()
        .map(|relation| KnownRelation {
            relation: relation.clone(),
            memory: event.record.id,
            text: event.text.clone(),
            since: event.record.valid.from.unwrap_or(event.said),
            until: event.record.valid.to,
        })
}

/// A page of the relations of a scope, the newest memory first; with a name those of one entity.
pub(crate) fn relations(
    moment: &FactMoment,
    request: &EntityRequest,
    (name, relation): (&str, &str),
) -> Result<(Vec<KnownRelation>, Option<u64>)> {
    request.scope.validate()?;
    let is_wanted = |one: &KnownRelation| relation.is_empty() || one.relation.relation == relation;
    let mut out = Vec::new();
    if !name.is_empty() {
        let view = request.view(moment);
        let (names, _) = view.names_of(name)?;
        let (events, next) = facts_of(&view, &names, (request.limit(), request.before))?;
        for event in &events {
            let own = relations_of(event).filter(|one| is_wanted(one));
            out.extend(own.filter(|one| {
                names.contains_key(&entity_key(&one.relation.source))
                    || names.contains_key(&entity_key(&one.relation.target))
            }));
        }
        return Ok((out, next));
    }
    let mut cursor = request.cursor(moment)?;
    let mut bytes = 0;
    while let Some((id, event)) = cursor.advance_version()? {
        if event.record.quarantined {
            continue;
        }
        let found: Vec<_> = relations_of(&event).filter(is_wanted).collect();
        bytes += found.iter().map(|one| one.text.len()).sum::<usize>();
        let is_full = out.len() + found.len() > request.limit() || bytes > FACT_PAGE_BYTES;
        if is_full && !out.is_empty() && !found.is_empty() {
            return Ok((out, Some(id.0 + 1)));
        }
        out.extend(found);
    }
    Ok((out, None))
}

/// The current memories that have one of the names, the newest version first: at most `limit`, before an event; and
/// the cursor of the next page.
pub(crate) fn facts_of(
    view: &EntityView<'_>,
    names: &BTreeMap<String, String>,
    (limit, before): (usize, Option<u64>),
) -> Result<(Vec<ChainEvent>, Option<u64>)> {
    let mut ids: Vec<NodeId> = Vec::new();
    for name in names.values() {
        ids.extend(view.with_key(path::FACT_KEYS, &named(name))?);
    }
    ids.sort_unstable();
    ids.dedup();
    if let Some(before) = before {
        ids.truncate(ids.partition_point(|id| id.0 < before));
    }
    let (mut out, mut bytes): (Vec<ChainEvent>, usize) = (Vec::new(), 0);
    for id in ids.into_iter().rev() {
        let Some(event) = view.shown(id)? else {
            continue;
        };
        let mut mentions = event.record.graph.entities.iter();
        if !mentions.any(|mention| names.contains_key(&entity_key(&mention.name))) {
            continue;
        }
        bytes += page_bytes(&event.item());
        if out.len() == limit || bytes > FACT_PAGE_BYTES && !out.is_empty() {
            return Ok((out, Some(id.0 + 1)));
        }
        out.push(event);
    }
    Ok((out, None))
}

/// The page of an entity. Errors: `NotFound` where nothing in the scope names it.
pub(crate) fn entity_page(
    moment: &FactMoment,
    request: &EntityRequest,
    name: &str,
) -> Result<EntityPage> {
    request.scope.validate()?;
    if entity_key(name).is_empty() {
        return Err(MemoryError::invalid("name", "it is empty: name an entity").into());
    }
    let view = request.view(moment);
    let (names, statements) = view.names_of(name)?;
    let limit = request.limit().min(ENTITY_FACTS_MAX);
    // What the page does not show counts for name and kind, as far as it is read.
    let (events, mut next) = facts_of(&view, &names, (ENTITY_FACTS_READ, request.before))?;
    if events.is_empty() && statements.is_empty() && request.before.is_none() {
        return Err(MemoryError::NotFound {
            id: name.to_owned(),
        }
        .into());
    }
    let keys: BTreeSet<&str> = names.keys().map(String::as_str).collect();
    let mut tally = EntityTally::default();
    for event in &events {
        tally.take(event, &keys);
    }
    if let Some(first) = events.get(limit) {
        next = Some(first.node.0 + 1);
    }
    let shown = &events[..events.len().min(limit)];
    let mut relations: Vec<KnownRelation> = Vec::new();
    let mut facts = Vec::new();
    for event in shown {
        relations.extend(relations_of(event).filter(|one| {
            keys.contains(entity_key(&one.relation.source).as_str())
                || keys.contains(entity_key(&one.relation.target).as_str())
        }));
        facts.push(EntityFact {
            item: event.item(),
            turns: source_turns(&moment.view, event, &request.scope)?,
        });
    }
    let mut changes = Vec::new();
    for statement in &statements {
        changes.extend(view.history_of(statement.record.id)?);
    }
    changes.sort_by_key(|one| (one.record.at, one.node));
    let changes = changes.into_iter().map(|one| EntityChange {
        at: one.record.at,
        name: one.record.name,
        aliases: one.record.aliases,
        kind: one.record.kind,
        description: one.record.description,
    });
    Ok(EntityPage {
        entity: tally.entity(name, &statements),
        relations,
        facts,
        changes: changes.collect(),
        next,
    })
}

/// The events of all memories that name an entity, current or not: their ids.
pub(crate) fn memories_naming(
    view: &EntityView<'_>,
    names: &BTreeMap<String, String>,
) -> Result<BTreeSet<Uuid>> {
    let mut ids = BTreeSet::new();
    for name in names.values() {
        for id in view.with_key(path::FACT_KEYS, &named(name))? {
            let event = ChainEvent::read(&view.moment.view.node(id)?)?;
            let naming = event.filter(|event| {
                let mut mentions = event.record.graph.entities.iter();
                view.scope.covers(&event.scope)
                    && mentions.any(|mention| names.contains_key(&entity_key(&mention.name)))
            });
            ids.extend(naming.map(|event| event.record.id));
        }
    }
    Ok(ids)
}

/// The events of what callers said of an entity.
pub(crate) fn statement_events(
    view: &EntityView<'_>,
    statements: &[EntityStatement],
) -> Result<BTreeSet<NodeId>> {
    let mut out = BTreeSet::new();
    for statement in statements {
        let id = statement.record.id;
        for node in events_with(&view.moment.view, path::ENTITY_ID, &id.to_string())? {
            let own = EntityStatement::read(&view.moment.view, node)?;
            out.extend(own.filter(|one| one.record.id == id).map(|one| one.node));
        }
    }
    Ok(out)
}
