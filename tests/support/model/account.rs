//! A brain by what its writer was asked: which requests were done, in which commit, and what was answered.
//!
//! Not here: what a mutation means (`meaning`), whether a brain shows it (`likeness`).

use std::collections::BTreeMap;

use amem_format::event::Attributes;
use amem_format::journal::frame::Kind;
use amem_format::view::{AsOf, Direction, View};
use amem_format::{EdgeType, Flags, Lsn, Micros, NodeId};
use amem_query::Scope;
use amem_store::mutation::Relate;
use amem_store::{Answer, Request};
use uuid::Uuid;

use super::graph::heads;
use super::history::{Model, ViewState};
use super::meaning::{Meaning, meaning};
use super::ranking::cosines;
use super::state::{Act, State};

/// How far a cosine may be off what the model comes to.
const COSINE: f64 = 1e-4;

/// An attribute whose value is one event's alone.
pub const SECRET: &str = "secret";

/// A commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitRecord {
    /// Its number.
    pub lsn: Lsn,
    /// Its time.
    pub time: Micros,
    /// What it did.
    pub kind: Kind,
    /// The actor: an index of `Account::actors`, from 1; 0 is none.
    pub actor: u32,
}

/// What becomes of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is done, or was before.
    Answered(Box<Answer>),
    /// Its id was used for something else.
    Reused,
    /// A condition of it does not hold.
    Aborted,
    /// It makes no sense.
    Refused,
}

/// A request that was done.
#[derive(Debug)]
struct StoredRequest {
    id: Uuid,
    request: Request,
    answer: Answer,
}

/// A brain.
#[derive(Debug)]
pub struct Account {
    /// All commits.
    pub model: Model,
    /// What there is now.
    pub known: ViewState,
    /// The same commits.
    pub done: Vec<CommitRecord>,
    /// Actors in the order of their first commits: principal and agent.
    pub actors: Vec<(String, String)>,
    remembered: Vec<StoredRequest>,
    time: Micros,
    dimension: u32,
}

impl Account {
    /// A new brain.
    pub fn new(dimension: u32, created: Micros) -> Self {
        Self {
            model: Model::default(),
            known: ViewState {
                state: State::default(),
                now: 0,
                moment: 0,
                time: 0,
            },
            done: Vec::new(),
            actors: Vec::new(),
            remembered: Vec::new(),
            time: created,
            dimension,
        }
    }

    /// The newest commit.
    pub fn lsn(&self) -> Lsn {
        Lsn(self.known.now)
    }

    /// Its time.
    pub fn time(&self) -> Micros {
        self.time
    }

    /// All that was ever said by each event that is erased: the last word of its text, its secret, and vectors, as
    /// bytes.
    pub fn erased(&self) -> BTreeMap<u64, Vec<Vec<u8>>> {
        let mut said: BTreeMap<u64, Vec<Vec<u8>>> = BTreeMap::new();
        let mut new = 0;
        let vector = |vector: &Vec<f32>| -> Option<Vec<u8>> {
            let is_somewhere = vector.iter().any(|x| *x != 0.0);
            is_somewhere.then(|| vector.iter().flat_map(|x| x.to_le_bytes()).collect())
        };
        let secret = |attributes: &Attributes| {
            let secret = attributes.get(SECRET)?.as_str()?;
            Some(secret.as_bytes().to_vec())
        };
        for act in self.model.acts() {
            match act {
                Act::Add(made) | Act::AddBefore(_, made) => {
                    let of = said.entry(new).or_default();
                    of.extend(
                        made.text
                            .split(' ')
                            .next_back()
                            .map(|word| word.as_bytes().to_vec()),
                    );
                    of.extend(made.vector.as_ref().and_then(vector));
                    of.extend(made.attributes.as_ref().and_then(secret));
                    new += 1;
                }
                Act::Vector(id, Some(made)) => said.entry(*id).or_default().extend(vector(made)),
                Act::Attributes(id, Some(made)) => {
                    said.entry(*id).or_default().extend(secret(made))
                }
                _ => {}
            }
        }
        said.retain(|id, _| {
            self.known.state.events[*id as usize]
                .flags
                .has(Flags::ERASED)
        });
        said
    }

