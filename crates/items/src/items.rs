//! The calls on the items of one brain.

use std::collections::HashMap;

use amem_facts::FactBrain;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::store::Embedder;
use amem_query::planner::events_with;
use amem_store::mutation::Mutation;

use crate::error::{Error, Result};
use crate::item::{Item, ItemChange, ItemRead, KeptRequest};
use crate::item_name::ItemName;
use crate::item_plan::ItemPlan;
use crate::item_state::ItemState;
use crate::limits::BATCH_OPS_MAX;
use crate::namespaces::{NamespaceList, NamespacePage};
use crate::record::{ItemAttributes, RequestRecord, path};
use crate::search::{ItemRanking, ItemSearch};
use crate::stored_item::StoredItem;

/// The items of a brain, and what calls on them need.
#[derive(Clone, Copy)]
pub struct Items<'b> {
    /// Where items are.
    pub brain: &'b dyn FactBrain,
    /// What the calls on the brain share.
    pub state: &'b ItemState,
    /// Makes the vectors of texts and questions.
    pub embedder: &'b dyn Embedder,
    /// The present.
    pub now: Micros,
}

impl Items<'_> {
    /// A state to read.
    pub fn view(&self) -> View {
        self.brain.view()
    }

    /// An item; `None` if there is none.
    pub fn get(
        &self,
        view: &View,
        name: &ItemName,
        is_refreshing: bool,
    ) -> Result<ItemRead<Option<Item>>> {
        let mut read = ItemRead::new(None);
        let Some(stored) = StoredItem::of(view, name)? else {
            return Ok(read);
        };
        if stored.is_expired(self.now) {
            read.expired.push(stored.name);
            return Ok(read);
        }
        read.answer = stored.item(view)?;
        if is_refreshing && stored.is_refreshed_at(self.now) {
            read.refreshed.push((stored.name, stored.record.id));
        }
        Ok(read)
    }

    /// Items of namespaces.
    pub fn search(&self, view: &View, search: &ItemSearch) -> Result<ItemRead<ItemRanking>> {
        search.run(view, self.embedder, self.now)
    }

    /// Namespaces that have items.
    pub fn namespaces(&self, view: &View, list: &NamespaceList) -> Result<NamespacePage> {
        list.run(view, self.now)
    }

    /// Changes items, all in one commit; of several changes of one item the last one counts. For each change: true if
    /// it deleted an item that was there. A request that was made before changes nothing.
    pub fn change(
        &self,
        changes: &[ItemChange],
        request: Option<&KeptRequest>,
    ) -> Result<Vec<bool>> {
        Error::check("the number of changes", changes.len(), BATCH_OPS_MAX)?;
        let mut last: HashMap<&ItemName, usize> = HashMap::new();
        for (at, change) in changes.iter().enumerate() {
            last.insert(change.name(), at);
        }
        let mut places: Vec<usize> = last.into_values().collect();
        places.sort_unstable();
        // Texts are embedded before anyone has to wait.
        let vectors: Vec<_> = places.iter().map(|at| self.vector(&changes[*at])).collect();
        let names = places.iter().map(|at| changes[*at].name().digest());
        let _held = self
            .state
            .hold(names.chain(request.map(|request| request.id.clone())));
        let view = self.view();
        let mut deleted = vec![false; changes.len()];
        if let Some(request) = request
            && is_repeated(&view, request)?
        {
            return Ok(deleted);
        }
        let request = request.map(|request| RequestRecord {
            id: request.id.clone(),
            hash: request.hash.clone(),
        });
        let mut plan = ItemPlan::new(&view, self.now, request);
        for (at, vector) in places.into_iter().zip(vectors) {
            match &changes[at] {
                ItemChange::Put(put) => plan.put(put, vector)?,
                ItemChange::Delete(name) => deleted[at] = plan.delete(name)?,
            }
        }
        self.commit(plan)?;
        Ok(deleted)
    }

    /// Begins the times to live again that a reading refreshed, in one commit.
    pub fn refresh<T>(&self, read: &ItemRead<T>) -> Result<()> {
        let names = read.refreshed.iter().map(|(name, _)| name.digest());
        let _held = self.state.hold(names);
        let view = self.view();
        let mut plan = ItemPlan::new(&view, self.now, None);
        for (name, version) in &read.refreshed {
            plan.refresh(name, *version)?;
        }
        self.commit(plan)
    }

    /// Hides the expired items that a reading came across, in one commit.
    pub fn forget_expired<T>(&self, read: &ItemRead<T>) -> Result<()> {
        let _held = self.state.hold(read.expired.iter().map(ItemName::digest));
        let view = self.view();
        let mut plan = ItemPlan::new(&view, self.now, None);
        let mut names: Vec<_> = read.expired.iter().collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            plan.expire(name)?;
        }
        self.commit(plan)
    }

    /// The vector of the text of a put; `None` leaves it to the brain.
    fn vector(&self, change: &ItemChange) -> Option<Vec<f32>> {
        let ItemChange::Put(put) = change else {
            return None;
        };
        let vector = self.embedder.embed(&[put.text.as_deref()?]).pop();
        vector.and_then(std::result::Result::ok).flatten()
    }

    fn commit(&self, plan: ItemPlan<'_>) -> Result<()> {
        if !plan.ingest.events.is_empty() {
            self.brain.commit(Mutation::Ingest(plan.ingest))?;
        }
        Ok(())
    }
}

/// True if a request was executed before. Errors: another one was, under its id.
fn is_repeated(view: &View, request: &KeptRequest) -> Result<bool> {
    for id in events_with(view, path::REQUEST, &request.id)? {
        let item = ItemAttributes::read(&view.node(id)?)?.item;
        let before = item.and_then(|item| item.request);
        if let Some(before) = before.filter(|before| before.id == request.id) {
            return match before.hash == request.hash {
                true => Ok(true),
                false => Err(Error::RequestReused {
                    id: request.id.clone(),
                }),
            };
        }
    }
    Ok(false)
}
