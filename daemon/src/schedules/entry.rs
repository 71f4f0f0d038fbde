//! How a job of a brain stands: when it ran last, what came of it, when it runs next.
//!
//! Promises: what was missed is due once, however often it was missed; what lies ahead of a clock that was set back is
//! taken for now, so that nothing waits for years; a schedule that is changed counts from then.
//! Not here: running it.

use std::hash::{DefaultHasher, Hash, Hasher};

use amem_format::Micros;
use amem_format::base::schedule::Schedule;
use amem_proto::v1::JobKind;
use uuid::Uuid;

use super::last_runs::LastRun;
use crate::limits::JITTER_MAX;

/// How a job of a brain stands.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) kind: JobKind,
    pub(crate) brain: String,
    pub(super) instance: Uuid,
    pub(crate) schedule: Schedule,
    /// Since when it has this schedule, as far as we know: moments before that were never missed.
    pub(super) since: Micros,
    /// When it ran last.
    pub(crate) last: Option<Micros>,
    /// When it ran before that: what a daemon that ends has not brought to its end is done again.
    pub(super) before: Option<Micros>,
    /// What came of that.
    pub(crate) outcome: Option<Result<String, String>>,
    /// When it runs next, if ever.
    pub(crate) next: Option<Micros>,
    pub(crate) running: bool,
    /// How often it ran since the daemon started.
    pub(crate) runs: u64,
}

/// What an entry is looked at with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) now: Micros,
    /// Until when it can't be told how old things are.
    pub(super) unsettled: Option<Micros>,
    /// When the brain itself says that it was done.
    pub(super) told: Option<Micros>,
}

impl Entry {
    /// A job that was never seen before.
    pub(super) fn new(
        kind: JobKind,
        brain: &str,
        instance: Uuid,
        schedule: Schedule,
        look: Look,
    ) -> Self {
        let told = look.told.filter(|told| *told <= look.now);
        Self {
            kind,
            brain: brain.to_owned(),
            instance,
            schedule,
            // What was done before we knew of it was asked for before that.
            since: told.unwrap_or(look.now),
            last: told,
            before: None,
            outcome: None,
            next: None,
            running: false,
            runs: 0,
        }
    }

    /// A job that an earlier daemon knew; `None` if this one knows no such job.
    pub(super) fn of_last_run(brain: &str, run: &LastRun) -> Option<Self> {
        let kind = JobKind::from_str_name(&run.job)?;
        let message = run.message.clone();
        Some(Self {
            kind,
            brain: brain.to_owned(),
            instance: run.instance,
            schedule: run.schedule.parse().ok()?,
            since: Micros(run.since),
            last: run.last.map(Micros),
            before: None,
            outcome: message.map(|what| if run.failed { Err(what) } else { Ok(what) }),
            next: None,
            running: false,
            runs: 0,
        })
    }

    /// Brings it up to date; true if it is due and does not run.
    pub(super) fn look(&mut self, schedule: Schedule, look: Look) -> bool {
        let now = look.now;
        if self.schedule != schedule {
            self.schedule = schedule;
            self.since = now;
        }
        self.since = self.since.min(now);
        // A run that is in the future was noted by a clock that was wrong: the count begins anew, now, and goes on.
        self.last = self.last.map(|last| last.min(now));
        // One that the brain tells of and that is still to come says nothing.
        self.last = self.last.max(look.told.filter(|told| *told <= now));
        let from = match schedule {
            Schedule::Every(_) => self.last,
            // The last moment of the calendar was one of another schedule.
            _ => self.last.map(|last| last.max(self.since)),
        };
        let put_off = jitter(&self.brain, self.kind, schedule);
        self.next = schedule
            .next(from, self.since)
            .map(|next| Micros(next.0.saturating_add(put_off)));
        if judges_age(self.kind)
            && let Some(until) = look.unsettled
        {
            self.next = self.next.map(|next| next.max(until));
        }
        !self.running && self.next.is_some_and(|next| next <= now)
    }

    /// Whether it is worth opening a brain for: somebody named an hour.
    pub(super) fn wakes(&self) -> bool {
        matches!(self.schedule, Schedule::Daily(_) | Schedule::Weekly(..))
    }
}

/// Jobs that do what can't all be undone to what is old enough.
fn judges_age(kind: JobKind) -> bool {
    matches!(
        kind,
        JobKind::Expiry | JobKind::CloseSessions | JobKind::Compression
    )
}

