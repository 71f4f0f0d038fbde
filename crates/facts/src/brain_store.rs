//! The port of `amem_memory` to a brain.
//!
//! The version of a scope is the number of events of the view: every change of a memory is a new event, so that the
//! scope has changed if one of the events since is of one of its memories.

use std::cell::RefCell;
use std::collections::HashSet;

use amem_engine::Error as EngineError;
use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::vectors::{UnitVector, Vectors};
use amem_format::view::View;
use amem_memory::limits::{CANDIDATES_MAX, NEAREST_MAX};
use amem_memory::store::{
    Candidate, CandidateKey, CandidateSet, FactBatch, FactOp, FactStore, MemoryPage, NewAnswer,
    StoredAnswer, StoredMemory, TurnKey,
};
use amem_memory::{Error as MemoryError, FactFilter, FactScope};
use amem_query::filter::Filter;
use amem_query::{Selection, Similar, SimilarityTarget};
use amem_store::mutation::{Answer, Mutation};
use serde_json::json;
use uuid::Uuid;

use crate::batch_plan::BatchPlan;
use crate::conversation;
use crate::error::{Error, Result};
use crate::fact_brain::FactBrain;
use crate::fact_state::FactState;
use crate::limits::{COMPARED_EVENTS_MAX, RECENT_EVENTS_READ};
use crate::memory_chain::{ChainEvent, MemoryChain, is_head};
use crate::pending_work::WorkContext;
use crate::record::{EventAttributes, answer_key, item_json, path, scoped_key};
use crate::scope_plan::{events_of, events_passing, query_scope, shortest_list};
use crate::stored_turns::stored_turn;
use amem_query::planner::{count_with, events_with};

type MemoryResult<T> = amem_memory::Result<T>;

/// A brain as a store of memories, for one request.
pub(crate) struct BrainStore<'b> {
    brain: &'b dyn FactBrain,
    state: &'b FactState,
    /// What a repetition gets, of a request that brings none itself.
    pub(crate) kept: RefCell<Option<NewAnswer>>,
    /// What is kept with work that is left.
    pub(crate) work: RefCell<WorkContext>,
    /// What the brain said, whose own words alone the port can pass on.
    failure: RefCell<Option<EngineError>>,
    /// The LSN of the last commit.
    pub(crate) committed: RefCell<Option<Answer>>,
}

impl<'b> BrainStore<'b> {
    pub(crate) fn new(brain: &'b dyn FactBrain, state: &'b FactState) -> Self {
        Self {
            brain,
            state,
            kept: RefCell::default(),
            work: RefCell::default(),
            failure: RefCell::default(),
            committed: RefCell::default(),
        }
    }

    /// The error of a request that ran on this store, with what the brain said.
    pub(crate) fn explain(&self, error: MemoryError) -> Error {
        match (error, self.failure.take()) {
            (MemoryError::Store(_), Some(failure)) => Error::Engine(failure),
            (error, _) => Error::Memory(error),
        }
    }

    fn port<T>(&self, result: Result<T>) -> MemoryResult<T> {
        result.map_err(|error| match error {
            Error::Memory(error) => error,
            Error::Engine(error) => {
                let words = error.to_string();
                *self.failure.borrow_mut() = Some(error);
                MemoryError::Store(words)
            }
        })
    }
}

