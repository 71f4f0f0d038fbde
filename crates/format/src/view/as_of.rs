//! Moments: from an LSN or a recorded time to a bound.

use super::bound::{AsOf, Bound};
use super::snapshot::View;
use crate::error::{Error, Result};
use crate::types::{Lsn, Micros, NodeId};

impl View {
    /// The brain at a moment up to the newest commit, between commits. Events that the brain was created with keep
    /// their recorded times: before the creation they appear one by one.
    ///
    /// Events forgotten or erased since stay hidden. Access counts are those of now.
    pub fn as_of(&self, moment: AsOf) -> Result<Self> {
        let log = &self.brain.delta.log;
        let identity = self.identity();
        if let AsOf::Lsn(asked) = moment
            && asked > self.now.lsn
        {
            return Err(Error::UnknownLsn {
                asked,
                last: self.now.lsn,
            });
        }
        let count = match moment {
            AsOf::Lsn(lsn) => log.until_lsn(self.count, lsn),
            AsOf::Time(time) => log.until_time(self.count, time),
        };
        let at_base = match moment {
            AsOf::Lsn(lsn) => lsn >= identity.base_lsn,
            AsOf::Time(time) => time >= identity.base_time,
        };
        let at = if count > 0 || at_base {
            let (lsn, time) = self.brain.newest(count);
            Bound {
                lsn,
                time,
                nodes: self.brain.nodes_after(count),
            }
        } else {
            self.bound_before_base(moment)?
        };
        let is_of_moment = true;
        Ok(Self {
            at,
            is_of_moment,
            ..self.clone()
        })
    }

    fn bound_before_base(&self, moment: AsOf) -> Result<Bound> {
        let clock = self.brain.base.clock()?;
        let found = match moment {
            AsOf::Lsn(lsn) => clock.at_lsn(lsn),
            AsOf::Time(time) => clock.at_time(time),
        };
        let identity = self.identity();
        if let Some((lsn, time)) = found {
            let nodes = self.recorded_until(time, self.brain.base.nodes())?;
            return Ok(Bound { lsn, time, nodes });
        }
        let time = match moment {
            AsOf::Lsn(_) => identity.origin_time,
            AsOf::Time(time) => time.min(identity.origin_time),
        };
        let nodes =
            self.recorded_until(time, identity.origin_nodes.min(self.brain.base.nodes()))?;
        Ok(Bound {
            lsn: Lsn(0),
            time,
            nodes,
        })
    }

    /// The number of the first `count` base events recorded up to a time. Recorded times ascend with ids.
    fn recorded_until(&self, time: Micros, count: u64) -> Result<u64> {
        let (mut from, mut to) = (0, count);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.brain.base.recorded(NodeId(middle))? <= time {
                from = middle + 1
            } else {
                to = middle
            }
        }
        Ok(from)
    }
}
