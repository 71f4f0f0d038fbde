//! The calls on the memories of one brain.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::AsOf;
use amem_memory::add::{AddAnswer, AddPorts, AddRequest, add};
use amem_memory::change::{
    ChangeOutcome, UpdateRequest, delete, delete_all, delete_many, masked_reason, update,
    update_many,
};
use amem_memory::graph::EntityKind;
use amem_memory::model::{FormTable, Model};
use amem_memory::store::{Embedder, FactBatch, FactOp, FactStore, Ids, MemoryItem, NewAnswer};
use amem_memory::{Error as MemoryError, FactFilter, FactScope};
use amem_store::mutation::Answer;
use serde_json::Value;
use uuid::Uuid;

use crate::batch_plan::said_again;
use crate::brain_store::BrainStore;
use crate::entities::{self, Entity, EntityPage, EntityRequest, KnownRelation};
use crate::entity_change::{EntityErasure, EntityStatementRequest, erasure_of, state_entity};
use crate::entity_names;
use crate::erasure::{events_of_memory, events_of_scope, events_of_source, outlasting_versions};
use crate::error::{Error, Result};
use crate::fact_brain::FactBrain;
use crate::fact_state::FactState;
use crate::feedback::{FactFeedback, feedback_of, set_feedback};
use crate::history::{self, MemoryHistory};
use crate::kept_answer::KeptAnswer;
use crate::limits::{ADD_TRIES_MAX, FACT_PAGE_MAX, LIGHT_EVENTS_MAX};
use crate::listing::{self, ListRequest, ListedMemories};
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::pending_work::{AddOptions, PendingEntry, open_work};
use crate::recall::{
    self, Recall, RecallAnswer, SaidSentence, SpokenMemory, SpokenName, TurnEnd, forget_turn,
    spoken, turn_end,
};
use crate::record::path;
use crate::review::{OpenConflict, open_conflicts};
use crate::scope_plan::FactMoment;
use crate::search::{FactRanking, FactSearch};
use crate::served_ring::ServedText;
use crate::support::{sources_of, supports_of};
use crate::users::{self, ScopeCount};
use crate::verdict::{FactReview, FactVerdict, ReviewedFact};
use amem_query::planner::count_with;

/// Ids of new memories: UUID v4.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn next(&self) -> Uuid {
        Uuid::new_v4()
    }
}

/// The memories of a brain, and what calls on them need.
#[derive(Clone, Copy)]
pub struct Facts<'b> {
    /// Where memories are.
    pub brain: &'b dyn FactBrain,
    /// What the calls on the brain share.
    pub state: &'b FactState,
    /// Makes vectors of the brain's space.
    pub embedder: &'b dyn Embedder,
    /// Makes ids.
    pub ids: &'b dyn Ids,
    /// Finds and decides, if one is configured.
    pub model: Option<&'b dyn Model>,
    /// The forms that models take.
    pub forms: &'b FormTable,
}

