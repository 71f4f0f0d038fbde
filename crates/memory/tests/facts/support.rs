//! A naive store of memories, and scripted models and embedders.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::time::Duration;

use amem_format::types::Micros;
use amem_memory::model::{Model, ModelFailure, ModelReply, ModelRequest};
use amem_memory::store::{
    BuiltinEmbedder, Candidate, CandidateKey, CandidateSet, Embedder, FactBatch, FactOp, FactStore,
    HistoryEvent, HistoryRecord, Ids, MemoryItem, MemoryPage, NewFact, StoredAnswer, StoredMemory,
    TurnKey,
};
use amem_memory::{Calibration, Error, FactFilter, FactScope, Result, text_hash};
use serde_json::json;
use uuid::Uuid;

/// Everything in lists; every question is a scan.
#[derive(Default)]
pub(crate) struct NaiveStore {
    pub(crate) items: RefCell<Vec<StoredItem>>,
    pub(crate) turns: RefCell<Vec<(FactScope, TurnKey, Uuid, String)>>,
    pub(crate) history: RefCell<Vec<HistoryRecord>>,
    pub(crate) answers: RefCell<HashMap<String, StoredAnswer>>,
    pub(crate) served: RefCell<Vec<String>>,
    /// What was served, by the hashes of its words.
    pub(crate) served_words: RefCell<Vec<String>>,
    pub(crate) pending: RefCell<Vec<amem_memory::PendingWork>>,
    pub(crate) conflicts: RefCell<Vec<(Uuid, Uuid)>>,
    version: Cell<u64>,
    /// Commits that are to be refused because the scope changed.
    pub(crate) changes: Cell<u32>,
    pub(crate) commits: Cell<u32>,
    ids: Cell<u64>,
}

#[derive(Debug)]
pub(crate) struct StoredItem {
    pub(crate) item: MemoryItem,
    vector: Option<Vec<f32>>,
    slots: Vec<String>,
    pub(crate) is_deleted: bool,
}

impl Ids for NaiveStore {
    fn next(&self) -> Uuid {
        self.ids.set(self.ids.get() + 1);
        Uuid::from_u128(u128::from(self.ids.get()))
    }
}

impl NaiveStore {
    /// The texts of the current memories of a scope.
    pub(crate) fn texts(&self, scope: &FactScope) -> Vec<String> {
        let items = self.items.borrow();
        let current = items
            .iter()
            .filter(|one| !one.is_deleted && scope.covers(&one.item.scope));
        current.map(|one| one.item.memory.clone()).collect()
    }

    pub(crate) fn history_of(&self, id: Uuid) -> Vec<HistoryRecord> {
        self.history
            .borrow()
            .iter()
            .filter(|record| record.memory_id == id)
            .cloned()
            .collect()
    }

    /// Notes a version; `texts` are those before and after.
    fn log(
        &self,
        memory_id: Uuid,
        event: HistoryEvent,
        texts: [Option<&str>; 2],
        at: Micros,
        from: (&[Uuid], &str),
    ) {
        let [old, new] = texts.map(|text| text.map(str::to_owned));
        let record = HistoryRecord {
            id: self.next(),
            memory_id,
            event,
            old_memory: old,
            new_memory: new,
            at,
            sources: from.0.to_vec(),
            why: from.1.to_owned(),
        };
        self.history.borrow_mut().push(record);
    }

    fn apply(&self, op: &FactOp, batch: &FactBatch) {
        match op {
            FactOp::Add {
                id,
                fact,
                conflicts,
            } => {
                self.items.borrow_mut().push(stored(*id, fact, batch));
                self.conflicts
                    .borrow_mut()
                    .extend(conflicts.iter().map(|other| (*id, *other)));
                self.log(
                    *id,
                    HistoryEvent::Add,
                    [None, Some(&fact.text)],
                    batch.at,
                    (&fact.sources, &fact.why),
                );
            }
            FactOp::Update { id, old, fact, .. } => {
                let mut items = self.items.borrow_mut();
                let one = items
                    .iter_mut()
                    .find(|one| one.item.id == *id)
                    .expect("the memory that is updated");
                assert_eq!(one.item.memory, *old, "the text before");
                assert!(!one.is_deleted);
                let created_at = one.item.created_at;
                *one = stored(*id, fact, batch);
                one.item.created_at = created_at;
                drop(items);
                self.log(
                    *id,
                    HistoryEvent::Update,
                    [Some(old), Some(&fact.text)],
                    batch.at,
                    (&fact.sources, &fact.why),
                );
            }
            FactOp::Restore { id, .. } => panic!("no test restores {id}"),
            FactOp::Support { id, old, .. } => {
                let items = self.items.borrow();
                let one = items.iter().find(|one| one.item.id == *id);
                let one = one.expect("the memory that is said again");
                assert_eq!(one.item.memory, *old, "the text that is said again");
            }
            FactOp::Delete {
                id,
                old,
                sources,
                why,
                ..
            } => {
                let mut items = self.items.borrow_mut();
                let one = items
                    .iter_mut()
                    .find(|one| one.item.id == *id)
                    .expect("the memory that is deleted");
                assert_eq!(one.item.memory, *old, "the text that ends");
                assert!(!one.is_deleted, "deleted twice");
                one.is_deleted = true;
                drop(items);
                self.log(
                    *id,
                    HistoryEvent::Delete,
                    [Some(old), None],
                    batch.at,
                    (sources, why),
                );
            }
        }
    }
}

