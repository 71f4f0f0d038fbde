//! Running a recall: one search for each scope, then entries without doubles.

use std::collections::{HashMap, HashSet};

use amem_format::NodeId;
use amem_format::types::{EdgeType, Micros, SessionId};
use amem_format::view::Direction;
use amem_memory::add::gives_orders;
use amem_memory::store::{BuiltinEmbedder, Embedder};
use amem_memory::{Error as MemoryError, FactScope};
use amem_query::context::Passages;
use amem_query::limits::{PAGE_MAX, QUERY_BYTES_MAX};
use amem_query::search::{BESIDE_RELEVANCE, Hit, LIKELY_RELEVANCE};
use amem_query::text::{QUESTION_MARKS, only_assents, only_questions};
use amem_query::{Search, Selection};
use serde_json::Value;
use uuid::Uuid;

use super::candidate::{ASSISTANT, FoundEvent, SaidText, SaidTurn, is_weak};
use super::forgotten::is_hidden;
use super::instructions::StandingLookup;
use super::order::{asked_last, asks};
use super::past::asks_of_past;
use super::request::{Recall, RecallAnswer, RecalledEntry, RecalledSource};
use super::said::TurnMemories;
use super::wording::Wording;
use crate::error::Result;
use crate::limits::{
    NEAREST_MAX, NEAREST_RELEVANCE_MIN, PASSAGE_BYTES, RECALL_ENTRIES_MAX, SHORT_PASSAGE_BYTES,
    STANDING_ENTRIES_MAX, WHOLE_PASSAGES,
};
use crate::listing::version_shown;
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::record::item_json;
use crate::scope_plan::{FactMoment, query_scope, scopes_of};
use crate::search::{cosine, open_conflicts, question_vector};

/// Events that a search returns for each entry that is wanted: a memory, the turn that says it, and what records
/// neither.
const HITS_PER_ENTRY: usize = 3;

impl Recall {
    fn validate(&self) -> Result<()> {
        let invalid = |field: &str, why: String| MemoryError::Invalid {
            field: field.into(),
            why,
        };
        if self.question.trim().is_empty() && !self.standing_only {
            return Err(invalid("question", "it is empty: say what to look for".into()).into());
        }
        if self.question.len() > QUERY_BYTES_MAX {
            return Err(MemoryError::TooLarge {
                what: "the question in bytes",
                found: self.question.len() as u64,
                limit: QUERY_BYTES_MAX as u64,
            }
            .into());
        }
        if self.limit == 0 || self.limit > RECALL_ENTRIES_MAX {
            let why = format!("{} is given: give 1 to {RECALL_ENTRIES_MAX}", self.limit);
            return Err(invalid("limit", why).into());
        }
        let least = self.relevance_min.unwrap_or_default();
        if !(0.0..=1.0).contains(&least) {
            let why = format!("{least} is given: give 0 to 1");
            return Err(invalid("relevance_min", why).into());
        }
        Ok(())
    }

