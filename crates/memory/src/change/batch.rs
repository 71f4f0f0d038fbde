//! Many changes by id at once: one commit of those that can be done, and the reason of each that cannot.

use std::collections::HashSet;

use uuid::Uuid;

use amem_format::types::Micros;

use super::masking::update_without_secrets;
use super::request::UpdateRequest;
use super::run::{NO_VECTOR, current, deletion, new_text, new_version};
use crate::add::AddEvent;
use crate::error::{Error, Result};
use crate::limits::{BATCH_CHANGES_MAX, COMMIT_TRIES_MAX};
use crate::pending::{PendingReason, PendingWork};
use crate::scope::FactScope;
use crate::store::{Embedder, FactBatch, FactOp, FactStore, MemoryItem};

/// What became of one change of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeOutcome {
    /// The memory.
    pub id: Uuid,
    /// `Update`, `Delete`, or `None` if the memory is so already; else why it was not changed.
    pub done: Result<AddEvent>,
}

/// A change that can be made, of a memory as it is stored.
struct PlannedUpdate<'r> {
    request: &'r UpdateRequest,
    item: MemoryItem,
}

/// Gives memories new texts or new keys, at most `limits::BATCH_CHANGES_MAX`, in one commit; the outcomes are in order.
///
/// An update that cannot be made is answered with its reason and changes nothing; one that asks for what is so already
/// makes no version, so that a repetition has no effect. Errors: too many, `Changed` if the memories kept changing,
/// failures of the store; then nothing is stored.
pub fn update_many(
    requests: &[UpdateRequest],
    scope: &FactScope,
    store: &dyn FactStore,
    embedder: &dyn Embedder,
) -> Result<Vec<ChangeOutcome>> {
    check_count(requests.len())?;
    let Some(now) = requests.first().map(|request| request.now) else {
        return Ok(Vec::new());
    };
    let requests: Vec<_> = requests.iter().map(update_without_secrets).collect();
    until_unchanged(|| {
        let mut seen = HashSet::new();
        let (mut outcomes, mut planned) = (Vec::new(), Vec::new());
        for request in requests.iter().map(|request| &**request) {
            let looked = if seen.insert(request.id) {
                planned_update(request, scope, store)?
            } else {
                Err(named_twice())
            };
            let done = looked.map(|item| match item {
                Some(item) => {
                    planned.push(PlannedUpdate { request, item });
                    AddEvent::Update
                }
                None => AddEvent::None,
            });
            outcomes.push(ChangeOutcome {
                id: request.id,
                done,
            });
        }
        commit(store, updates(planned, now, embedder))?;
        Ok(outcomes)
    })
}

/// Ends memories, at most `limits::BATCH_CHANGES_MAX`, in one commit; their history stays. Outcomes and errors as those
/// of `update_many`.
pub fn delete_many(
    ids: &[Uuid],
    scope: &FactScope,
    now: Micros,
    store: &dyn FactStore,
) -> Result<Vec<ChangeOutcome>> {
    check_count(ids.len())?;
    until_unchanged(|| {
        let mut seen = HashSet::new();
        let mut batch = FactBatch::of_any_scopes(now);
        let mut outcomes = Vec::new();
        for &id in ids {
            let looked = if seen.insert(id) {
                of_item(current(store, scope, id).map(|stored| stored.item))?
            } else {
                Err(named_twice())
            };
            let done = looked.map(|item| {
                batch.ops.push(deletion(&item, None));
                AddEvent::Delete
            });
            outcomes.push(ChangeOutcome { id, done });
        }
        commit(store, batch)?;
        Ok(outcomes)
    })
}

fn check_count(count: usize) -> Result<()> {
    Error::check_limit("the number of changes", count, BATCH_CHANGES_MAX)
}

fn named_twice() -> Error {
    Error::invalid(
        "memory_id",
        "an earlier change of the batch names it as well",
    )
}

/// Runs a batch again if another change came between its look and its commit.
fn until_unchanged(run: impl Fn() -> Result<Vec<ChangeOutcome>>) -> Result<Vec<ChangeOutcome>> {
    let mut tries = 1;
    loop {
        match run() {
            Err(Error::Changed) if tries < COMMIT_TRIES_MAX => tries += 1,
            done => return done,
        }
    }
}

/// Tells errors of one item from those of the store, which end the batch.
fn of_item<T>(looked: Result<T>) -> Result<Result<T>> {
    match looked {
        Err(error @ Error::Store(_)) => Err(error),
        looked => Ok(looked),
    }
}

/// The memory that an update changes; `None` if it is so already.
fn planned_update(
    request: &UpdateRequest,
    scope: &FactScope,
    store: &dyn FactStore,
) -> Result<Result<Option<MemoryItem>>> {
    let look = || {
        request.validate()?;
        let item = current(store, scope, request.id)?.item;
        let expected = request.expected.as_ref();
        if expected.is_some_and(|expected| *expected != item.memory) {
            return Err(Error::Changed);
        }
        let metadata = request.metadata.as_ref();
        let is_so = new_text(request, &item) == item.memory
            && metadata.is_none_or(|metadata| *metadata == item.metadata);
        Ok((!is_so).then_some(item))
    };
    of_item(look())
}

fn updates(planned: Vec<PlannedUpdate<'_>>, now: Micros, embedder: &dyn Embedder) -> FactBatch {
    let of = |planned: &PlannedUpdate<'_>| new_text(planned.request, &planned.item).to_owned();
    let texts: Vec<String> = planned.iter().map(of).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut vectors = embedder.embed(&texts).into_iter();
    let mut batch = FactBatch::of_any_scopes(now);
    // Work is of one scope.
    let mut left: Vec<(FactScope, PendingWork)> = Vec::new();
    for PlannedUpdate { request, item } in planned {
        let vector = vectors.next().unwrap_or_else(|| Err(NO_VECTOR.into()));
        let vector = vector.unwrap_or_else(|why| {
            let at = left.iter().position(|(scope, _)| *scope == item.scope);
            let at = at.unwrap_or_else(|| {
                let work = PendingWork::new(PendingReason::Embed, why, now);
                left.push((item.scope.clone(), work));
                left.len() - 1
            });
            left[at].1.facts.push(item.id);
            None
        });
        let fact = new_version(request, &item, vector);
        batch.ops.push(FactOp::Update {
            id: item.id,
            old: item.memory,
            fact,
            joins: false,
        });
    }
    batch.pending = left.into_iter().map(|(_, work)| work).collect();
    batch
}

fn commit(store: &dyn FactStore, batch: FactBatch) -> Result<()> {
    if batch.ops.is_empty() {
        return Ok(());
    }
    store.commit(&batch)
}
