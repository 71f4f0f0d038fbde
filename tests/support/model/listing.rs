//! Listings by looking at every event and sorting.

use std::borrow::Cow;
use std::collections::BTreeSet;

use amem_format::analyzer::{Analyzer, CHARACTER, STOP_WORD, Scratch, UNIT, WITH_E, is_aside};
use amem_format::event::Attributes;
use amem_format::{EventType, Flags, Micros, NodeId, Result, SessionId};
use amem_query::events::SessionFilter;
use amem_query::filter::{Filter, Subject};
use amem_query::{AuthorNames, Axis, Order, Scope, Selection};

use super::history::ViewState;
use super::state::Event;
use super::world::author_of;

/// The place of an event in an order: whatever comes first is smallest.
pub type SortKey = (f64, i64);

/// An event with the strength that a selection is about.
struct StrengthRow<'e> {
    event: &'e Event,
    strength: f32,
}

impl Subject for StrengthRow<'_> {
    fn id(&self) -> NodeId {
        NodeId(self.event.id)
    }

    fn event_type(&self) -> EventType {
        self.event.made.event_type
    }

    fn session(&self) -> SessionId {
        SessionId(self.event.made.session)
    }

    fn confidence(&self) -> f32 {
        self.event.made.confidence
    }

    fn strength(&self) -> f32 {
        self.strength
    }

    fn created_at(&self) -> Micros {
        Micros(self.event.created_at)
    }

    fn event_time(&self) -> Result<Option<Micros>> {
        Ok(self.event.made.event_time.map(Micros))
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        Ok(Cow::Borrowed(&self.event.made.text))
    }

    fn attributes(&self) -> Result<Option<Attributes>> {
        Ok(self.event.made.attributes.clone())
    }
}

/// True if a text has every word of a keyword, in any spelling.
fn has_words(text: &str, keyword: &str) -> bool {
    let (text, wanted) = (words(text), words(keyword));
    let is_said = |word: &String| {
        let body = word.trim_start_matches(STOP_WORD);
        let with_e = format!("{WITH_E}{word}");
        let character = format!("{CHARACTER}{word}");
        let unit = format!("{UNIT}{word}");
        text.contains(word)
            || text.contains(&unit)
            || text.contains(&with_e)
            || text.contains(&character)
            || word.starts_with(STOP_WORD) && text.contains(body)
            // ä is a, and ae.
            || wanted.iter().any(|other| {
                other.strip_prefix(WITH_E).is_some_and(|e| {
                    e.replace("oe", "o") == *word && text.contains(e)
                })
            })
    };
    let counted: Vec<_> = wanted.iter().filter(|word| !is_aside(word)).collect();
    match counted.is_empty() {
        true => wanted.iter().all(is_said),
        false => counted.into_iter().all(is_said),
    }
}

/// The words of a text.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    Analyzer::new().for_each_term(text, &mut Scratch::default(), |term| {
        words.insert(term.to_owned());
    });
    words
}

/// True if an event is in a scope.
pub(super) fn is_in_scope(event: &Event, scope: &Scope) -> bool {
    let is_equal = |name: &str, wanted: &Option<String>| {
        let found = event.made.attributes.as_ref().and_then(|a| a.get(name));
        wanted.is_none() || found.and_then(|v| v.as_str()) == wanted.as_deref()
    };
    is_equal("amem.user", &scope.user)
        && is_equal("amem.agent", &scope.agent)
        && is_equal("amem.run", &scope.run)
}

/// True if one of these actors recorded the event, in a world.
fn is_recorded_by(event: &Event, authors: &AuthorNames) -> bool {
    let (by, agent) = author_of(event.id);
    let has = |names: &[String], name: &str| names.is_empty() || names.iter().any(|n| n == name);
    has(&authors.by, by) && has(&authors.agents, agent)
}

impl ViewState {
    /// Strength as a selection wants it.
    fn strength(&self, event: &Event, selection: &Selection) -> f32 {
        match selection.strength_at {
            None => event.strength,
            Some(at) => event.faded(at.0, event.accessed, event.accesses, &self.state.rates),
        }
    }

    /// True if a selection wants an event.
    pub(super) fn wants(&self, event: &Event, selection: &Selection) -> bool {
        let s = selection;
        let strength = self.strength(event, s);
        let seen = StrengthRow { event, strength };
        let within = |time: i64, from: Option<Micros>, until: Option<Micros>| {
            from.is_none_or(|f| time >= f.0) && until.is_none_or(|u| time < u.0)
        };
        let between = |value: f32, min: Option<f32>, max: Option<f32>| {
            min.is_none_or(|m| value >= m) && max.is_none_or(|m| value <= m)
        };
        (s.include_forgotten || !event.flags.has(Flags::FORGOTTEN))
            && (s.include_compressed || !event.flags.has(Flags::COMPRESSED))
            && (s.types.is_empty() || s.types.contains(&event.made.event_type))
            && (s.sessions.is_empty() || s.sessions.contains(&SessionId(event.made.session)))
            && within(event.created_at, s.recorded.from, s.recorded.until)
            && within(event.happened(), s.happened.from, s.happened.until)
            && between(event.made.confidence, s.confidence.min, s.confidence.max)
            && between(strength, s.strength.min, s.strength.max)
            && s.keyword
                .as_deref()
                .is_none_or(|keyword| has_words(&event.made.text, keyword))
            && is_in_scope(event, &s.scope)
            && is_recorded_by(event, &s.authors)
            && s.filter.as_ref().is_none_or(|filter| holds(filter, &seen))
    }
}

fn holds(filter: &Filter, seen: &StrengthRow<'_>) -> bool {
    filter
        .matches(seen)
        .unwrap_or_else(|e| panic!("event {}: {e}", seen.event.id))
}

/// Where an event stands in an order.
pub fn place(known: &ViewState, event: &Event, selection: &Selection, order: Order) -> SortKey {
    let id = event.id as i64;
    let time = |axis: Axis| match axis {
        Axis::Recorded => event.created_at as f64,
        Axis::Happened => event.happened() as f64,
    };
    match order {
        Order::Newest(axis) => (-time(axis), -id),
        Order::Oldest(axis) => (time(axis), id),
        Order::Strongest => (-f64::from(known.strength(event, selection)), -id),
    }
}

/// Every wanted event, in order.
pub fn list(known: &ViewState, selection: &Selection, order: Order) -> Vec<NodeId> {
    let wanted = known
        .state
        .events
        .iter()
        .filter(|e| known.wants(e, selection));
    let mut wanted: Vec<&Event> = wanted.collect();
    let place = |e: &&Event| place(known, e, selection, order);
    wanted.sort_by(|a, b| {
        place(a)
            .partial_cmp(&place(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    wanted.into_iter().map(|event| NodeId(event.id)).collect()
}

/// The numbers of all sessions in a state, the highest first or the lowest.
pub fn sessions(known: &ViewState, state: SessionFilter, oldest_first: bool) -> Vec<SessionId> {
    let all = known.state.sessions.iter();
    let wanted = all.filter(|(_, session)| match state {
        SessionFilter::Any => true,
        SessionFilter::Open => session.closed.is_none(),
        SessionFilter::Closed => session.closed.is_some(),
    });
    let mut ids: Vec<SessionId> = wanted.map(|(id, _)| SessionId(*id)).collect();
    if !oldest_first {
        ids.reverse();
    }
    ids
}