/// By how much a start is put off: less than a tenth of the interval.
fn jitter(brain: &str, kind: JobKind, schedule: Schedule) -> i64 {
    let most = schedule.interval().unwrap_or(0) / 10;
    let most = most.min(JITTER_MAX.as_micros() as i64).max(1) as u64;
    let mut hasher = DefaultHasher::new();
    (brain, i32::from(kind)).hash(&mut hasher);
    (hasher.finish() % most) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000_000;
    const DAY: i64 = 24 * HOUR;
    /// A midnight.
    const START: i64 = 19_000 * DAY;

    fn at(now: i64) -> Look {
        Look {
            now: Micros(now),
            unsettled: None,
            told: None,
        }
    }

    fn schedule(text: &str) -> Schedule {
        text.parse().unwrap()
    }

    fn entry(kind: JobKind, text: &str, now: i64) -> Entry {
        let brain = format!("{text} since {now}");
        Entry::new(kind, &brain, Uuid::nil(), schedule(text), at(now))
    }

    /// Looks at it every half a minute for a while, from one moment on; gives when it ran.
    fn follow(entry: &mut Entry, from: i64, span: i64) -> Vec<i64> {
        let mut ran = Vec::new();
        for now in (from..from + span).step_by(30_000_000) {
            if entry.look(entry.schedule, at(now)) {
                entry.last = Some(Micros(now));
                ran.push(now);
            }
        }
        ran
    }

    #[test]
    fn jobs_run_once_a_span_or_a_moment_of_the_calendar_put_off_by_a_little() {
        for (text, runs) in [
            ("every 6h", 4 * 3),
            ("every 1h", 24 * 3),
            ("daily 03:00", 3),
        ] {
            let mut entry = entry(JobKind::Decay, text, START);
            let ran = follow(&mut entry, START, 3 * DAY + HOUR);
            // An interval begins when the one before it was begun, so it loses what it is put off by.
            assert!(
                ran.len() <= runs + 1 && ran.len() * 12 >= runs * 10,
                "{text}: {ran:?}"
            );
            if text.starts_with("daily") {
                for (day, ran) in ran.iter().enumerate() {
                    let late = ran - (START + day as i64 * DAY + 3 * HOUR);
                    assert!((0..=JITTER_MAX.as_micros() as i64 + 30_000_000).contains(&late));
                }
            }
        }
        assert!(follow(&mut entry(JobKind::Decay, "off", START), START, DAY).is_empty());
    }

    #[test]
    fn a_machine_that_is_off_each_night_does_its_nightly_jobs_each_morning_once() {
        let mut job = entry(JobKind::Compression, "daily 03:00", START + 9 * HOUR);
        for day in 0..4 {
            let morning = START + day * DAY + 9 * HOUR;
            // What is kept of it from one day to the next.
            let run = LastRun::of(&job, Micros(morning));
            job = Entry::of_last_run("b", &run).unwrap();
            let ran = follow(&mut job, morning, 8 * HOUR);
            assert_eq!(ran.len(), usize::from(day > 0), "day {day}: {ran:?}");
            assert!(ran.iter().all(|at| *at < morning + HOUR));
        }
    }

    #[test]
    fn a_clock_that_is_set_forward_by_years_runs_each_job_once_and_not_for_each_time() {
        for text in ["every 10m", "every 1d", "daily 03:00", "weekly sun 03:00"] {
            let mut job = entry(JobKind::Decay, text, START);
            let years = START + 20 * 365 * DAY + 12 * HOUR;
            // Within two thirds of the shortest interval it is due once, in spite of a million that were missed.
            let ran = follow(&mut job, years, 6 * 60_000_000);
            assert_eq!(ran, [years], "{text}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_by_years_holds_no_job_up_longer_than_its_schedule() {
        for (text, longest) in [
            ("every 10m", HOUR),
            ("every 1d", 27 * HOUR),
            ("daily 03:00", 25 * HOUR),
            ("weekly sun 03:00", 7 * DAY + HOUR),
        ] {
            let ahead = START + 20 * 365 * DAY;
            for has_run in [false, true] {
                let mut job = entry(JobKind::Decay, text, ahead);
                job.last = has_run.then_some(Micros(ahead));
                // The brain goes on telling of a run that is in the future.
                let look = |now| Look {
                    told: Some(Micros(ahead)),
                    ..at(now)
                };
                assert!(!job.look(job.schedule, look(START)), "{text}");
                let due = (0..).map(|n| START + n * 60_000_000);
                let due = due.take_while(|now| *now <= START + longest);
                let mut due = due.filter(|now| job.look(job.schedule, look(*now)));
                assert!(due.next().is_some(), "{text} is not due within {longest}");
            }
        }
    }

    #[test]
    fn what_judges_how_old_things_are_waits_for_a_clock_to_settle() {
        let until = Micros(START + 2 * DAY);
        for (kind, waits) in [
            (JobKind::Expiry, true),
            (JobKind::CloseSessions, true),
            (JobKind::Compression, true),
            (JobKind::Decay, false),
            (JobKind::Scrub, false),
        ] {
            let mut job = entry(kind, "every 1h", START);
            let look = Look {
                unsettled: Some(until),
                ..at(START + DAY)
            };
            assert_eq!(job.look(job.schedule, look), !waits, "{kind:?}");
            assert!(!waits || job.next == Some(until));
        }
    }

    #[test]
    fn a_changed_schedule_counts_from_the_change_and_not_from_missed_runs() {
        let now = START + 5 * DAY + 15 * HOUR;
        for last in [None, Some(Micros(now - 23 * HOUR))] {
            let mut job = entry(JobKind::Decay, "every 7d", START);
            job.last = last;
            assert!(!job.look(job.schedule, at(now)));
            assert!(!job.look(schedule("daily 14:00"), at(now)), "{last:?}");
            assert!(job.next.unwrap().0 >= START + 6 * DAY + 14 * HOUR);
            // Whoever asks for a job every hour has it as soon as an hour has gone by.
            assert_eq!(job.look(schedule("every 1h"), at(now)), last.is_some());
        }
    }

    #[test]
    fn a_run_that_the_brain_tells_of_counts_if_nobody_has_kept_more() {
        let look = Look {
            told: Some(Micros(START)),
            ..at(START + 2 * DAY)
        };
        let mut job = Entry::new(
            JobKind::Decay,
            "b",
            Uuid::nil(),
            schedule("daily 03:00"),
            look,
        );
        assert!(job.look(job.schedule, look), "it was missed twice: {job:?}");
        let never = Look { told: None, ..look };
        let mut job = Entry::new(
            JobKind::Decay,
            "b",
            Uuid::nil(),
            schedule("daily 03:00"),
            never,
        );
        assert!(!job.look(job.schedule, never));
    }
}