impl Facts<'_> {
    /// A state of the brain. Errors: an LSN in the future.
    pub fn moment(&self, as_of: Option<AsOf>) -> Result<FactMoment> {
        FactMoment::new(self.brain.view(), as_of)
    }

    /// Remembers what messages say; returns the commit too, unless nothing was stored.
    pub fn add(&self, request: &AddRequest) -> Result<(AddAnswer, Option<Answer>)> {
        let mut tries = 1;
        loop {
            let store = BrainStore::new(self.brain, self.state);
            store.work.borrow_mut().options = AddOptions::of(request);
            let ports = AddPorts {
                store: &store,
                embedder: self.embedder,
                ids: self.ids,
                model: self.model,
                forms: self.forms,
            };
            match add(request, ports) {
                Ok(answer) => return Ok((answer, store.committed.take())),
                // The same request may have come twice at once: the next try finds the answer of the other.
                Err(MemoryError::Changed)
                    if request.idempotency_key.is_some() && tries < ADD_TRIES_MAX =>
                {
                    tries += 1;
                }
                Err(error) => return Err(store.explain(error)),
            }
        }
    }

    /// Finds memories, and notes that they were served: they are not learnt again.
    pub fn search(&self, request: &FactSearch, moment: &FactMoment) -> Result<FactRanking> {
        let ranking = request.run(moment, self.embedder)?;
        for hit in &ranking.hits {
            let text = std::iter::once(ServedText::of(&hit.item.memory));
            self.state.served.add(&hit.item.scope, text);
        }
        Ok(ranking)
    }

    /// Answers a question from what was formed, said and written, and notes what was served: it is not learnt again.
    pub fn recall(&self, request: &Recall, moment: &FactMoment) -> Result<RecallAnswer> {
        let answer = request.run(moment, self.embedder)?;
        let shown = answer.entries.iter().chain(&answer.nearest);
        for entry in shown.chain(&answer.standing) {
            let item = entry.item.as_ref();
            let texts = item.map(|item| item.memory.as_str()).into_iter();
            let texts = texts.chain([entry.text.as_str()]).map(ServedText::of);
            let scope = item.map_or(&request.scope, |item| &item.scope);
            self.state.served.add(scope, texts);
        }
        Ok(answer)
    }

    /// True if a memory has few versions: what is asked about it takes no longer than a wait for a thread.
    pub fn is_light(&self, id: Uuid) -> Result<bool> {
        let events = count_with(&self.brain.view(), path::FACT_ID, &id.to_string())?;
        Ok(events <= LIGHT_EVENTS_MAX)
    }

    /// True if few memories have the name of an entity, and nothing says that it has others.
    pub fn is_light_entity(&self, scope: &FactScope, name: &str) -> Result<bool> {
        entity_names::is_light(&self.brain.view(), scope, name)
    }

    /// A memory by its id, within a scope; `None` if there is none, or it ended, by itself
    /// or by request.
    pub fn get(
        &self,
        id: Uuid,
        scope: &FactScope,
        now: Micros,
        moment: &FactMoment,
    ) -> Result<Option<MemoryItem>> {
        let chain = MemoryChain::of(&moment.view, id)?;
        let head = chain.head_at(moment)?;
        let seen = head.filter(|head| scope.covers(&head.scope) && !head.is_expired(now));
        let Some(head) = seen else {
            return Ok(None);
        };
        let sources = sources_of(head, &supports_of(&moment.view, id)?);
        Ok(Some(MemoryItem {
            sources,
            ..head.item()
        }))
    }

    /// The memory of an event, which is a version of it or its end; `None` if the event is nothing of the kind, was
    /// erased, or is of another scope.
    pub fn memory_of(
        &self,
        event: NodeId,
        scope: &FactScope,
        moment: &FactMoment,
    ) -> Result<Option<Uuid>> {
        if event.0 >= moment.view.nodes() {
            return Ok(None);
        }
        let found = ChainEvent::read(&moment.view.node(event)?)?;
        let found = found.filter(|found| scope.covers(&found.scope));
        Ok(found.map(|found| found.record.id))
    }

    /// The memory that is from a turn, by the turn's event: the one with the turn's words, or the only one. `None` if
    /// the event is no turn, is of another scope, or several memories are from it.
    pub fn memory_from(
        &self,
        event: NodeId,
        scope: &FactScope,
        moment: &FactMoment,
    ) -> Result<Option<Uuid>> {
        recall::memory_from(event, scope, moment)
    }

    /// The sentences of a person's turn that no memory is from; none for a turn of an agent, or one that is gone.
    pub fn unformed(&self, turn: Uuid, moment: &FactMoment) -> Result<Vec<String>> {
        recall::unformed(moment, turn)
    }

    /// The sentence of a person that a memory is from; `None` if no sentence of a line says it.
    pub fn said_sentence(
        &self,
        item: &MemoryItem,
        moment: &FactMoment,
    ) -> Result<Option<SaidSentence>> {
        recall::said_sentence(moment, item)
    }

    /// What was said or written, as a recall shows it by its id, within a scope; `None` if there is nothing, or it was
    /// forgotten.
    pub fn spoken(
        &self,
        name: SpokenName,
        scope: &FactScope,
        moment: &FactMoment,
    ) -> Result<Option<SpokenMemory>> {
        spoken(moment, name, scope)
    }

    /// Forgets a turn: no answer shows it any more; memories that are from it stay. `None` if no turn of the scope has
    /// the id. A repetition under a key answers as the first request did, without a commit.
    ///
    /// # Errors
    /// `NotFound` for a turn that was forgotten before; `KeyReused`; `TooLarge` for a long reason.
    pub fn forget_turn(
        &self,
        id: Uuid,
        scope: &FactScope,
        (now, reason): (Micros, Option<&str>),
        kept: Option<&KeptAnswer>,
    ) -> Result<Option<(SpokenMemory, Option<Answer>)>> {
        let place = (self.brain, self.state);
        let reason = masked_reason(reason);
        forget_turn(place, (id, scope), (now, reason.as_deref()), kept)
    }

    /// When and why a turn of a scope was forgotten; `None` if it was not.
    pub fn turn_end(
        &self,
        id: Uuid,
        scope: &FactScope,
        moment: &FactMoment,
    ) -> Result<Option<TurnEnd>> {
        turn_end(&moment.view, id, scope)
    }

    /// The event of the current version of a memory; `None` if there is none.
    pub fn version_of(&self, id: Uuid) -> Result<Option<NodeId>> {
        let chain = MemoryChain::of(&self.brain.view(), id)?;
        Ok(chain.head().map(|head| head.node))
    }

    /// Checks that a new memory of a scope may follow from others: each is current, and no field of its scope differs.
    /// Errors: `NotFound`.
    pub fn check_causes(&self, causes: &[Uuid], scope: &FactScope) -> Result<()> {
        let view = self.brain.view();
        for id in causes {
            let chain = MemoryChain::of(&view, *id)?;
            let is_near = |other: &FactScope| {
                let mut fields = scope.fields().zip(other.fields());
                fields
                    .all(|((_, own), (_, other))| own.is_none() || other.is_none() || own == other)
            };
            if !chain.head().is_some_and(|head| is_near(&head.scope)) {
                return Err(MemoryError::NotFound { id: id.to_string() }.into());
            }
        }
        Ok(())
    }

    /// A page of the memories of a scope.
    pub fn list(&self, request: &ListRequest, moment: &FactMoment) -> Result<ListedMemories> {
        listing::list(moment, request)
    }

    /// Gives a memory a new text or new keys.
    pub fn update(
        &self,
        request: &UpdateRequest,
        scope: &FactScope,
        kept: Option<&KeptAnswer>,
    ) -> Result<(MemoryItem, Option<Answer>)> {
        let run = |store: &BrainStore<'_>| update(request, scope, store, self.embedder);
        self.change(request.id, scope, kept, run)
    }

    /// Ends a memory; its history stays. Returns the memory as it was.
    pub fn delete(
        &self,
        id: Uuid,
        scope: &FactScope,
        now: Micros,
        reason: Option<&str>,
        kept: Option<&KeptAnswer>,
    ) -> Result<(MemoryItem, Option<Answer>)> {
        let reason = masked_reason(reason);
        self.change(id, scope, kept, |store| {
            delete(id, scope, now, reason.as_deref(), store)
        })
    }

    /// A change of one memory, which is done once under its key.
    fn change(
        &self,
        id: Uuid,
        scope: &FactScope,
        kept: Option<&KeptAnswer>,
        run: impl Fn(&BrainStore<'_>) -> amem_memory::Result<MemoryItem>,
    ) -> Result<(MemoryItem, Option<Answer>)> {
        let mut tries = 1;
        loop {
            match self.change_once(id, scope, kept, &run) {
                // The same request may have come twice at once: the next try finds the answer of the other.
                Err(Error::Memory(MemoryError::Changed))
                    if kept.is_some() && tries < ADD_TRIES_MAX =>
                {
                    tries += 1;
                }
                done => return done,
            }
        }
    }

    fn change_once(
        &self,
        id: Uuid,
        scope: &FactScope,
        kept: Option<&KeptAnswer>,
        run: &impl Fn(&BrainStore<'_>) -> amem_memory::Result<MemoryItem>,
    ) -> Result<(MemoryItem, Option<Answer>)> {
        let store = BrainStore::new(self.brain, self.state);
        if let Some(kept) = kept {
            let found = store.get(id).map_err(|error| store.explain(error))?;
            let found = found.filter(|found| scope.covers(&found.item.scope));
            if let Some(found) = found {
                let earlier = store.answered(&found.item.scope, &kept.key);
                let earlier = earlier.map_err(|error| store.explain(error))?;
                match earlier {
                    Some(earlier) if earlier.request_hash == kept.request_hash => {
                        return Ok((found.item, None));
                    }
                    Some(_) => {
                        let key = kept.key.clone();
                        return Err(MemoryError::KeyReused { key }.into());
                    }
                    None => {
                        *store.kept.borrow_mut() = Some(NewAnswer {
                            key: kept.key.clone(),
                            request_hash: kept.request_hash.clone(),
                            answer: Value::Null,
                            names: Vec::new(),
                        });
                    }
                }
            }
        }
        match run(&store) {
            Ok(item) => Ok((item, store.committed.take())),
            Err(error) => Err(store.explain(error)),
        }
    }

    /// Ends all memories of a scope that match a filter; their history stays. Returns their number.
    pub fn delete_all(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        now: Micros,
    ) -> Result<(u64, Option<Answer>)> {
        let store = BrainStore::new(self.brain, self.state);
        match delete_all(scope, filter, now, &store) {
            Ok(count) => Ok((count, store.committed.take())),
            Err(error) => Err(store.explain(error)),
        }
    }

    /// Notes what a caller thinks of a current memory. What holds already is not stored again, so that a repetition has
    /// no effect. Returns what holds then, and the commit if there was one.
    ///
    /// # Errors
    /// `NotFound`, `Deleted`, `TooLarge` for a long reason, `Invalid` for a reason of cleared feedback.
    pub fn set_feedback(
        &self,
        id: Uuid,
        scope: &FactScope,
        feedback: FactFeedback,
    ) -> Result<(Option<FactFeedback>, Option<Answer>)> {
        let reason = masked_reason(Some(&feedback.reason)).unwrap_or_default();
        let feedback = FactFeedback {
            reason: reason.into_owned(),
            ..feedback
        };
        set_feedback(self.brain, self.state, (id, scope), feedback)
    }

    /// The feedback about a memory that holds at a moment.
    pub fn feedback(&self, id: Uuid, moment: &FactMoment) -> Result<Option<FactFeedback>> {
        feedback_of(&moment.view, id)
    }

    /// Gives many memories new texts or new keys, in one commit; the outcomes are in order.
    pub fn update_many(
        &self,
        requests: &[UpdateRequest],
        scope: &FactScope,
    ) -> Result<(Vec<ChangeOutcome>, Option<Answer>)> {
        let store = BrainStore::new(self.brain, self.state);
        match update_many(requests, scope, &store, self.embedder) {
            Ok(outcomes) => Ok((outcomes, store.committed.take())),
            Err(error) => Err(store.explain(error)),
        }
    }

    /// Ends many memories by id, in one commit; the outcomes are in order.
    pub fn delete_many(
        &self,
        ids: &[Uuid],
        scope: &FactScope,
        now: Micros,
    ) -> Result<(Vec<ChangeOutcome>, Option<Answer>)> {
        let store = BrainStore::new(self.brain, self.state);
        match delete_many(ids, scope, now, &store) {
            Ok(outcomes) => Ok((outcomes, store.committed.take())),
            Err(error) => Err(store.explain(error)),
        }
    }

    /// A page of the history of a memory within a scope, from the cursor of the page before on: at most `limit`
    /// records, fewer if they are large; sources of other scopes have no text. Errors: `NotFound`.
    pub fn history(
        &self,
        id: Uuid,
        scope: &FactScope,
        (limit, after): (usize, Option<u64>),
        moment: &FactMoment,
    ) -> Result<MemoryHistory> {
        let found = history::history(&moment.view, id, scope, (limit, after))?;
        let seen = found.filter(|history| scope.covers(&history.scope));
        seen.ok_or_else(|| MemoryError::NotFound { id: id.to_string() }.into())
    }

    /// The users, agents, apps and runs that have memories; with a scope those of its memories.
    pub fn users(&self, scope: &FactScope, moment: &FactMoment) -> Result<Vec<ScopeCount>> {
        users::users(&moment.now, &self.state.tally, scope)
    }

    /// A page of the memories of a scope that may contradict others, the newest first: at most `limit`, from the cursor
    /// of the page before on. Returns the cursor of the next page too.
    pub fn review(
        &self,
        scope: &FactScope,
        (limit, before): (usize, Option<u64>),
        now: Micros,
        moment: &FactMoment,
    ) -> Result<(Vec<OpenConflict>, Option<u64>)> {
        open_conflicts(moment, scope, (limit.clamp(1, FACT_PAGE_MAX), before), now)
    }

    /// A page of the entities of a scope whose names have the words of a text, of one kind if it is set, those that
    /// most memories name first; and the cursor of the next page.
    pub fn entities(
        &self,
        request: &EntityRequest,
        select: (&str, Option<EntityKind>),
        moment: &FactMoment,
    ) -> Result<(Vec<Entity>, Option<u64>)> {
        entities::entities(moment, self.state, request, select)
    }

    /// A page of the relations of a scope, the newest memory first, and the cursor of the next page; `select` is the
    /// name of an entity and a relation, empty for all.
    pub fn relations(
        &self,
        request: &EntityRequest,
        select: (&str, &str),
        moment: &FactMoment,
    ) -> Result<(Vec<KnownRelation>, Option<u64>)> {
        entities::relations(moment, request, select)
    }

    /// Everything that is known about an entity. Errors: `NotFound`.
    pub fn entity(
        &self,
        request: &EntityRequest,
        name: &str,
        moment: &FactMoment,
    ) -> Result<EntityPage> {
        let page = entities::entity_page(moment, request, name)?;
        for fact in &page.facts {
            let text = std::iter::once(ServedText::of(&fact.item.memory));
            self.state.served.add(&fact.item.scope, text);
        }
        Ok(page)
    }

    /// Stores what a caller says of an entity; `None` if it says nothing new.
    pub fn state_entity(
        &self,
        scope: &FactScope,
        request: &EntityStatementRequest,
        now: Micros,
    ) -> Result<Option<Answer>> {
        state_entity(self.brain, self.state, (scope, request), now)
    }

    /// What an erasure of an entity takes, and what only names it. The caller erases the events, and calls `erased`.
    /// Errors: `NotFound`.
    pub fn events_of_entity(
        &self,
        scope: &FactScope,
        name: &str,
        now: Micros,
    ) -> Result<EntityErasure> {
        erasure_of(&self.moment(None)?, scope, name, now)
    }

    /// Decides about a memory that waits for a review, or takes its last change back.
    ///
    /// # Errors
    /// `NotFound`, `Deleted` unless it is taken back, `Changed` if it changes meanwhile, `Invalid` for an empty text
    /// and where there is nothing to take back.
    pub fn decide(
        &self,
        (id, scope): (Uuid, &FactScope),
        verdict: &FactVerdict,
        reason: Option<&str>,
        now: Micros,
    ) -> Result<(ReviewedFact, Option<Answer>)> {
        let store = BrainStore::new(self.brain, self.state);
        let reason = masked_reason(reason);
        let review = FactReview {
            id,
            scope,
            verdict,
            reason: reason.as_deref(),
            now,
        };
        let done = review.commit(&self.brain.view(), &store, self.embedder)?;
        Ok((done, store.committed.take()))
    }

    /// Work that is left, the oldest first.
    pub fn pending(&self, scope: &FactScope, moment: &FactMoment) -> Result<Vec<PendingEntry>> {
        open_work(&moment.now, scope)
    }

    /// The events that a reset of a scope erases: memories, history, turns, feedback, kept answers and pending
    /// work; those of
    /// every scope for an empty one. The caller erases them, and calls `erased`.
    pub fn events_of_scope(&self, scope: &FactScope) -> Result<Vec<NodeId>> {
        events_of_scope(&self.brain.view(), scope)
    }

    /// Before a turn is erased: memories whose newest version only it supported say again what an earlier version said,
    /// in a version of their own. Returns their ids. Errors: `Changed`.
    pub fn outlast_source(&self, turn: Uuid, scope: &FactScope, now: Micros) -> Result<Vec<Uuid>> {
        let mut batch = FactBatch::of_any_scopes(now);
        let mut outlasting = Vec::new();
        let view = self.brain.view();
        for (head, earlier) in outlasting_versions(&view, scope, turn)? {
            let id = head.record.id;
            let mut fact = said_again(&earlier, "source:erased");
            fact.sources = sources_of(&earlier, &supports_of(&view, id)?);
            fact.sources.retain(|source| *source != turn);
            outlasting.push(id);
            batch.ops.push(FactOp::Update {
                id,
                old: head.text,
                fact,
                joins: false,
            });
        }
        if !batch.ops.is_empty() {
            let store = BrainStore::new(self.brain, self.state);
            store.commit(&batch).map_err(|error| store.explain(error))?;
        }
        Ok(outlasting)
    }

    /// The events that go with a turn, and the ids of the memories that only it supported. Errors: `NotFound`.
    pub fn events_of_source(
        &self,
        turn: Uuid,
        scope: &FactScope,
    ) -> Result<(Vec<NodeId>, Vec<Uuid>)> {
        let found = events_of_source(&self.brain.view(), scope, turn)?;
        found.ok_or_else(|| {
            let id = turn.to_string();
            MemoryError::NotFound { id }.into()
        })
    }

    /// The events that go with a memory, of one that ended too, and the memory as it was last. Errors: `NotFound`.
    pub fn events_of_memory(
        &self,
        id: Uuid,
        scope: &FactScope,
    ) -> Result<(Vec<NodeId>, MemoryItem)> {
        let view = self.brain.view();
        let chain = MemoryChain::of(&view, id)?;
        let last = chain.last_version().map(ChainEvent::item);
        let found = events_of_memory(&view, scope, id)?;
        found.zip(last).ok_or_else(|| {
            let id = id.to_string();
            MemoryError::NotFound { id }.into()
        })
    }

    /// Events of the brain were erased: what was counted is counted again.
    pub fn erased(&self) {
        users::reset_counts(&self.state.tally);
        self.state.served.clear();
    }
}
