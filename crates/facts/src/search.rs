//! Search: memories of a scope by a question, with scores that mean the same for every question.
//!
//! The order is that of the brain's search. A score is the relevance of the hit or its calibrated cosine, whichever is
//! greater; a hit scores no less than those that the search ranks below it.

use std::collections::HashSet;

use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::store::{Embedder, MemoryItem};
use amem_memory::{Error as MemoryError, FactFilter, FactScope};
use amem_query::filter::Filter;
use amem_query::limits::{PAGE_MAX, QUERY_BYTES_MAX};
use amem_query::search::Hit;
use amem_query::{Search, Selection};
use uuid::Uuid;

use crate::brain_store::versions_filter;
use crate::entity_names::EntityView;
use crate::error::Result;
use crate::indexed_filter::indexed;
use crate::limits::{FACT_HITS_MAX, FACT_PAGE_BYTES};
use crate::listing::{page_bytes, version_shown};
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::record::item_json;
use crate::scope_plan::{FactMoment, query_scope, scopes_of, selective};
use crate::widening::{FoundFacts, widened};

/// Hits that a search asks for beyond a memory and the turn that said it for each that is wanted.
const SPARE_HITS: usize = 12;

/// A question about memories.
#[derive(Debug, Clone)]
pub struct FactSearch {
    /// The question; not empty.
    pub question: String,
    /// Whose memories; a filter may name it instead.
    pub scope: FactScope,
    /// What must hold as well.
    pub filter: Option<FactFilter>,
    /// Hits, 1 to `limits::FACT_HITS_MAX`.
    pub limit: usize,
    /// The least score, 0 to 1.
    pub threshold: f32,
    /// What was so then; `None` for what is current.
    pub at: Option<Micros>,
    /// Whether memories that give orders to a model are shown.
    pub with_quarantined: bool,
    /// Whether memories of the entities that the question names, and of those related to them, are added.
    pub with_graph: bool,
    /// The present.
    pub now: Micros,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct FactHit {
    /// The memory.
    pub item: MemoryItem,
    /// 0 to 1.
    pub score: f32,
    /// The parts of the brain's score; its event is `found`. `None` if the entity graph led to it.
    pub parts: Option<Hit>,
    /// The entity or the relation that led to it, such as `Alice works_at Google`.
    pub via: Option<String>,
    /// The calibrated cosine of the version that was found; `None` without vectors.
    pub meaning: Option<f32>,
    /// Memories that it may contradict.
    pub conflicts: Vec<Uuid>,
}

/// Memories that were found, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRanking {
    /// The best first.
    pub hits: Vec<FactHit>,
    /// Hits that a page has no room for (`limits::FACT_PAGE_BYTES`); the worst ones.
    pub left_off: usize,
    /// Why vectors did not count, if they did not: words alone were compared.
    pub words_only: Option<String>,
}

impl FactSearch {
    fn validate(&self) -> Result<()> {
        let invalid = |field: &str, why: String| MemoryError::Invalid {
            field: field.into(),
            why,
        };
        if self.question.trim().is_empty() {
            return Err(invalid("query", "it is empty: say what to look for".into()).into());
        }
        if self.question.len() > QUERY_BYTES_MAX {
            return Err(MemoryError::TooLarge {
                what: "the query in bytes",
                found: self.question.len() as u64,
                limit: QUERY_BYTES_MAX as u64,
            }
            .into());
        }
        if self.limit == 0 || self.limit > FACT_HITS_MAX {
            let why = format!("{} is not 1 to {FACT_HITS_MAX}", self.limit);
            return Err(invalid("limit", why).into());
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            let why = format!("{} is not 0 to 1", self.threshold);
            return Err(invalid("threshold", why).into());
        }
        Ok(())
    }