    /// Runs the recall on a state of a brain.
    pub(crate) fn run(&self, moment: &FactMoment, embedder: &dyn Embedder) -> Result<RecallAnswer> {
        self.validate()?;
        let scopes = scopes_of(&self.scope, self.filter.as_ref())?;
        let view = &moment.view;
        if self.standing_only {
            let lookup = StandingLookup::new(self, moment, &scopes, None);
            return Ok(RecallAnswer {
                standing: lookup.first(self.limit)?,
                ..RecallAnswer::default()
            });
        }
        let (vector, words_only) = match question_vector(&self.question, view, embedder) {
            Ok(vector) => (vector, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        // The built-in embedder's vectors say little more than words.
        let has_meaning = !vector.is_empty() && view.identity().space != BuiltinEmbedder.space();
        let mut entries = RecallRun {
            recall: self,
            moment,
            scopes: &scopes,
            is_past: moment.is_past() || self.at.is_some() || asks_of_past(&self.question),
            passages: Passages::new(&self.question),
            wording: Wording::default(),
            entries: Vec::new(),
            of_turn: HashMap::new(),
            of_event: HashMap::new(),
            seen: HashSet::new(),
            least: self.relevance_min.unwrap_or_default(),
            passed_over: 0.0,
        };
        for scope in &scopes {
            for mut hit in self.hits(scope, moment, &vector, entries.is_past)? {
                let found = moment.view.node(hit.found)?;
                if has_meaning && let Some(own) = found.vector()? {
                    let meaning = embedder.calibration().score(cosine(&vector, own));
                    hit.relevance.value = hit.relevance.value.max(meaning);
                }
                entries.take(&hit)?;
            }
        }
        let passed_over = entries.passed_over;
        let entries = entries.entries.into_iter();
        let mut entries: Vec<_> = entries.map(|open| open.entry).collect();
        if scopes.len() > 1 {
            entries.sort_by(|a, b| b.rank.total_cmp(&a.rank));
        }
        asked_last(&mut entries);
        let answer = self.likely(entries);
        let meaning = has_meaning.then_some((vector.as_slice(), embedder));
        let lookup = StandingLookup::new(self, moment, &scopes, meaning);
        Ok(RecallAnswer {
            words_only,
            left_out_relevance: answer.left_out_relevance.max(passed_over),
            standing: lookup.first(STANDING_ENTRIES_MAX)?,
            ..answer
        })
    }

    /// The entries that are relevant: beside one that likely answers the question those that may; if none does, the
    /// nearest apart.
    fn likely(&self, entries: Vec<RecalledEntry>) -> RecallAnswer {
        let best = entries.iter().map(|entry| entry.relevance);
        let is_likely = best.fold(0.0, f32::max) >= LIKELY_RELEVANCE;
        let least = match self.relevance_min {
            Some(least) => least,
            None if is_likely => BESIDE_RELEVANCE,
            None => LIKELY_RELEVANCE,
        };
        let parts = entries.into_iter();
        let (mut entries, mut nearest): (Vec<_>, Vec<_>) =
            parts.partition(|entry| entry.relevance >= least);
        // A question is no answer beside one: it would take the place of others.
        if is_likely && self.relevance_min.is_none() {
            entries.retain(|entry| !(asks(entry) && only_questions(&entry.text)));
        }
        entries.truncate(self.limit);
        let left_out_relevance = nearest
            .iter()
            .map(|entry| entry.relevance)
            .fold(0.0, f32::max);
        if self.relevance_min.is_some() || !entries.is_empty() {
            nearest.clear();
        }
        nearest.retain(|entry| entry.relevance >= NEAREST_RELEVANCE_MIN);
        nearest.truncate(NEAREST_MAX.min(self.limit));
        for entry in &mut nearest {
            entry.is_weak = true;
        }
        RecallAnswer {
            entries,
            nearest,
            left_out_relevance,
            ..RecallAnswer::default()
        }
    }

    fn hits(
        &self,
        scope: &FactScope,
        moment: &FactMoment,
        vector: &[f32],
        is_past: bool,
    ) -> Result<Vec<Hit>> {
        let search = Search {
            question: self.question.clone(),
            vector: vector.to_vec(),
            selection: Selection {
                scope: query_scope(scope),
                // What ended since was there then.
                include_forgotten: moment.is_past() || self.at.is_some(),
                ..Selection::default()
            },
            limit: (HITS_PER_ENTRY * self.limit).min(PAGE_MAX),
            include_superseded: is_past,
            clock: self.clock.clone(),
            ..Search::default()
        };
        Ok(search.run(&moment.view)?.hits)
    }
}

/// An entry while others may join it.
struct OpenEntry {
    entry: RecalledEntry,
    /// The question's terms in its text.
    covered: usize,
}

struct RecallRun<'r> {
    recall: &'r Recall,
    moment: &'r FactMoment,
    scopes: &'r [FactScope],
    /// True if the question is about what was so before.
    is_past: bool,
    passages: Passages,
    wording: Wording,
    entries: Vec<OpenEntry>,
    /// The entry of each turn: its own, or that of a memory that is from it.
    of_turn: HashMap<Uuid, usize>,
    /// The entry of each turn, by its event.
    of_event: HashMap<NodeId, usize>,
    seen: HashSet<NodeId>,
    /// The relevance below which an entry would not be shown, as far as is known.
    least: f32,
    /// The greatest relevance of the turns that were passed over.
    passed_over: f32,
}

impl RecallRun<'_> {
    fn take(&mut self, hit: &Hit) -> Result<()> {
        if !self.seen.insert(hit.id) {
            return Ok(());
        }
        match FoundEvent::read(&self.moment.view, hit.id)? {
            Some(FoundEvent::Formed(event)) => self.formed(*event, hit),
            Some(FoundEvent::Said(said)) => self.said(&said, hit),
            Some(FoundEvent::Written(text)) => self.written(&text, hit),
            None => Ok(()),
        }
    }

    /// Hits come in the order of their rank: the first entries have room, the others are short, so that there are more.
    fn passage_bytes(&self) -> usize {
        match self.entries.len() < WHOLE_PASSAGES {
            true => PASSAGE_BYTES,
            false => SHORT_PASSAGE_BYTES,
        }
    }

    fn is_in_scope(&self, scope: &FactScope) -> bool {
        self.scopes.iter().any(|own| own.covers(scope))
    }

