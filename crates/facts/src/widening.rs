//! Search widened by the entity graph: memories of the entities that a question names, and of those related to them.
//!
//! Promises: what it adds, or raises, stays below the best hit, and nothing is taken away; it costs in proportion to
//! what the entities have, within named limits.

use std::collections::{BTreeMap, BTreeSet};

use amem_memory::graph::entity_key;
use amem_query::planner::count_with;
use uuid::Uuid;

use crate::entities::facts_of;
use crate::entity_names::EntityView;
use crate::error::Result;
use crate::limits::{WIDENED_ENTITIES_MAX, WIDENED_FACTS_MAX, WIDENED_RELATED_MAX};
use crate::memory_chain::ChainEvent;
use crate::record::{also_named, named, path, scoped_key};

/// Words of the longest name that is looked for in a question.
const NAME_WORDS_MAX: usize = 4;
/// The score of a memory that names an entity of the question, as a share of the best.
const NAMED_SHARE: f32 = 0.8;
/// The score of a memory of a related entity.
const RELATED_SHARE: f32 = 0.6;
/// The best score, where the search found nothing.
const ENTITY_SCORE: f32 = 0.5;

/// A memory that the graph leads to.
#[derive(Debug, Clone)]
pub(crate) struct WidenedFact {
    pub(crate) event: ChainEvent,
    pub(crate) score: f32,
    /// The entity, or the relation, that led to it.
    pub(crate) via: String,
}

/// What a search has found already, and what it would show.
pub(crate) struct FoundFacts<'f> {
    /// The memories and their scores, the best first.
    pub(crate) scores: Vec<(Uuid, f32)>,
    /// How many are shown.
    pub(crate) limit: usize,
    /// True for a memory that the search asks for.
    pub(crate) is_wanted: &'f dyn Fn(&ChainEvent) -> bool,
}

impl FoundFacts<'_> {
    /// True if what is added with a score would come after all that is shown.
    fn is_full(&self, score: f32, added: &[WidenedFact]) -> bool {
        let found = self.scores.iter().filter(|(_, own)| *own >= score);
        let mut ids: BTreeSet<Uuid> = found.map(|(id, _)| *id).collect();
        let before = added.iter().filter(|one| one.score >= score);
        ids.extend(before.map(|one| one.event.record.id));
        ids.len() >= self.limit
    }
}

/// The memories that the entities of a question lead to, each once, the best first. What could not be shown is not
/// read.
pub(crate) fn widened(
    view: &EntityView<'_>,
    question: &str,
    found: &FoundFacts<'_>,
) -> Result<Vec<WidenedFact>> {
    let best = found.scores.first().map_or(ENTITY_SCORE, |(_, best)| *best);
    if found.is_full(best * NAMED_SHARE, &[]) {
        return Ok(Vec::new());
    }
    let mut seen: BTreeSet<Uuid> = BTreeSet::new();
    let mut out = Vec::new();
    let mut related: Vec<(String, String)> = Vec::new();
    let mut asked = BTreeSet::new();
    for name in entities_in(view, question)? {
        let (names, _) = view.names_of(&name)?;
        asked.extend(names.keys().cloned());
        let (events, _) = facts_of(view, &names, (WIDENED_FACTS_MAX, None))?;
        for event in events {
            for one in &event.record.graph.relations {
                let ends = [(&one.source, &one.target), (&one.target, &one.source)];
                for (own, other) in ends {
                    if names.contains_key(&entity_key(own)) {
                        let via = format!("{} {} {}", one.source, one.relation, one.target);
                        related.push((other.clone(), via));
                    }
                }
            }
            if (found.is_wanted)(&event) && seen.insert(event.record.id) {
                out.push(WidenedFact {
                    event,
                    score: best * NAMED_SHARE,
                    via: name.clone(),
                });
            }
        }
    }
    let mut followed = 0;
    for (other, via) in related {
        let key = entity_key(&other);
        // Everything of a scope is of its user: that leads nowhere.
        if key == "user" || !asked.insert(key.clone()) {
            continue;
        }
        if followed == WIDENED_RELATED_MAX || found.is_full(best * RELATED_SHARE, &out) {
            break;
        }
        followed += 1;
        let names = BTreeMap::from([(key, other)]);
        let (events, _) = facts_of(view, &names, (WIDENED_FACTS_MAX, None))?;
        for event in events {
            if (found.is_wanted)(&event) && seen.insert(event.record.id) {
                out.push(WidenedFact {
                    event,
                    score: best * RELATED_SHARE,
                    via: via.clone(),
                });
            }
        }
    }
    Ok(out)
}

/// The names in a question that memories of the scope have, the longest first where they overlap.
fn entities_in(view: &EntityView<'_>, question: &str) -> Result<Vec<String>> {
    let key = entity_key(question);
    let words: Vec<&str> = key.split(' ').collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() && out.len() < WIDENED_ENTITIES_MAX {
        let longest = NAME_WORDS_MAX.min(words.len() - at);
        let mut step = 1;
        for len in (1..=longest).rev() {
            let name = words[at..at + len].join(" ");
            if name != "user" && is_known(view, &name)? {
                out.push(name);
                step = len;
                break;
            }
        }
        at += step;
    }
    Ok(out)
}

/// True if something in the scope may have the name: by the index alone.
fn is_known(view: &EntityView<'_>, name: &str) -> Result<bool> {
    let mut fields = view
        .scope
        .fields()
        .filter_map(|(field, value)| Some((field, value?)));
    let Some((field, value)) = fields.next() else {
        return Ok(false);
    };
    let view = &view.moment.view;
    let as_fact = count_with(
        view,
        path::FACT_KEYS,
        &scoped_key(field, value, &named(name)),
    )?;
    let key = scoped_key(field, value, &also_named(name));
    Ok(as_fact > 0 || count_with(view, path::ENTITY_KEYS, &key)? > 0)
}
