//! What there is after some commits: a list of events, a map of edges, a map of sessions.

use std::collections::BTreeMap;

use amem_format::event::Attributes;
use amem_format::{EventType, Flags};

/// The rates that hold until settings say otherwise.
pub(super) const RATES: [f32; 6] = [0.01, 0.01, 0.03, 0.01, 0.002, 0.005];

/// An event to be.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Its type.
    pub event_type: EventType,
    /// Its session.
    pub session: u32,
    /// When it happened.
    pub event_time: Option<i64>,
    /// 0..=1.
    pub confidence: f32,
    /// Per day; 0 is the type's default.
    pub lambda: f32,
    /// The text.
    pub text: String,
    /// The attributes.
    pub attributes: Option<Attributes>,
    /// The vector.
    pub vector: Option<Vec<f32>>,
}

/// Something that a commit does.
#[derive(Debug, Clone)]
pub enum Act {
    /// A new event.
    Add(NewEvent),
    /// One that was recorded so many microseconds before its commit, as several of one commit are.
    AddBefore(i64, NewEvent),
    /// Another act, at the clock's time, which is so many microseconds before that of its commit.
    Before(i64, Box<Act>),
    /// A new edge, or another weight.
    Link(u64, u64, u8, f32),
    /// An edge is retracted.
    Unlink(u64, u64, u8),
    /// Confidence, flags and rate of an event.
    Belief(u64, f32, Flags, f32),
    /// Its attributes.
    Attributes(u64, Option<Attributes>),
    /// Its vector.
    Vector(u64, Option<Vec<f32>>),
    /// Its text, attributes and vector vanish.
    Erase(u64),
    /// It was used, so many times.
    Touch(u64, u32),
    /// Strengths are computed again, with these rates.
    Decay([f32; 6]),
    /// Settings: rates.
    Rates([f32; 6]),
    /// A session begins: number, key, agent.
    Open(u32, String, String),
    /// The same, so many microseconds before the commit: with its first event.
    OpenBefore(i64, u32, String, String),
    /// A session ends, thus.
    Close(u32, String),
}

/// An event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its place.
    pub id: u64,
    /// As it was made, but for what changed since.
    pub made: NewEvent,
    /// The confidence that it was made with.
    pub own: f32,
    /// Recorded.
    pub created_at: i64,
    /// Pinned, forgotten, compressed, erased.
    pub flags: Flags,
    /// Strength.
    pub strength: f32,
    /// How often it was used.
    pub accesses: u32,
    /// When last.
    pub accessed: i64,
    /// The text in the index of words: an erased one stays until the next base.
    pub indexed: String,
}

impl Event {
    /// When it happened.
    pub fn happened(&self) -> i64 {
        self.made.event_time.unwrap_or(self.created_at)
    }

    /// Strength by the formula.
    pub fn faded(&self, time: i64, since: i64, accesses: u32, rates: &[f32; 6]) -> f32 {
        if self.flags.has(Flags::PINNED) {
            return self.made.confidence;
        }
        let by_type = rates
            .get(usize::from(self.made.event_type.0))
            .unwrap_or(&rates[0]);
        let own = self.made.lambda;
        let rate = f64::from(if own > 0.0 { own } else { *by_type });
        let days = (time - since).max(0) as f64 / 86_400e6;
        let slowed = 1.0 + (1.0 + f64::from(accesses)).log2();
        (f64::from(self.made.confidence) * (-rate * days / slowed).exp()) as f32
    }

    /// Nothing is left of what it said.
    pub fn clear(&mut self) {
        self.flags = self.flags.with(Flags::ERASED);
        self.made.text = String::new();
        self.made.attributes = None;
        self.made.vector = None;
    }
}

/// A session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The client's name for it.
    pub key: String,
    /// The actor that opened it.
    pub agent: String,
    /// It was opened by a client.
    pub explicit: bool,
    /// When, or when its first event was recorded.
    pub opened: i64,
    /// When its newest event was recorded, or it was opened.
    pub last_event: i64,
    /// When it was closed.
    pub closed: Option<i64>,
    /// How it ended.
    pub outcome: String,
    /// The spans before this one, each as it was closed.
    pub earlier: Vec<SessionSpan>,
}