    /// A request is done, if it can be. `view` has its commit, if it makes one.
    ///
    /// An error says where the view shows something that can't follow.
    pub fn ask(&mut self, request: &Request, now: Micros, view: &View) -> Result<Verdict, String> {
        if let Some(verdict) = self.recall(request, view.brain().base().identity().base_lsn) {
            return Ok(verdict);
        }
        if let Some(verdict) = self.condition(request) {
            return Ok(verdict);
        }
        let (mutation, agent) = (&request.mutation, &*request.agent);
        let Ok(meaning) = meaning(&self.known, self.dimension, mutation, agent) else {
            return Ok(Verdict::Refused);
        };
        let answer = self.commit(request, now, meaning, view)?;
        Ok(Verdict::Answered(Box::new(answer)))
    }

    /// What becomes of a request by its id alone.
    fn recall(&self, request: &Request, base: Lsn) -> Option<Verdict> {
        let id = request.request_id?;
        if id.get_version_num() != 7 {
            return Some(Verdict::Refused);
        }
        let known = self.remembered.iter().find(|known| known.id == id)?;
        let said = |of: &Request| (of.expected_lsn, of.expected_head, of.agent.clone());
        let is_other =
            known.request.mutation != request.mutation || said(&known.request) != said(request);
        if is_other && !self.is_known_by_id_alone(known, base) {
            return Some(Verdict::Reused);
        }
        let mut answer = known.answer.clone();
        answer.replayed = true;
        Some(Verdict::Answered(Box::new(answer)))
    }

    /// True if the base was made after something was erased that a request may have brought.
    fn is_known_by_id_alone(&self, known: &StoredRequest, base: Lsn) -> bool {
        let erases = self.done.iter().filter(|done| done.kind == Kind::Erase);
        let mut lsns = erases.map(|done| done.lsn);
        lsns.any(|lsn| known.answer.lsn <= lsn && lsn <= base)
    }

    fn condition(&self, request: &Request) -> Option<Verdict> {
        if let Some(expected) = request.expected_lsn {
            let mut changes = self.done.iter().filter(|done| done.kind != Kind::Touch);
            if changes.next_back().is_some_and(|done| done.lsn > expected) {
                return Some(Verdict::Aborted);
            }
        }
        let (event, expected) = request.expected_head?;
        if event.0 >= self.known.state.events.len() as u64 {
            return Some(Verdict::Refused);
        }
        match heads(&self.known, event.0, &Scope::default(), false).first() {
            None => Some(Verdict::Refused),
            Some(head) if *head != expected => Some(Verdict::Aborted),
            Some(_) => None,
        }
    }

    fn commit(
        &mut self,
        request: &Request,
        now: Micros,
        meaning: Meaning,
        view: &View,
    ) -> Result<Answer, String> {
        let Meaning {
            mut acts,
            mut answer,
            similar,
        } = meaning;
        (answer.lsn, answer.time) = (self.lsn(), self.time);
        if acts.is_empty() && request.request_id.is_none() {
            return Ok(answer);
        }
        let (actor, is_new) = self.actor(request);
        let adds = acts.iter().filter(|act| matches!(act, Act::Add(_))).count() as i64;
        let frames = u64::from(is_new)
            + u64::from(!acts.is_empty())
            + u64::from(request.request_id.is_some());
        answer.lsn.0 += frames;
        // Each event has a time of its own, and the commit that of what comes after them.
        let first = now.0.max(self.time.0 + 1);
        answer.time = Micros(first + adds);
        let mut left = adds;
        for act in &mut acts {
            match act {
                Act::Add(made) => {
                    *act = Act::AddBefore(left, made.clone());
                    left -= 1;
                }
                // A session that is opened again begins with the event that does so.
                Act::Open(id, key, agent) => {
                    *act = Act::OpenBefore(left, *id, key.clone(), agent.clone());
                }
                // Uses and decay take the time of the clock.
                Act::Touch(..) | Act::Decay(_) => {
                    *act = Act::Before(answer.time.0 - now.0, Box::new(act.clone()));
                }
                _ => {}
            }
        }
        for (id, vector, relate) in similar {
            let shown = related(view, answer.lsn, id)?;
            self.check_similar(id, &vector, relate, &shown)?;
            answer.edges += shown.len() as u64;
            let edge_type = EdgeType::RELATED_TO.0;
            acts.extend(
                shown
                    .iter()
                    .map(|(other, weight)| Act::Link(id, *other, edge_type, *weight)),
            );
        }
        if is_new {
            let name = (request.principal.clone(), request.agent.clone());
            self.actors.push(name);
        }
        for act in &acts {
            self.known.state.apply(answer.time.0, act);
        }
        self.model.commit(answer.lsn, answer.time, acts);
        (self.known.now, self.known.moment) = (answer.lsn.0, answer.lsn.0);
        self.time = answer.time;
        self.done.push(CommitRecord {
            lsn: answer.lsn,
            time: answer.time,
            kind: request.mutation.kind(),
            actor,
        });
        if let Some(id) = request.request_id {
            self.remembered.push(StoredRequest {
                id,
                request: request.clone(),
                answer: answer.clone(),
            });
        }
        Ok(answer)
    }

