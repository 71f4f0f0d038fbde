//! Finding items within namespaces: by a filter, and by words.
//!
//! Without words the newest value comes first. With words, items that the brain's search finds come first, by its
//! order; their scores are the relevance or the calibrated cosine, whichever is greater, and no less than those behind
//! them. All other items of the namespaces follow, the newest first, without a score.

use std::collections::HashSet;

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::store::Embedder;
use amem_query::filter::Filter;
use amem_query::limits::{PAGE_MAX, QUERY_BYTES_MAX};
use amem_query::planner::events_with;
use amem_query::search::Hit;
use amem_query::{Search, Selection};
use serde_json::json;

use crate::error::{Error, Result};
use crate::item::{Item, ItemRead};
use crate::item_filter::ItemFilter;
use crate::item_name::Prefix;
use crate::limits::{FORGOTTEN_PER_CALL_MAX, ITEM_HITS_MAX, ITEM_PAGE_BYTES, OFFSET_MAX};
use crate::record::path;
use crate::stored_item::StoredItem;

/// Asks for items.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemSearch {
    /// Within namespaces that begin so.
    pub prefix: Prefix,
    /// What values must match.
    pub filter: ItemFilter,
    /// Words; empty for none.
    pub query: String,
    /// Items, at most `limits::ITEM_HITS_MAX`.
    pub limit: usize,
    /// Items to leave out before the first, at most `limits::OFFSET_MAX`.
    pub offset: usize,
    /// Whether times to live begin again.
    pub is_refreshing: bool,
}

/// An item that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemHit {
    /// The item.
    pub item: Item,
    /// 0 to 1; `None` if words did not find it.
    pub score: Option<f32>,
}

/// Items in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemRanking {
    /// Those that an answer has room for (`limits::ITEM_PAGE_BYTES`), and always one.
    pub hits: Vec<ItemHit>,
    /// The others.
    pub left_off: usize,
}

/// A search on one view.
struct SearchRun<'s> {
    search: &'s ItemSearch,
    view: &'s View,
    now: Micros,
    read: ItemRead<()>,
}

impl ItemSearch {
    fn validate(&self) -> Result<()> {
        Error::check("the limit", self.limit, ITEM_HITS_MAX)?;
        Error::check("the offset", self.offset, OFFSET_MAX)?;
        Error::check("the query in bytes", self.query.len(), QUERY_BYTES_MAX)
    }

    pub(crate) fn run(
        &self,
        view: &View,
        embedder: &dyn Embedder,
        now: Micros,
    ) -> Result<ItemRead<ItemRanking>> {
        self.validate()?;
        let mut run = SearchRun {
            search: self,
            view,
            now,
            read: ItemRead::new(()),
        };
        let end = self.offset + self.limit;
        let mut found = match self.query.trim().is_empty() {
            true => Vec::new(),
            false => run.by_words(end, embedder)?,
        };
        if found.len() < end {
            run.others(&mut found, end)?;
        }
        let shown = found.into_iter().skip(self.offset).take(self.limit);
        let (mut ranking, mut bytes) = (ItemRanking::default(), 0);
        for (id, score) in shown {
            if ranking.left_off > 0 {
                ranking.left_off += 1;
                continue;
            }
            let Some((stored, item)) = stored_with_value(view, id)? else {
                continue;
            };
            bytes += item.bytes();
            if bytes > ITEM_PAGE_BYTES && !ranking.hits.is_empty() {
                ranking.left_off = 1;
                continue;
            }
            if self.is_refreshing && stored.is_refreshed_at(now) {
                run.read.refreshed.push((stored.name, stored.record.id));
            }
            ranking.hits.push(ItemHit { item, score });
        }
        Ok(run.read.map(|()| ranking))
    }
}

/// The event of an item that was found, and its score. Values are read again when they are shown: those that are left
/// out may be many.
type FoundItem = (NodeId, Option<f32>);

fn stored_with_value(view: &View, id: NodeId) -> Result<Option<(StoredItem, Item)>> {
    let Some(stored) = StoredItem::at(view, id)? else {
        return Ok(None);
    };
    let item = stored.item(view)?;
    Ok(item.map(|item| (stored, item)))
}