/// True if the memories that a scope covers, of these if they are named, changed since the view had `from` events.
fn has_changed(
    view: &View,
    scope: &FactScope,
    named: Option<&HashSet<Uuid>>,
    from: u64,
) -> Result<bool> {
    let recent = view.nodes().saturating_sub(from);
    let ids = if recent <= RECENT_EVENTS_READ {
        (from..view.nodes()).map(NodeId).collect()
    } else {
        let mut ids = events_of(view, scope)?;
        ids.retain(|id| id.0 >= from);
        ids
    };
    for id in ids {
        let event = ChainEvent::read(&view.node(id)?)?;
        let is_meant = |event: &ChainEvent| {
            scope.covers(&event.scope) && named.is_none_or(|ids| ids.contains(&event.record.id))
        };
        if event.as_ref().is_some_and(is_meant) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The memories of a batch that has neither turns nor new memories.
fn changed_by_caller(batch: &FactBatch) -> Option<HashSet<Uuid>> {
    let id_of = |op: &FactOp| match op {
        // Only adds have them.
        FactOp::Add { .. } | FactOp::Support { .. } => None,
        FactOp::Update { id, .. } | FactOp::Delete { id, .. } | FactOp::Restore { id, .. } => {
            Some(*id)
        }
    };
    let ids: Option<HashSet<Uuid>> = batch.ops.iter().map(id_of).collect();
    ids.filter(|_| batch.turns.is_empty())
}

/// The filter that only versions of memories pass.
pub(crate) fn versions_filter() -> Result<Filter> {
    Ok(Filter::parse(&json!({path::FACT_STATE: "version"}))?)
}

/// Finds the candidates of facts in one view.
struct CandidateSearch<'v> {
    view: &'v View,
    scope: &'v FactScope,
    filter: Option<&'v FactFilter>,
    now: Micros,
}

impl CandidateSearch<'_> {
    /// A current memory of the scope that the filter admits.
    fn admitted(&self, id: NodeId) -> Result<Option<ChainEvent>> {
        let node = self.view.node(id)?;
        if node.is_forgotten() {
            return Ok(None);
        }
        let Some(event) = ChainEvent::read(&node)? else {
            return Ok(None);
        };
        let is_wanted = event.is_version()
            && self.scope.covers(&event.scope)
            && !event.is_expired(self.now)
            && is_head(self.view, &node)?
            && self
                .filter
                .is_none_or(|filter| filter.matches(&item_json(&event.item())));
        Ok(is_wanted.then_some(event))
    }

    /// The same, but for memories of others, and those that give orders: they change nothing, and nothing changes them.
    fn candidate(&self, id: NodeId) -> Result<Option<ChainEvent>> {
        let admitted = self.admitted(id)?;
        Ok(admitted
            .filter(|event| !event.record.quarantined && self.scope.may_change(&event.scope)))
    }

    /// Events under a key of the scope: by the field that has the fewest.
    fn with_key(&self, what: &str) -> Result<Vec<NodeId>> {
        let mut best: Option<(u64, String)> = None;
        for (field, value) in self.scope.fields() {
            let Some(value) = value else { continue };
            let key = scoped_key(field, value, what);
            let count = count_with(self.view, path::FACT_KEYS, &key)?;
            if best.as_ref().is_none_or(|(least, _)| count < *least) {
                best = Some((count, key));
            }
        }
        match best {
            Some((_, key)) => Ok(events_with(self.view, path::FACT_KEYS, &key)?),
            None => Ok(Vec::new()),
        }
    }

    /// True if a current memory has the text with this hash.
    fn has_text(&self, hash: &str) -> Result<bool> {
        for id in self.with_key(hash)? {
            if self
                .admitted(id)?
                .is_some_and(|event| event.record.hash == hash)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn nearest(&self, vector: &[f32]) -> Result<Vec<(NodeId, f32)>> {
        let (events, _) = shortest_list(self.view, self.scope)?;
        if events <= COMPARED_EVENTS_MAX {
            return self.nearest_by_event(vector);
        }
        let selection = Selection {
            scope: query_scope(self.scope),
            filter: Some(versions_filter()?),
            ..Selection::default()
        };
        let mut found = Vec::new();
        // Replaced versions are near too: ask for more until enough are current.
        let mut limit = 4 * NEAREST_MAX;
        loop {
            let similar = Similar {
                like: SimilarityTarget::Vector(vector.to_vec()),
                selection: selection.clone(),
                limit,
                ..Similar::default()
            };
            let hits = similar.run(self.view)?.hits;
            let is_all = hits.len() < limit;
            found.clear();
            for (id, cosine) in hits {
                if self.candidate(id)?.is_some() {
                    found.push((id, cosine));
                }
                if found.len() == NEAREST_MAX {
                    return Ok(found);
                }
            }
            if is_all || limit >= amem_query::limits::PAGE_MAX {
                return Ok(found);
            }
            limit = (limit * 8).min(amem_query::limits::PAGE_MAX);
        }
    }

    /// The nearest of a scope of few events: each is compared, and those that come first are read.
    fn nearest_by_event(&self, vector: &[f32]) -> Result<Vec<(NodeId, f32)>> {
        let Some(direction) = UnitVector::of(vector) else {
            return Ok(Vec::new());
        };
        let vectors = Vectors::new(self.view)?;
        let mut near = Vec::new();
        for id in events_of(self.view, self.scope)? {
            // Ids fit 32 bits (`NODES_MAX`).
            vectors.look_at(id.0 as u32, &mut |_, vector, inverse| {
                near.extend(
                    direction
                        .cosine(vector, inverse)?
                        .map(|cosine| (id, cosine)),
                );
                Ok(())
            })?;
        }
        near.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(b.0.cmp(&a.0)));
        let mut found = Vec::new();
        for (id, cosine) in near {
            if found.len() == NEAREST_MAX {
                break;
            }
            if self.candidate(id)?.is_some() {
                found.push((id, cosine));
            }
        }
        Ok(found)
    }

    fn of(&self, key: &CandidateKey) -> Result<Vec<Candidate>> {
        let nearest = match &key.vector {
            Some(vector) if vector.len() == self.view.vector_dimension() as usize => {
                self.nearest(vector)?
            }
            _ => Vec::new(),
        };
        let cosine_to = |id: NodeId| -> Result<Option<f32>> {
            let known = nearest.iter().find(|(near, _)| *near == id);
            if let Some((_, cosine)) = known {
                return Ok(Some(*cosine));
            }
            let (Some(a), Some(b)) = (&key.vector, self.view.node(id)?.vector()?) else {
                return Ok(None);
            };
            Ok(cosine(a, b))
        };
        let mut out: Vec<Candidate> = Vec::new();
        let mut seen = HashSet::new();
        let mut take = |events: Vec<ChainEvent>, out: &mut Vec<Candidate>| -> Result<()> {
            let mut group = Vec::new();
            for event in events {
                if seen.insert(event.record.id) {
                    group.push(Candidate {
                        id: event.record.id,
                        text: event.text,
                        cosine: cosine_to(event.node)?,
                    });
                }
            }
            group.sort_by(|a, b| {
                b.cosine
                    .unwrap_or(-1.0)
                    .total_cmp(&a.cosine.unwrap_or(-1.0))
            });
            out.extend(group);
            Ok(())
        };
        let mut same = Vec::new();
        for id in self.with_key(&key.hash)? {
            same.extend(
                self.candidate(id)?
                    .filter(|event| event.record.hash == key.hash),
            );
        }
        take(same, &mut out)?;
        let mut of_slot = Vec::new();
        for slot in &key.slots {
            for id in self.with_key(slot)? {
                of_slot.extend(
                    self.candidate(id)?
                        .filter(|event| event.record.slots.contains(slot)),
                );
            }
        }
        take(of_slot, &mut out)?;
        let mut near = Vec::new();
        for (id, _) in &nearest {
            near.extend(self.candidate(*id)?);
        }
        take(near, &mut out)?;
        out.truncate(CANDIDATES_MAX);
        Ok(out)
    }
}

fn cosine(a: &[f32], b: &[f32]) -> Option<f32> {
    let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    let norms = norm(a) * norm(b);
    (norms > 0.0 && a.len() == b.len()).then(|| dot / norms)
}

/// The answer that is kept under a key.
pub(crate) fn kept_answer(
    view: &View,
    scope: &FactScope,
    key: &str,
) -> Result<Option<StoredAnswer>> {
    let key = answer_key(scope, key);
    let mut parts: Vec<Option<String>> = Vec::new();
    let mut request_hash = String::new();
    for id in events_with(view, path::ANSWER_KEY, &key)? {
        let node = view.node(id)?;
        let Some(attributes) = EventAttributes::read(&node)? else {
            continue;
        };
        let is_ours = attributes.scope() == *scope && !node.is_erased();
        if let Some(answer) = attributes
            .answer
            .filter(|answer| is_ours && answer.key == key)
        {
            parts.resize(answer.parts, None);
            request_hash = answer.request;
            if let Some(part) = parts.get_mut(answer.part) {
                *part = Some(node.text()?.into_owned());
            }
        }
    }
    let text: Option<Vec<String>> = parts.into_iter().collect();
    let Some(text) = text.filter(|parts| !parts.is_empty()) else {
        return Ok(None);
    };
    let answer = serde_json::from_str(&text.concat()).map_err(|e| {
        amem_format::Error::corrupt("amem.answer", 0, format!("the kept answer {key}: {e}"))
    })?;
    Ok(Some(StoredAnswer {
        request_hash,
        answer,
    }))
}

impl FactStore for BrainStore<'_> {
    fn answered(&self, scope: &FactScope, key: &str) -> MemoryResult<Option<StoredAnswer>> {
        self.port(kept_answer(&self.brain.view(), scope, key))
    }

    fn known_turns(&self, scope: &FactScope, turns: &[TurnKey]) -> MemoryResult<Vec<Option<Uuid>>> {
        let view = self.brain.view();
        let known = |turn: &TurnKey| {
            let found = stored_turn(&view, scope, &turn.hash, turn.time)?;
            Ok(found.map(|(_, id)| id))
        };
        self.port(turns.iter().map(known).collect())
    }

    fn served_lately(&self, scope: &FactScope, hashes: &[String]) -> MemoryResult<Vec<bool>> {
        let view = self.brain.view();
        // What was forgotten since is said again.
        let is_there = |(hash, scopes): (&String, Vec<FactScope>)| {
            for scope in &scopes {
                let search = CandidateSearch {
                    view: &view,
                    scope,
                    filter: None,
                    now: Micros(i64::MIN),
                };
                if search.has_text(hash)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        let shown = self.state.served.scopes_of(scope, hashes);
        self.port(hashes.iter().zip(shown).map(is_there).collect())
    }

    fn served_words(&self, scope: &FactScope, hashes: &[String]) -> MemoryResult<Vec<bool>> {
        Ok(self.state.served.has_words(scope, hashes))
    }

    fn candidates(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        keys: &[CandidateKey],
        now: Micros,
    ) -> MemoryResult<CandidateSet> {
        let view = self.brain.view();
        let search = CandidateSearch {
            view: &view,
            scope,
            filter,
            now,
        };
        let candidates = keys.iter().map(|key| search.of(key)).collect();
        Ok(CandidateSet {
            version: view.nodes(),
            candidates: self.port(candidates)?,
        })
    }

    fn get(&self, id: Uuid) -> MemoryResult<Option<StoredMemory>> {
        let view = self.brain.view();
        let chain = self.port(MemoryChain::of(&view, id))?;
        let is_deleted = chain.head().is_none();
        Ok(chain.last_version().map(|last| StoredMemory {
            item: last.item(),
            is_deleted,
            version: view.nodes(),
        }))
    }

    fn list(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        limit: usize,
        now: Micros,
    ) -> MemoryResult<MemoryPage> {
        let view = self.brain.view();
        let search = CandidateSearch {
            view: &view,
            scope,
            filter,
            now,
        };
        let mut items = Vec::new();
        for id in self.port(events_passing(&view, scope, filter))? {
            if items.len() == limit {
                break;
            }
            items.extend(self.port(search.admitted(id))?.map(|event| event.item()));
        }
        Ok(MemoryPage {
            items,
            version: view.nodes(),
        })
    }

    fn commit(&self, batch: &FactBatch) -> MemoryResult<()> {
        self.port(self.commit_batch(batch))
    }
}

impl BrainStore<'_> {
    fn commit_batch(&self, batch: &FactBatch) -> Result<()> {
        let view = self.brain.view();
        let mut scopes = vec![batch.scope.clone()];
        for op in &batch.ops {
            if let FactOp::Update { id, .. }
            | FactOp::Delete { id, .. }
            | FactOp::Restore { id, .. }
            | FactOp::Support { id, .. } = op
            {
                // A memory of the batch itself has none yet.
                let chain = MemoryChain::of(&view, *id)?;
                scopes.extend(chain.last_version().map(|event| event.scope.clone()));
            }
        }
        let session = conversation::session_of(self.brain, batch)?;
        let _held = self.state.locks.hold_with(scopes.iter(), session);
        // What was decided is compared with what is there now; nobody commits to these scopes meanwhile.
        let view = self.brain.view();
        // A caller's change of a memory depends on nothing but that memory; an add on all that it decided against.
        let named = changed_by_caller(batch);
        if let Some(version) = batch.expected_version
            && has_changed(&view, &batch.scope, named.as_ref(), version)?
        {
            return Err(MemoryError::Changed.into());
        }
        let mut with_answer = None;
        if batch.answered.is_none() {
            with_answer = self.kept.take().map(|kept| FactBatch {
                answered: Some(kept),
                ..batch.clone()
            });
        }
        let batch = with_answer.as_ref().unwrap_or(batch);
        if let Some(kept) = &batch.answered
            && kept_answer(&view, &batch.scope, &kept.key)?.is_some()
        {
            // The same request came twice at once, and the other was first: it is answered like that one.
            return Err(MemoryError::Changed.into());
        }
        let ingest = BatchPlan::of(&view, batch, session, &self.work.borrow())?;
        if ingest.events.is_empty() {
            return Ok(());
        }
        let answer = self.brain.commit(Mutation::Ingest(ingest))?;
        *self.committed.borrow_mut() = Some(answer);
        Ok(())
    }
}
