//! Steps 8 and 9 of an add: what each fact does to the memories that are there.
//!
//! Facts of one add see each other: "I lived in Rome. I moved to Porto." is one memory with two versions.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::answer::{AddEvent, DecisionReason, FactResult, RejectedFact};
use super::extraction::CheckedFact;
use super::request::AddRequest;
use crate::decide::{Decision, FactReading, SlotRelation, decide, slot_relation};
use crate::graph::FactGraph;
use crate::hash::text_hash;
use crate::kind::{FactKind, FactSource};
use crate::relations::fact_graph;
use crate::replies::{DecisionOp, ModelDecision};
use crate::slots::slot_keys;
use crate::slots::values::anchors;
use crate::store::{Candidate, FactOp, Ids, NewFact};
use crate::text::tokens::tokens;

/// The weight of a `contradicts` edge to a memory with which a new one may be in conflict.
pub const CONFLICT_WEIGHT: f32 = 0.3;

/// A fact with what its decision needs.
pub(super) struct PreparedFact {
    pub(super) checked: CheckedFact,
    pub(super) vector: Option<Vec<f32>>,
    pub(super) sources: Vec<Uuid>,
    /// Who and what its text names.
    pub(super) graph: FactGraph,
    /// The slots of its text; none for a text that is stored as it is and is too long for a fact.
    pub(super) keys: Vec<String>,
}

/// A fact that rules leave open.
pub(super) struct OpenQuestion {
    pub(super) fact: usize,
    pub(super) candidates: Vec<Candidate>,
}

