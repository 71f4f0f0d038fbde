//! Events of the other brain: new ones, and changes of those that are here already.

use std::cmp::Ordering;

use amem_format::attributes;
use amem_format::event::Attributes;
use amem_format::journal::op::{ImportedState, NewNode, Op, Touches};
use amem_format::stamp::{EventFields, StampTarget};
use amem_format::view::Node;
use amem_format::{Flags, Micros, NodeId, limits};
use serde_json::json;

use crate::error::Result;
use crate::merge::matching::first_recorded;
use crate::merge::origin::{self, ORIGIN};
use crate::plan::belief;
use crate::plan::merge::merge_plan::{MergePlan, MergedBelief};
use crate::plan::values::bytes;

impl<'v> MergePlan<'_, 'v> {
    /// Adds events that are not here.
    pub(super) fn events(&mut self) -> Result<()> {
        let first = self.plan.view.nodes();
        for id in (0..self.other.nodes()).map(NodeId) {
            if self.matching.is_withheld(id) {
                continue;
            }
            if self.matching.ours(id).is_some() {
                self.merged.matched += 1;
                continue;
            }
            let ours = NodeId(first + self.merged.events);
            amem_format::Error::check_limit("the number of events", ours.0 + 1, limits::NODES_MAX)?;
            let node = self.other.node(id)?;
            self.event(ours, &node)?;
            self.check_budget()?;
            self.new.push(id);
            self.merged.events += 1;
        }
        Ok(())
    }

    fn event(&mut self, id: NodeId, theirs: &Node<'v>) -> Result<()> {
        let session = self.session(theirs.session(), theirs.created_at())?;
        let first = first_recorded(theirs)?;
        let event_time = match theirs.event_time()? {
            Some(time) => Some(time),
            None => Some(first),
        };
        let text = theirs.text()?;
        let attributes = self.attributes(theirs, first)?;
        let vector = self.vector(theirs, &text)?;
        let confidence = belief::own_confidence(self.other, theirs.id())?;
        let own = Flags::VECTOR.with(Flags::ATTRIBUTES);
        let flags = Flags(theirs.flags().0 & Flags::KNOWN.0).without(own);
        // A journal written by another program may have any value.
        let strength = Some(theirs.strength()).filter(|of| (0.0..=1.0).contains(of));
        let lambda = theirs.lambda();
        self.author(theirs)?;
        self.plan.push(&Op::Event(NewNode {
            id,
            event_type: theirs.event_type(),
            session,
            created_at: self.plan.next_time,
            event_time,
            confidence,
            lambda,
            text: &text,
            attributes: &attributes,
            vector: &bytes(vector.as_deref().unwrap_or_default()),
            carried: Some(ImportedState {
                flags,
                access_count: theirs.access_count(),
                last_accessed: theirs.last_accessed(),
                decay_score: strength.unwrap_or(confidence),
            }),
        }));
        self.plan.next_time.0 += 1;
        self.stamp_fields(id, theirs);
        Ok(())
    }

    /// Says when fields of a new event were changed there after it was made.
    fn stamp_fields(&mut self, id: NodeId, theirs: &Node<'v>) {
        for field in EventFields::EACH {
            let is_ours = match field {
                EventFields::ATTRIBUTES => !theirs.is_erased(),
                // A vector of another space was made here.
                EventFields::VECTOR => !theirs.is_erased() && self.is_one_space(),
                _ => true,
            };
            let changed = self.theirs.field(theirs.id(), field);
            if let Some(at) = changed.filter(|_| is_ours) {
                self.stamp(StampTarget::Field(id, field), at);
            }
        }
    }

    fn is_one_space(&self) -> bool {
        self.plan.view.identity().space == self.other.identity().space
            && self.plan.view.vector_dimension() == self.other.vector_dimension()
    }

    /// Names the event's author, unless the event before has the same: the merge's own actor recorded neither.
    fn author(&mut self, theirs: &Node<'v>) -> Result<()> {
        let there = theirs.author()?;
        let actor = match self.authors.get(&there) {
            Some(actor) => *actor,
            None => {
                let named = self.other.actor(there)?;
                let actor = self.plan.actor(named.principal, named.agent)?;
                self.authors.insert(there, actor);
                actor
            }
        };
        if self.author.replace(actor) != Some(actor) {
            self.plan.push(&Op::Author { actor });
        }
        Ok(())
    }

    /// The event's attributes, and where it comes from; of an erased event only that.
    fn attributes(&self, theirs: &Node<'v>, first: Micros) -> Result<String> {
        let known = origin::of(theirs)?;
        let mut with = if theirs.is_erased() {
            Attributes::new()
        } else {
            theirs.attributes()?.unwrap_or_default()
        };
        let agent = self.other.session(theirs.session())?;
        let agent = agent.map_or("", |session| session.agent);
        let origin = known.unwrap_or_else(|| {
            json!({
                "instance": self.other.instance().to_string(),
                "event": theirs.id().0,
                "time": first.0,
                "agent": agent,
            })
        });
        if theirs.is_erased() {
            with = origin::of_erased(&origin).unwrap_or_default()
        } else {
            drop(with.insert(ORIGIN.into(), origin))
        }
        Ok(attributes::to_json(&with)?)
    }

    /// The event's vector, if it is of our space; else what the built-in embedder makes of the text, if we use it.
    fn vector(&mut self, theirs: &Node<'v>, text: &str) -> Result<Option<Vec<f32>>> {
        match theirs.vector()? {
            Some(vector) if self.is_one_space() => Ok(Some(vector.to_vec())),
            Some(_) => {
                self.merged.other_vectors += 1;
                Ok(self
                    .plan
                    .vector(None, None, text)?
                    .map(|made| made.into_owned()))
            }
            None => Ok(None),
        }
    }

    /// Applies changes that are later there than here.
    pub(super) fn fields(&mut self) -> Result<()> {
        let pairs: Vec<_> = self.matching.pairs().collect();
        for (id, theirs_id) in pairs {
            let (ours, theirs) = (self.plan.view.node(id)?, self.other.node(theirs_id)?);
            self.uses(&ours, &theirs);
            let mut changed = self.take_belief(&ours, &theirs);
            if ours.is_erased() || theirs.is_erased() {
                self.merged.erased_there += u64::from(!ours.is_erased());
            } else {
                changed |= self.take_attributes(&ours, &theirs)?;
                changed |= self.take_vector(&ours, &theirs)?;
                let (own, other) = (self.plan.view, self.other);
                let is_other = own.identity().space != other.identity().space;
                self.merged.other_vectors += u64::from(is_other && theirs.vector()?.is_some());
            }
            self.stamp_taken(id);
            self.merged.changed += u64::from(changed);
            self.check_budget()?;
        }
        Ok(())
    }

    /// Which side set something later; never is before everything else. What was recorded once for both and never
    /// changed is the same, and need not be read: of one lineage what has one recorded time was recorded once. Files
    /// of other layouts have their times from elsewhere, and no history: a newer file of one brain says what it says.
    fn later(&self, field: EventFields, ours: &Node<'v>, theirs: &Node<'v>) -> Ordering {
        let there = self.theirs.field(theirs.id(), field);
        let here = self.ours.field(ours.id(), field);
        let is_one = self.is_one_lineage && ours.created_at() == theirs.created_at();
        if is_one && there.max(here).is_none() {
            Ordering::Less
        } else {
            there.cmp(&here)
        }
    }

    /// Whether theirs is taken: if it is later, or the greater of the same time (`value` orders theirs against ours). A
    /// value that both have gets the later stamp, so that a third brain takes it over an older one.
    fn takes(
        &mut self,
        field: EventFields,
        theirs: &Node<'v>,
        (time, value): (Ordering, Ordering),
    ) -> bool {
        let is_taken = if time.is_eq() {
            value.is_gt()
        } else {
            time.is_gt() && value.is_ne()
        };
        if is_taken || time.is_gt() {
            let at = self.theirs.field(theirs.id(), field);
            self.stamps.extend(at.map(|at| (field, at)));
        }
        is_taken
    }

    /// Writes the stamps of the fields that were compared, after their values.
    fn stamp_taken(&mut self, id: NodeId) {
        for (field, at) in std::mem::take(&mut self.stamps) {
            self.stamp(StampTarget::Field(id, field), at);
        }
    }

    /// Pinned, forgotten, compressed, the decay rate.
    fn take_belief(&mut self, ours: &Node<'v>, theirs: &Node<'v>) -> bool {
        let (before, after) = (ours.flags(), theirs.flags());
        let is_compressed = before.has(Flags::COMPRESSED) || after.has(Flags::COMPRESSED);
        let mut flags = before.set(Flags::COMPRESSED, is_compressed);
        for (flag, field) in [
            (Flags::PINNED, EventFields::PINNED),
            (Flags::FORGOTTEN, EventFields::FORGOTTEN),
        ] {
            let has = after.has(flag);
            let order = (self.later(field, ours, theirs), has.cmp(&before.has(flag)));
            if self.takes(field, theirs, order) {
                flags = flags.set(flag, has);
            }
        }
        let (own, next) = (ours.lambda(), theirs.lambda());
        let order = (
            self.later(EventFields::LAMBDA, ours, theirs),
            next.total_cmp(&own),
        );
        let takes_rate = self.takes(EventFields::LAMBDA, theirs, order);
        if flags == before && !takes_rate {
            return false;
        }
        let belief = MergedBelief {
            confidence: ours.confidence(),
            flags,
            lambda: if takes_rate { next } else { own },
        };
        self.beliefs.insert(ours.id(), belief);
        true
    }

    fn take_attributes(&mut self, ours: &Node<'v>, theirs: &Node<'v>) -> Result<bool> {
        let order = self.later(EventFields::ATTRIBUTES, ours, theirs);
        if order.is_lt() {
            return Ok(false);
        }
        let mut own = ours.attributes()?.unwrap_or_default();
        let mut next = theirs.attributes()?.unwrap_or_default();
        // The origin of an event depends on its brain.
        let origin = own.remove(ORIGIN);
        next.remove(ORIGIN);
        let value = if next == own {
            Ordering::Equal
        } else {
            attributes::to_json(&next)?.cmp(&attributes::to_json(&own)?)
        };
        if !self.takes(EventFields::ATTRIBUTES, theirs, (order, value)) {
            return Ok(false);
        }
        if let Some(origin) = origin {
            next.insert(ORIGIN.into(), origin);
        }
        let json = if next.is_empty() {
            String::new()
        } else {
            attributes::to_json(&next)?
        };
        self.plan.push(&Op::Attributes {
            target: ours.id(),
            json: &json,
        });
        Ok(true)
    }

    fn take_vector(&mut self, ours: &Node<'v>, theirs: &Node<'v>) -> Result<bool> {
        let order = self.later(EventFields::VECTOR, ours, theirs);
        if order.is_lt() || self.plan.view.identity().space != self.other.identity().space {
            return Ok(false);
        }
        let (own, next) = (ours.vector()?, theirs.vector()?);
        let dimension = self.plan.view.vector_dimension() as usize;
        if next.is_some_and(|vector| vector.len() != dimension) {
            return Ok(false);
        }
        // Vectors that differ only in the sign of zeros are equal.
        let value = next.partial_cmp(&own).unwrap_or(Ordering::Equal);
        if !self.takes(EventFields::VECTOR, theirs, (order, value)) {
            return Ok(false);
        }
        let vector = bytes(next.unwrap_or_default());
        self.plan.push(&Op::Vector {
            target: ours.id(),
            vector: &vector,
        });
        Ok(true)
    }

    /// Takes the larger count of uses and the later time.
    fn uses(&mut self, ours: &Node<'v>, theirs: &Node<'v>) {
        let more = theirs.access_count().saturating_sub(ours.access_count());
        let at = theirs.last_accessed();
        if more == 0 && at <= ours.last_accessed() {
            return;
        }
        let encoded = Touches::encode(&[(ours.id(), more)]);
        if let Some(entries) = Touches::from_bytes(&encoded) {
            self.plan.push(&Op::Touch { at, entries });
            self.merged.touched += 1;
        }
    }
}
