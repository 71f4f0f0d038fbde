//! The ten steps of an add, in order.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::answer::{AddAnswer, AddEvent, AddStage, AddStatus, AddUsage, RejectedFact};
use super::decisions::{OpenQuestion, Plan, PreparedFact};
use super::extraction::{CheckedFact, Extraction, RejectedExtract, extract};
use super::forgetting::unforgotten;
use super::masking::without_secrets;
use super::request::{AddRequest, AssistantPolicy};
use super::spoken::spoken;
use crate::check::gives_orders;
use crate::conversation::{SkippedPart, Turn, TurnList, TurnRules, TurnUse, turns_of};
use crate::error::{Error, Result};
use crate::fact::ExtractedFact;
use crate::graph::{FactGraph, entity_key};
use crate::kind::{FactKind, FactSource};
use crate::limits::{COMMIT_TRIES_MAX, FACT_CHARS_MAX, MEMORY_BYTES_MAX};
use crate::model::{CallCount, CallFailure, DecisionQuestion, FormTable, Model, decide_by_model};
use crate::pending::{PendingReason, PendingWork};
use crate::relations::fact_graph;
use crate::replies::ModelDecision;
use crate::secrets::{SecretPolicy, is_only_a_secret};
use crate::slots::slot_keys;
use crate::store::{
    CandidateKey, CandidateSet, Embedder, FactBatch, FactOp, FactStore, Ids, NewAnswer,
    NewRejection, NewTurn, RejectionState, TurnKey,
};
use crate::validity::Validity;

/// What an add works with.
#[derive(Clone, Copy)]
pub struct AddPorts<'p> {
    /// Where memories are.
    pub store: &'p dyn FactStore,
    /// Makes vectors.
    pub embedder: &'p dyn Embedder,
    /// Makes ids.
    pub ids: &'p dyn Ids,
    /// Finds and decides, if one is configured.
    pub model: Option<&'p dyn Model>,
    /// The forms that models take.
    pub forms: &'p FormTable,
}

/// Runs an add: none, one or two calls of a model (retries are counted), one commit.
///
/// Errors: bad requests (nothing is stored), `Error::Changed` if the scope kept changing during the add, and failures
/// of the store. A failing model or embedder is no error: the answer names what is pending.
pub fn add(request: &AddRequest, ports: AddPorts<'_>) -> Result<AddAnswer> {
    request.validate()?;
    let (request, masked) = without_secrets(request);
    let request = &*request;
    // 1. Normalise.
    let is_agents = request.scope.agent.is_some() && request.scope.user.is_none();
    let rules = TurnRules {
        time: request.timestamp.unwrap_or(request.now),
        assistant_facts: is_agents || request.assistant == AssistantPolicy::Facts,
        as_it_is: !request.infer,
    };
    let mut list = turns_of(&request.messages, rules)?;
    list.skipped.extend(masked);
    if let Some(answer) = earlier_answer(request, ports.store)? {
        return Ok(answer);
    }
    // 2. The turns: which are known, which are our own words.
    let turns = StoredTurns::of(request, &mut list, ports)?;
    // 3 to 5. Extract, check, date.
    let extraction = if request.infer {
        let model = ports.model.map(|model| (model, ports.forms));
        let spoken = spoken(request, &mut list, ports.store)?;
        extract(request, &spoken, &turns.is_fresh, model)
    } else {
        as_they_are(request, &list.turns)?
    };
    // 6. Embed.
    let embedded = embed(extraction.facts, (&list.turns, &turns.ids), ports.embedder);
    let reviewable = |rejected: RejectedExtract| NewRejection {
        id: ports.ids.next(),
        text: rejected.fact.text,
        why: rejected.why,
        kind: rejected.fact.kind,
        sources: rejected
            .fact
            .turns
            .iter()
            .map(|turn| turns.ids[*turn])
            .collect(),
        state: RejectionState::Open,
    };
    let rejected = extraction.rejected.into_iter().map(reviewable).collect();
    let run = Run {
        request,
        ports,
        list,
        turns,
        facts: embedded.facts,
        embed_failure: embedded.failure,
        failed_vectors: embedded.failed,
        rejected,
        not_forgotten: extraction.not_forgotten,
        pending: extraction.pending,
    };
    run.decide_and_commit(extraction.count)
}

/// The answer of the first request under the key.
fn earlier_answer(request: &AddRequest, store: &dyn FactStore) -> Result<Option<AddAnswer>> {
    let Some(key) = &request.idempotency_key else {
        return Ok(None);
    };
    let Some(stored) = store.answered(&request.scope, key)? else {
        return Ok(None);
    };
    if stored.request_hash != request.request_hash() {
        return Err(Error::KeyReused { key: key.clone() });
    }
    let answer = serde_json::from_value(stored.answer);
    answer
        .map(Some)
        .map_err(|e| Error::Store(format!("the answer kept under {key:?} cannot be read: {e}")))
}

