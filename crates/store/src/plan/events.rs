//! New events: ingest, correct.

use std::borrow::Cow;

use amem_format::embed::Embedder;
use amem_format::event::Attributes;
use amem_format::journal::op::{NewNode, Op};
use amem_format::query::attributes;
use amem_format::{EdgeType, NodeId, SessionId, limits};
use uuid::Uuid;

use super::Planning;
use crate::error::{Error, Result};
use crate::merge::origin;
use crate::mutation::{Correct, End, Ingest, NewEvent, NewLink, Relate};
use crate::plan::belief;

/// The attribute that keeps why a correction was made.
pub(crate) const REASON: &str = "amem.reason";

impl Planning<'_> {
    pub(super) fn ingest(&mut self, ingest: &Ingest) -> Result<()> {
        if ingest.events.is_empty() && ingest.links.is_empty() {
            return Err(Error::invalid(
                "ingest",
                "there is neither an event nor an edge in it",
            ));
        }
        let first = self.view.nodes();
        ingest
            .links
            .iter()
            .take(AHEAD)
            .for_each(|link| self.expect(link));
        let mut vectors = Vec::with_capacity(ingest.events.len());
        for event in &ingest.events {
            vectors.push(self.event(event)?);
        }
        if ingest.follow {
            self.follow(first, &ingest.events)?;
        }
        if let Some(relate) = ingest.relate {
            self.relate(first, &vectors, relate)?;
        }
        for (at, link) in ingest.links.iter().enumerate() {
            if let Some(later) = ingest.links.get(at + AHEAD) {
                self.expect(later);
            }
            let end = |end: End| match end {
                End::Event(id) => Ok(id),
                End::New(at) if at < ingest.events.len() => Ok(NodeId(first + at as u64)),
                End::New(at) => Err(Error::invalid(
                    "link",
                    format!("it names event {at} of a batch of {}", ingest.events.len()),
                )),
            };
            self.new_link(
                end(link.source)?,
                end(link.target)?,
                link.edge_type,
                link.weight,
            )?;
        }
        self.settle()
    }

    /// Has the ends of an edge loaded: they are anywhere in the brain, and each that is not asked for before is waited
    /// for.
    fn expect(&self, link: &NewLink) {
        for end in [link.source, link.target] {
            if let End::Event(id) = end {
                self.view.expect(id);
            }
        }
    }

    /// Adds an event; returns its vector.
    fn event<'e>(&mut self, event: &'e NewEvent) -> Result<Option<Cow<'e, [f32]>>> {
        if event.text.is_empty() {
            return Err(Error::invalid(
                "text",
                "it is empty: an event says something",
            ));
        }
        limit("the text (bytes)", event.text.len(), limits::TEXT_BYTES_MAX)?;
        unit("confidence", event.confidence)?;
        let lambda = event.lambda.unwrap_or(0.0);
        if !lambda.is_finite() || lambda < 0.0 {
            return Err(Error::invalid(
                "lambda",
                format!("{lambda} is no rate per day: give a number from 0 on"),
            ));
        }
        if !event.event_type.is_known() {
            return Err(Error::invalid(
                "event type",
                format!("{} is not one of the six", event.event_type.0),
            ));
        }
        let session = event.session.unwrap_or_default();
        self.open(session)?;
        let id = NodeId(self.view.nodes() + self.answer.ids.len() as u64);
        amem_format::Error::check_limit("the number of events", id.0 + 1, limits::NODES_MAX)?;
        let json = match &event.attributes {
            Some(map) => {
                origin::check(map)?;
                json(map)?
            }
            None => String::new(),
        };
        let vector = self.vector(event.vector.as_deref(), event.space, &event.text)?;
        self.push(&Op::Event(NewNode {
            id,
            event_type: event.event_type,
            session,
            created_at: self.next_time,
            event_time: event.event_time,
            confidence: event.confidence,
            lambda,
            text: &event.text,
            attributes: &json,
            vector: &bytes(vector.as_deref().unwrap_or_default()),
            carried: None,
        }));
        self.next_time.0 += 1;
        self.answer.ids.push(id);
        Ok(vector)
    }

    /// A given vector, checked; or the built-in embedder's, if the brain is of its space.
    pub(super) fn vector<'e>(
        &self,
        given: Option<&'e [f32]>,
        space: Option<Uuid>,
        text: &str,
    ) -> Result<Option<Cow<'e, [f32]>>> {
        let builtin = Embedder::builtin();
        match given {
            Some(vector) => {
                self.check_vector(vector, space)?;
                Ok(Some(Cow::Borrowed(vector)))
            }
            None if self.view.identity().space == builtin.space()
                && self.view.settings()?.embed =>
            {
                Ok(builtin.embed(text).map(Cow::Owned))
            }
            None => Ok(None),
        }
    }

    pub(super) fn check_vector(&self, vector: &[f32], space: Option<Uuid>) -> Result<()> {
        let (expected, own) = (self.view.vector_dimension(), self.view.identity().space);
        if vector.len() != expected as usize {
            return Err(amem_format::Error::Dimension {
                expected,
                found: vector.len(),
            }
            .into());
        }
        if let Some(space) = space {
            amem_format::view::check_space(own, space)?;
        }
        // Without a branch for each number, so that many are looked at together.
        if vector.iter().fold(true, |all, x| all & x.is_finite()) {
            return Ok(());
        }
        match vector.iter().position(|x| !x.is_finite()) {
            Some(at) => Err(Error::invalid(
                "vector",
                format!("number {at} is {}, not finite", vector[at]),
            )),
            None => Ok(()),
        }
    }

    /// Ties new events to the one before them in their session.
    fn follow(&mut self, first: u64, events: &[NewEvent]) -> Result<()> {
        let mut last: Vec<(SessionId, NodeId)> = Vec::new();
        for (at, event) in events.iter().enumerate() {
            let id = NodeId(first + at as u64);
            let session = event.session.unwrap_or_default();
            let before = match last.iter_mut().find(|(known, _)| *known == session) {
                Some((_, before)) => Some(std::mem::replace(before, id)),
                None => {
                    last.push((session, id));
                    self.view.last_of_session(session)?
                }
            };
            if let Some(before) = before {
                self.push_link(id, before, EdgeType::TEMPORAL_NEXT, 1.0);
            }
        }
        Ok(())
    }

    /// Ties new events to what is most similar, among all that was there before.
    fn relate(
        &mut self,
        first: u64,
        vectors: &[Option<Cow<'_, [f32]>>],
        relate: Relate,
    ) -> Result<()> {
        amem_format::Error::check_limit("relate.k", relate.k as u64, RELATE_MAX as u64)?;
        if !(-1.0..=1.0).contains(&relate.min_similarity) {
            let why = format!(
                "{} is no cosine: give a number from -1 to 1",
                relate.min_similarity
            );
            return Err(Error::invalid("relate.min_similarity", why));
        }
        for (at, vector) in vectors.iter().enumerate() {
            let Some(vector) = vector else { continue };
            for (id, similarity) in
                crate::plan::similar::most(self.view, vector, relate.k, relate.min_similarity)?
            {
                let weight = similarity.clamp(0.0, 1.0);
                self.push_link(NodeId(first + at as u64), id, EdgeType::RELATED_TO, weight);
            }
        }
        Ok(())
    }

    pub(super) fn push_link(
        &mut self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
        weight: f32,
    ) {
        let created_at = self.next_time;
        self.push(&Op::Link {
            source,
            target,
            edge_type,
            weight,
            created_at,
        });
        self.answer.edges += 1;
    }

    /// An edge that may end at events of this plan.
    pub(super) fn new_link(
        &mut self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
        weight: f32,
    ) -> Result<()> {
        unit("weight", weight)?;
        if source == target {
            return Err(Error::invalid(
                "link",
                format!("event {source} can't be tied to itself"),
            ));
        }
        if !edge_type.is_known() {
            return Err(Error::invalid(
                "edge type",
                format!("{} is not one of the seven", edge_type.0),
            ));
        }
        let end = self.view.nodes() + self.answer.ids.len() as u64;
        for id in [source, target] {
            if id.0 >= end {
                return Err(amem_format::Error::UnknownEvent { id, count: end }.into());
            }
            if id.0 < self.view.nodes() {
                self.visible(id)?;
            }
        }
        if edge_type == EdgeType::SUPERSEDES {
            return self.supersede(source, target, weight);
        }
        self.push_link(source, target, edge_type, weight);
        Ok(())
    }

    /// A supersedes edge. What is left of the target's confidence is said once all are known (`settle`).
    fn supersede(&mut self, source: NodeId, target: NodeId, weight: f32) -> Result<()> {
        if target.0 >= self.view.nodes() {
            let why = format!(
                "event {target} is new in this batch: what is replaced must be there already"
            );
            return Err(Error::invalid("link", why));
        }
        if source.0 < self.view.nodes() {
            belief::refuse_cycle(self.view, &self.pending, source, target)?;
        }
        self.push_link(source, target, EdgeType::SUPERSEDES, weight);
        self.pending.set(source, target, Some(weight));
        Ok(())
    }

    /// Says what is left of the confidence of whatever is replaced by more, or less, than before.
    pub(super) fn settle(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        for target in pending.targets() {
            let confidence = belief::effective_confidence(self.view, target, &pending)?;
            self.set_confidence(target, confidence)?;
        }
        Ok(())
    }

    pub(super) fn set_confidence(&mut self, target: NodeId, confidence: f32) -> Result<()> {
        let node = self.view.node(target)?;
        if node.confidence().to_bits() != confidence.to_bits() {
            let (flags, lambda) = (node.flags(), node.lambda());
            self.push(&Op::Belief {
                target,
                confidence,
                flags,
                lambda,
            });
        }
        Ok(())
    }

    pub(super) fn correct(&mut self, correct: &Correct) -> Result<()> {
        self.visible(correct.target)?;
        let target = if correct.to_head {
            belief::newest_head(self.view, correct.target)?
        } else {
            correct.target
        };
        let own = belief::own_confidence(self.view, target)?;
        let weight = match correct.target_confidence {
            None => 1.0,
            Some(left) => {
                unit("target_confidence", left)?;
                if left > own {
                    let why = format!(
                        "{left} is more than the {own} that event {target} was created with"
                    );
                    return Err(Error::invalid("target_confidence", why));
                }
                if own > 0.0 {
                    (1.0 - left / own).clamp(0.0, 1.0)
                } else {
                    1.0
                }
            }
        };
        let mut event = correct.event.clone();
        if event.session.is_none() {
            event.session =
                Some(self.view.node(target)?.session()).filter(|&s| self.open(s).is_ok());
        }
        if let Some(reason) = &correct.reason {
            let attributes = event.attributes.get_or_insert_with(Attributes::new);
            attributes.insert(REASON.into(), reason.as_str().into());
        }
        self.event(&event)?;
        let source = NodeId(self.view.nodes());
        self.answer.target = Some(target);
        self.supersede(source, target, weight)?;
        self.settle()
    }
}

/// How many edges ahead of the one that is planned their ends are asked for.
const AHEAD: usize = 12;

/// The most that one event may be related to.
const RELATE_MAX: usize = 64;

pub(super) fn json(map: &Attributes) -> Result<String> {
    Ok(attributes::to_json(map)?)
}

/// A vector as the file has it.
pub(super) fn bytes(vector: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(vector))
    } else {
        Cow::Owned(vector.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

pub(super) fn limit(what: &'static str, value: usize, max: usize) -> Result<()> {
    Ok(amem_format::Error::check_limit(
        what,
        value as u64,
        max as u64,
    )?)
}

pub(super) fn unit(what: &'static str, value: f32) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        Ok(())
    } else {
        Err(Error::invalid(
            what,
            format!("{value} is not within 0 and 1"),
        ))
    }
}
