//! Changes of existing events: touch, pin, forget, attributes, vectors; decay and settings.

use std::collections::BTreeSet;

use amem_format::base::settings::Settings;
use amem_format::event::Attributes;
use amem_format::journal::op::{Op, Touches};
use amem_format::view::Direction;
use amem_format::{EdgeType, Flags, Micros, NodeId, limits};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::limits::TOUCHED_EVENTS_MAX;
use crate::merge::origin;
use crate::plan::belief::{self, SupersedesChanges};
use crate::plan::builder::PlanBuilder;
use crate::plan::values::{bytes, json, limit};

impl PlanBuilder<'_> {
    pub(super) fn touch(&mut self, entries: &[(NodeId, u32)]) -> Result<()> {
        limit("the events in a touch", entries.len(), TOUCHED_EVENTS_MAX)?;
        let mut shown = Vec::with_capacity(entries.len());
        for &(id, times) in entries {
            // A reader may have used an event that was hidden since: its other touches count.
            if !self.view.node(id)?.is_forgotten() {
                shown.push((id, times));
            }
            if times == 0 {
                return Err(Error::invalid(
                    "touch",
                    format!("event {id} is touched 0 times"),
                ));
            }
        }
        if !shown.is_empty() {
            let encoded = Touches::encode(&shown);
            if let Some(entries) = Touches::from_bytes(&encoded) {
                self.push(&Op::Touch {
                    at: self.now,
                    entries,
                });
            }
        }
        Ok(())
    }

    pub(super) fn pin(&mut self, id: NodeId, on: bool) -> Result<()> {
        let node = self.visible(id)?;
        self.answer.target = Some(id);
        if node.flags().has(Flags::PINNED) == on {
            return Ok(());
        }
        let op = Op::Belief {
            target: id,
            confidence: node.confidence(),
            flags: node.flags().set(Flags::PINNED, on),
            lambda: node.lambda(),
        };
        self.push(&op);
        Ok(())
    }

    /// Hides an event, or shows it again; the events that it replaced get their confidence back, or lose it.
    pub(super) fn hide(&mut self, id: NodeId, on: bool) -> Result<()> {
        let node = self.view.node(id)?;
        self.answer.target = Some(id);
        if node.is_forgotten() == on {
            return Ok(());
        }
        let op = Op::Belief {
            target: id,
            confidence: node.confidence(),
            flags: node.flags().set(Flags::FORGOTTEN, on),
            lambda: node.lambda(),
        };
        self.push(&op);
        let pending = SupersedesChanges::hiding(id, on);
        for tie in self.view.edges_of(id, Direction::Outgoing)?.iter() {
            if tie.edge_type == EdgeType::SUPERSEDES {
                let confidence = belief::effective_confidence(self.view, tie.other, &pending)?;
                self.set_confidence(tie.other, confidence)?;
                self.answer.related.push(tie.other);
            }
        }
        Ok(())
    }

    /// Hides events together: what they replaced gets its confidence back, unless it is hidden with them.
    pub(super) fn hide_all(&mut self, ids: &[NodeId]) -> Result<()> {
        let ids: BTreeSet<NodeId> = ids.iter().copied().collect();
        let pending = SupersedesChanges::hiding_all(&ids);
        let mut replaced = BTreeSet::new();
        for &id in &ids {
            let node = self.view.node(id)?;
            if node.is_forgotten() {
                continue;
            }
            self.push(&Op::Belief {
                target: id,
                confidence: node.confidence(),
                flags: node.flags().set(Flags::FORGOTTEN, true),
                lambda: node.lambda(),
            });
            for edge in self.view.edges_of(id, Direction::Outgoing)?.iter() {
                if edge.edge_type == EdgeType::SUPERSEDES && !ids.contains(&edge.other) {
                    replaced.insert(edge.other);
                }
            }
        }
        for id in replaced {
            let confidence = belief::effective_confidence(self.view, id, &pending)?;
            self.set_confidence(id, confidence)?;
            self.answer.related.push(id);
        }
        Ok(())
    }

    pub(super) fn set_vector(
        &mut self,
        target: NodeId,
        vector: Option<&[f32]>,
        space: Option<Uuid>,
    ) -> Result<()> {
        self.editable(target)?;
        if let Some(vector) = vector {
            self.check_vector(vector, space)?;
        }
        let encoded = bytes(vector.unwrap_or_default());
        self.push(&Op::Vector {
            target,
            vector: &encoded,
        });
        self.answer.target = Some(target);
        Ok(())
    }

    pub(super) fn set_attributes(
        &mut self,
        target: NodeId,
        attributes: Option<&Attributes>,
    ) -> Result<()> {
        let node = self.editable(target)?;
        let kept = origin::merge_into(attributes, origin::of(&node)?)?;
        let text = kept.as_ref().map(json).transpose()?.unwrap_or_default();
        self.push(&Op::Attributes {
            target,
            json: &text,
        });
        self.answer.target = Some(target);
        Ok(())
    }

    pub(super) fn decay(&mut self, at: Micros) -> Result<()> {
        let rates = self.view.settings()?.decay.by_type();
        self.push(&Op::Decay { at, rates });
        Ok(())
    }

    pub(super) fn set_settings(&mut self, settings: &Settings) -> Result<()> {
        settings.check()?;
        let before = self.view.settings()?;
        settings.check_keys(&before)?;
        let text = settings.to_json();
        limit(
            "the settings (bytes)",
            text.len(),
            limits::SETTINGS_BYTES_MAX,
        )?;
        self.push(&Op::Settings { json: &text });
        Ok(())
    }
}