    /// Runs the search on a state of a brain.
    pub(crate) fn run(&self, moment: &FactMoment, embedder: &dyn Embedder) -> Result<FactRanking> {
        self.validate()?;
        let scopes = scopes_of(&self.scope, self.filter.as_ref())?;
        let (vector, words_only) = match question_vector(&self.question, &moment.view, embedder) {
            Ok(vector) => (vector, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        let mut hits = Vec::new();
        for scope in &scopes {
            hits.extend(self.of_scope(scope, &scopes, moment, embedder, &vector)?);
        }
        if scopes.len() > 1 {
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            let mut seen = HashSet::new();
            hits.retain(|hit| seen.insert(hit.item.id));
            hits.truncate(self.limit);
        }
        if self.with_graph {
            for scope in &scopes {
                self.widen(scope, moment, &mut hits)?;
            }
            hits.sort_by(|a, b| b.score.total_cmp(&a.score));
            hits.truncate(self.limit);
        }
        let mut bytes = 0;
        let room = hits.iter().take_while(|hit| {
            bytes += page_bytes(&hit.item);
            bytes <= FACT_PAGE_BYTES
        });
        let shown = room.count().max(hits.len().min(1));
        let left_off = hits.len() - shown;
        hits.truncate(shown);
        Ok(FactRanking {
            hits,
            left_off,
            words_only,
        })
    }

    /// Adds what the entity graph leads to.
    fn widen(&self, scope: &FactScope, moment: &FactMoment, hits: &mut Vec<FactHit>) -> Result<()> {
        let view = EntityView {
            moment,
            scope,
            at: self.at,
            now: self.now,
        };
        let filter = self.filter.as_ref();
        let known = FoundFacts {
            scores: hits.iter().map(|hit| (hit.item.id, hit.score)).collect(),
            limit: self.limit,
            is_wanted: &|event| filter.is_none_or(|own| own.matches(&item_json(&event.item()))),
        };
        for found in widened(&view, &self.question, &known)? {
            let known = hits
                .iter_mut()
                .find(|hit| hit.item.id == found.event.record.id);
            if let Some(hit) = known {
                if hit.score < found.score {
                    (hit.score, hit.via) = (found.score, Some(found.via));
                }
                continue;
            }
            if found.score >= self.threshold {
                hits.push(FactHit {
                    conflicts: open_conflicts(&found.event, moment)?,
                    item: found.event.item(),
                    score: found.score,
                    parts: None,
                    via: Some(found.via),
                    meaning: None,
                });
            }
        }
        Ok(())
    }

    fn of_scope(
        &self,
        scope: &FactScope,
        scopes: &[FactScope],
        moment: &FactMoment,
        embedder: &dyn Embedder,
        vector: &[f32],
    ) -> Result<Vec<FactHit>> {
        let is_past = moment.is_past() || self.at.is_some();
        let mut selection = Selection {
            scope: query_scope(scope),
            // What ended since was there then.
            include_forgotten: is_past,
            filter: selective(&moment.view, scope, self.filter.as_ref())?,
            ..Selection::default()
        };
        let mut is_narrow = false;
        // Most hits are memories and the turns that said them: told apart once they are read. If that is not enough,
        // the search tells them apart, at some cost for each event that it looks at.
        let mut limit = (2 * self.limit + SPARE_HITS).min(PAGE_MAX);
        loop {
            let search = Search {
                question: self.question.clone(),
                vector: vector.to_vec(),
                selection: selection.clone(),
                limit,
                include_superseded: is_past,
                include_duplicates: true,
                // Memories stand alone: none is before another, or in its session.
                neighbour_share: 0.0,
                session_share: 0.0,
                question_share: 0.0,
                ..Search::default()
            };
            let found = search.run(&moment.view)?.hits;
            let is_all = found.len() < limit;
            let mut hits = self.shown(&found, scopes, moment)?;
            self.score(&mut hits, moment, embedder, vector)?;
            // Those that follow are no better than the last.
            let is_enough = hits.len() >= self.limit;
            hits.retain(|hit| hit.score >= self.threshold);
            let is_last = limit == PAGE_MAX && is_narrow;
            if is_all || is_enough || is_last {
                hits.truncate(self.limit);
                return Ok(hits);
            }
            if is_narrow {
                limit = (limit * 8).min(PAGE_MAX);
            }
            is_narrow = true;
            let needed = self.filter.as_ref().map(indexed).transpose()?.flatten();
            let narrow = [versions_filter()?].into_iter().chain(needed);
            selection.filter = Some(Filter::And(narrow.collect()));
        }
    }

    fn shown(
        &self,
        found: &[Hit],
        scopes: &[FactScope],
        moment: &FactMoment,
    ) -> Result<Vec<FactHit>> {
        let mut hits = Vec::new();
        let mut seen = HashSet::new();
        for hit in found {
            let Some(event) = ChainEvent::read(&moment.view.node(hit.id)?)? else {
                continue;
            };
            let id = event.record.id;
            if seen.contains(&id) || !scopes.iter().any(|scope| scope.covers(&event.scope)) {
                continue;
            }
            let Some(shown) = version_shown(event, moment, self.at, self.now)? else {
                continue;
            };
            let item = shown.item();
            let is_wanted = (self.with_quarantined || !item.is_quarantined)
                && self
                    .filter
                    .as_ref()
                    .is_none_or(|filter| filter.matches(&item_json(&item)));
            if is_wanted {
                seen.insert(id);
                hits.push(FactHit {
                    conflicts: open_conflicts(&shown, moment)?,
                    item,
                    score: hit.relevance.value,
                    parts: Some(*hit),
                    via: None,
                    meaning: None,
                });
            }
        }
        Ok(hits)
    }

    fn score(
        &self,
        hits: &mut [FactHit],
        moment: &FactMoment,
        embedder: &dyn Embedder,
        vector: &[f32],
    ) -> Result<()> {
        for hit in hits.iter_mut().filter(|_| !vector.is_empty()) {
            let Some(parts) = hit.parts else { continue };
            // The version that was found may be an older one than the one that is shown.
            let found = moment.view.node(parts.found)?;
            if let Some(own) = found.vector()? {
                let meaning = embedder.calibration().score(cosine(vector, own));
                hit.meaning = Some(meaning);
                hit.score = hit.score.max(meaning);
            }
        }
        let mut least: f32 = 0.0;
        for hit in hits.iter_mut().rev() {
            least = least.max(hit.score);
            hit.score = least;
        }
        Ok(())
    }
}

/// A question in the space of the brain; empty if it has no terms. Otherwise words remain.
pub(crate) fn question_vector(
    question: &str,
    view: &View,
    embedder: &dyn Embedder,
) -> std::result::Result<Vec<f32>, String> {
    let space = view.identity().space;
    if space != embedder.space() {
        return Err(format!(
            "the brain's vectors are of the space {space}, those of questions of {}",
            embedder.space()
        ));
    }
    Ok(embedder.embed_query(question)?.unwrap_or_default())
}

/// The memories that a memory was stored beside and that are still there.
pub(crate) fn open_conflicts(event: &ChainEvent, moment: &FactMoment) -> Result<Vec<Uuid>> {
    let mut open = Vec::new();
    for other in &event.record.conflicts {
        if MemoryChain::of(&moment.view, *other)?.head().is_some() {
            open.push(*other);
        }
    }
    Ok(open)
}

/// The cosine of two vectors; no number if one of them is zero.
pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    let norm = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
    dot / (norm(a) * norm(b))
}
