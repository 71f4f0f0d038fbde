//! What a mutation of the store means, in acts: said once more, without the store's planner.
//!
//! A mutation is held against all there is, act by act, and refused if one of them makes no sense. Whatever the planner
//! works out by looking at one event is worked out here by looking at all of them, when all acts are done.
//! Not here: request ids, conditions, numbers of commits (`account`).

use std::collections::BTreeSet;

use amem_format::event::Attributes;
use amem_format::{EdgeType, EventType, Flags, NodeId, SessionId};
use amem_query::Scope;
use amem_store::mutation::{Correct, End, Episode, Ingest, NewEvent as Given, NewLink, Relate};
use amem_store::{Answer, Mutation};

use super::graph::heads;
use super::history::ViewState;
use super::state::{Act, NewEvent, State};

/// A request was refused, for a reason that the model does not tell from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Senseless;

/// What a mutation comes to.
#[derive(Debug)]
pub(super) struct Meaning {
    /// What is done, but for edges to what is similar.
    pub(super) acts: Vec<Act>,
    /// What is answered, but for the commit.
    pub(super) answer: Answer,
    /// New events that are tied to what is similar to a vector.
    pub(super) similar: Vec<(u64, Vec<f32>, Relate)>,
}

/// A mutation on its way.
struct Doing {
    /// All there is, as the acts so far leave it.
    known: ViewState,
    /// How many events there were before.
    before: u64,
    dimension: u32,
    meaning: Meaning,
    /// What may be believed more, or less.
    unsettled: BTreeSet<u64>,
}

/// What a mutation means to a brain. Recorded times come from `account`: here every act is of time 0.
pub(super) fn meaning(
    known: &ViewState,
    dimension: u32,
    mutation: &Mutation,
    agent: &str,
) -> Result<Meaning, Senseless> {
    let mut doing = Doing {
        before: known.state.events.len() as u64,
        known: known.clone(),
        dimension,
        meaning: Meaning {
            acts: Vec::new(),
            answer: Answer::default(),
            similar: Vec::new(),
        },
        unsettled: BTreeSet::new(),
    };
    doing.mutation(mutation, agent)?;
    doing.settle();
    Ok(doing.meaning)
}

fn sense(holds: bool) -> Result<(), Senseless> {
    if holds { Ok(()) } else { Err(Senseless) }
}

fn is_share(value: f32) -> bool {
    (0.0..=1.0).contains(&value)
}

impl Doing {
    fn state(&self) -> &State {
        &self.known.state
    }

    fn act(&mut self, act: Act) {
        self.known.state.apply(0, &act);
        self.meaning.acts.push(act);
    }

    /// An event that is there: its flags.
    fn there(&self, id: NodeId) -> Result<Flags, Senseless> {
        let event = self.state().events.get(id.0 as usize);
        event.map(|event| event.flags).ok_or(Senseless)
    }

    /// An event that is there and shown.
    fn shown(&self, id: NodeId) -> Result<Flags, Senseless> {
        let flags = self.there(id)?;
        sense(!flags.has(Flags::FORGOTTEN))?;
        Ok(flags)
    }

    /// An event that is there and shown, and says something.
    fn whole(&self, id: NodeId) -> Result<(), Senseless> {
        sense(!self.shown(id)?.has(Flags::ERASED))
    }

    fn flag(&mut self, id: NodeId, flag: Flags, on: bool) {
        let event = &self.state().events[id.0 as usize];
        let (flags, made) = (event.flags.set(flag, on), &event.made);
        self.act(Act::Belief(id.0, made.confidence, flags, made.lambda));
    }

    fn link(&mut self, source: u64, target: u64, edge_type: EdgeType, weight: f32) {
        self.act(Act::Link(source, target, edge_type.0, weight));
        self.meaning.answer.edges += 1;
    }

