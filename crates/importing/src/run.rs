//! A run of an import: its id, and the ids of its requests.
//!
//! The id of a request follows from the run's id and the name of the step. A repeated run uses the same ids, and the
//! daemon answers what it has done already. The id of a run follows from the brain, the text and the ten minutes in
//! which it began.

use amem_format::limits::REQUEST_WINDOW_MICROS;
use amem_format::{Error, Micros, Result};
use amem_proto::ids::new_id;
use amem_proto::v1;
use uuid::{Builder, Uuid, Version};

use crate::message::now;

/// Runs of a text that begin within this time have the same id.
const SLOT_MILLIS: i64 = 10 * 60 * 1000;

/// The id of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunId(Uuid);

impl RunId {
    /// A unique run.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        Self(new_id())
    }

    /// The run of a text that begins at a time; `of` names the text and everything that its requests depend on.
    #[must_use]
    pub fn begun(instance: Uuid, of: &[u8], at: Micros) -> Self {
        let slot = (at.0.max(0) / 1000) / SLOT_MILLIS;
        Self::of(Uuid::new_v5(&instance, of), slot * SLOT_MILLIS)
    }

    /// The runs that may have written an event recorded at a time, and that the daemon may remember: they began in the
    /// same ten minutes or in those before.
    #[must_use]
    pub fn before(instance: Uuid, of: &[u8], recorded: Micros, now: Micros) -> Vec<Self> {
        let slots = [0, 1].map(|slots| Micros(recorded.0 - slots * SLOT_MILLIS * 1000));
        let known = |at: &Micros| {
            let begins = at.0.max(0) / 1000 / SLOT_MILLIS * SLOT_MILLIS;
            begins * 1000 > now.0 - REQUEST_WINDOW_MICROS
        };
        let runs = slots.iter().filter(|at| known(at));
        runs.map(|at| Self::begun(instance, of, *at)).collect()
    }

    /// A UUIDv7 with the time and the name.
    fn of(name: Uuid, millis: i64) -> Self {
        let mut bytes = *name.as_bytes();
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        let id = Builder::from_bytes(bytes).with_version(Version::SortRand);
        Self(id.into_uuid())
    }

    /// The run of an id that an earlier import printed.
    ///
    /// # Errors
    /// An id that is no UUIDv7, or is older than what the daemon remembers.
    pub fn repeated(id: Uuid) -> Result<Self> {
        if id.get_version_num() != 7 {
            let why = format!("{id} is not a UUIDv7: give the one that the first import printed");
            return Err(Error::invalid("run id", why));
        }
        let millis = (id.as_u128() >> 80) as i64;
        if millis.saturating_mul(1000) < now().0 - REQUEST_WINDOW_MICROS {
            let why = format!(
                "{id} began more than 24 hours ago, and the daemon may not remember it: leave it out, and the import looks \
                 for what is there"
            );
            return Err(Error::invalid("run id", why));
        }
        Ok(Self(id))
    }

    /// The id.
    #[must_use]
    pub fn id(self) -> Uuid {
        self.0
    }

    /// The options of the request of a step.
    #[must_use]
    pub fn options(self, agent: &str, step: &str) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: agent.into(),
            request_id: self.request(step).to_string(),
            ..Default::default()
        }
    }

    /// Has the time of the run, and otherwise follows from the step.
    fn request(self, step: &str) -> Uuid {
        let mut millis = [0; 8];
        millis[2..].copy_from_slice(&self.0.as_bytes()[..6]);
        let name = Uuid::new_v5(&self.0, step.as_bytes());
        Self::of(name, i64::from_be_bytes(millis)).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_follow_from_the_run_and_the_step() {
        let run = RunId::new();
        let id = run.request("batch 0");
        assert_eq!(id, run.request("batch 0"));
        assert_ne!(id, run.request("batch 1"));
        assert_ne!(id, RunId::new().request("batch 0"));
        assert_eq!(
            (id.get_version_num(), id.get_variant()),
            (7, uuid::Variant::RFC4122)
        );
        assert_eq!(
            id.as_bytes()[..6],
            run.id().as_bytes()[..6],
            "the run's time"
        );
    }

    #[test]
    fn a_run_is_known_again_by_when_it_wrote() {
        let (brain, hour) = (Uuid::new_v4(), 3_600_000_000);
        let begun = Micros(1_772_442_599_000_000);
        let run = RunId::begun(brain, b"text", begun);
        let now = Micros(begun.0 + hour);
        // It wrote two seconds later, which is in the next ten minutes.
        let recorded = Micros(begun.0 + 2_000_000);
        assert!(RunId::before(brain, b"text", recorded, now).contains(&run));
        assert!(!RunId::before(brain, b"other", recorded, now).contains(&run));
        assert!(!RunId::before(Uuid::new_v4(), b"text", recorded, now).contains(&run));
        let recent = RunId::new();
        assert_eq!(RunId::repeated(recent.id()).unwrap(), recent);
        let later = Micros(begun.0 + 24 * hour);
        assert!(!RunId::before(brain, b"text", recorded, later).contains(&run));
    }

    #[test]
    fn a_run_id_that_is_no_time_ordered_uuid_is_refused() {
        let error = RunId::repeated(Uuid::new_v4()).unwrap_err();
        assert!(error.to_string().contains("UUIDv7"), "{error}");
    }
}
