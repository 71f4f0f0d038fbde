//! The view itself: a generation, and how far the view reaches in it.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;

use super::bound::Bound;
use crate::base::actors::Actor;
use crate::base::identity::{DecayRun, Identity};
use crate::base::settings::Settings;
use crate::brain::Brain;
use crate::error::{Error, Result};
use crate::other_space::OtherSpace;
use crate::types::{ActorId, Lsn, Micros, NodeId};

impl Brain {
    /// A view of every published commit.
    #[inline]
    pub fn view(self: &Arc<Self>) -> View {
        View::new(self.clone(), self.delta.log.published())
    }

    /// A view of every applied commit, published or not. For the writer only.
    pub fn pending_view(self: &Arc<Self>) -> View {
        View::new(self.clone(), self.delta.log.applied())
    }
}

/// A brain up to one LSN.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) brain: Arc<Brain>,
    /// Visible commits of the delta.
    pub(super) count: u32,
    /// The newest commit.
    pub(super) now: Bound,
    /// The view's moment; `now` unless this is an `as_of` view.
    pub(super) at: Bound,
    /// True if the moment was asked for, be it that of the newest commit.
    pub(super) is_of_moment: bool,
    /// Vectors that stand for those of the brain.
    pub(super) other_space: Option<Arc<OtherSpace>>,
}

impl View {
    pub(crate) fn new(brain: Arc<Brain>, count: u32) -> Self {
        let (lsn, time) = brain.newest(count);
        let now = Bound {
            lsn,
            time,
            nodes: brain.nodes_after(count),
        };
        Self {
            brain,
            count,
            now,
            at: now,
            is_of_moment: false,
            other_space: None,
        }
    }

    /// The newest commit in the view.
    pub fn lsn(&self) -> Lsn {
        self.now.lsn
    }

    /// Recorded time of the newest commit.
    pub fn time(&self) -> Micros {
        self.now.time
    }

    /// LSN and time of the last commit up to the view's moment. Equal to `lsn` and `time` unless this is an `as_of`
    /// view.
    pub fn moment(&self) -> (Lsn, Micros) {
        (self.at.lsn, self.at.time)
    }

    /// True if the view's moment is earlier than the newest commit.
    pub fn is_as_of(&self) -> bool {
        self.at.lsn != self.now.lsn || self.at.nodes != self.now.nodes
    }

    /// True if `as_of` made the view. Its strengths are those of its moment, also at the newest commit: the answer
    /// stays the same when commits follow.
    pub fn is_of_moment(&self) -> bool {
        self.is_of_moment
    }

    /// True if the view's moment lies before the base, so that history must be undone.
    pub fn before_base(&self) -> bool {
        self.is_as_of() && self.at.lsn < self.identity().base_lsn
    }

    /// The number of events at the view's moment; ids are below this.
    #[inline]
    pub fn nodes(&self) -> u64 {
        self.at.nodes
    }

    /// The number of edges at the newest commit.
    pub fn edges(&self) -> u64 {
        self.brain.edges_after(self.count)
    }

    /// The brain's identity as its base states it.
    pub fn identity(&self) -> &Identity {
        self.brain.base.identity()
    }

    /// The id of the brain's instance: a file and its successors.
    pub fn instance(&self) -> Uuid {
        self.identity().instance
    }

    /// Numbers in a vector; 0 if the brain has no vectors.
    pub fn vector_dimension(&self) -> u32 {
        match &self.other_space {
            Some(other) => other.dimension,
            None => self.brain.base.header().dimension,
        }
    }

    /// The same view with other vectors, for the base of a generation of another vector space.
    pub fn in_space(&self, other: Arc<OtherSpace>) -> Self {
        Self {
            other_space: Some(other),
            ..self.clone()
        }
    }

    /// The vectors that stand for those of the brain, if `in_space` made the view.
    pub fn other_space(&self) -> Option<&Arc<OtherSpace>> {
        self.other_space.as_ref()
    }

    /// The generation behind the view.
    pub fn brain(&self) -> &Arc<Brain> {
        &self.brain
    }

    /// The number of visible commits of the delta.
    pub fn delta_commits(&self) -> u32 {
        self.count
    }

    /// The last decay run up to the newest commit.
    pub fn decay_run(&self) -> Option<DecayRun> {
        let decays = &self.brain.delta.decays;
        let n = decays.partition_point(decays.len(), |run| run.lsn <= self.now.lsn);
        n.checked_sub(1)
            .and_then(|at| decays.get(at))
            .copied()
            .or(self.identity().decay)
    }

    /// The settings as of the newest commit.
    pub fn settings(&self) -> Result<Cow<'_, Settings>> {
        let all = &self.brain.delta.settings;
        let n = all.partition_point(all.len(), |(lsn, _)| *lsn <= self.now.lsn);
        match n.checked_sub(1).and_then(|at| all.get(at)) {
            Some((_, span)) => Ok(Cow::Owned(Settings::parse(self.brain.span_str(*span)?)?)),
            None => Ok(Cow::Borrowed(self.brain.base.settings())),
        }
    }

    /// Principal and agent of an actor; both empty if the id is unknown.
    pub fn actor(&self, id: ActorId) -> Result<Actor<'_>> {
        let base = self.brain.base.actors()?;
        if let Some(actor) = base.get(id)? {
            return Ok(actor);
        }
        let at = u64::from(id.0)
            .checked_sub(base.len() + 1)
            .and_then(|at| u32::try_from(at).ok());
        match at.and_then(|at| self.brain.delta.actors.get(at)) {
            Some(&(_, principal, agent)) => Ok(Actor {
                principal: self.brain.span_str(principal)?,
                agent: self.brain.span_str(agent)?,
            }),
            None => Ok(Actor::default()),
        }
    }

    /// The number of actors that commits of this view name; their ids are 1 up to this. `actor` also finds those of
    /// later commits.
    pub fn actors(&self) -> Result<u64> {
        let newer = self.brain.delta.actors.iter();
        let newer = newer.take_while(|(lsn, ..)| *lsn <= self.now.lsn).count();
        Ok(self.brain.base.actors()?.len() + newer as u64)
    }

    /// The id of an actor, if a commit has named it.
    pub fn find_actor(&self, principal: &str, agent: &str) -> Result<Option<ActorId>> {
        let count = self.brain.base.actors()?.len() + u64::from(self.brain.delta.actors.len());
        for id in (1..=count).rev() {
            let id = ActorId(id as u32);
            if self.actor(id)? == (Actor { principal, agent }) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Prefetches an event; the id may be out of range.
    #[inline]
    pub fn expect(&self, id: NodeId) {
        self.brain.base.expect(id);
        self.brain.delta.events.expect(id);
    }
}

/// Checks that two vectors are of one vector space.
pub fn check_space(expected: Uuid, found: Uuid) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Space { expected, found })
    }
}
