//! The clock of schedules, and whether it is reliable.
//!
//! The wall clock says when a job is due; it can be set, by hand or from the network, by years and either way. A steady
//! clock, which also runs while the machine sleeps, shows when that happened.
//!
//! Promises: after a jump forward, jobs that judge ages wait until the clock has run evenly for a while: a clock that
//! is set wrong and then right again does no harm.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use amem_format::Micros;
use amem_locks::LockResultExt;

use crate::limits::{CLOCK_JUMP, CLOCK_SETTLES_AFTER};

/// Both clocks at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ClockReading {
    /// The wall clock.
    pub(super) now: Micros,
    /// The steady clock, from any origin.
    pub(super) steady: Duration,
}

/// Reads both clocks.
type Read = dyn Fn() -> ClockReading + Send + Sync;

/// The clock.
#[derive(Clone)]
pub(super) struct ScheduleClock {
    read: Arc<Read>,
    history: Arc<Mutex<ClockHistory>>,
}

/// What is known of earlier readings.
#[derive(Debug, Default)]
struct ClockHistory {
    last: Option<ClockReading>,
    /// When the wall clock jumped forward, by the steady one.
    jumped: Option<Duration>,
}

impl ScheduleClock {
    /// The clocks of the system.
    pub(super) fn system() -> Self {
        Self::new(|| ClockReading {
            now: wall(),
            steady: steady(),
        })
    }

    /// Other clocks.
    pub(super) fn new(read: impl Fn() -> ClockReading + Send + Sync + 'static) -> Self {
        Self {
            read: Arc::new(read),
            history: Arc::default(),
        }
    }

    /// The wall clock.
    pub(super) fn now(&self) -> Micros {
        (self.read)().now
    }

    /// Reads both clocks; returns the time, and until when ages can't be judged.
    pub(super) fn look(&self) -> (Micros, Option<Micros>) {
        let reading = (self.read)();
        let mut history = self.history.lock().unpoisoned();
        if let Some(last) = history.last.replace(reading) {
            let wall = i128::from(reading.now.0) - i128::from(last.now.0);
            let steady = reading.steady.saturating_sub(last.steady).as_micros() as i128;
            if wall - steady > CLOCK_JUMP.as_micros() as i128 {
                tracing::warn!(
                    from = %last.now,
                    to = %reading.now,
                    "the clock was set forward: jobs that judge ages wait for a while"
                );
                history.jumped = Some(reading.steady);
            }
        }
        let rested = history.jumped.map(|at| reading.steady.saturating_sub(at));
        let left = rested.and_then(|rested| CLOCK_SETTLES_AFTER.checked_sub(rested));
        let Some(left) = left.filter(|left| !left.is_zero()) else {
            history.jumped = None;
            return (reading.now, None);
        };
        let until = reading.now.0.saturating_add(left.as_micros() as i64);
        (reading.now, Some(Micros(until)))
    }
}

impl fmt::Debug for ScheduleClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleClock")
            .field("history", &self.history)
            .finish()
    }
}

fn wall() -> Micros {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A clock that also runs while the machine sleeps, where there is one: waking up is no jump.
fn steady() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A clock that is moved by hand.
    #[derive(Debug, Clone)]
    pub(in crate::schedules) struct ByHand(Arc<Mutex<ClockReading>>);

    impl ByHand {
        pub(in crate::schedules) fn at(now: Micros) -> Self {
            Self(Arc::new(Mutex::new(ClockReading {
                now,
                steady: Duration::from_secs(1_000),
            })))
        }

        pub(in crate::schedules) fn clock(&self) -> ScheduleClock {
            let hands = self.0.clone();
            ScheduleClock::new(move || *hands.lock().unwrap())
        }

        /// Time goes by.
        pub(in crate::schedules) fn pass(&self, span: Duration) {
            let mut reading = self.0.lock().unwrap();
            reading.now.0 += span.as_micros() as i64;
            reading.steady += span;
        }

        /// The wall clock is set.
        pub(in crate::schedules) fn set(&self, now: Micros) {
            self.0.lock().unwrap().now = now;
        }
    }

    const DAY: Duration = Duration::from_secs(86_400);
    const NOON: Micros = Micros(1_700_000_000_000_000);

    #[test]
    fn a_clock_that_is_set_forward_is_not_relied_upon_until_it_has_settled() {
        let hands = ByHand::at(NOON);
        let clock = hands.clock();
        assert_eq!(clock.look(), (NOON, None));
        // Sleep is no jump, and neither is a clock that is set by some seconds, or back.
        hands.pass(30 * DAY);
        assert_eq!(clock.look().1, None);
        hands.set(Micros(clock.now().0 + 5_000_000));
        assert_eq!(clock.look().1, None);
        hands.set(NOON);
        assert_eq!(clock.look().1, None);
        let years = Micros(NOON.0 + 20 * 365 * 86_400 * 1_000_000);
        hands.set(years);
        let until = Micros(years.0 + CLOCK_SETTLES_AFTER.as_micros() as i64);
        assert_eq!(clock.look(), (years, Some(until)));
        hands.pass(CLOCK_SETTLES_AFTER / 2);
        assert_eq!(clock.look().1, Some(until));
        // Set right again: it has to settle no longer than that, in the time that is right now.
        hands.set(NOON);
        assert!(clock.look().1.is_some_and(|until| until < years));
        hands.pass(CLOCK_SETTLES_AFTER / 2);
        assert_eq!(clock.look().1, None);
    }

    #[test]
    fn the_clocks_of_the_system_go_on_beside_each_other() {
        let clock = ScheduleClock::system();
        let before = (clock.read)();
        assert_eq!(clock.look().1, None);
        let after = (clock.read)();
        assert!(before.steady <= after.steady && before.now.0 > NOON.0);
    }
}
