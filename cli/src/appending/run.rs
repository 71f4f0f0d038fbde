//! A run of an import: its id, and those of its requests.
//!
//! The id of a request follows from the run's and the step's name alone, so that a run that broke off is repeated
//! under the same id, and the daemon answers what it has done already instead of doing it again. The id itself follows
//! from the brain, the text, and the ten minutes in which the run began: whoever knows when that was can repeat it.

use amem_client::v1;
use amem_format::limits::REQUEST_WINDOW_MICROS;
use amem_format::{Error, Micros, Result};
use uuid::{Builder, Uuid, Version};

/// Runs of a text that begin within the same so many milliseconds have one id.
const SLOT_MILLIS: i64 = 10 * 60 * 1000;

/// The id of a run, from which those of its requests follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunId(Uuid);

impl RunId {
    /// A run like no other.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The run of a text (`of` names it and all that its requests depend on) into a brain that begins at a time.
    pub(super) fn begun(instance: Uuid, of: &[u8], at: Micros) -> Self {
        let slot = (at.0.max(0) / 1000) / SLOT_MILLIS;
        Self::of(Uuid::new_v5(&instance, of), slot * SLOT_MILLIS)
    }

    /// The runs that may have written an event recorded at a time, if the daemon may still know of them: they began in
    /// the same ten minutes, or in those before.
    pub(super) fn before(instance: Uuid, of: &[u8], recorded: Micros, now: Micros) -> Vec<Self> {
        let slots = [0, 1].map(|slots| Micros(recorded.0 - slots * SLOT_MILLIS * 1000));
        let known = |at: &Micros| {
            let begins = at.0.max(0) / 1000 / SLOT_MILLIS * SLOT_MILLIS;
            begins * 1000 > now.0 - REQUEST_WINDOW_MICROS
        };
        let runs = slots.iter().filter(|at| known(at));
        runs.map(|at| Self::begun(instance, of, *at)).collect()
    }

    /// An id of a time.
    fn of(name: Uuid, millis: i64) -> Self {
        let mut bytes = *name.as_bytes();
        bytes[..6].copy_from_slice(&millis.to_be_bytes()[2..]);
        let id = Builder::from_bytes(bytes).with_version(Version::SortRand);
        Self(id.into_uuid())
    }

    /// A run that is repeated.
    pub(crate) fn repeated(id: Uuid) -> Result<Self> {
        if id.get_version_num() != 7 {
            let why = format!("{id} is no UUIDv7: give the one that the first import told");
            return Err(Error::invalid("run id", why));
        }
        Ok(Self(id))
    }

    /// Its id.
    pub(crate) fn id(self) -> Uuid {
        self.0
    }

    /// What a step of the run is asked under.
    pub(super) fn options(self, agent: &str, step: &str) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: agent.into(),
            request_id: self.request(step).to_string(),
            ..Default::default()
        }
    }

    /// The request id of a step: of the run's time, and otherwise made from the step's name.
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
        assert_eq!(RunId::repeated(run.id()).unwrap(), run);
        let later = Micros(begun.0 + 24 * hour);
        assert!(!RunId::before(brain, b"text", recorded, later).contains(&run));
    }

    #[test]
    fn a_run_id_that_is_no_time_ordered_uuid_is_refused() {
        let error = RunId::repeated(Uuid::new_v4()).unwrap_err();
        assert!(error.to_string().contains("UUIDv7"), "{error}");
    }
}