impl SearchRun<'_> {
    /// True if an event is the current version of an item that is wanted.
    fn is_wanted(&mut self, id: NodeId) -> Result<bool> {
        let Some((stored, item)) = stored_with_value(self.view, id)? else {
            return Ok(false);
        };
        if !self.search.prefix.covers(stored.name.namespace()) {
            return Ok(false);
        }
        if stored.is_expired(self.now) {
            if self.read.expired.len() < FORGOTTEN_PER_CALL_MAX {
                self.read.expired.push(stored.name);
            }
            return Ok(false);
        }
        Ok(self.search.filter.is_empty()
            || serde_json::from_str(&item.value_json)
                .is_ok_and(|value| self.search.filter.matches(&value)))
    }

    /// Appends the items that are not there yet, the newest first, until there are `end`.
    fn others(&mut self, found: &mut Vec<FoundItem>, end: usize) -> Result<()> {
        let shown: HashSet<NodeId> = found.iter().map(|(id, _)| *id).collect();
        let ids = match self.search.prefix.digest() {
            Some(digest) => events_with(self.view, path::WITHIN, &digest)?,
            None => events_with(self.view, path::STATE, "version")?,
        };
        for id in ids.into_iter().rev() {
            if found.len() == end {
                break;
            }
            if !shown.contains(&id) && self.is_wanted(id)? {
                found.push((id, None));
            }
        }
        Ok(())
    }

    /// The best items that words find, at least `end` if there are as many among the best `PAGE_MAX`.
    fn by_words(&mut self, end: usize, embedder: &dyn Embedder) -> Result<Vec<FoundItem>> {
        let vector = self.question_vector(embedder);
        let mut conditions = vec![
            json!({path::INDEXED: true}),
            json!({path::STATE: "version"}),
        ];
        if let Some(digest) = self.search.prefix.digest() {
            conditions.push(json!({path::WITHIN: digest}));
        }
        let selection = Selection {
            filter: Some(Filter::parse(&json!({ "and": conditions }))?),
            ..Selection::default()
        };
        let mut limit = (2 * end).clamp(20, PAGE_MAX);
        loop {
            let search = Search {
                question: self.search.query.clone(),
                vector: vector.clone(),
                selection: selection.clone(),
                limit,
                include_duplicates: true,
                // Items stand alone: none is before another, or in its session.
                neighbour_share: 0.0,
                session_share: 0.0,
                question_share: 0.0,
                ..Search::default()
            };
            let hits = search.run(self.view)?.hits;
            let is_all = hits.len() < limit || limit == PAGE_MAX;
            let found = self.scored(&hits, embedder, &vector)?;
            if is_all || found.len() >= end {
                return Ok(found);
            }
            limit = (limit * 8).min(PAGE_MAX);
        }
    }

    /// The question in the space of the brain; empty if words alone count.
    fn question_vector(&self, embedder: &dyn Embedder) -> Vec<f32> {
        if self.view.identity().space != embedder.space() {
            return Vec::new();
        }
        let vector = embedder.embed_query(&self.search.query);
        vector.ok().flatten().unwrap_or_default()
    }

    fn scored(
        &mut self,
        hits: &[Hit],
        embedder: &dyn Embedder,
        vector: &[f32],
    ) -> Result<Vec<FoundItem>> {
        let mut found = Vec::new();
        for hit in hits {
            if !self.is_wanted(hit.id)? {
                continue;
            }
            let mut score = hit.relevance.value;
            if !vector.is_empty()
                && let Some(own) = self.view.node(hit.id)?.vector()?
            {
                score = score.max(embedder.calibration().score(cosine(vector, own)));
            }
            found.push((hit.id, Some(score)));
        }
        let mut least: f32 = 0.0;
        for (.., score) in found.iter_mut().rev() {
            least = least.max(score.unwrap_or_default());
            *score = Some(least);
        }
        Ok(found)
    }
}

/// The cosine of two vectors; no number if one of them is zero.
fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    dot / (norm(a) * norm(b))
}
