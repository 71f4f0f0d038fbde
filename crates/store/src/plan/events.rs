//! New events.

use std::borrow::Cow;

use amem_format::journal::op::{NewNode, Op};
use amem_format::{EdgeType, Flags, NodeId, SessionId, limits};
use amem_query::embed::Embedder;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::limits::{PREFETCHED_LINKS, RELATED_EVENTS_MAX};
use crate::merge::origin;
use crate::mutation::{End, Ingest, NewEvent, NewLink, Relate};
use crate::plan::builder::PlanBuilder;
use crate::plan::similar;
use crate::plan::values::{bytes, json, limit, unit};

impl PlanBuilder<'_> {
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
            .take(PREFETCHED_LINKS)
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
            if let Some(later) = ingest.links.get(at + PREFETCHED_LINKS) {
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
        self.apply_pending()?;
        self.forget_with(first, ingest)
    }

    /// Hides what an ingest forgets, after its edges.
    fn forget_with(&mut self, first: u64, ingest: &Ingest) -> Result<()> {
        let mut existing = Vec::new();
        for end in &ingest.forget {
            match *end {
                End::Event(id) => existing.push(id),
                End::New(at) => {
                    let event = ingest.events.get(at).ok_or_else(|| {
                        let count = ingest.events.len();
                        let why = format!("it names event {at} of a batch of {count}");
                        Error::invalid("forget", why)
                    })?;
                    // Nothing replaces an event of its own batch (`supersede`), so that its confidence is its own.
                    self.push(&Op::Belief {
                        target: NodeId(first + at as u64),
                        confidence: event.confidence,
                        flags: Flags::FORGOTTEN,
                        lambda: event.lambda.unwrap_or(0.0),
                    });
                }
            }
        }
        self.hide_all(&existing)
    }

    /// Prefetches the ends of an edge: they are anywhere in the brain, and each one costs a cache miss.
    fn expect(&self, link: &NewLink) {
        for end in [link.source, link.target] {
            if let End::Event(id) = end {
                self.view.expect(id);
            }
        }
    }

    /// Adds an event; returns its vector.
    pub(super) fn event<'e>(&mut self, event: &'e NewEvent) -> Result<Option<Cow<'e, [f32]>>> {
        if event.text.trim().is_empty() {
            return Err(Error::invalid("text", "it is blank: an event needs a text"));
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
        self.join(session)?;
        let id = NodeId(self.view.nodes() + self.answer.ids.len() as u64);
        amem_format::Error::check_limit("the number of events", id.0 + 1, limits::NODES_MAX)?;
        let json = match &event.attributes {
            Some(map) => {
                origin::check(map)?;
                json(map)?
            }
            None => String::new(),
        };
        let vector = match self.is_outdated(event) {
            true => self.instead(event)?,
            false => self.vector(event.vector.as_deref(), event.space, &event.text)?,
        };
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

    /// True if a vector was made in this process before the brain got another space.
    fn is_outdated(&self, event: &NewEvent) -> bool {
        let own = self.view.identity().space;
        event.is_derived && event.space.is_some_and(|space| space != own)
    }

    /// What an event gets instead of a vector of the space before. One of zeros stays one: what it is of is never
    /// searched.
    fn instead<'e>(&self, event: &NewEvent) -> Result<Option<Cow<'e, [f32]>>> {
        let numbers = event.vector.as_deref().unwrap_or_default();
        if numbers.iter().any(|x| *x != 0.0) {
            return self.vector(None, None, &event.text);
        }
        let zeros = vec![0.0; self.view.vector_dimension() as usize];
        Ok((!zeros.is_empty()).then_some(Cow::Owned(zeros)))
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
        // One branch for all numbers, so that the loop is vectorised.
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

    /// Adds an edge from each new event to the one before it in its session.
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

    /// Adds edges from new events to the most similar ones that were there before.
    fn relate(
        &mut self,
        first: u64,
        vectors: &[Option<Cow<'_, [f32]>>],
        relate: Relate,
    ) -> Result<()> {
        amem_format::Error::check_limit("relate.k", relate.k as u64, RELATED_EVENTS_MAX as u64)?;
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
                similar::nearest(self.view, vector, relate.k, relate.min_similarity)?
            {
                let weight = similarity.clamp(0.0, 1.0);
                self.push_link(NodeId(first + at as u64), id, EdgeType::RELATED_TO, weight);
            }
        }
        Ok(())
    }
}