    /// The filter's word on what a client would see.
    fn is_wanted(&self, json: impl FnOnce() -> Value) -> bool {
        let filter = self.recall.filter.as_ref();
        filter.is_none_or(|filter| filter.matches(&json()))
    }

    /// The version that is shown, and since when it does not hold: an old one answers questions about the past.
    fn version(&self, event: ChainEvent) -> Result<Option<(ChainEvent, Option<Micros>)>> {
        let shown = version_shown(event.clone(), self.moment, self.recall.at, self.recall.now)?;
        if let Some(shown) = shown {
            return Ok(Some((shown, None)));
        }
        if !self.is_past {
            return Ok(None);
        }
        let chain = MemoryChain::of(&self.moment.view, event.record.id)?;
        let head = chain.head_at(self.moment)?;
        let newer = head
            .filter(|head| head.node > event.node)
            .map(|head| head.said);
        Ok(newer.map(|since| (event, Some(since))))
    }

    fn formed(&mut self, event: ChainEvent, hit: &Hit) -> Result<()> {
        if !self.is_in_scope(&event.scope) {
            return Ok(());
        }
        let Some((shown, until)) = self.version(event)? else {
            return Ok(());
        };
        let item = shown.item();
        if item.is_quarantined || !self.is_wanted(|| item_json(&item)) {
            return Ok(());
        }
        let bytes_max = self.passage_bytes();
        let passage = self.passages.of(&item.memory, bytes_max, &mut |_| false);
        let covered = passage.map_or(0, |passage| passage.covered);
        let entry = RecalledEntry {
            source: RecalledSource::Formed,
            event: shown.node,
            id: Some(item.id),
            text: item.memory.clone(),
            is_passage: false,
            speaker: String::new(),
            happened: shown.said,
            until,
            rank: hit.score,
            relevance: hit.relevance.value,
            is_weak: is_weak(&hit.relevance),
            conflicts: open_conflicts(&shown, self.moment)?,
            because: self.causes(&shown)?,
            item: Some(item),
            session: SessionId(0),
            doubles: Vec::new(),
        };
        let known = shown
            .record
            .sources
            .iter()
            .find_map(|turn| self.of_turn.get(turn));
        let at = match known {
            Some(&at) => at,
            None => self.entries.len(),
        };
        for turn in &shown.record.sources {
            self.of_turn.entry(*turn).or_insert(at);
        }
        self.join(at, OpenEntry { entry, covered });
        Ok(())
    }

    /// The events of the memories that a version rests on.
    fn causes(&self, version: &ChainEvent) -> Result<Vec<NodeId>> {
        let mut causes = Vec::new();
        for id in &version.record.because {
            let chain = MemoryChain::of(&self.moment.view, *id)?;
            causes.extend(chain.head_at(self.moment)?.map(|head| head.node));
        }
        Ok(causes)
    }

    fn said(&mut self, said: &SaidTurn, hit: &Hit) -> Result<()> {
        let json = || said.text.json(Some(said.turn.id), "said");
        if !self.is_in_scope(&said.text.scope) || !self.is_wanted(json) {
            return Ok(());
        }
        if self.is_later(&said.text) || is_hidden(self.moment, said.text.node, Some(said.turn.id))?
        {
            return Ok(());
        }
        let is_beside = hit.relevance.own == 0.0 && hit.relevance.meaning < LIKELY_RELEVANCE;
        let is_low = hit.relevance.value < self.least;
        // "Done." answers nothing.
        if is_beside && said.text.speaker == ASSISTANT && only_assents(&said.text.text) {
            return Ok(());
        }
        // It would be shown neither itself nor beside another: its sentences need not be read.
        if is_low && !is_beside && !self.of_turn.contains_key(&said.turn.id) {
            self.passed_over = self.passed_over.max(hit.relevance.value);
            return Ok(());
        }
        let memories = TurnMemories::of(self.moment, said.turn.id, &mut self.wording)?;
        let is_past = self.is_past;
        let bytes_max = self.passage_bytes();
        let (wording, mut until) = (&mut self.wording, None);
        let passage = self
            .passages
            .of(&said.text.text, bytes_max, &mut |sentence| {
                // An order to a model is no memory: no session is given it.
                if gives_orders(sentence) || memories.is_forgotten(sentence, wording) {
                    return true;
                }
                let since = memories.until(sentence, wording);
                until = until.or(since);
                since.is_some() && !is_past
            });
        let Some(passage) = passage else {
            return Ok(());
        };
        let entry = RecalledEntry {
            text: passage.text,
            is_passage: passage.is_cut,
            until: until.filter(|_| is_past),
            ..said
                .text
                .entry(RecalledSource::Said, Some(said.turn.id), hit)
        };
        if is_beside && self.is_answer(&entry)? {
            return Ok(());
        }
        let at = *self
            .of_turn
            .entry(said.turn.id)
            .or_insert(self.entries.len());
        self.of_event.insert(said.text.node, at);
        // The line says who spoke, as the memory does.
        let line = format!("{}: {}", entry.speaker, entry.text);
        let covered = self.passages.of(&line, line.len(), &mut |_| false);
        let covered = covered.map_or(passage.covered, |line| line.covered);
        self.join(at, OpenEntry { entry, covered });
        Ok(())
    }

