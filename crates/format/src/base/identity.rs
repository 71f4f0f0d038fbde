//! Section 0x41, identity: which brain this is.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | [u8; 16] | lineage: all that descend from one creation |
//! | 16 | [u8; 16] | instance: this owned file |
//! | 32 | u64 | generation, from 1 |
//! | 40 | u64 | LSN of the last commit in the base |
//! | 48 | i64 | recorded time of that commit |
//! | 56 | [u8; 16] | vector space; zeros for none |
//! | 72 | i64 | time of the last decay run; the smallest i64 for none |
//! | 80 | u64 | LSN of that run |
//! | 88 | [f32; 6] | its rates |
//! | 112 | i64 | when the brain was created or adopted: the time of LSN 0 |
//! | 120 | u64 | events that it had then |

use uuid::Uuid;

use super::section::Section;
use crate::base::image::Body;
use crate::bytes::get_f32;
use crate::error::Result;
use crate::limits::{GENERATION_MAX, LSN_MAX, NODES_MAX, TIME_MICROS_MAX};
use crate::types::{Generation, Lsn, Micros};

/// The contents of the section.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Identity {
    /// Shared by all brains that descend from one creation.
    pub lineage: Uuid,
    /// This file, as one daemon owns it.
    pub instance: Uuid,
    /// The number of the base within the instance.
    pub generation: Generation,
    /// The last commit in the base.
    pub base_lsn: Lsn,
    /// Its recorded time.
    pub base_time: Micros,
    /// The vector space; nil for none.
    pub space: Uuid,
    /// The last decay run in the base.
    pub decay: Option<DecayRun>,
    /// When the brain was created or adopted: the time of LSN 0.
    pub origin_time: Micros,
    /// Events at that time; each has its own recorded time.
    pub origin_nodes: u64,
}

/// A decay run: strengths are computed for this time with these rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayRun {
    /// The commit.
    pub lsn: Lsn,
    /// The time for which strength was computed.
    pub at: Micros,
    /// Rates per day by event type 0–5.
    pub rates: [f32; 6],
}

const LEN: u64 = 128;

impl Identity {
    /// Reads the section.
    pub fn read(section: Section<'_>) -> Result<Self> {
        let bytes = section.slice(0, LEN)?;
        let uuid = |at: usize| Uuid::from_bytes(std::array::from_fn(|i| bytes[at + i]));
        let at = section.i64(72)?;
        let decay = (at != i64::MIN).then(|| DecayRun {
            lsn: Lsn(crate::bytes::get_u64(bytes, 80)),
            at: Micros(at),
            rates: std::array::from_fn(|i| get_f32(bytes, 88 + 4 * i)),
        });
        if decay.is_some_and(|run| run.rates.iter().any(|r| !r.is_finite() || *r < 0.0)) {
            return Err(section.bad(88, "a decay rate is negative or not finite"));
        }
        Ok(Self {
            lineage: uuid(0),
            instance: uuid(16),
            generation: Generation(section.u64(32)?),
            base_lsn: Lsn(section.u64(40)?),
            base_time: Micros(section.i64(48)?),
            space: uuid(56),
            decay,
            origin_time: Micros(section.i64(112)?),
            origin_nodes: section.u64(120)?,
        })
    }

    /// Which value is out of its range, if one is. Such a brain is read; nothing can be committed after it.
    pub fn out_of_range(&self) -> Option<String> {
        let is_time = |time: Micros| (0..=TIME_MICROS_MAX).contains(&time.0);
        let decay = self
            .decay
            .map_or((Lsn(0), Micros(0)), |run| (run.lsn, run.at));
        let rows = [
            (
                "generation",
                self.generation.0.to_string(),
                (1..=GENERATION_MAX).contains(&self.generation.0),
            ),
            (
                "last LSN",
                self.base_lsn.to_string(),
                self.base_lsn.0 <= LSN_MAX,
            ),
            (
                "last time",
                self.base_time.to_string(),
                is_time(self.base_time),
            ),
            (
                "first time",
                self.origin_time.to_string(),
                is_time(self.origin_time),
            ),
            (
                "number of first events",
                self.origin_nodes.to_string(),
                self.origin_nodes <= NODES_MAX,
            ),
            (
                "LSN of the decay run",
                decay.0.to_string(),
                decay.0.0 <= LSN_MAX,
            ),
            (
                "time of the decay run",
                decay.1.to_string(),
                is_time(decay.1),
            ),
        ];
        let (what, value, _) = rows.into_iter().find(|(.., is_within)| !is_within)?;
        Some(format!("its {what} is {value}, out of range"))
    }

    /// Writes the section.
    pub fn write(&self, body: &mut Body<'_>) -> Result<()> {
        body.bytes(self.lineage.as_bytes())?;
        body.bytes(self.instance.as_bytes())?;
        body.u64(self.generation.0)?;
        body.u64(self.base_lsn.0)?;
        body.i64(self.base_time.0)?;
        body.bytes(self.space.as_bytes())?;
        body.i64(self.decay.map_or(i64::MIN, |run| run.at.0))?;
        body.u64(self.decay.map_or(0, |run| run.lsn.0))?;
        body.array(&self.decay.map_or([0.0; 6], |run| run.rates))?;
        body.i64(self.origin_time.0)?;
        body.u64(self.origin_nodes)
    }
}