fn stored(id: Uuid, fact: &NewFact, batch: &FactBatch) -> StoredItem {
    assert_eq!(fact.hash, text_hash(&fact.text));
    StoredItem {
        item: MemoryItem {
            id,
            memory: fact.text.clone(),
            hash: fact.hash.clone(),
            scope: batch.scope.clone(),
            metadata: fact.metadata.clone(),
            kind: fact.kind,
            validity: fact.validity,
            confidence: fact.confidence,
            created_at: batch.at,
            updated_at: batch.at,
            expires_at: fact.expires,
            is_quarantined: fact.is_quarantined,
            sources: fact.sources.clone(),
            because: fact.because.clone(),
            happened_at: None,
            event: None,
        },
        vector: fact.vector.clone(),
        slots: fact.slots.clone(),
        is_deleted: false,
    }
}

fn cosine(a: Option<&Vec<f32>>, b: Option<&Vec<f32>>) -> Option<f32> {
    Some(a?.iter().zip(b?).map(|(x, y)| x * y).sum())
}

impl FactStore for NaiveStore {
    fn answered(&self, scope: &FactScope, key: &str) -> Result<Option<StoredAnswer>> {
        Ok(self
            .answers
            .borrow()
            .get(&format!("{scope:?}{key}"))
            .cloned())
    }

    fn known_turns(&self, scope: &FactScope, turns: &[TurnKey]) -> Result<Vec<Option<Uuid>>> {
        let stored = self.turns.borrow();
        let known = |key: &TurnKey| {
            stored
                .iter()
                .find(|(s, k, ..)| s == scope && k == key)
                .map(|turn| turn.2)
        };
        Ok(turns.iter().map(known).collect())
    }

    fn served_lately(&self, _: &FactScope, hashes: &[String]) -> Result<Vec<bool>> {
        Ok(hashes
            .iter()
            .map(|hash| self.served.borrow().contains(hash))
            .collect())
    }

    fn served_words(&self, _: &FactScope, hashes: &[String]) -> Result<Vec<bool>> {
        let words = self.served_words.borrow();
        Ok(hashes.iter().map(|hash| words.contains(hash)).collect())
    }

    fn candidates(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        keys: &[CandidateKey],
        now: Micros,
    ) -> Result<CandidateSet> {
        let items = self.items.borrow();
        let of = |key: &CandidateKey| {
            let mut found: Vec<(u8, Candidate)> = Vec::new();
            for one in items.iter() {
                let is_expired = one.item.expires_at.is_some_and(|at| at <= now);
                let metadata = json!({"metadata": one.item.metadata, "memory": one.item.memory});
                let is_filtered = filter.is_some_and(|filter| !filter.matches(&metadata));
                if one.is_deleted
                    || is_expired
                    || is_filtered
                    || !scope.may_change(&one.item.scope)
                    || one.item.is_quarantined
                {
                    continue;
                }
                let cosine = cosine(key.vector.as_ref(), one.vector.as_ref());
                let rank = match () {
                    () if one.item.hash == key.hash => 0,
                    () if one.slots.iter().any(|slot| key.slots.contains(slot)) => 1,
                    () if cosine.is_some() => 2,
                    () => continue,
                };
                found.push((
                    rank,
                    Candidate {
                        id: one.item.id,
                        text: one.item.memory.clone(),
                        cosine,
                    },
                ));
            }
            found.sort_by(|(ra, a), (rb, b)| {
                ra.cmp(rb)
                    .then(b.cosine.partial_cmp(&a.cosine).expect("numbers"))
            });
            found
                .into_iter()
                .map(|(_, one)| one)
                .take(amem_memory::limits::CANDIDATES_MAX)
                .collect()
        };
        Ok(CandidateSet {
            version: self.version.get(),
            candidates: keys.iter().map(of).collect(),
        })
    }

