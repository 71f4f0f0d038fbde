//! A run of an import: its id, and those of its requests.
//!
//! The id of a request follows from the run's and the step's name alone, so that a run that broke off is repeated
//! under the same id, and the daemon answers what it has done already instead of doing it again.

use amem_client::v1;
use amem_core::{Error, Result};
use uuid::{Builder, Uuid, Version};

/// The id of a run, from which those of its requests follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run(Uuid);

impl Run {
    /// A new run.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
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
        let mut bytes = *Uuid::new_v5(&self.0, step.as_bytes()).as_bytes();
        bytes[..6].copy_from_slice(&self.0.as_bytes()[..6]);
        Builder::from_bytes(bytes)
            .with_version(Version::SortRand)
            .into_uuid()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_follow_from_the_run_and_the_step() {
        let run = Run::new();
        let id = run.request("batch 0");
        assert_eq!(id, run.request("batch 0"));
        assert_ne!(id, run.request("batch 1"));
        assert_ne!(id, Run::new().request("batch 0"));
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
    fn a_run_id_that_is_no_time_ordered_uuid_is_refused() {
        let error = Run::repeated(Uuid::new_v4()).unwrap_err();
        assert!(error.to_string().contains("UUIDv7"), "{error}");
    }
}
