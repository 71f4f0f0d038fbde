//! A scheduled job of a brain: when it ran last, its outcome, when it runs next.
//!
//! Promises: what was missed is due once, however often it was missed; a run in the future, noted before the clock was
//! set back, counts as one of now, so that nothing waits for years; a schedule that changes counts from then.
//! Not here: running it.

use std::hash::{DefaultHasher, Hash, Hasher};

use amem_format::Micros;
use amem_format::base::schedule::Schedule;
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::calendar;
use crate::jobs::JobKind;
use crate::limits::JITTER_MAX;

/// A scheduled job of a brain.
#[derive(Debug, Clone)]
pub struct ScheduledJob {
    /// What it does.
    pub kind: JobKind,
    /// To which brain.
    pub brain: String,
    pub(super) instance: Uuid,
    /// When it runs.
    pub schedule: Schedule,
    /// Since when it is known to have this schedule: moments before that were never missed.
    pub(super) since: Micros,
    /// When it ran last.
    pub last: Option<Micros>,
    /// When it ran before that: a run that the end of the daemon cuts off is done again.
    pub(super) before: Option<Micros>,
    /// What it did then, or why it failed.
    pub outcome: Option<Result<String, String>>,
    /// When it runs next, if ever.
    pub next: Option<Micros>,
    /// True while it runs.
    pub running: bool,
    /// How often it ran since the daemon started.
    pub runs: u64,
}

/// What an update depends on.
#[derive(Debug, Clone, Copy)]
pub(super) struct UpdateInput<'z> {
    /// The zone of times of day.
    pub(super) zone: &'z TimeZone,
    pub(super) now: Micros,
    /// Until when ages can't be judged.
    pub(super) unsettled: Option<Micros>,
    /// When it ran last, according to the brain itself.
    pub(super) recorded: Option<Micros>,
}

impl ScheduledJob {
    /// A job that is new here.
    pub(super) fn new(
        kind: JobKind,
        brain: &str,
        instance: Uuid,
        schedule: Schedule,
        input: UpdateInput<'_>,
    ) -> Self {
        let recorded = input.recorded.filter(|at| *at <= input.now);
        Self {
            kind,
            brain: brain.to_owned(),
            instance,
            schedule,
            // A recorded run was asked for before that.
            since: recorded.unwrap_or(input.now),
            last: recorded,
            before: None,
            outcome: None,
            next: None,
            running: false,
            runs: 0,
        }
    }

    /// Updates it; true if it is due and does not run.
    pub(super) fn update(&mut self, schedule: Schedule, input: UpdateInput<'_>) -> bool {
        let now = input.now;
        if self.schedule != schedule {
            self.schedule = schedule;
            self.since = now;
        }
        self.since = self.since.min(now);
        // A run in the future was noted by a wrong clock: count from now.
        self.last = self.last.map(|last| last.min(now));
        // A recorded run in the future is ignored.
        self.last = self.last.max(input.recorded.filter(|at| *at <= now));
        let from = match schedule {
            Schedule::Every(_) => self.last,
            // Moments before `since` belong to another schedule.
            _ => self.last.map(|last| last.max(self.since)),
        };
        let delay = jitter(&self.brain, self.kind, schedule);
        self.next = calendar::next(schedule, from, self.since, input.zone)
            .map(|next| Micros(next.0.saturating_add(delay)));
        if judges_age(self.kind)
            && let Some(until) = input.unsettled
        {
            self.next = self.next.map(|next| next.max(until));
        }
        !self.running && self.next.is_some_and(|next| next <= now)
    }

    /// True if a closed brain is opened for it: its settings name an hour.
    pub(super) fn wakes(&self) -> bool {
        matches!(self.schedule, Schedule::Daily(_) | Schedule::Weekly(..))
    }
}

/// True for jobs that change, beyond undoing, what is old enough.
fn judges_age(kind: JobKind) -> bool {
    matches!(
        kind,
        JobKind::Expiry | JobKind::CloseSessions | JobKind::Compression
    )
}