    fn mutation(&mut self, mutation: &Mutation, agent: &str) -> Result<(), Senseless> {
        match mutation {
            Mutation::Ingest(ingest) => self.ingest(ingest),
            Mutation::Correct(correct) => self.correct(correct),
            Mutation::Link(edge) => self.tie(&NewLink {
                source: End::Event(edge.source),
                target: End::Event(edge.target),
                edge_type: edge.edge_type,
                weight: edge.weight,
            }),
            Mutation::Unlink {
                source,
                target,
                edge_type,
            } => {
                let key = (source.0, target.0, edge_type.0);
                sense(self.state().edges.contains_key(&key))?;
                self.act(Act::Unlink(source.0, target.0, edge_type.0));
                self.meaning.answer.edges = 1;
                if *edge_type == EdgeType::SUPERSEDES {
                    self.unsettled.insert(target.0);
                }
                Ok(())
            }
            Mutation::Touch(entries) => {
                for &(id, times) in entries {
                    let is_hidden = self.there(id)?.has(Flags::FORGOTTEN);
                    sense(times > 0)?;
                    if !is_hidden {
                        self.act(Act::Touch(id.0, times));
                    }
                }
                Ok(())
            }
            Mutation::Pin(id) => self.pin(*id, true),
            Mutation::Unpin(id) => self.pin(*id, false),
            Mutation::Forget(id) => self.hide(*id, true),
            Mutation::Restore(id) => self.hide(*id, false),
            Mutation::Erase(ids) => self.erase(ids),
            Mutation::Compress {
                session,
                text,
                vector,
            } => {
                let all: Vec<NodeId> = (0..self.before).map(NodeId).collect();
                let members = self.members(*session, &all)?;
                sense(!members.is_empty())?;
                let episode = self.episode(*session, text, vector.as_deref())?;
                self.cover(*session, &members, episode);
                Ok(())
            }
            Mutation::CompressPart(part) => {
                let members = self.members(part.session, &part.events)?;
                if members.is_empty() {
                    return Ok(());
                }
                let episode = match &part.episode {
                    Episode::New(text) => self.episode(part.session, text, None)?,
                    Episode::At(id) => {
                        self.shown(*id)?;
                        let made = &self.state().events[id.0 as usize].made;
                        let is_of_it = made.session == part.session.0;
                        sense(made.event_type == EventType::EPISODE && is_of_it)?;
                        id.0
                    }
                };
                self.cover(part.session, &members, episode);
                Ok(())
            }
            Mutation::SetVector {
                target,
                vector,
                space,
            } => {
                self.whole(*target)?;
                sense(space.is_none_or(|space| space.is_nil()) || vector.is_none())?;
                self.vector(vector.as_deref())?;
                self.act(Act::Vector(target.0, vector.clone()));
                self.meaning.answer.target = Some(*target);
                Ok(())
            }
            Mutation::SetAttributes { target, attributes } => {
                self.whole(*target)?;
                self.act(Act::Attributes(target.0, attributes.clone()));
                self.meaning.answer.target = Some(*target);
                Ok(())
            }
            Mutation::Decay => {
                self.act(Act::Decay(self.state().rates));
                Ok(())
            }
            Mutation::OpenSession { key } => self.open_session(key, agent),
            Mutation::CloseSession { session, outcome } => {
                sense(*session != SessionId(0) && self.is_open(*session))?;
                self.act(Act::Close(session.0, outcome.clone()));
                self.meaning.answer.session = Some(*session);
                Ok(())
            }
            Mutation::SetSettings(settings) => {
                let rates = settings.decay.by_type();
                sense(rates.iter().all(|rate| rate.is_finite() && *rate >= 0.0))?;
                sense(is_share(settings.fading_below))?;
                self.act(Act::Rates(rates));
                Ok(())
            }
            Mutation::Merge(_) => panic!("the model knows one brain"),
        }
    }

    fn ingest(&mut self, ingest: &Ingest) -> Result<(), Senseless> {
        sense(!ingest.events.is_empty() || !ingest.links.is_empty())?;
        for event in &ingest.events {
            self.add(event)?;
        }
        if ingest.follow {
            for new in self.before..self.state().events.len() as u64 {
                let session = self.state().events[new as usize].made.session;
                let is_same = |id: &u64| self.state().events[*id as usize].made.session == session;
                if let Some(last) = (0..new).rev().find(is_same) {
                    self.link(new, last, EdgeType::TEMPORAL_NEXT, 1.0);
                }
            }
        }
        if let Some(relate) = ingest.relate {
            sense(relate.k <= 64 && (-1.0..=1.0).contains(&relate.min_similarity))?;
            for (event, id) in ingest.events.iter().zip(self.before..) {
                if let Some(vector) = event.vector.as_ref().filter(|_| relate.k > 0) {
                    // Nothing is like a vector of zeros.
                    sense(vector.iter().any(|x| *x != 0.0))?;
                    self.meaning.similar.push((id, vector.clone(), relate));
                }
            }
        }
        ingest.links.iter().try_for_each(|link| self.tie(link))
    }