/// The turns of an add and their ids.
struct StoredTurns {
    ids: Vec<Uuid>,
    /// Which turns are extracted: those that are not stored yet.
    is_fresh: Vec<bool>,
    new: Vec<NewTurn>,
}

impl StoredTurns {
    fn of(request: &AddRequest, list: &mut TurnList, ports: AddPorts<'_>) -> Result<Self> {
        if request.without_turns {
            return Ok(Self {
                ids: Vec::new(),
                is_fresh: Vec::new(),
                new: Vec::new(),
            });
        }
        let hashes: Vec<String> = list.turns.iter().map(|turn| turn.hash.clone()).collect();
        let served = ports.store.served_lately(&request.scope, &hashes)?;
        for (turn, is_served) in list.turns.iter_mut().zip(served) {
            // With `infer` off the caller says what is a memory.
            if is_served && request.infer && turn.used_for == TurnUse::Extract {
                turn.used_for = TurnUse::Context;
                let why = "it was served from this memory".to_owned();
                list.skipped.push(SkippedPart {
                    message: turn.message,
                    what: "memory".into(),
                    why,
                });
            }
        }
        let keys: Vec<TurnKey> = list
            .turns
            .iter()
            .map(|turn| TurnKey {
                hash: turn.hash.clone(),
                time: turn.time,
            })
            .collect();
        let known = ports.store.known_turns(&request.scope, &keys)?;
        let mut out = Self {
            ids: Vec::new(),
            is_fresh: Vec::new(),
            new: Vec::new(),
        };
        // What one request says twice at one time is one turn.
        let mut own: HashMap<&TurnKey, Uuid> = HashMap::new();
        for ((turn, known), key) in list.turns.iter().zip(known).zip(&keys) {
            let earlier = own.get(key).copied();
            let id = known.or(earlier).unwrap_or_else(|| ports.ids.next());
            own.insert(key, id);
            out.ids.push(id);
            let is_new = known.is_none() && earlier.is_none();
            out.is_fresh
                .push(is_new || request.is_retry && earlier.is_none());
            if is_new {
                out.new.push(NewTurn {
                    id,
                    role: turn.role,
                    name: turn.name.clone(),
                    text: turn.text.clone(),
                    hash: turn.hash.clone(),
                    time: turn.time,
                });
            }
        }
        Ok(out)
    }
}

/// `infer` off: each turn is a memory, also one that is a source already: its hash tells whether it is a memory, too.
fn as_they_are(request: &AddRequest, turns: &[Turn]) -> Result<Extraction> {
    let kind = request.kind.unwrap_or(FactKind::Fact);
    let unforgotten = unforgotten(request, turns);
    let mut out = Extraction {
        not_forgotten: unforgotten.requests,
        ..Extraction::default()
    };
    for (at, turn) in turns.iter().enumerate() {
        if unforgotten.is_silent[at] {
            continue;
        }
        Error::check_limit(
            "the text of a memory in bytes",
            turn.text.len(),
            MEMORY_BYTES_MAX,
        )?;
        let fact = ExtractedFact {
            text: turn.text.clone(),
            kind,
            source: FactSource::Caller,
            family: "",
            confidence: 1.0,
            turns: (!request.without_turns).then_some(at).into_iter().collect(),
            because: Vec::new(),
            is_correcting: false,
            graph: FactGraph::default(),
            validity: Validity::default(),
        };
        if request.secrets == SecretPolicy::Mask && is_only_a_secret(&fact.text) {
            let why = "it is about a secret, which is masked".to_owned();
            out.rejected.push(RejectedExtract { fact, why });
            continue;
        }
        out.facts.push(CheckedFact {
            is_quarantined: gives_orders(&fact.text),
            fact,
        });
    }
    Ok(out)
}

struct EmbedResult {
    facts: Vec<PreparedFact>,
    failure: Option<String>,
    /// Indexes of the facts without a vector, because the embedder failed.
    failed: Vec<usize>,
}