/// The delay of a start, in microseconds: less than a tenth of the interval.
fn jitter(brain: &str, kind: JobKind, schedule: Schedule) -> i64 {
    let most = schedule.interval().unwrap_or(0) / 10;
    let most = most.min(JITTER_MAX.as_micros() as i64).max(1) as u64;
    let mut hasher = DefaultHasher::new();
    (brain, kind as i32).hash(&mut hasher);
    (hasher.finish() % most) as i64
}

#[cfg(test)]
mod tests {
    use super::super::last_runs::LastRun;
    use super::*;

    const HOUR: i64 = 3_600_000_000;
    const DAY: i64 = 24 * HOUR;
    /// A midnight.
    const START: i64 = 19_000 * DAY;

    fn at(now: i64) -> UpdateInput<'static> {
        const UTC: &TimeZone = &TimeZone::UTC;
        UpdateInput {
            zone: UTC,
            now: Micros(now),
            unsettled: None,
            recorded: None,
        }
    }

    fn schedule(text: &str) -> Schedule {
        text.parse().unwrap()
    }

    fn entry(kind: JobKind, text: &str, now: i64) -> ScheduledJob {
        let brain = format!("{text} since {now}");
        ScheduledJob::new(kind, &brain, Uuid::nil(), schedule(text), at(now))
    }

    /// Looks at it every half a minute for a while, from one moment on; gives when it ran.
    fn follow(entry: &mut ScheduledJob, from: i64, span: i64) -> Vec<i64> {
        let mut ran = Vec::new();
        for now in (from..from + span).step_by(30_000_000) {
            if entry.update(entry.schedule, at(now)) {
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
            job = run.job_of("b").unwrap();
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
                let look = |now| UpdateInput {
                    recorded: Some(Micros(ahead)),
                    ..at(now)
                };
                assert!(!job.update(job.schedule, look(START)), "{text}");
                let due = (0..).map(|n| START + n * 60_000_000);
                let due = due.take_while(|now| *now <= START + longest);
                let mut due = due.filter(|now| job.update(job.schedule, look(*now)));
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
            let look = UpdateInput {
                unsettled: Some(until),
                ..at(START + DAY)
            };
            assert_eq!(job.update(job.schedule, look), !waits, "{kind:?}");
            assert!(!waits || job.next == Some(until));
        }
    }

    #[test]
    fn a_changed_schedule_counts_from_the_change_and_not_from_missed_runs() {
        let now = START + 5 * DAY + 15 * HOUR;
        for last in [None, Some(Micros(now - 23 * HOUR))] {
            let mut job = entry(JobKind::Decay, "every 7d", START);
            job.last = last;
            assert!(!job.update(job.schedule, at(now)));
            assert!(!job.update(schedule("daily 14:00"), at(now)), "{last:?}");
            assert!(job.next.unwrap().0 >= START + 6 * DAY + 14 * HOUR);
            // A job that is set to every hour runs as soon as an hour has passed.
            assert_eq!(job.update(schedule("every 1h"), at(now)), last.is_some());
        }
    }

    #[test]
    fn a_run_that_the_brain_tells_of_counts_if_nobody_has_kept_more() {
        let look = UpdateInput {
            recorded: Some(Micros(START)),
            ..at(START + 2 * DAY)
        };
        let mut job = ScheduledJob::new(
            JobKind::Decay,
            "b",
            Uuid::nil(),
            schedule("daily 03:00"),
            look,
        );
        assert!(
            job.update(job.schedule, look),
            "it was missed twice: {job:?}"
        );
        let never = UpdateInput {
            recorded: None,
            ..look
        };
        let mut job = ScheduledJob::new(
            JobKind::Decay,
            "b",
            Uuid::nil(),
            schedule("daily 03:00"),
            never,
        );
        assert!(!job.update(job.schedule, never));
    }
}