    /// A new event; its place.
    fn add(&mut self, event: &Given) -> Result<u64, Senseless> {
        sense(!event.text.is_empty() && is_share(event.confidence))?;
        let lambda = event.lambda.unwrap_or(0.0);
        sense(lambda.is_finite() && lambda >= 0.0 && event.event_type.0 <= 5)?;
        let session = event.session.unwrap_or_default();
        self.join(session)?;
        self.vector(event.vector.as_deref())?;
        sense(event.space.is_none_or(|space| space.is_nil()) || event.vector.is_none())?;
        let id = self.state().events.len() as u64;
        // Its time is known once it is known how many come after it.
        self.act(Act::Add(NewEvent {
            event_type: event.event_type,
            session: session.0,
            event_time: event.event_time.map(|time| time.0),
            confidence: event.confidence,
            lambda,
            text: event.text.clone(),
            attributes: event.attributes.clone(),
            vector: event.vector.clone(),
        }));
        self.meaning.answer.ids.push(NodeId(id));
        Ok(id)
    }

    fn vector(&self, vector: Option<&[f32]>) -> Result<(), Senseless> {
        let Some(vector) = vector else { return Ok(()) };
        sense(vector.len() == self.dimension as usize && vector.iter().all(|x| x.is_finite()))
    }

    /// A new edge, or another weight.
    fn tie(&mut self, link: &NewLink) -> Result<(), Senseless> {
        let new = self.meaning.answer.ids.len();
        let end = |end: End| match end {
            End::Event(id) => Ok(id.0),
            End::New(at) if at < new => Ok(self.before + at as u64),
            End::New(_) => Err(Senseless),
        };
        let (source, target) = (end(link.source)?, end(link.target)?);
        sense(is_share(link.weight) && link.edge_type.0 <= 6 && source != target)?;
        self.shown(NodeId(source))?;
        self.shown(NodeId(target))?;
        if link.edge_type == EdgeType::SUPERSEDES {
            sense(target < self.before && !self.replaces(target, source))?;
            self.unsettled.insert(target);
        }
        self.link(source, target, link.edge_type, link.weight);
        Ok(())
    }

    /// True if an event replaces another, in however many steps.
    fn replaces(&self, source: u64, target: u64) -> bool {
        let mut met = BTreeSet::from([source]);
        loop {
            let step = self.state().edges.keys().find(|(from, to, edge_type)| {
                *edge_type == EdgeType::SUPERSEDES.0 && met.contains(from) && !met.contains(to)
            });
            match step {
                None => return met.contains(&target),
                Some(&(_, to, _)) => met.insert(to),
            };
        }
    }

    fn correct(&mut self, correct: &Correct) -> Result<(), Senseless> {
        self.shown(correct.target)?;
        let target = if correct.to_head {
            heads(&self.known, correct.target.0, &Scope::default(), false)[0]
        } else {
            correct.target
        };
        let replaced = &self.state().events[target.0 as usize];
        let own = replaced.own;
        let lost = match correct.target_confidence {
            None => 1.0,
            Some(left) => {
                sense(is_share(left) && left <= own)?;
                if own > 0.0 { 1.0 - left / own } else { 1.0 }
            }
        };
        let mut event = correct.event.clone();
        if let Some(reason) = &correct.reason {
            let attributes = event.attributes.get_or_insert_with(Attributes::new);
            attributes.insert("amem.reason".into(), reason.as_str().into());
        }
        let id = self.add(&event)?;
        self.link(id, target.0, EdgeType::SUPERSEDES, lost);
        self.unsettled.insert(target.0);
        self.meaning.answer.target = Some(target);
        Ok(())
    }

    fn pin(&mut self, id: NodeId, on: bool) -> Result<(), Senseless> {
        self.meaning.answer.target = Some(id);
        if self.shown(id)?.has(Flags::PINNED) != on {
            self.flag(id, Flags::PINNED, on);
        }
        Ok(())
    }

    fn hide(&mut self, id: NodeId, on: bool) -> Result<(), Senseless> {
        self.meaning.answer.target = Some(id);
        if self.there(id)?.has(Flags::FORGOTTEN) == on {
            return Ok(());
        }
        self.flag(id, Flags::FORGOTTEN, on);
        let replaced = self.targets(id, EdgeType::SUPERSEDES);
        self.unsettled.extend(replaced.iter().map(|id| id.0));
        self.meaning.answer.related = replaced;
        Ok(())
    }

