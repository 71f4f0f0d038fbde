//! Deadlines: the time that a request may take. The caller asks for one, within `limits.deadline_max_secs`.

use std::time::Duration;

use amem_proto::answer::Code;
use tokio::time::Instant;

use super::requirement::{Pace, Requirement};
use crate::config::Limits;
use crate::refusal::{Refusal, Result};

/// The instant by which a request must be answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// The time from the beginning of the request to `at`.
    within: Duration,
    /// True if the request has a request_id.
    is_repeatable: bool,
}

impl Deadline {
    /// The deadline of a request that begins now, if it has one.
    pub(crate) fn new(
        asked: Option<Duration>,
        requirement: &Requirement,
        limits: &Limits,
    ) -> Option<Self> {
        let within = within(asked, requirement.pace, limits)?;
        Some(Self {
            at: Instant::now() + within,
            within,
            is_repeatable: requirement.is_repeatable,
        })
    }

    /// An error if it has passed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_over() {
            return Err(self.exceeded());
        }
        Ok(())
    }

    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// The refusal of a request that took too long.
    pub(crate) fn exceeded(&self) -> Refusal {
        let within = self.within;
        let next = if self.is_repeatable {
            "its change may still be executed: retry with the same request_id"
        } else {
            "allow more time, or ask for less"
        };
        let message = format!("the call did not complete within {within:?}; {next}");
        Refusal::new(Code::DeadlineExceeded, "DEADLINE", message)
    }
}

fn within(asked: Option<Duration>, pace: Pace, limits: &Limits) -> Option<Duration> {
    let max = match pace {
        Pace::Stream => return asked,
        Pace::Long => limits.deadline_max(),
        Pace::Call if asked.is_some() => limits.deadline_max(),
        Pace::Call => limits.deadline(),
    };
    Some(asked.map_or(max, |asked| asked.min(max)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_deadline_counts_within_the_largest() {
        let limits = Limits {
            deadline_secs: 10,
            deadline_max_secs: 100,
            ..Limits::default()
        };
        let secs = |secs| Some(Duration::from_secs(secs));
        for (asked, pace, wanted) in [
            (None, Pace::Call, secs(10)),
            (None, Pace::Long, secs(100)),
            (None, Pace::Stream, None),
            (secs(50), Pace::Call, secs(50)),
            (secs(101), Pace::Call, secs(100)),
            (secs(3000), Pace::Stream, secs(3000)),
        ] {
            assert_eq!(within(asked, pace, &limits), wanted, "{asked:?} {pace:?}");
        }
    }

    #[test]
    fn only_a_call_that_has_a_request_id_is_to_be_retried_with_it() {
        for (path, has) in [
            ("/amem.v1.MemoryService/Ingest", true),
            ("/amem.v1.MemoryService/Erase", true),
            ("/amem.v1.MemoryService/Subscribe", false),
            ("/amem.v1.QueryService/Search", false),
            ("/amem.v1.BrainService/CheckpointBrain", false),
        ] {
            let requirement = Requirement::of_call(path).unwrap();
            let asked = Some(Duration::from_secs(1));
            let deadline = Deadline::new(asked, &requirement, &Limits::default());
            let message = deadline.unwrap().exceeded().0.message;
            assert_eq!(message.contains("request_id"), has, "{path}: {message}");
        }
    }
}
