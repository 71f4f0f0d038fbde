//! Scheduled jobs: decay, expiry, closing of idle sessions, summaries, a scrub, checkpoints.
//!
//! Each brain's settings say when. A start is delayed by a share of the interval that depends on the brain and the job,
//! so that many brains do not begin at once. What became due while the machine slept or was off, or the brain was
//! closed, is done once: where the settings name an hour (`daily`, `weekly`), a closed brain is opened for it, one at a
//! time, and closed again; a job at intervals waits until a caller opens the brain.
//!
//! Promises: a job never overlaps itself, even if its caller stops waiting; few run at a time; what it writes goes
//! through the brain's queue in small portions, so that no other write waits for a job; its outcome is listed, and sent
//! to subscribers.
//! Work of other layers that has times of its own runs as a job too (`run_unscheduled`).
//! Not here: checkpoints that follow the journal and not the clock (`checkpoints`).

mod scheduler;

mod table;

mod calendar;
mod entry;
mod last_runs;

mod work;

mod report;
mod requests;
mod summaries;

mod clock;

pub use entry::ScheduledJob;
pub use scheduler::Schedules;