    /// Where the edges of a type lead that start at an event.
    fn targets(&self, id: NodeId, edge_type: EdgeType) -> Vec<NodeId> {
        let all = self.state().edges.keys();
        let of = all.filter(|(source, _, of)| *source == id.0 && *of == edge_type.0);
        of.map(|(_, target, _)| NodeId(*target)).collect()
    }

    fn erase(&mut self, ids: &[NodeId]) -> Result<(), Senseless> {
        sense(!ids.is_empty())?;
        let ids: BTreeSet<NodeId> = ids.iter().copied().collect();
        let mut episodes = BTreeSet::new();
        for &id in &ids {
            if !self.there(id)?.has(Flags::ERASED) {
                self.act(Act::Erase(id.0));
            }
            episodes.extend(self.targets(id, EdgeType::PART_OF));
        }
        self.meaning.answer.ids = ids.into_iter().collect();
        self.meaning.answer.related = episodes.into_iter().collect();
        Ok(())
    }

    /// Which of some events a summary of a session can cover.
    fn members(&self, session: SessionId, of: &[NodeId]) -> Result<BTreeSet<u64>, Senseless> {
        let mut members = BTreeSet::new();
        for &id in of {
            let flags = self.there(id)?;
            let made = &self.state().events[id.0 as usize].made;
            let is_free = !flags.has(Flags::FORGOTTEN) && !flags.has(Flags::COMPRESSED);
            if made.session == session.0 && is_free && made.event_type != EventType::EPISODE {
                members.insert(id.0);
            }
        }
        Ok(members)
    }

    /// A new summary, of a session that may be closed.
    fn episode(
        &mut self,
        session: SessionId,
        text: &str,
        vector: Option<&[f32]>,
    ) -> Result<u64, Senseless> {
        let id = self.add(&Given {
            vector: vector.map(<[f32]>::to_vec),
            ..Given::new(EventType::EPISODE, text)
        })?;
        if let Some(Act::Add(made)) = self.meaning.acts.last_mut() {
            made.session = session.0;
        }
        self.known.state.events[id as usize].made.session = session.0;
        Ok(id)
    }

    fn cover(&mut self, session: SessionId, members: &BTreeSet<u64>, episode: u64) {
        for &id in members {
            self.link(id, episode, EdgeType::PART_OF, 1.0);
            self.flag(NodeId(id), Flags::COMPRESSED, true);
        }
        self.meaning.answer.session = Some(session);
    }

    /// An event joins a session: one that was closed is opened again.
    fn join(&mut self, id: SessionId) -> Result<(), Senseless> {
        if !self.is_open(id) {
            let session = self.state().sessions.get(&id.0).ok_or(Senseless)?;
            let (key, agent) = (session.key.clone(), session.agent.clone());
            self.act(Act::Open(id.0, key, agent));
        }
        Ok(())
    }

    /// True if a session is one without an owner, or one that was opened and not closed.
    fn is_open(&self, id: SessionId) -> bool {
        let session = self.state().sessions.get(&id.0);
        id == SessionId(0) || session.is_some_and(|session| session.closed.is_none())
    }

    fn open_session(&mut self, key: &str, agent: &str) -> Result<(), Senseless> {
        let all = &self.state().sessions;
        let mut known = all
            .iter()
            .filter(|(_, of)| !key.is_empty() && of.key == key);
        if let Some((&id, _)) = known.next() {
            self.join(SessionId(id))?;
            self.meaning.answer.session = Some(SessionId(id));
            return Ok(());
        }
        let id = all.keys().next_back().map_or(0, |last| *last) + 1;
        self.act(Act::Open(id, key.into(), agent.into()));
        self.meaning.answer.session = Some(SessionId(id));
        Ok(())
    }

    /// Of what an event was made with, what its replacements leave: of several that one's share that leaves least.
    fn settle(&mut self) {
        for id in std::mem::take(&mut self.unsettled) {
            let state = self.state();
            let replacements = state.edges.iter().filter(|((source, target, of), _)| {
                let is_shown = !state.events[*source as usize].flags.has(Flags::FORGOTTEN);
                *target == id && *of == EdgeType::SUPERSEDES.0 && is_shown
            });
            let left = replacements
                .map(|(_, (weight, _))| 1.0 - weight)
                .fold(1.0, f32::min);
            let event = &state.events[id as usize];
            let (confidence, flags) = (event.own * left, event.flags);
            if event.made.confidence != confidence {
                let lambda = event.made.lambda;
                self.act(Act::Belief(id, confidence, flags, lambda));
            }
        }
    }
}
