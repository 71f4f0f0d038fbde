//! Events of the other brain: new ones, and what changed of those that are here already.

use amem_core::event::Attributes;
use amem_core::journal::op::{Carried, NewNode, Op, Touches};
use amem_core::query::attributes;
use amem_core::view::Node;
use amem_core::{Flags, Micros, NodeId, limits};
use serde_json::json;

use super::{Belief, Merging};
use crate::belief;
use crate::error::Result;
use crate::merge::ORIGIN;
use crate::merge::changes::{Changes, Field};
use crate::merge::matching::first_recorded;
use crate::plan::events::bytes;

impl<'v> Merging<'_, 'v> {
    /// Adds what is not here.
    pub(super) fn events(&mut self) -> Result<()> {
        let first = self.plan.view.nodes();
        for id in (0..self.other.nodes()).map(NodeId) {
            if self.matching.ours(id).is_some() {
                self.merged.matched += 1;
                continue;
            }
            let ours = NodeId(first + self.merged.events);
            amem_core::Error::check_limit("the number of events", ours.0 + 1, limits::NODES_MAX)?;
            let node = self.other.node(id)?;
            self.event(ours, &node)?;
            self.new.push(id);
            self.merged.events += 1;
        }
        Ok(())
    }

    fn event(&mut self, id: NodeId, theirs: &Node<'v>) -> Result<()> {
        let session = self.session(theirs.session())?;
        let first = first_recorded(theirs)?;
        let event_time = match theirs.event_time()? {
            Some(time) => Some(time),
            None => Some(first),
        };
        let text = theirs.text()?;
        let attributes = self.attributes(theirs, first)?;
        let vector = self.vector(theirs, &text)?;
        let confidence = belief::own_confidence(self.other, theirs.id())?;
        let flags = theirs
            .flags()
            .without(Flags::VECTOR.with(Flags::ATTRIBUTES));
        let lambda = theirs.lambda();
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
            carried: Some(Carried {
                flags,
                access_count: theirs.access_count(),
                last_accessed: theirs.last_accessed(),
                decay_score: theirs.strength(),
            }),
        }));
        self.plan.next_time.0 += 1;
        Ok(())
    }

    /// The event's attributes, and where it comes from.
    fn attributes(&mut self, theirs: &Node<'v>, first: Micros) -> Result<String> {
        if theirs.is_erased() {
            return Ok(String::new());
        }
        let before = theirs.attributes()?.unwrap_or_default();
        if before.contains_key(ORIGIN) {
            return Ok(attributes::to_json(&before)?);
        }
        let agent = self.other.session(theirs.session())?;
        let agent = agent.map_or("", |session| session.agent);
        let mut with: Attributes = before.clone();
        let origin = json!({
            "instance": self.other.instance().to_string(),
            "event": theirs.id().0,
            "time": first.0,
            "agent": agent,
        });
        with.insert(ORIGIN.into(), origin);
        match attributes::to_json(&with) {
            Ok(json) => Ok(json),
            Err(_) => {
                self.merged.without_origin += 1;
                Ok(match before.is_empty() {
                    true => String::new(),
                    false => attributes::to_json(&before)?,
                })
            }
        }
    }

    /// The event's vector, if it is of our space; else what the built-in embedder makes of the text, if we use it.
    fn vector(&mut self, theirs: &Node<'v>, text: &str) -> Result<Option<Vec<f32>>> {
        let (own, other) = (self.plan.view, self.other);
        let same = own.identity().space == other.identity().space
            && own.vector_dimension() == other.vector_dimension();
        match theirs.vector()? {
            Some(vector) if same => Ok(Some(vector.to_vec())),
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

    /// Brings what changed there later than here.
    pub(super) fn fields(&mut self) -> Result<()> {
        let pairs: Vec<_> = self.matching.pairs().collect();
        for (id, theirs_id) in pairs {
            let (ours, theirs) = (self.plan.view.node(id)?, self.other.node(theirs_id)?);
            self.uses(&ours, &theirs);
            if ours.is_erased() || theirs.is_erased() {
                self.merged.erased_there += u64::from(!ours.is_erased());
                continue;
            }
            let later = |field| {
                let none = Micros(i64::MIN);
                let of = |changes: &Changes, id| changes.field(id, field).unwrap_or(none);
                of(&self.theirs, theirs_id) > of(&self.ours, id)
            };
            let mut changed = false;
            let (before, after) = (ours.flags(), theirs.flags());
            let mut flags = before.set(
                Flags::COMPRESSED,
                before.has(Flags::COMPRESSED) || after.has(Flags::COMPRESSED),
            );
            for (flag, field) in [
                (Flags::PINNED, Field::Pinned),
                (Flags::FORGOTTEN, Field::Forgotten),
            ] {
                if before.has(flag) != after.has(flag) && later(field) {
                    flags = flags.set(flag, after.has(flag));
                }
            }
            let take_lambda =
                ours.lambda().to_bits() != theirs.lambda().to_bits() && later(Field::Lambda);
            let lambda = if take_lambda {
                theirs.lambda()
            } else {
                ours.lambda()
            };
            let take_attributes = later(Field::Attributes);
            let take_vector = later(Field::Vector);
            if flags != before || take_lambda {
                changed = true;
                let confidence = ours.confidence();
                self.beliefs.insert(
                    id,
                    Belief {
                        confidence,
                        flags,
                        lambda,
                    },
                );
            }
            if take_attributes {
                changed |= self.take_attributes(id, &ours, &theirs)?;
            }
            if take_vector {
                changed |= self.take_vector(id, &ours, &theirs)?;
            }
            self.merged.changed += u64::from(changed);
        }
        Ok(())
    }

    fn take_attributes(&mut self, id: NodeId, ours: &Node<'v>, theirs: &Node<'v>) -> Result<bool> {
        let own = ours.attributes()?.unwrap_or_default();
        let mut next = theirs.attributes()?.unwrap_or_default();
        // Where an event comes from is of the brain that it is in.
        next.remove(ORIGIN);
        if let Some(origin) = own.get(ORIGIN) {
            next.insert(ORIGIN.into(), origin.clone());
        }
        if next == own {
            return Ok(false);
        }
        let json = match next.is_empty() {
            true => String::new(),
            false => attributes::to_json(&next)?,
        };
        self.plan.push(&Op::Attributes {
            target: id,
            json: &json,
        });
        Ok(true)
    }

    fn take_vector(&mut self, id: NodeId, ours: &Node<'v>, theirs: &Node<'v>) -> Result<bool> {
        if self.plan.view.identity().space != self.other.identity().space {
            return Ok(false);
        }
        let (own, next) = (ours.vector()?, theirs.vector()?);
        if own == next
            || next.is_some_and(|v| v.len() != self.plan.view.vector_dimension() as usize)
        {
            return Ok(false);
        }
        let vector = bytes(next.unwrap_or_default());
        self.plan.push(&Op::Vector {
            target: id,
            vector: &vector,
        });
        Ok(true)
    }

    /// The larger count of uses, and the later time.
    fn uses(&mut self, ours: &Node<'v>, theirs: &Node<'v>) {
        let more = theirs.access_count().saturating_sub(ours.access_count());
        if more == 0 {
            return;
        }
        let at = ours.last_accessed().max(theirs.last_accessed());
        let encoded = Touches::encode(&[(ours.id(), more)]);
        if let Some(entries) = Touches::from_bytes(&encoded) {
            self.plan.push(&Op::Touch { at, entries });
            self.merged.touched += 1;
        }
    }
}