    fn get(&self, id: Uuid) -> Result<Option<StoredMemory>> {
        let items = self.items.borrow();
        let found = items.iter().find(|one| one.item.id == id);
        let version = self.version.get();
        Ok(found.map(|one| StoredMemory {
            item: one.item.clone(),
            is_deleted: one.is_deleted,
            version,
        }))
    }

    fn list(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        limit: usize,
        now: Micros,
    ) -> Result<MemoryPage> {
        let items = self.items.borrow();
        let is_shown = |one: &&StoredItem| {
            let metadata = json!({"metadata": one.item.metadata, "memory": one.item.memory});
            let is_expired = one.item.expires_at.is_some_and(|at| at <= now);
            !one.is_deleted
                && !is_expired
                && scope.covers(&one.item.scope)
                && filter.is_none_or(|filter| filter.matches(&metadata))
        };
        let items = items
            .iter()
            .filter(is_shown)
            .take(limit)
            .map(|one| one.item.clone())
            .collect();
        Ok(MemoryPage {
            items,
            version: self.version.get(),
        })
    }

    fn commit(&self, batch: &FactBatch) -> Result<()> {
        if self.changes.get() > 0 {
            self.changes.set(self.changes.get() - 1);
            self.version.set(self.version.get() + 1);
        }
        if batch
            .expected_version
            .is_some_and(|version| version != self.version.get())
        {
            return Err(Error::Changed);
        }
        self.version.set(self.version.get() + 1);
        self.commits.set(self.commits.get() + 1);
        let key = |hash: &str, time| TurnKey {
            hash: hash.to_owned(),
            time,
        };
        let turns = batch.turns.iter().map(|turn| {
            (
                batch.scope.clone(),
                key(&turn.hash, turn.time),
                turn.id,
                turn.text.clone(),
            )
        });
        self.turns.borrow_mut().extend(turns);
        for op in &batch.ops {
            self.apply(op, batch);
        }
        self.pending
            .borrow_mut()
            .extend(batch.pending.iter().cloned());
        if let Some(kept) = &batch.answered {
            let name = &kept.key;
            let kept = StoredAnswer {
                request_hash: kept.request_hash.clone(),
                answer: kept.answer.clone(),
            };
            self.answers
                .borrow_mut()
                .insert(format!("{:?}{name}", batch.scope), kept);
        }
        Ok(())
    }
}

/// A model that gives answers from a list, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct ScriptedModel {
    answers: RefCell<Vec<Result<ModelReply, ModelFailure>>>,
    pub(crate) asked: RefCell<Vec<ModelRequest>>,
    pub(crate) waits: RefCell<Vec<Duration>>,
}

impl ScriptedModel {
    pub(crate) fn new(answers: Vec<Result<ModelReply, ModelFailure>>) -> Self {
        let answers = answers.into_iter().rev().collect();
        Self {
            answers: RefCell::new(answers),
            ..Self::default()
        }
    }

    pub(crate) fn saying(texts: &[&str]) -> Self {
        Self::new(texts.iter().map(|text| Ok(reply(text))).collect())
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.answers.borrow().is_empty()
    }
}

pub(crate) fn reply(text: &str) -> ModelReply {
    ModelReply {
        text: text.to_owned(),
        is_cut: false,
        tokens_in: 10,
        tokens_out: 5,
        millis: 1,
    }
}

impl Model for ScriptedModel {
    fn key(&self) -> String {
        "scripted".into()
    }

    fn call(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.asked.borrow_mut().push(request.clone());
        self.answers
            .borrow_mut()
            .pop()
            .expect("a call that the script does not know")
    }

    fn wait(&self, pause: Duration) -> bool {
        self.waits.borrow_mut().push(pause);
        true
    }
}

/// The built-in embedder, which fails for texts with a word.
pub(crate) struct FailingEmbedder(pub(crate) &'static str);

impl Embedder for FailingEmbedder {
    fn space(&self) -> Uuid {
        BuiltinEmbedder.space()
    }

    fn calibration(&self) -> Calibration {
        BuiltinEmbedder.calibration()
    }

    fn embed(&self, texts: &[&str]) -> Vec<std::result::Result<Option<Vec<f32>>, String>> {
        let vectors = BuiltinEmbedder.embed(texts);
        let fails = |(text, vector): (&&str, _)| {
            if text.contains(self.0) {
                Err("no vector today".to_owned())
            } else {
                vector
            }
        };
        texts.iter().zip(vectors).map(fails).collect()
    }
}