/// The changes of an add, as they are decided.
pub(super) struct Plan<'a> {
    request: &'a AddRequest,
    ids: &'a dyn Ids,
    pub(super) ops: Vec<FactOp>,
    pub(super) results: Vec<FactResult>,
    pub(super) rejected: Vec<RejectedFact>,
    /// The ids of the facts of this add, for `because`.
    fact_ids: Vec<Option<Uuid>>,
    /// New texts of memories, and memories that this add makes.
    texts: HashMap<Uuid, String>,
    ended: HashSet<Uuid>,
    by_key: HashMap<String, Vec<Uuid>>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(request: &'a AddRequest, ids: &'a dyn Ids) -> Self {
        Self {
            request,
            ids,
            ops: Vec::new(),
            results: Vec::new(),
            rejected: Vec::new(),
            fact_ids: Vec::new(),
            texts: HashMap::new(),
            ended: HashSet::new(),
            by_key: HashMap::new(),
        }
    }

    /// The memory of a fact of this add.
    pub(super) fn id_of(&self, fact: usize) -> Option<Uuid> {
        self.fact_ids.get(fact).copied().flatten()
    }

    /// Decides on a fact by rule, and by what a model said about it. Returns the question that is left, if any: the
    /// fact is added all the same.
    pub(super) fn take(
        &mut self,
        at: usize,
        fact: &PreparedFact,
        stored: &[Candidate],
        by_model: Option<&ModelDecision>,
    ) -> Option<OpenQuestion> {
        self.fact_ids.resize(at + 1, None);
        let text = &fact.checked.fact.text;
        // An order to a model changes no other memory.
        if fact.checked.is_quarantined {
            self.add(at, fact, Vec::new(), "instruction");
            return None;
        }
        let candidates = self.current(fact, stored);
        let same = candidates.iter().find(|candidate| candidate.text == *text);
        if let Some(same) = same.filter(|_| fact.checked.fact.kind != FactKind::Retraction) {
            self.known(at, fact, same, "hash");
            return None;
        }
        if fact.checked.fact.source == FactSource::Caller {
            let conflicts = match self.request.marks_conflicts {
                true => contradicted(text, &candidates),
                false => Vec::new(),
            };
            self.add(at, fact, conflicts, "caller");
            return None;
        }
        let readings: Vec<FactReading> = candidates
            .iter()
            .map(|candidate| FactReading::of(&candidate.text))
            .collect();
        let extracted = &fact.checked.fact;
        let reading = FactReading::of(text).correcting(extracted.is_correcting);
        match decide(&reading, extracted.kind, &readings) {
            Decision::Add => self.add(at, fact, Vec::new(), "rule:new"),
            Decision::Known { target, why } => self.known(at, fact, &candidates[target], &why),
            Decision::Update { target, also, why } => {
                let others = also
                    .into_iter()
                    .map(|other| candidates[other].clone())
                    .collect();
                self.update(at, fact, &candidates[target], others, &why, None);
            }
            Decision::Delete { targets, why } => {
                for target in targets {
                    self.delete(fact, &candidates[target], None, &why);
                }
            }
            Decision::Nothing => self.reject(text, "nothing like it is remembered"),
            Decision::Part => self.reject(
                text,
                "not done: the memory that has it says more; change it with \"amemctl fact update\"",
            ),
            Decision::AddBeside { conflicts, why } => {
                if let Some(decision) = by_model
                    && self.apply_model(at, fact, &candidates, decision)
                {
                    return None;
                }
                let ids = conflicts
                    .iter()
                    .map(|other| candidates[*other].id)
                    .collect();
                self.add(at, fact, ids, &why);
                return Some(OpenQuestion {
                    fact: at,
                    candidates,
                });
            }
        }
        None
    }

    fn reject(&mut self, text: &str, why: &str) {
        self.rejected.push(RejectedFact {
            id: None,
            text: text.to_owned(),
            why: why.to_owned(),
        });
    }

    /// The candidates as they are after the facts before: stored ones with their new texts, and new ones.
    fn current(&self, fact: &PreparedFact, stored: &[Candidate]) -> Vec<Candidate> {
        let mut out: Vec<Candidate> = Vec::new();
        let text = &fact.checked.fact.text;
        let own = fact
            .keys
            .iter()
            .flat_map(|key| self.by_key.get(key).into_iter().flatten());
        let same = self.by_key.get(&text_hash(text)).into_iter().flatten();
        for id in own.chain(same) {
            let is_there = self.ended.contains(id) || out.iter().any(|known| known.id == *id);
            if let Some(text) = self.texts.get(id).filter(|_| !is_there) {
                out.push(Candidate {
                    id: *id,
                    text: text.clone(),
                    cosine: None,
                });
            }
        }
        for candidate in stored {
            let is_there = self.ended.contains(&candidate.id)
                || out.iter().any(|known| known.id == candidate.id);
            if !is_there {
                let text = self
                    .texts
                    .get(&candidate.id)
                    .unwrap_or(&candidate.text)
                    .clone();
                out.push(Candidate {
                    text,
                    ..candidate.clone()
                });
            }
        }
        out
    }

    /// Does what a model says; false if it makes no sense, and the fact is to be added.
    fn apply_model(
        &mut self,
        at: usize,
        fact: &PreparedFact,
        candidates: &[Candidate],
        decision: &ModelDecision,
    ) -> bool {
        let target = decision
            .memory
            .checked_sub(1)
            .and_then(|number| candidates.get(number));
        match (decision.op, target) {
            (DecisionOp::New, _) => self.add(at, fact, Vec::new(), "model"),
            (DecisionOp::Same, Some(target)) => self.known(at, fact, target, "model"),
            (DecisionOp::Replaces | DecisionOp::Ends, Some(target)) => {
                self.update(at, fact, target, Vec::new(), "model", None)
            }
            (DecisionOp::Extends, Some(target)) => {
                let text = decision.text.as_deref().map(str::trim).unwrap_or_default();
                if !keeps_all(text, &[&fact.checked.fact.text, &target.text]) {
                    return false;
                }
                self.update(at, fact, target, Vec::new(), "model", Some(text));
            }
            (_, None) => return false,
        }
        true
    }

    fn reason(fact: &PreparedFact, by: &str) -> DecisionReason {
        DecisionReason {
            by: by.to_owned(),
            confidence: fact.checked.fact.confidence,
            source_turns: fact.sources.clone(),
        }
    }

    fn new_fact(&self, fact: &PreparedFact, text: &str, why: &str) -> NewFact {
        let extracted = &fact.checked.fact;
        let because = extracted
            .because
            .iter()
            .filter_map(|at| self.fact_ids.get(*at).copied().flatten());
        NewFact {
            hash: text_hash(text),
            kind: extracted.kind,
            source: extracted.source,
            confidence: extracted.confidence,
            // The vector is that of the extracted text; a merged text gets its own with the next pass of the embedder.
            vector: fact.vector.clone().filter(|_| text == extracted.text),
            slots: if text == extracted.text {
                fact.keys.clone()
            } else {
                slot_keys(text)
            },
            graph: if text == extracted.text {
                fact.graph.clone()
            } else {
                fact_graph(text, &[])
            },
            metadata: self.request.metadata.clone(),
            expires: self.request.expires,
            validity: extracted.validity,
            sources: fact.sources.clone(),
            because: because
                .chain(self.request.because.iter().copied())
                .collect(),
            is_quarantined: fact.checked.is_quarantined,
            why: why.to_owned(),
            reason: None,
            text: text.to_owned(),
        }
    }

    fn result(
        &self,
        event: AddEvent,
        id: Uuid,
        memory: &str,
        old: Option<&str>,
        fact: &PreparedFact,
        by: &str,
    ) -> FactResult {
        FactResult {
            event,
            id,
            memory: memory.to_owned(),
            old_memory: old.map(str::to_owned),
            kind: fact.checked.fact.kind,
            validity: fact.checked.fact.validity,
            why: Self::reason(fact, by),
            conflicts: Vec::new(),
            is_quarantined: fact.checked.is_quarantined,
            graph: if event == AddEvent::Delete {
                FactGraph::default()
            } else {
                fact.graph.clone()
            },
        }
    }

    /// Later facts of the add see the text.
    fn remember(&mut self, id: Uuid, text: &str, keys: &[String]) {
        for key in keys.iter().cloned().chain([text_hash(text)]) {
            self.by_key.entry(key).or_default().push(id);
        }
        self.texts.insert(id, text.to_owned());
    }

    fn add(&mut self, at: usize, fact: &PreparedFact, conflicts: Vec<Uuid>, why: &str) {
        let id = self.ids.next();
        let text = fact.checked.fact.text.clone();
        let new = self.new_fact(fact, &text, why);
        let result = self.result(AddEvent::Add, id, &text, None, fact, why);
        self.results.push(FactResult {
            conflicts: conflicts.clone(),
            ..result
        });
        self.ops.push(FactOp::Add {
            id,
            fact: new,
            conflicts,
        });
        self.fact_ids[at] = Some(id);
        self.remember(id, &text, &fact.keys);
    }

    fn known(&mut self, at: usize, fact: &PreparedFact, target: &Candidate, why: &str) {
        let text = fact.checked.fact.text.clone();
        self.fact_ids[at] = Some(target.id);
        let result = self.result(AddEvent::None, target.id, &text, None, fact, why);
        self.results.push(result);
        self.ops.push(FactOp::Support {
            id: target.id,
            old: target.text.clone(),
            sources: fact.sources.clone(),
            expires: self.request.expires,
        });
    }

    fn update(
        &mut self,
        at: usize,
        fact: &PreparedFact,
        target: &Candidate,
        also: Vec<Candidate>,
        why: &str,
        merged: Option<&str>,
    ) {
        let text = merged.unwrap_or(&fact.checked.fact.text).to_owned();
        let new = self.new_fact(fact, &text, why);
        let result = self.result(
            AddEvent::Update,
            target.id,
            &text,
            Some(&target.text),
            fact,
            why,
        );
        self.results.push(result);
        self.ops.push(FactOp::Update {
            id: target.id,
            old: target.text.clone(),
            fact: new,
            joins: merged.is_some(),
        });
        self.fact_ids[at] = Some(target.id);
        self.remember(target.id, &text, &fact.keys);
        for other in also {
            self.delete(fact, &other, Some(target.id), why);
        }
    }

    fn delete(
        &mut self,
        fact: &PreparedFact,
        target: &Candidate,
        replaced_by: Option<Uuid>,
        why: &str,
    ) {
        let result = self.result(
            AddEvent::Delete,
            target.id,
            &target.text,
            Some(&target.text),
            fact,
            why,
        );
        self.results.push(result);
        self.ops.push(FactOp::Delete {
            id: target.id,
            old: target.text.clone(),
            sources: fact.sources.clone(),
            replaced_by,
            why: why.to_owned(),
            reason: None,
        });
        self.ended.insert(target.id);
    }
}

/// The candidates that a statement excludes by the value of a slot.
fn contradicted(text: &str, candidates: &[Candidate]) -> Vec<Uuid> {
    candidates
        .iter()
        .filter(|old| slot_relation(text, &old.text) == SlotRelation::Conflict)
        .map(|old| old.id)
        .collect()
}

/// True if a merged text has every number, name and quotation of the texts that it joins.
fn keeps_all(merged: &str, parts: &[&str]) -> bool {
    let words: HashSet<String> = tokens(merged)
        .into_iter()
        .map(|token| token.lower.trim_end_matches("'s").to_owned())
        .collect();
    let keeps = |part: &&str| {
        let all = tokens(part);
        let quoted = part.split('"').skip(1).step_by(2);
        anchors(&all).iter().all(|anchor| words.contains(anchor))
            && quoted
                .into_iter()
                .all(|quotation| merged.contains(quotation))
    };
    !merged.is_empty()
        && merged.chars().count() <= crate::limits::FACT_CHARS_MAX
        && parts.iter().all(keeps)
}