    fn actor(&self, request: &Request) -> (u32, bool) {
        let (principal, agent) = (&request.principal, &request.agent);
        if principal.is_empty() && agent.is_empty() {
            return (0, false);
        }
        let is_it = |of: &(String, String)| of.0 == *principal && of.1 == *agent;
        match self.actors.iter().position(is_it) {
            Some(at) => (at as u32 + 1, false),
            None => (self.actors.len() as u32 + 1, true),
        }
    }

    /// Whether a new event was tied to what is most similar. Cosines that are equal but for rounding may be in any
    /// order.
    fn check_similar(
        &self,
        id: u64,
        vector: &[f32],
        relate: Relate,
        shown: &[(u64, f32)],
    ) -> Result<(), String> {
        let mut all = cosines(&self.known, vector);
        let hidden = Flags::FORGOTTEN.with(Flags::COMPRESSED);
        all.retain(|id, _| self.known.state.events[*id as usize].flags.0 & hidden.0 == 0);
        let least = f64::from(relate.min_similarity);
        let bad = |why: String| Err(format!("{id} is tied to {shown:?} of {all:?}: {why}"));
        for (other, weight) in shown {
            let Some(&cosine) = all.get(other) else {
                return bad(format!("{other} is not to be seen"));
            };
            let off = (cosine.clamp(0.0, 1.0) - f64::from(*weight)).abs();
            if off > COSINE || cosine < least - COSINE {
                return bad(format!("{other} is {cosine}"));
            }
        }
        let worst = shown.iter().filter_map(|(other, _)| all.get(other));
        let bar = if shown.len() == relate.k {
            worst.copied().fold(f64::INFINITY, f64::min)
        } else {
            least
        };
        let is_missed = |(id, cosine): &(&u64, &f64)| {
            **cosine > bar + COSINE && shown.iter().all(|(other, _)| other != *id)
        };
        match all.iter().find(is_missed) {
            Some((missed, _)) => bad(format!("{missed} is missing")),
            None if shown.len() > relate.k => bad("they are too many".into()),
            None => Ok(()),
        }
    }
}

/// What an event was related to by a commit, and how much.
fn related(view: &View, lsn: Lsn, id: u64) -> Result<Vec<(u64, f32)>, String> {
    let then = view.as_of(AsOf::Lsn(lsn)).map_err(|e| e.to_string())?;
    let ties = then.edges_of(NodeId(id), Direction::Outgoing);
    let mut found = Vec::new();
    for tie in ties.map_err(|e| e.to_string())?.iter() {
        if tie.edge_type == EdgeType::RELATED_TO {
            let edge = then.edge(NodeId(id), Direction::Outgoing, &tie);
            found.push((tie.other.0, edge.map_err(|e| e.to_string())?.weight));
        }
    }
    Ok(found)
}
