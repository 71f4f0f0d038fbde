//! Updates and deletes: one commit each, refused if the memory changed meanwhile.

use uuid::Uuid;

use amem_format::types::Micros;

use super::masking::update_without_secrets;
use super::request::{UpdateRequest, check_reason};
use crate::check::gives_orders;
use crate::error::{Error, Result};
use crate::filter::FactFilter;
use crate::hash::text_hash;
use crate::kind::FactSource;
use crate::limits::{COMMIT_TRIES_MAX, DELETED_AT_ONCE_MAX, FACT_CHARS_MAX};
use crate::pending::{PendingReason, PendingWork};
use crate::relations::fact_graph;
use crate::scope::FactScope;
use crate::slots::slot_keys;
use crate::store::{Embedder, FactBatch, FactOp, FactStore, MemoryItem, NewFact, StoredMemory};

/// The failure of an embedder that gives fewer vectors than texts.
pub(super) const NO_VECTOR: &str = "the embedder gave no vector";

/// What a direct change is called in history.
const BY_CALLER: &str = "caller";

/// The current memory of an id within a scope; a memory of another scope does not exist for the caller.
pub(super) fn current(store: &dyn FactStore, scope: &FactScope, id: Uuid) -> Result<StoredMemory> {
    let found = store
        .get(id)?
        .filter(|found| scope.covers(&found.item.scope));
    let found = found.ok_or_else(|| Error::NotFound { id: id.to_string() })?;
    if found.is_deleted {
        return Err(Error::Deleted { id: id.to_string() });
    }
    Ok(found)
}

fn batch(item: &MemoryItem, at: Micros, version: u64, op: FactOp) -> FactBatch {
    FactBatch {
        scope: item.scope.clone(),
        session: None,
        at,
        said: None,
        expected_version: Some(version),
        turns: Vec::new(),
        ops: vec![op],
        rejected: Vec::new(),
        pending: Vec::new(),
        answered: None,
    }
}

/// Gives a memory a new text, or new keys. Returns the memory as it is then.
///
/// `scope` is what the caller may see; `FactScope::default()` is everything. Errors: `NotFound`, `Deleted`, `Changed`
/// if the text is not the expected one, or another change came first.
pub fn update(
    request: &UpdateRequest,
    scope: &FactScope,
    store: &dyn FactStore,
    embedder: &dyn Embedder,
) -> Result<MemoryItem> {
    request.validate()?;
    let request = &*update_without_secrets(request);
    let StoredMemory { item, version, .. } = current(store, scope, request.id)?;
    if request
        .expected
        .as_ref()
        .is_some_and(|expected| *expected != item.memory)
    {
        return Err(Error::Changed);
    }
    let text = new_text(request, &item);
    let vector = embedder.embed(&[text]).pop();
    let vector = vector.unwrap_or_else(|| Err(NO_VECTOR.into()));
    let fact = new_version(request, &item, vector.clone().ok().flatten());
    let after = MemoryItem {
        memory: fact.text.clone(),
        hash: fact.hash.clone(),
        metadata: fact.metadata.clone(),
        validity: fact.validity,
        confidence: fact.confidence,
        updated_at: request.now,
        sources: fact.sources.clone(),
        is_quarantined: fact.is_quarantined,
        happened_at: Some(request.now),
        event: None,
        ..item.clone()
    };
    let op = FactOp::Update {
        id: item.id,
        old: item.memory.clone(),
        fact,
        joins: false,
    };
    let mut batch = batch(&item, request.now, version, op);
    if let Err(why) = vector {
        let mut work = PendingWork::new(PendingReason::Embed, why, request.now);
        work.facts = vec![item.id];
        batch.pending.push(work);
    }
    store.commit(&batch)?;
    Ok(after)
}

/// The text that a memory has after an update.
pub(super) fn new_text<'t>(request: &'t UpdateRequest, item: &'t MemoryItem) -> &'t str {
    let text = request.text.as_deref();
    text.map_or(item.memory.as_str(), str::trim)
}

/// The version that an update makes.
pub(super) fn new_version(
    request: &UpdateRequest,
    item: &MemoryItem,
    vector: Option<Vec<f32>>,
) -> NewFact {
    let text = new_text(request, item).to_owned();
    let metadata = request
        .metadata
        .clone()
        .unwrap_or_else(|| item.metadata.clone());
    let is_sentence = text.chars().count() <= FACT_CHARS_MAX;
    NewFact {
        hash: text_hash(&text),
        kind: item.kind,
        source: FactSource::Caller,
        confidence: 1.0,
        vector,
        slots: if is_sentence {
            slot_keys(&text)
        } else {
            Vec::new()
        },
        graph: fact_graph(&text, &[]),
        metadata,
        expires: item.expires_at,
        // A new text may be of another time: what the old one said does not hold for it.
        validity: if text == item.memory {
            item.validity
        } else {
            Default::default()
        },
        // A text that stays is from the turns that it was from.
        sources: if text == item.memory {
            item.sources.clone()
        } else {
            Vec::new()
        },
        // What it follows from is still why it was believed at all.
        because: item.because.clone(),
        is_quarantined: item.is_quarantined || text != item.memory && gives_orders(&text),
        why: BY_CALLER.to_owned(),
        reason: request.reason.clone(),
        text,
    }
}

/// Ends a memory; its history stays. Returns the memory as it was. Errors: `NotFound`, `Deleted`, `Changed`.
pub fn delete(
    id: Uuid,
    scope: &FactScope,
    now: Micros,
    reason: Option<&str>,
    store: &dyn FactStore,
) -> Result<MemoryItem> {
    check_reason(reason)?;
    let StoredMemory { item, version, .. } = current(store, scope, id)?;
    store.commit(&batch(&item, now, version, deletion(&item, reason)))?;
    Ok(item)
}

pub(super) fn deletion(item: &MemoryItem, reason: Option<&str>) -> FactOp {
    FactOp::Delete {
        id: item.id,
        old: item.memory.clone(),
        sources: Vec::new(),
        replaced_by: None,
        why: BY_CALLER.to_owned(),
        reason: reason.map(str::to_owned),
    }
}

/// Ends all memories of a scope that match a filter; returns their number. A scope is needed: nothing ends by accident.
///
/// It commits groups of `limits::DELETED_AT_ONCE_MAX`, so that an error may leave some ended; a repetition ends the
/// rest.
pub fn delete_all(
    scope: &FactScope,
    filter: Option<&FactFilter>,
    now: Micros,
    store: &dyn FactStore,
) -> Result<u64> {
    scope.validate()?;
    let (mut deleted, mut tries) = (0, 1);
    loop {
        let page = store.list(scope, filter, DELETED_AT_ONCE_MAX, now)?;
        if page.items.is_empty() {
            return Ok(deleted);
        }
        // Memories of "user alice" may have an agent as well; each is checked by its text.
        let mut batch = FactBatch::of_any_scopes(now);
        let deletions = page.items.iter().map(|item| deletion(item, None));
        batch.ops = deletions.collect();
        match store.commit(&batch) {
            Ok(()) => (deleted, tries) = (deleted + page.items.len() as u64, 1),
            // One of them has another text since: look again.
            Err(Error::Changed) if tries < COMMIT_TRIES_MAX => tries += 1,
            Err(error) => return Err(error),
        }
    }
}
