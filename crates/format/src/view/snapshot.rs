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
use crate::types::{ActorId, Lsn, Micros, NodeId};

impl Brain {
    /// A view of all that is published.
    #[inline]
    pub fn view(self: &Arc<Self>) -> View {
        View::new(self.clone(), self.delta.log.published())
    }

    /// A view of all that is applied, published or not: for the writer alone.
    pub fn pending_view(self: &Arc<Self>) -> View {
        View::new(self.clone(), self.delta.log.applied())
    }
}

/// A brain up to one LSN.
#[derive(Debug, Clone)]
pub struct View {
    pub(super) brain: Arc<Brain>,
    /// Commits of the delta that are in the view.
    pub(super) count: u32,
    /// The newest commit.
    pub(super) now: Bound,
    /// The moment asked about; `now` unless this is an `as_of` view.
    pub(super) at: Bound,
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
        }
    }

    /// The newest commit in the view.
    pub fn lsn(&self) -> Lsn {
        self.now.lsn
    }

    /// Recorded time of that commit.
    pub fn time(&self) -> Micros {
        self.now.time
    }

    /// The moment asked about: the last commit not past it, and its time. As `lsn` and `time` unless this is an
    /// `as_of` view.
    pub fn moment(&self) -> (Lsn, Micros) {
        (self.at.lsn, self.at.time)
    }

    /// True if the moment asked about is not that of the newest commit.
    pub fn is_as_of(&self) -> bool {
        self.at.lsn != self.now.lsn || self.at.nodes != self.now.nodes
    }

    /// True if that moment lies before the base, so that history has to be undone.
    pub fn before_base(&self) -> bool {
        self.is_as_of() && self.at.lsn < self.identity().base_lsn
    }

    /// Events at the moment asked about; their ids are below this.
    #[inline]
    pub fn nodes(&self) -> u64 {
        self.at.nodes
    }

    /// Live edges of the newest commit.
    pub fn edges(&self) -> u64 {
        self.brain.edges_after(self.count)
    }

    /// Which brain it is, as of its base.
    pub fn identity(&self) -> &Identity {
        self.brain.base.identity()
    }

    /// This owned file.
    pub fn instance(&self) -> Uuid {
        self.identity().instance
    }

    /// Numbers in a vector; 0 for none.
    pub fn vector_dimension(&self) -> u32 {
        self.brain.base.header().dimension
    }

    /// The generation behind the view.
    pub fn brain(&self) -> &Arc<Brain> {
        &self.brain
    }

    /// Commits of the delta that are in the view.
    pub fn delta_commits(&self) -> u32 {
        self.count
    }

    /// The last decay run of the newest commit.
    pub fn decay_run(&self) -> Option<DecayRun> {
        let decays = &self.brain.delta.decays;
        let n = decays.partition_point(decays.len(), |run| run.lsn <= self.now.lsn);
        n.checked_sub(1)
            .and_then(|at| decays.get(at))
            .copied()
            .or(self.identity().decay)
    }

    /// The settings of the newest commit.
    pub fn settings(&self) -> Result<Cow<'_, Settings>> {
        let all = &self.brain.delta.settings;
        let n = all.partition_point(all.len(), |(lsn, _)| *lsn <= self.now.lsn);
        match n.checked_sub(1).and_then(|at| all.get(at)) {
            Some((_, span)) => Ok(Cow::Owned(Settings::parse(self.brain.span_str(*span)?)?)),
            None => Ok(Cow::Borrowed(self.brain.base.settings())),
        }
    }

    /// Who an actor is; the empty actor if it has no name.
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

    /// How many actors the commits of this view have made known; their numbers are 1 up to this. `actor` knows those of
    /// later commits as well.
    pub fn actors(&self) -> Result<u64> {
        let newer = self.brain.delta.actors.iter();
        let newer = newer.take_while(|(lsn, ..)| *lsn <= self.now.lsn).count();
        Ok(self.brain.base.actors()?.len() + newer as u64)
    }

    /// The number of an actor that is known already.
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

    /// Has what is known of an event loaded; it need not be there.
    #[inline]
    pub fn expect(&self, id: NodeId) {
        self.brain.base.expect(id);
        self.brain.delta.events.expect(id);
    }
}

/// The vector space of two sides must agree.
pub fn check_space(expected: Uuid, found: Uuid) -> Result<()> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Space { expected, found })
    }
}