/// Step 6: all texts in one batch; a failure costs the one fact its vector.
fn embed(
    facts: Vec<CheckedFact>,
    (turns, turn_ids): (&[Turn], &[Uuid]),
    embedder: &dyn Embedder,
) -> EmbedResult {
    let speakers: Vec<&str> = turns
        .iter()
        .filter_map(|turn| turn.name.as_deref())
        .collect();
    let texts: Vec<&str> = facts.iter().map(|fact| fact.fact.text.as_str()).collect();
    let vectors = if texts.is_empty() {
        Vec::new()
    } else {
        embedder.embed(&texts)
    };
    let mut out = EmbedResult {
        facts: Vec::new(),
        failure: None,
        failed: Vec::new(),
    };
    let mut vectors = vectors.into_iter();
    for (at, checked) in facts.into_iter().enumerate() {
        let vector = match vectors.next() {
            Some(Ok(vector)) => vector,
            Some(Err(why)) => {
                out.failure.get_or_insert(why);
                out.failed.push(at);
                None
            }
            None => {
                out.failure
                    .get_or_insert_with(|| "the embedder gave too few vectors".to_owned());
                out.failed.push(at);
                None
            }
        };
        let sources = checked
            .fact
            .turns
            .iter()
            .map(|turn| turn_ids[*turn])
            .collect();
        // The table of slots reads sentences; a document that is stored as it is has none.
        let is_sentence = checked.fact.text.len() <= FACT_CHARS_MAX;
        let keys = if is_sentence {
            slot_keys(&checked.fact.text)
        } else {
            Vec::new()
        };
        // An order to a model says nothing of anyone.
        let graph = if checked.is_quarantined {
            FactGraph::default()
        } else {
            let own = fact_graph(&checked.fact.text, &speakers);
            checked.fact.graph.clone().joined(own)
        };
        out.facts.push(PreparedFact {
            graph,
            keys,
            checked,
            vector,
            sources,
        });
    }
    out
}

/// An add after its facts are known.
struct Run<'p> {
    request: &'p AddRequest,
    ports: AddPorts<'p>,
    list: TurnList,
    turns: StoredTurns,
    facts: Vec<PreparedFact>,
    embed_failure: Option<String>,
    failed_vectors: Vec<usize>,
    rejected: Vec<NewRejection>,
    /// Requests to forget that were not understood: named in the answer, and not kept.
    not_forgotten: Vec<RejectedFact>,
    pending: Option<(PendingReason, String)>,
}

/// What the stages of an add did: observe, extract, store, relate.
fn stages(run: &Run<'_>, plan: &Plan<'_>, rejected: usize) -> Vec<AddStage> {
    let turns = &run.list.turns;
    let context = turns
        .iter()
        .filter(|turn| turn.used_for == TurnUse::Context);
    let of_model = |fact: &&PreparedFact| fact.checked.fact.source == FactSource::Model;
    let orders = run.facts.iter().filter(|fact| fact.checked.is_quarantined);
    let with = |event: AddEvent| plan.results.iter().filter(|one| one.event == event).count();
    let (mut sources, mut causes, mut conflicts) = (0, 0, 0);
    for op in &plan.ops {
        match op {
            FactOp::Add { fact, .. }
            | FactOp::Update { fact, .. }
            | FactOp::Restore { fact, .. } => {
                sources += fact.sources.len();
                causes += fact.because.len();
            }
            FactOp::Support { sources: again, .. } => sources += again.len(),
            FactOp::Delete { .. } => {}
        }
        if let FactOp::Add {
            conflicts: beside, ..
        } = op
        {
            conflicts += beside.len();
        }
    }
    let graphs = || plan.results.iter().map(|one| &one.graph);
    let names = graphs().flat_map(|graph| &graph.entities);
    let entities: HashSet<String> = names.map(|entity| entity_key(&entity.name)).collect();
    let relations = graphs().map(|graph| graph.relations.len()).sum();
    let stage = |stage: &str, counts: &[(&str, usize)]| AddStage {
        stage: stage.to_owned(),
        counts: counts
            .iter()
            .map(|(what, count)| ((*what).to_owned(), *count as u64))
            .collect(),
    };
    vec![
        stage(
            "observe",
            &[
                ("turns", turns.len()),
                ("new_turns", run.turns.new.len()),
                ("context", context.count()),
                ("skipped", run.list.skipped.len()),
            ],
        ),
        stage(
            "extract",
            &[
                ("facts", run.facts.len()),
                ("by_model", run.facts.iter().filter(of_model).count()),
                ("rejected", rejected),
                ("quarantined", orders.count()),
            ],
        ),
        stage(
            "store",
            &[
                ("added", with(AddEvent::Add)),
                ("updated", with(AddEvent::Update)),
                ("ended", with(AddEvent::Delete)),
                ("known", with(AddEvent::None)),
            ],
        ),
        stage(
            "relate",
            &[
                ("sources", sources),
                ("causes", causes),
                ("replaced", with(AddEvent::Update)),
                ("conflicts", conflicts),
                ("entities", entities.len()),
                ("relations", relations),
            ],
        ),
    ]
}