/// A span of a session: whether it was opened by a client, when, when it was closed, how it ended.
pub type SessionSpan = (bool, i64, Option<i64>, String);

impl Session {
    /// All spans, the latest one last.
    pub fn spans(&self) -> Vec<SessionSpan> {
        let latest = (
            self.explicit,
            self.opened,
            self.closed,
            self.outcome.clone(),
        );
        let mut spans = self.earlier.clone();
        spans.push(latest);
        spans
    }
}

/// What there is.
#[derive(Debug, Clone)]
pub struct State {
    /// The events.
    pub events: Vec<Event>,
    /// (source, target, type) to weight and recorded time.
    pub edges: BTreeMap<(u64, u64, u8), (f32, i64)>,
    /// The sessions.
    pub sessions: BTreeMap<u32, Session>,
    /// The rates of the settings.
    pub rates: [f32; 6],
}

impl Default for State {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            edges: BTreeMap::new(),
            sessions: BTreeMap::new(),
            rates: RATES,
        }
    }
}

impl State {
    /// Does what a commit of a time does.
    pub fn apply(&mut self, time: i64, act: &Act) {
        match act {
            Act::Add(made) => self.add(time, made),
            Act::AddBefore(before, made) => self.add(time - before, made),
            Act::Before(before, act) => self.apply(time - before, act),
            Act::Link(source, target, edge_type, weight) => {
                let edge = self.edges.entry((*source, *target, *edge_type));
                edge.or_insert((0.0, time)).0 = *weight;
            }
            Act::Unlink(source, target, edge_type) => {
                self.edges.remove(&(*source, *target, *edge_type));
            }
            Act::Belief(id, confidence, flags, lambda) => {
                let event = self.event(*id);
                if event.made.confidence != *confidence {
                    event.made.confidence = *confidence;
                    event.strength = *confidence;
                }
                let erased = event.flags.has(Flags::ERASED);
                event.flags = flags.set(Flags::ERASED, erased);
                event.made.lambda = *lambda;
            }
            // What was erased stays empty.
            Act::Attributes(id, _) | Act::Vector(id, _)
                if self.event(*id).flags.has(Flags::ERASED) => {}
            Act::Attributes(id, attributes) => {
                self.event(*id).made.attributes.clone_from(attributes);
            }
            Act::Vector(id, vector) => self.event(*id).made.vector.clone_from(vector),
            Act::Erase(id) => self.event(*id).clear(),
            Act::Touch(id, times) => {
                let event = self.event(*id);
                event.accesses += times;
                event.accessed = event.accessed.max(time);
            }
            Act::Decay(rates) => {
                for event in &mut self.events {
                    event.strength = event.faded(time, event.accessed, event.accesses, rates);
                }
            }
            Act::Rates(rates) => self.rates = *rates,
            Act::OpenBefore(before, id, key, agent) => {
                let act = Act::Open(*id, key.clone(), agent.clone());
                self.apply(time - before, &act);
            }
            Act::Open(id, key, agent) => {
                let session = self.sessions.entry(*id).or_default();
                if session.closed.is_some() {
                    session.earlier = session.spans();
                    (session.closed, session.outcome) = (None, String::new());
                }
                (session.explicit, session.key) = (true, key.clone());
                (session.opened, session.agent) = (time, agent.clone());
                session.last_event = session.last_event.max(time);
            }
            Act::Close(id, outcome) => {
                let session = self.sessions.entry(*id).or_default();
                (session.closed, session.outcome) = (Some(time), outcome.clone());
            }
        }
    }

    fn add(&mut self, time: i64, made: &NewEvent) {
        let session = self.sessions.entry(made.session).or_insert(Session {
            opened: time,
            ..Session::default()
        });
        session.last_event = time;
        self.events.push(Event {
            id: self.events.len() as u64,
            own: made.confidence,
            created_at: time,
            flags: Flags::default(),
            strength: made.confidence,
            accesses: 0,
            accessed: time,
            indexed: made.text.clone(),
            made: made.clone(),
        });
    }

    fn event(&mut self, id: u64) -> &mut Event {
        &mut self.events[id as usize]
    }
}
