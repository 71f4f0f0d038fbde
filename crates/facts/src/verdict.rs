//! Verdicts of a review: which of contradicting memories holds, what leaves quarantine; and taking a change back.

use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::change::check_reason;
use amem_memory::store::{Embedder, FactBatch, FactOp, FactStore, NewFact, RejectionState};
use amem_memory::{Error as MemoryError, FactScope};
use uuid::Uuid;

use crate::batch_plan::said_again;
use crate::brain_store::BrainStore;
use crate::error::Result;
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::rejection::Rejection;

/// What history says of a verdict.
const BY_REVIEW: &str = "review";
/// What history says of a change that was taken back.
const BY_UNDO: &str = "undo";

/// What is decided about a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactVerdict {
    /// It holds: those that it may contradict end, and it leaves quarantine.
    Accept,
    /// It holds beside those that it may contradict.
    Keep,
    /// It does not hold: it ends.
    Reject,
    /// It holds with another text, beside the others.
    Correct(String),
    /// Its last change is taken back, with what ended by the same verdict: an ended memory is there again, a text is
    /// what it was.
    Undo,
}

/// What a verdict changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewedFact {
    /// Memories that ended.
    pub ended: Vec<Uuid>,
    /// Memories that are there again.
    pub restored: Vec<Uuid>,
}

/// A verdict on a memory of a scope, and why.
pub(crate) struct FactReview<'r> {
    pub(crate) id: Uuid,
    pub(crate) scope: &'r FactScope,
    pub(crate) verdict: &'r FactVerdict,
    pub(crate) reason: Option<&'r str>,
    pub(crate) now: Micros,
}

