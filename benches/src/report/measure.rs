//! Taking times: rounds in which everybody has a turn, and the median of each.
//!
//! Each contestant takes its own time, per operation, so that preparing costs no other anything. The first
//! round warms up and does not count; each round begins with another contestant.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What can go wrong while measuring.
pub(super) type Failure = Box<dyn Error>;
pub(super) type Outcome<T> = Result<T, Failure>;

/// Rounds that count.
const ROUNDS: usize = 7;
/// What one turn takes at least, so that the clock itself costs nothing.
const TURN: Duration = Duration::from_millis(8);

/// A contestant.
#[derive(Default)]
pub(super) struct Contest<'a> {
    names: Vec<&'static str>,
    turns: Vec<Box<dyn FnMut() -> Outcome<f64> + 'a>>,
}

/// What everybody reached.
pub(super) struct Medians(Vec<(&'static str, f64)>);

impl<'a> Contest<'a> {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// A contestant that gives a number for each turn.
    pub(super) fn turn(
        mut self,
        name: &'static str,
        turn: impl FnMut() -> Outcome<f64> + 'a,
    ) -> Self {
        self.names.push(name);
        self.turns.push(Box::new(turn));
        self
    }

    /// A contestant that repeats an operation: the number is the seconds of one repetition.
    pub(super) fn again<T>(
        self,
        name: &'static str,
        mut act: impl FnMut() -> Outcome<T> + 'a,
    ) -> Self {
        let mut times = 1;
        self.turn(name, move || {
            loop {
                let began = Instant::now();
                for _ in 0..times {
                    black_box(act()?);
                }
                let took = began.elapsed();
                if took >= TURN || times >= 1 << 20 {
                    return Ok(took.as_secs_f64() / f64::from(times));
                }
                times *= 2;
            }
        })
    }

    /// Everybody in turn.
    pub(super) fn run(mut self) -> Outcome<Medians> {
        let mut all = vec![Vec::with_capacity(ROUNDS); self.turns.len()];
        for round in 0..=ROUNDS {
            for at in 0..self.turns.len() {
                let at = (at + round) % self.turns.len();
                let found = (self.turns[at])()?;
                if round > 0 {
                    all[at].push(found);
                }
            }
        }
        let medians = all.into_iter().map(median);
        Ok(Medians(self.names.into_iter().zip(medians).collect()))
    }
}

impl Medians {
    /// What a contestant reached.
    pub(super) fn of(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, m)| *m)
    }
}

/// The seconds of one operation of a turn: the median of those that the turn makes, which prepares nothing meanwhile.
pub(super) fn each<T>(prepared: Vec<T>, mut act: impl FnMut(T) -> Outcome<()>) -> Outcome<f64> {
    let mut times = Vec::with_capacity(prepared.len());
    for one in prepared {
        let began = Instant::now();
        act(one)?;
        times.push(began.elapsed().as_secs_f64());
    }
    Ok(median(times))
}

/// Seconds by which a sync is slower than where the goals were set: there it took 130 µs at most.
pub(super) fn slack(sync: f64) -> f64 {
    (sync - 130e-6).max(0.0)
}

/// The one in the middle; of none, zero.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or_default()
}

/// An error unless the two are the same.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    ours: &T,
    theirs: &T,
) -> Outcome<()> {
    if ours == theirs {
        return Ok(());
    }
    let short = |all: &T| format!("{all:?}").chars().take(200).collect::<String>();
    Err(format!("{what}: ours {} … theirs {}", short(ours), short(theirs)).into())
}