    /// True if the question is about a time before it was said.
    fn is_later(&self, text: &SaidText) -> bool {
        self.recall.at.is_some_and(|at| text.happened > at)
    }

    /// When another event replaced one.
    fn replaced_at(&self, event: NodeId) -> Result<Option<Micros>> {
        let view = &self.moment.view;
        let mut since = None;
        for edge in view.edges_of(event, Direction::Incoming)?.iter() {
            if edge.edge_type == EdgeType::SUPERSEDES {
                let happened = view.node(edge.other)?.happened()?;
                since = Some(since.map_or(happened, |known: Micros| known.min(happened)));
            }
        }
        Ok(since)
    }

    /// Joins a turn that has none of the question's words itself to the entry of the turn before it: to a question its
    /// short answer, and to what was said the assistant's word about it, which adds nothing.
    fn is_answer(&mut self, entry: &RecalledEntry) -> Result<bool> {
        let view = &self.moment.view;
        let edges = view.edges_of(entry.event, Direction::Outgoing)?;
        let before = edges
            .iter()
            .filter(|edge| edge.edge_type == EdgeType::TEMPORAL_NEXT)
            .find_map(|edge| self.of_event.get(&edge.other));
        let Some(open) = before.and_then(|at| self.entries.get_mut(*at)) else {
            return Ok(false);
        };
        let asked = &mut open.entry;
        let is_question =
            asked.source == RecalledSource::Said && asked.text.ends_with(QUESTION_MARKS);
        let is_short = entry.text.len() <= SHORT_PASSAGE_BYTES;
        if is_question && !is_short {
            return Ok(false);
        }
        if is_question {
            let answer = &entry.text;
            match entry.speaker.as_str() {
                "" => asked.text.push_str(&format!(" – {answer}")),
                speaker => asked.text.push_str(&format!(" – {speaker}: {answer}")),
            }
        } else if entry.speaker != ASSISTANT {
            return Ok(false);
        }
        asked.doubles.push(entry.event);
        Ok(true)
    }

    fn written(&mut self, text: &SaidText, hit: &Hit) -> Result<()> {
        if !self.is_in_scope(&text.scope) || !self.is_wanted(|| text.json(None, "written")) {
            return Ok(());
        }
        if self.is_later(text) || is_hidden(self.moment, text.node, None)? {
            return Ok(());
        }
        let bytes_max = self.passage_bytes();
        let passage = self.passages.of(&text.text, bytes_max, &mut gives_orders);
        let Some(passage) = passage else {
            return Ok(());
        };
        let entry = RecalledEntry {
            text: passage.text,
            is_passage: passage.is_cut,
            until: self.replaced_at(text.node)?,
            ..text.entry(RecalledSource::Written, None, hit)
        };
        self.entries.push(OpenEntry {
            entry,
            covered: passage.covered,
        });
        Ok(())
    }

    /// Adds an entry, or joins it to the one that says the same: the words that were said stay, unless the memory says
    /// more of what is asked.
    fn join(&mut self, at: usize, new: OpenEntry) {
        // Beside one that likely answers the question those are shown that may.
        let is_likely = new.entry.relevance >= LIKELY_RELEVANCE && !asks(&new.entry);
        if is_likely && self.recall.relevance_min.is_none() {
            self.least = BESIDE_RELEVANCE;
        }
        let Some(known) = self.entries.get_mut(at) else {
            self.entries.push(new);
            return;
        };
        let is_said = |open: &OpenEntry| open.entry.source == RecalledSource::Said;
        let is_better = match (is_said(known), is_said(&new)) {
            (true, false) => new.covered > known.covered,
            (false, true) => new.covered >= known.covered,
            // Of two memories of one turn, or two turns of one memory, the first is the better one.
            _ => false,
        };
        let other = match is_better {
            true => std::mem::replace(known, new),
            false => new,
        };
        let (kept, other) = (&mut known.entry, other.entry);
        kept.doubles.push(other.event);
        kept.doubles.extend(other.doubles);
        kept.conflicts.extend(other.conflicts);
        kept.rank = kept.rank.max(other.rank);
        kept.relevance = kept.relevance.max(other.relevance);
        kept.is_weak &= other.is_weak;
        kept.item = kept.item.take().or(other.item);
    }
}