impl FactReview<'_> {
    /// Commits the verdict. `Changed` if the memory changes meanwhile.
    pub(crate) fn commit(
        &self,
        view: &View,
        store: &BrainStore<'_>,
        embedder: &dyn Embedder,
    ) -> Result<ReviewedFact> {
        check_reason(self.reason)?;
        let chain = MemoryChain::of(view, self.id)?;
        let last = chain.last_version().cloned();
        let last = last.filter(|last| self.scope.covers(&last.scope));
        let Some(last) = last else {
            if let Some(rejection) = Rejection::of(view, self.id, self.scope)? {
                return self.on_rejection(&rejection, store, embedder);
            }
            let id = self.id.to_string();
            return Err(MemoryError::NotFound { id }.into());
        };
        let mut batch = FactBatch::of_any_scopes(self.now);
        batch.scope = last.scope.clone();
        batch.expected_version = Some(view.nodes());
        let mut done = ReviewedFact::default();
        if *self.verdict == FactVerdict::Undo {
            self.undo(view, (&chain, &last), &mut batch, &mut done)?;
        } else {
            if chain.is_ended() {
                let id = self.id.to_string();
                return Err(MemoryError::Deleted { id }.into());
            }
            self.decide(view, &last, (&mut batch, embedder), &mut done)?;
        }
        store.commit(&batch).map_err(|error| store.explain(error))?;
        Ok(done)
    }

    /// A verdict on a fact that was rejected: it becomes a memory, or stays out for good.
    fn on_rejection(
        &self,
        rejection: &Rejection,
        store: &BrainStore<'_>,
        embedder: &dyn Embedder,
    ) -> Result<ReviewedFact> {
        let mut done = ReviewedFact::default();
        let is_undo = *self.verdict == FactVerdict::Undo;
        if (rejection.state() == RejectionState::Open) == is_undo {
            let why = match is_undo {
                true => "nothing was decided about it yet",
                false => "it was left out: undo that first",
            };
            return Err(MemoryError::invalid("verdict", why).into());
        }
        let text = match self.verdict {
            FactVerdict::Correct(text) => text.trim(),
            _ => rejection.text(),
        };
        if text.is_empty() {
            let why = "it is empty: reject the fact instead";
            return Err(MemoryError::invalid("text", why).into());
        }
        let batch = match self.verdict {
            FactVerdict::Reject => {
                done.ended.push(self.id);
                rejection.batch(RejectionState::Dropped, None, self.now)
            }
            FactVerdict::Undo => {
                done.restored.push(self.id);
                rejection.batch(RejectionState::Open, None, self.now)
            }
            FactVerdict::Accept | FactVerdict::Keep | FactVerdict::Correct(_) => {
                let vector = embedder.embed(&[text]).pop();
                let vector = vector.and_then(std::result::Result::ok).flatten();
                let fact = rejection.fact(text, vector, (BY_REVIEW, self.reason));
                rejection.batch(RejectionState::Accepted, Some(fact), self.now)
            }
        };
        store.commit(&batch).map_err(|error| store.explain(error))?;
        Ok(done)
    }

    fn decide(
        &self,
        view: &View,
        head: &ChainEvent,
        (batch, embedder): (&mut FactBatch, &dyn Embedder),
        done: &mut ReviewedFact,
    ) -> Result<()> {
        let end = |event: &ChainEvent, replaced_by| FactOp::Delete {
            id: event.record.id,
            old: event.text.clone(),
            sources: Vec::new(),
            replaced_by,
            why: BY_REVIEW.to_owned(),
            reason: self.reason.map(str::to_owned),
        };
        if *self.verdict == FactVerdict::Reject {
            batch.ops.push(end(head, None));
            done.ended.push(self.id);
            return Ok(());
        }
        let mut fact = self.version(view, head, BY_REVIEW)?;
        fact.is_quarantined = false;
        if let FactVerdict::Correct(text) = self.verdict {
            let text = text.trim();
            if text.is_empty() {
                let why = "it is empty: reject the memory instead";
                return Err(MemoryError::invalid("text", why).into());
            }
            let vector = embedder.embed(&[text]).pop();
            fact.vector = vector.and_then(std::result::Result::ok).flatten();
            fact = fact.with_text(text);
            // What the old text said of times does not hold for the new one.
            fact.validity = Default::default();
        }
        batch.ops.push(FactOp::Update {
            id: self.id,
            old: head.text.clone(),
            fact,
            joins: false,
        });
        if *self.verdict == FactVerdict::Accept {
            for other in &head.record.conflicts {
                let chain = MemoryChain::of(view, *other)?;
                let other = chain.head().filter(|other| self.scope.covers(&other.scope));
                if let Some(other) = other {
                    batch.ops.push(end(other, Some(self.id)));
                    done.ended.push(other.record.id);
                }
            }
        }
        Ok(())
    }

    fn undo(
        &self,
        view: &View,
        (chain, last): (&MemoryChain, &ChainEvent),
        batch: &mut FactBatch,
        done: &mut ReviewedFact,
    ) -> Result<()> {
        let before = match chain.is_ended() {
            true => Some(last),
            false => {
                let older = chain.events.iter().rev();
                let mut older = older.filter(|event| event.is_version());
                older.find(|event| event.node < last.node)
            }
        };
        let Some(before) = before else {
            let why = "it was never changed: reject it, or delete it";
            return Err(MemoryError::invalid("verdict", why).into());
        };
        batch.ops.push(self.restoring(view, before)?);
        done.restored.push(self.id);
        for other in &before.record.conflicts {
            let chain = MemoryChain::of(view, *other)?;
            // It ended by the verdict that is taken back.
            let end = chain.events.last().filter(|event| {
                let record = &event.record;
                !event.is_version()
                    && record.replaced_by == Some(self.id)
                    && record.at == last.record.at
            });
            let other = chain.last_version();
            let other = other.filter(|other| end.is_some() && self.scope.covers(&other.scope));
            if let Some(other) = other {
                batch.ops.push(self.restoring(view, other)?);
                done.restored.push(other.record.id);
            }
        }
        Ok(())
    }

    fn restoring(&self, view: &View, version: &ChainEvent) -> Result<FactOp> {
        Ok(FactOp::Restore {
            id: version.record.id,
            fact: self.version(view, version, BY_UNDO)?,
            conflicts: version.record.conflicts.clone(),
        })
    }

    /// The version that says again what one said.
    fn version(&self, view: &View, version: &ChainEvent, why: &str) -> Result<NewFact> {
        let vector = view.node(version.node)?.vector()?;
        Ok(NewFact {
            vector: vector.map(<[f32]>::to_vec),
            reason: self.reason.map(str::to_owned),
            ..said_again(version, why)
        })
    }
}
