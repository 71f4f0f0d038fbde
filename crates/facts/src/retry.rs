//! Another try of pending work: turns are extracted again, missing vectors are made.
//!
//! The work keeps its id over all tries, so that its newest event says how it stands. After
//! `amem_memory::limits::PENDING_TRIES_MAX` tries patterns do what the model could not.

use amem_format::types::Micros;
use amem_memory::add::{
    AddAnswer, AddPorts, AddRequest, AssistantPolicy, ModelFallback, SecretPolicy, add,
};
use amem_memory::{ContentPart, Error as MemoryError, FactFilter, FactScope, Message, Role};
use amem_store::mutation::{Ingest, Mutation};
use uuid::Uuid;

use crate::batch_plan::{hide_all, pending_event};
use crate::brain_store::BrainStore;
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::memory_chain::MemoryChain;
use crate::pending_work::{PendingEntry, WorkContext, open_work};
use crate::record::PendingState;
use crate::stored_turns::turn_event;

/// What became of pending work.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryOutcome {
    /// The work as it was before this try.
    pub entry: PendingEntry,
    /// True if nothing of it is left.
    pub is_done: bool,
    /// The answer of the add that the try was, if it was about turns.
    pub answer: Option<AddAnswer>,
    /// Why the try could not be made, such as a scope that kept changing; the work is tried again later.
    pub failure: Option<MemoryError>,
}

impl RetryOutcome {
    /// Work of which nothing is left, without an answer.
    fn done(entry: PendingEntry) -> Self {
        Self {
            entry,
            is_done: true,
            answer: None,
            failure: None,
        }
    }
}

fn role(name: &str) -> Role {
    match name {
        "assistant" => Role::Assistant,
        "tool" => Role::Tool,
        "system" => Role::System,
        _ => Role::User,
    }
}

impl Facts<'_> {
    /// Tries open work of a scope again (of every scope for an empty one): what is due, or all of it. Work whose try
    /// could not be made waits like any that failed, and the run goes on. Runs on one brain come one after the other.
    ///
    /// # Errors
    /// Of the brain: they end the run; what was tried before stays done.
    pub fn retry(
        &self,
        scope: &FactScope,
        now: Micros,
        only_due: bool,
    ) -> Result<Vec<RetryOutcome>> {
        // The same work is not done twice at once.
        let _alone = self.state.hold_retries();
        let mut outcomes = Vec::new();
        for entry in open_work(&self.brain.view(), scope)? {
            if only_due && !entry.is_due(now) {
                continue;
            }
            let tried = if entry.work.turns.is_empty() {
                self.retry_vectors(entry.clone(), now)
            } else {
                self.retry_turns(entry.clone(), now)
            };
            outcomes.push(match tried {
                Err(Error::Memory(failure)) => {
                    let next = entry.failed_again(&failure.to_string(), now);
                    self.close(&next, PendingState::Open)?;
                    RetryOutcome {
                        entry,
                        is_done: false,
                        answer: None,
                        failure: Some(failure),
                    }
                }
                tried => tried?,
            });
        }
        Ok(outcomes)
    }

    /// Says how work stands, in an event of its own.
    fn close(&self, entry: &PendingEntry, state: PendingState) -> Result<()> {
        let mut ingest = Ingest {
            events: vec![pending_event(entry, state)?],
            ..Ingest::default()
        };
        hide_all(&mut ingest);
        self.brain.commit(Mutation::Ingest(ingest))?;
        Ok(())
    }

    fn retry_turns(&self, entry: PendingEntry, now: Micros) -> Result<RetryOutcome> {
        let messages = self.messages(&entry.work.turns)?;
        if messages.is_empty() {
            // The turns were erased: there is nothing left to do.
            self.close(&entry, PendingState::Done)?;
            return Ok(RetryOutcome::done(entry));
        }
        let mut request = AddRequest::new(messages, entry.scope.clone(), now);
        request.is_retry = true;
        // The add that stored the turns masked them, or was to keep them: another text would be another turn.
        request.secrets = SecretPolicy::Keep;
        request.prompt = entry.options.prompt.clone();
        request.metadata = entry.options.metadata.clone();
        // What would have expired by now is remembered as expired: the add refuses a time in the past.
        request.expires = entry.options.expires.filter(|expires| *expires > now);
        if !entry.options.filter.is_null() {
            request.filters = Some(FactFilter::parse(&entry.options.filter)?);
        }
        if entry.options.assistant_facts {
            request.assistant = AssistantPolicy::Facts;
        }
        if entry.work.is_exhausted() {
            request.fallback = ModelFallback::Patterns;
        }
        let is_expired = entry.options.expires.is_some() && request.expires.is_none();
        if is_expired {
            self.close(&entry, PendingState::Done)?;
            return Ok(RetryOutcome::done(entry));
        }
        let store = BrainStore::new(self.brain, self.state);
        store.work.replace(WorkContext {
            options: entry.options.clone(),
            retry_of: Some(entry.clone()),
        });
        let ports = AddPorts {
            store: &store,
            embedder: self.embedder,
            ids: self.ids,
            model: self.model,
            forms: self.forms,
        };
        let answer = add(&request, ports).map_err(|error| store.explain(error))?;
        let is_done = answer.pending.is_empty();
        if store.committed.take().is_none() {
            // There was nothing to store but how the work stands.
            match answer.pending.first() {
                Some(work) => {
                    let next = entry.failed_again(&work.detail, now);
                    self.close(&next, PendingState::Open)?;
                }
                None => self.close(&entry, PendingState::Done)?,
            }
        }
        Ok(RetryOutcome {
            entry,
            is_done,
            answer: Some(answer),
            failure: None,
        })
    }

    /// The turns as messages; those that were erased are left out.
    fn messages(&self, turns: &[Uuid]) -> Result<Vec<Message>> {
        let view = self.brain.view();
        let mut messages = Vec::new();
        for id in turns {
            if let Some((node, turn, time)) = turn_event(&view, *id)? {
                messages.push(Message {
                    role: role(&turn.role),
                    name: turn.name,
                    content: vec![ContentPart::Text(view.node(node)?.text()?.into_owned())],
                    time: Some(time),
                });
            }
        }
        Ok(messages)
    }

    fn retry_vectors(&self, entry: PendingEntry, now: Micros) -> Result<RetryOutcome> {
        let mut left = Vec::new();
        let mut why = String::new();
        for id in &entry.work.facts {
            let view = self.brain.view();
            let chain = MemoryChain::of(&view, *id)?;
            // What ended or changed meanwhile needs no vector any more, or got one.
            let Some(head) = chain.head() else { continue };
            if view.node(head.node)?.vector()?.is_some() {
                continue;
            }
            match self.embedder.embed(&[&head.text]).pop() {
                Some(Ok(Some(vector))) => {
                    self.brain.commit(Mutation::SetVector {
                        target: head.node,
                        vector: Some(vector),
                        space: None,
                    })?;
                }
                Some(Ok(None)) => {}
                Some(Err(error)) => {
                    left.push(*id);
                    why = error;
                }
                None => {
                    left.push(*id);
                    why = "the embedder gave no vector".into();
                }
            }
        }
        let is_done = left.is_empty();
        if is_done {
            self.close(&entry, PendingState::Done)?;
        } else {
            let mut next = entry.failed_again(&why, now);
            next.work.facts = left;
            self.close(&next, PendingState::Open)?;
        }
        Ok(RetryOutcome {
            entry,
            is_done,
            answer: None,
            failure: None,
        })
    }
}
