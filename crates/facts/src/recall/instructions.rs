//! The standing instructions and preferences of scopes, in the words of the persons.
//!
//! Those that concern the question come first, then orders before preferences, the newest first. Of many, those with a
//! condition and preferences are left out unless they have enough of the question. Words are weighed by how few of the
//! instructions have them; words of requests ("list", "include") count nothing, as all instructions have them.
//! Promises: what was forgotten, what its memory says no more, and what ended is not among them; each is there once.

use std::collections::{BTreeSet, HashSet};

use amem_format::types::Micros;
use amem_format::view::Node;
use amem_memory::FactScope;
use amem_memory::add::{StandingKind, standing_kind};
use amem_memory::store::Embedder;
use amem_query::text::is_request;

use super::candidate::{FoundEvent, SaidTurn};
use super::forgotten::is_hidden;
use super::request::{Recall, RecalledEntry, RecalledSource};
use super::said::TurnMemories;
use super::wording::Wording;
use crate::error::Result;
use crate::limits::{STANDING_FEW, STANDING_RELEVANCE_MIN, STANDING_TERMS_MAX, STANDING_TURNS_MAX};
use crate::scope_plan::FactMoment;
use crate::search::cosine;
use crate::standing_turns::standing_turns;

/// What two forms of a word have in common at least: so many characters, and this share of the longer one.
const STEM_CHARS: usize = 5;
const STEM_SHARE: f32 = 0.6;
/// The instructions that have a word which none has, for its weight.
const UNKNOWN_COUNT: f32 = 0.5;

/// One sentence of a turn.
struct StandingSentence {
    entry: RecalledEntry,
    terms: BTreeSet<Box<str>>,
    kind: StandingKind,
}

/// Finds the standing instructions for one recall.
pub(super) struct StandingLookup<'r> {
    recall: &'r Recall,
    moment: &'r FactMoment,
    scopes: &'r [FactScope],
    /// The question's vector, if vectors say more than words.
    meaning: Option<(&'r [f32], &'r dyn Embedder)>,
    wording: Wording,
}

impl<'r> StandingLookup<'r> {
    pub(super) fn new(
        recall: &'r Recall,
        moment: &'r FactMoment,
        scopes: &'r [FactScope],
        meaning: Option<(&'r [f32], &'r dyn Embedder)>,
    ) -> Self {
        Self {
            recall,
            moment,
            scopes,
            meaning,
            wording: Wording::default(),
        }
    }

    /// The first of them.
    pub(super) fn first(mut self, limit: usize) -> Result<Vec<RecalledEntry>> {
        let mut sentences = self.sentences()?;
        let is_many = sentences.len() > STANDING_FEW;
        let mut asked = self.wording.terms(&self.recall.question);
        asked.retain(|term| !is_request(term));
        weigh(&mut sentences, &asked);
        if is_many && !self.recall.standing_only {
            sentences.retain(|sentence| {
                sentence.kind == StandingKind::Every
                    || sentence.entry.relevance >= STANDING_RELEVANCE_MIN
            });
        }
        sentences.sort_by(|a, b| {
            let is_preference =
                |sentence: &StandingSentence| sentence.kind == StandingKind::Preference;
            let by_relevance = b.entry.relevance.total_cmp(&a.entry.relevance);
            let by_kind = is_preference(a).cmp(&is_preference(b));
            let by_time = b.entry.happened.cmp(&a.entry.happened);
            let by_event = b.entry.event.cmp(&a.entry.event);
            by_relevance.then(by_kind).then(by_time).then(by_event)
        });
        let mut seen = HashSet::new();
        let mut first = Vec::new();
        for sentence in sentences {
            if first.len() == limit {
                break;
            }
            if !seen.contains(&sentence.terms) && self.holds(&sentence.entry)? {
                seen.insert(sentence.terms);
                first.push(sentence.entry);
            }
        }
        Ok(first)
    }

    /// Those of the newest turns, in no order.
    fn sentences(&mut self) -> Result<Vec<StandingSentence>> {
        let (mut out, mut turns) = (Vec::new(), HashSet::new());
        for scope in self.scopes {
            let newest = standing_turns(&self.moment.view, scope)?;
            for id in newest.into_iter().rev().take(STANDING_TURNS_MAX) {
                if turns.insert(id) {
                    let node = self.moment.view.node(id)?;
                    self.take(&node, scope, &mut out)?;
                }
            }
        }
        Ok(out)
    }