/// Facts that a model was to decide on, and why it did not.
struct UndecidedFacts {
    reason: PendingReason,
    why: String,
    facts: Vec<usize>,
}

/// What a model said about a fact, and about which memories.
struct ModelWord {
    decision: ModelDecision,
    candidates: Vec<(Uuid, String)>,
}

impl Run<'_> {
    /// Steps 7 to 10, again if the scope changes meanwhile. The model is asked once.
    fn decide_and_commit(self, mut count: CallCount) -> Result<AddAnswer> {
        let mut words: Option<Vec<ModelWord>> = None;
        let mut undecided: Option<UndecidedFacts> = None;
        for _ in 0..COMMIT_TRIES_MAX {
            // 7. Candidates.
            let set = self.candidates()?;
            // 8. Decide by rule.
            let (mut plan, open) = self.plan(&set, words.as_deref().unwrap_or_default());
            // 9. Decide by model what is left.
            if words.is_none() && !open.is_empty() && self.pending.is_none() {
                let (said, failed) = self.ask(&open, &mut count);
                words = Some(said);
                undecided = failed;
                plan = self.plan(&set, words.as_deref().unwrap_or_default()).0;
            }
            // 10. Commit.
            let answer = self.answer(&plan, undecided.as_ref(), count);
            match self.commit(&plan, &answer, set.version) {
                Err(Error::Changed) => {}
                Err(other) => return Err(other),
                Ok(()) => return Ok(answer),
            }
        }
        Err(Error::Changed)
    }

    fn candidates(&self) -> Result<CandidateSet> {
        let keys: Vec<CandidateKey> = self
            .facts
            .iter()
            .map(|fact| {
                let extracted = &fact.checked.fact;
                // A text that is stored as it is has only its exact duplicates as candidates, and those of its slots if
                // conflicts are to be marked.
                let is_plain =
                    extracted.source == FactSource::Caller && !self.request.marks_conflicts;
                CandidateKey {
                    text: extracted.text.clone(),
                    hash: crate::hash::text_hash(&extracted.text),
                    vector: fact.vector.clone().filter(|_| !is_plain),
                    slots: if is_plain {
                        Vec::new()
                    } else {
                        fact.keys.clone()
                    },
                }
            })
            .collect();
        if keys.is_empty() {
            return Ok(CandidateSet {
                version: 0,
                candidates: Vec::new(),
            });
        }
        let found = self.ports.store.candidates(
            &self.request.scope,
            self.request.filters.as_ref(),
            &keys,
            self.request.now,
        )?;
        if found.candidates.len() != keys.len() {
            return Err(Error::Store(format!(
                "{} lists of candidates for {} facts",
                found.candidates.len(),
                keys.len()
            )));
        }
        Ok(found)
    }

    fn plan(&self, set: &CandidateSet, words: &[ModelWord]) -> (Plan<'_>, Vec<OpenQuestion>) {
        let mut plan = Plan::new(self.request, self.ports.ids);
        let mut open = Vec::new();
        for (at, (fact, stored)) in self.facts.iter().zip(&set.candidates).enumerate() {
            // A word about other memories than those that are there now does not count.
            let word = words.iter().find(|word| word.decision.fact == at);
            let word = word.filter(|word| {
                let target = word
                    .decision
                    .memory
                    .checked_sub(1)
                    .and_then(|number| word.candidates.get(number));
                target.is_none_or(|(id, text)| {
                    stored.iter().any(|now| now.id == *id && now.text == *text)
                        || !set.candidates.iter().flatten().any(|now| now.id == *id)
                })
            });
            open.extend(plan.take(at, fact, stored, word.map(|word| &word.decision)));
        }
        (plan, open)
    }

    /// Call B. Absent, doubled and foreign entries are left out: the fact is added, with a possible conflict.
    fn ask(
        &self,
        open: &[OpenQuestion],
        count: &mut CallCount,
    ) -> (Vec<ModelWord>, Option<UndecidedFacts>) {
        let Some(model) = self.ports.model else {
            return (Vec::new(), None);
        };
        let questions: Vec<DecisionQuestion<'_>> = open
            .iter()
            .map(|question| DecisionQuestion {
                fact: question.fact,
                text: &self.facts[question.fact].checked.fact.text,
                candidates: question
                    .candidates
                    .iter()
                    .map(|candidate| candidate.text.as_str())
                    .collect(),
            })
            .collect();
        let decisions = match decide_by_model(model, self.ports.forms, &questions, count) {
            Ok(decisions) => decisions,
            // The facts are stored beside what they may contradict: nothing is lost, and a later try or a review
            // decides.
            Err(CallFailure::Pending(reason, why)) => {
                let facts = open.iter().map(|question| question.fact).collect();
                return (Vec::new(), Some(UndecidedFacts { reason, why, facts }));
            }
            Err(CallFailure::Malformed(_)) => return (Vec::new(), None),
        };
        let mut out: Vec<ModelWord> = Vec::new();
        for question in open {
            let mut own = decisions
                .iter()
                .filter(|decision| decision.fact == question.fact);
            let (Some(decision), None) = (own.next(), own.next()) else {
                continue;
            };
            if decision.memory > question.candidates.len() {
                continue;
            }
            out.push(ModelWord {
                decision: decision.clone(),
                candidates: question
                    .candidates
                    .iter()
                    .map(|one| (one.id, one.text.clone()))
                    .collect(),
            });
        }
        (out, None)
    }

    fn answer(
        &self,
        plan: &Plan<'_>,
        undecided: Option<&UndecidedFacts>,
        count: CallCount,
    ) -> AddAnswer {
        let mut pending = Vec::new();
        if let Some((reason, why)) = &self.pending {
            let mut work = PendingWork::new(*reason, why.clone(), self.request.now);
            let used = self
                .list
                .turns
                .iter()
                .zip(&self.turns.ids)
                .zip(&self.turns.is_fresh);
            work.turns = used
                .filter(|((turn, _), is_fresh)| turn.used_for == TurnUse::Extract && **is_fresh)
                .map(|((_, id), _)| *id)
                .collect();
            pending.push(work);
        }
        if let Some(why) = &self.embed_failure {
            let mut work = PendingWork::new(PendingReason::Embed, why.clone(), self.request.now);
            let failed = self.failed_vectors.iter().filter_map(|at| plan.id_of(*at));
            work.facts = failed.collect();
            if !work.facts.is_empty() {
                pending.push(work);
            }
        }
        if let Some(UndecidedFacts { reason, why, facts }) = undecided {
            let mut work = PendingWork::new(*reason, why.clone(), self.request.now);
            work.facts = facts.iter().filter_map(|at| plan.id_of(*at)).collect();
            pending.push(work);
        }
        let reviewable = self.rejected.iter().map(|rejection| RejectedFact {
            id: Some(rejection.id),
            text: rejection.text.clone(),
            why: rejection.why.clone(),
        });
        let rejected: Vec<RejectedFact> = self
            .not_forgotten
            .iter()
            .cloned()
            .chain(reviewable)
            .chain(plan.rejected.iter().cloned())
            .collect();
        AddAnswer {
            results: plan.results.clone(),
            status: if pending.is_empty() {
                AddStatus::Succeeded
            } else {
                AddStatus::Pending
            },
            pending,
            stages: stages(self, plan, rejected.len()),
            rejected,
            skipped: self.list.skipped.clone(),
            usage: AddUsage {
                calls: count.calls,
                retries: count.retries,
                tokens_in: count.tokens_in,
                tokens_out: count.tokens_out,
                model_millis: count.millis,
            },
            turns: self.turns.ids.clone(),
            is_dry_run: self.request.dry_run,
        }
    }

    fn commit(&self, plan: &Plan<'_>, answer: &AddAnswer, version: u64) -> Result<()> {
        let answered = self.request.idempotency_key.as_ref().map(|key| {
            let kept = serde_json::to_value(answer)
                .map_err(|e| Error::Store(format!("the answer cannot be kept: {e}")));
            let told = answer.results.iter().map(|result| result.id);
            kept.map(|kept| NewAnswer {
                key: key.clone(),
                request_hash: self.request.request_hash(),
                answer: kept,
                names: told.chain(answer.turns.iter().copied()).collect(),
            })
        });
        let answered = answered.transpose()?;
        let is_empty = plan.ops.is_empty()
            && self.turns.new.is_empty()
            && self.rejected.is_empty()
            && answer.pending.is_empty()
            && answered.is_none();
        if self.request.dry_run || is_empty {
            return Ok(());
        }
        self.ports.store.commit(&FactBatch {
            scope: self.request.scope.clone(),
            session: self.request.session,
            at: self.request.now,
            said: self
                .request
                .without_turns
                .then(|| self.list.turns.first().map(|turn| turn.time))
                .flatten(),
            expected_version: (!self.facts.is_empty()).then_some(version),
            turns: self.turns.new.clone(),
            ops: plan.ops.clone(),
            rejected: self.rejected.clone(),
            pending: answer.pending.clone(),
            answered,
        })
    }
}
