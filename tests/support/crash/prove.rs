//! The proof: every state a crash may leave is opened and judged.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::choice::Choice;
use super::examine::{self, Finding};
use super::scenario::Scenario;
use super::states::{CrashState, crash_states};
use crate::disk::{Chance, SimDisk};

/// States that a thread takes at a time.
const BATCH: usize = 16;
/// Violations that a report shows.
pub(super) const SHOWN: usize = 5;

/// How much to try.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Different states, at most.
    pub budget: usize,
    /// States judged, those of recoveries included, after which the proof ends.
    pub states_max: usize,
    /// Chance's seed; the disk's too.
    pub seed: u64,
    /// Of every so many states one has its recovery crashed; those after a kill always have. At least 1.
    pub recovery_every: usize,
    /// Crashes of such a recovery.
    pub recovery_budget: usize,
    /// Threads that check.
    pub threads: usize,
    /// Whether the first violation ends the proof: enough to show that a broken protocol is caught.
    pub stop_at_first: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            budget: 20_000,
            states_max: usize::MAX,
            seed: 1,
            recovery_every: 16,
            recovery_budget: 32,
            threads: thread::available_parallelism().map_or(2, Into::into),
            stop_at_first: false,
        }
    }
}

/// What came out.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Operations in the log (in a sweep: faults tried).
    pub operations: usize,
    /// States opened and judged, those of recoveries included.
    pub states: usize,
    /// Of them, different states of the scenario's own log.
    pub distinct: usize,
    /// Choices that left what another had left, and were not judged again.
    pub duplicates: usize,
    /// States in which the store broke its word.
    pub violations: usize,
    /// The first few: seed, where, what.
    pub first: Vec<String>,
}

impl Report {
    pub(super) fn note(&mut self, finding: Finding, seed: u64) {
        self.states += 1 + finding.recoveries;
        for line in finding.violations {
            self.violate(seed, &line);
        }
    }

    pub(super) fn violate(&mut self, seed: u64, line: &str) {
        self.violations += 1;
        if self.first.len() < SHOWN {
            self.first.push(format!("seed {seed}, {line}"));
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} states ({} distinct of {} operations, {} of recoveries), {} violations",
            self.states,
            self.distinct,
            self.operations,
            self.states - self.distinct,
            self.violations
        )?;
        for line in &self.first {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

/// Runs a scenario on a sound disk and judges what crashes may leave of it.
pub fn prove(scenario: &impl Scenario, plan: &Plan) -> Report {
    prove_on(scenario, plan, scenario.disk(plan.seed))
}

/// The same on a disk that may already hold something, or cannot exchange names.
pub fn prove_on(scenario: &impl Scenario, plan: &Plan, disk: SimDisk) -> Report {
    let disk = Arc::new(disk);
    let mut report = Report::default();
    if let Err(what) = examine::run(scenario, &disk) {
        report.violate(plan.seed, &what);
    }
    let log = disk.log();
    report.operations = log.ops.len();
    let states = Mutex::new((crash_states(&log, plan.budget, plan.seed), 0));
    let report = Mutex::new(report);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..plan.threads.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let (first, batch) = {
                        let (states, taken) = &mut *held(&states);
                        let batch: Vec<_> = states.by_ref().take(BATCH).collect();
                        let first = *taken;
                        *taken += batch.len();
                        (first, batch)
                    };
                    if batch.is_empty() {
                        break;
                    }
                    for (i, state) in batch.into_iter().enumerate() {
                        let number = first + i;
                        let finding = judge(scenario, plan, number, &state);
                        let mut report = held(&report);
                        report.distinct += 1;
                        report.note(finding, plan.seed);
                        let failed = plan.stop_at_first && report.violations > 0;
                        if failed || report.states >= plan.states_max {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.duplicates = held(&states).0.duplicates;
    report
}

fn judge(scenario: &impl Scenario, plan: &Plan, number: usize, state: &CrashState) -> Finding {
    let crash_recovery = state.choice.kill || number.is_multiple_of(plan.recovery_every.max(1));
    let budget = if crash_recovery {
        plan.recovery_budget
    } else {
        0
    };
    let seed = Chance::of(plan.seed, number as u64).word();
    examine::state(scenario, state, budget, seed)
}

/// Judges one state again, as a report described it: `power 57; data 51 then kill 3`. The disk is a new one of
/// the report's seed, with the report's fault armed (`SimDisk::fail`) if it was a sweep's.
pub fn replay(scenario: &impl Scenario, disk: SimDisk, description: &str) -> Result<(), String> {
    let disk = Arc::new(disk);
    examine::run(scenario, &disk)?;
    let mut log = disk.log();
    for crash in description.split(" then ") {
        let choice: Choice = crash.parse()?;
        let state = CrashState::of(&Arc::new(log), choice);
        log = examine::check(scenario, state.open(), state.answered)?;
    }
    Ok(())
}

pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
