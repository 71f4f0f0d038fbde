//! Summaries: the events of a session become part of an episode, all at once or a part at a time.
//!
//! Promises: all at once, every event that can be compressed is, or none is. A part skips events that were forgotten,
//! compressed or moved since it was chosen.

use amem_format::journal::op::{NewNode, Op};
use amem_format::view::Direction;
use amem_format::{EdgeType, EventType, Flags, NodeId, SessionId, limits};

use crate::error::{Error, Result};
use crate::mutation::{Episode, NewEvent, Part};
use crate::plan::builder::PlanBuilder;
use crate::plan::values::{bytes, limit};

impl PlanBuilder<'_> {
    pub(super) fn compress(
        &mut self,
        session: SessionId,
        text: &str,
        vector: Option<&[f32]>,
    ) -> Result<()> {
        let mut members = Vec::new();
        for id in self.view.of_session(session)?.iter() {
            if self.is_open_member(id, session)? {
                members.push(id);
            }
        }
        if members.is_empty() {
            let why = format!("session {session} has no event that is not compressed or forgotten");
            return Err(Error::invalid("session", why));
        }
        let episode = NewEvent {
            vector: vector.map(<[f32]>::to_vec),
            ..NewEvent::new(EventType::EPISODE, text)
        };
        let episode_id = NodeId(self.view.nodes());
        // The episode belongs to the session even if that is closed.
        self.push_episode(session, &episode)?;
        self.cover(&members, episode_id)?;
        self.answer.session = Some(session);
        Ok(())
    }

    /// Summarises a part of a session; does nothing if none of its events can be covered any more.
    pub(super) fn compress_part(&mut self, part: &Part) -> Result<()> {
        let mut members = Vec::with_capacity(part.events.len());
        for &id in &part.events {
            if self.is_open_member(id, part.session)? {
                members.push(id);
            }
        }
        members.sort_unstable();
        members.dedup();
        if members.is_empty() {
            return Ok(());
        }
        let episode_id = match &part.episode {
            Episode::New(text) => {
                let id = NodeId(self.view.nodes());
                self.push_episode(part.session, &NewEvent::new(EventType::EPISODE, text))?;
                id
            }
            Episode::At(id) => {
                let node = self.visible(*id)?;
                if node.event_type() != EventType::EPISODE || node.session() != part.session {
                    let why = format!("event {id} is no episode of session {}", part.session);
                    return Err(Error::invalid("episode", why));
                }
                *id
            }
        };
        self.cover(&members, episode_id)?;
        self.answer.session = Some(part.session);
        Ok(())
    }

    /// True if a summary can cover the event and none does.
    fn is_open_member(&self, id: NodeId, session: SessionId) -> Result<bool> {
        let node = self.view.node(id)?;
        Ok(node.session() == session
            && !node.is_forgotten()
            && !node.is_compressed()
            && node.event_type() != EventType::EPISODE)
    }

    /// Adds part-of edges to the episode, and hides the events from default listings.
    fn cover(&mut self, members: &[NodeId], episode: NodeId) -> Result<()> {
        for &id in members {
            self.push_link(id, episode, EdgeType::PART_OF, 1.0);
            let node = self.view.node(id)?;
            let (confidence, lambda) = (node.confidence(), node.lambda());
            let flags = node.flags().with(Flags::COMPRESSED);
            self.push(&Op::Belief {
                target: id,
                confidence,
                flags,
                lambda,
            });
        }
        Ok(())
    }

    fn push_episode(&mut self, session: SessionId, episode: &NewEvent) -> Result<()> {
        if episode.text.trim().is_empty() {
            return Err(Error::invalid("text", "the summary is blank"));
        }
        limit(
            "the text (bytes)",
            episode.text.len(),
            limits::TEXT_BYTES_MAX,
        )?;
        let vector = self.vector(episode.vector.as_deref(), None, &episode.text)?;
        let id = NodeId(self.view.nodes());
        self.push(&Op::Event(NewNode {
            id,
            event_type: EventType::EPISODE,
            session,
            created_at: self.next_time,
            event_time: None,
            confidence: 1.0,
            lambda: 0.0,
            text: &episode.text,
            attributes: "",
            vector: &bytes(vector.as_deref().unwrap_or_default()),
            carried: None,
        }));
        self.next_time.0 += 1;
        self.answer.ids.push(id);
        Ok(())
    }

    /// Episodes that an event is part of.
    pub(super) fn episodes(&self, id: NodeId) -> Result<Vec<NodeId>> {
        let ties = self.view.edges_of(id, Direction::Outgoing)?;
        Ok(ties
            .iter()
            .filter(|t| t.edge_type == EdgeType::PART_OF)
            .map(|t| t.other)
            .collect())
    }
}