    fn take(
        &mut self,
        node: &Node<'_>,
        scope: &FactScope,
        out: &mut Vec<StandingSentence>,
    ) -> Result<()> {
        let Some(FoundEvent::Said(said)) = FoundEvent::read(&self.moment.view, node.id())? else {
            return Ok(());
        };
        if is_hidden(self.moment, node.id(), Some(said.turn.id))? {
            return Ok(());
        }
        let json = said.text.json(Some(said.turn.id), "said");
        let filter = self.recall.filter.as_ref();
        let is_wanted = filter.is_none_or(|filter| filter.matches(&json));
        let Some(standing) = said.turn.standing.as_ref().filter(|_| is_wanted) else {
            return Ok(());
        };
        if !scope.covers(&said.text.scope) {
            return Ok(());
        }
        let meaning = self.meaning_of(node)?;
        for sentence in standing.sentences(&node.text()?) {
            out.push(StandingSentence {
                terms: self.wording.terms(sentence),
                kind: standing_kind(sentence),
                entry: entry(&said, sentence, meaning),
            });
        }
        Ok(())
    }

    fn meaning_of(&self, node: &Node<'_>) -> Result<f32> {
        let Some((asked, embedder)) = self.meaning else {
            return Ok(0.0);
        };
        let own = node.vector()?;
        let score = own.map(|own| embedder.calibration().score(cosine(asked, own)));
        Ok(score.unwrap_or_default())
    }

    /// False if the memory of the sentence ended, or was replaced by another one.
    fn holds(&mut self, entry: &RecalledEntry) -> Result<bool> {
        let Some(turn) = entry.id else {
            return Ok(true);
        };
        let wording = &mut self.wording;
        let memories = TurnMemories::of(self.moment, turn, wording)?;
        let until: Option<Micros> = memories.until(&entry.text, wording);
        Ok(until.is_none() && !memories.is_forgotten(&entry.text, wording))
    }
}

fn entry(said: &SaidTurn, sentence: &str, meaning: f32) -> RecalledEntry {
    RecalledEntry {
        source: RecalledSource::Said,
        event: said.text.node,
        id: Some(said.turn.id),
        text: sentence.to_owned(),
        is_passage: sentence.len() < said.text.text.len(),
        speaker: said.text.speaker.clone(),
        happened: said.text.happened,
        until: None,
        rank: 0.0,
        relevance: meaning,
        is_weak: false,
        item: None,
        conflicts: Vec::new(),
        because: Vec::new(),
        session: said.text.session,
        doubles: Vec::new(),
    }
}

/// True of two forms of a word. Names with numbers have one form: "port1" is not "port2".
fn is_same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let has_digit = |word: &str| word.contains(|c: char| c.is_numeric());
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longer = a.chars().count().max(b.chars().count());
    let is_form = common >= STEM_CHARS && common as f32 >= STEM_SHARE * longer as f32;
    is_form && !has_digit(a) && !has_digit(b)
}

/// Sets the relevance of each: the share of the question's words that it has, or that of its vector.
fn weigh(sentences: &mut [StandingSentence], asked: &BTreeSet<Box<str>>) {
    let (all, mut whole) = (sentences.len() as f32, 0.0);
    let mut own = vec![0.0; sentences.len()];
    for term in asked.iter().take(STANDING_TERMS_MAX) {
        let has = |sentence: &StandingSentence| sentence.terms.iter().any(|own| is_same(own, term));
        let having = (0..sentences.len()).filter(|at| has(&sentences[*at]));
        let having: Vec<usize> = having.collect();
        let weight = (all / (having.len() as f32).max(UNKNOWN_COUNT)).ln_1p();
        whole += weight;
        having.into_iter().for_each(|at| own[at] += weight);
    }
    for (sentence, own) in sentences.iter_mut().zip(own).filter(|_| whole > 0.0) {
        sentence.entry.relevance = sentence.entry.relevance.max(own / whole);
    }
}
