//! The proof: every state a crash may leave is opened and judged.

use std::fmt;
use std::hint;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use amem_locks::LockResultExt;

use super::choice::Choice;
use super::examine::{self, ExaminedStates, Finding, Recovery};
use super::scenario::Scenario;
use super::states::{CrashState, crash_states};
use super::violation::Breach;
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
    /// Which recoveries are crashed, and which recoveries from that; the first of those after a kill always.
    pub recoveries: Vec<Recovery>,
    /// Threads that check.
    pub threads: usize,
    /// A violation of one of these kinds ends the proof: enough to show that a broken protocol is caught.
    pub stop_at: &'static [Breach],
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            budget: 20_000,
            states_max: usize::MAX,
            seed: 1,
            recoveries: vec![
                Recovery {
                    every: 16,
                    budget: 32,
                },
                Recovery {
                    every: 16,
                    budget: 8,
                },
            ],
            threads: thread::available_parallelism().map_or(2, Into::into),
            stop_at: &[],
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
    /// Of them, states of recoveries from crashed recoveries.
    pub deeper: usize,
    /// Of them, states of recoveries like which one had been judged before, in every byte, name and promise.
    pub alike: usize,
    /// Choices that left what another had left, and were not judged again.
    pub duplicates: usize,
    /// States in which the store broke its word.
    pub violations: usize,
    /// The first few: seed, where, what.
    pub first: Vec<String>,
    /// The one that ended the proof (see `Plan::stop_at`).
    pub caught: Option<String>,
}

impl Report {
    fn catch(&mut self, finding: &Finding, wanted: &[Breach]) {
        let mut violations = finding.violations.iter();
        if let Some(found) = violations.find(|found| wanted.contains(&found.breach)) {
            self.caught.get_or_insert_with(|| found.what.clone());
        }
    }

    pub(super) fn note(&mut self, finding: Finding, seed: u64) {
        self.states += 1 + finding.recoveries.iter().sum::<usize>();
        self.deeper += finding.recoveries.iter().skip(1).sum::<usize>();
        self.alike += finding.alike;
        for violation in finding.violations {
            self.violate(seed, &violation.what);
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
            "{} states ({} distinct of {} operations, {} of recoveries, {} of theirs, {} as others), {} violations",
            self.states,
            self.distinct,
            self.operations,
            self.states - self.distinct - self.deeper,
            self.deeper,
            self.alike,
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
    if let Err(violation) = examine::run(scenario, &disk) {
        report.violate(plan.seed, &violation.what);
    }
    let log = disk.log();
    report.operations = log.ops.len();
    keep_freed_memory();
    let states = Mutex::new((crash_states(&log, plan.budget, plan.seed), 0));
    let report = Mutex::new(report);
    let stop = AtomicBool::new(false);
    let examined = ExaminedStates::default();
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
                        let finding = judge(scenario, plan, number, &state, &examined);
                        let mut report = held(&report);
                        report.distinct += 1;
                        report.catch(&finding, plan.stop_at);
                        report.note(finding, plan.seed);
                        if report.caught.is_some() || report.states >= plan.states_max {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let mut report = report.into_inner().unpoisoned();
    report.duplicates = held(&states).0.duplicates;
    report
}

/// Has freed memory kept for the next state: glibc does not return to the system what is smaller than the largest block
/// that was returned, up to 32 MiB. Otherwise a fifth of the time goes into pages that come and go.
fn keep_freed_memory() {
    drop(hint::black_box(vec![0u8; 30 << 20]));
}

fn judge(
    scenario: &impl Scenario,
    plan: &Plan,
    number: usize,
    state: &CrashState,
    examined: &ExaminedStates,
) -> Finding {
    let is_crashed =
        |first: &Recovery| state.choice.kill || number.is_multiple_of(first.every.max(1));
    let recoveries = match plan.recoveries.first() {
        Some(first) if is_crashed(first) => plan.recoveries.as_slice(),
        _ => &[],
    };
    let seed = Chance::of(plan.seed, number as u64).word();
    examine::state(scenario, state, recoveries, seed, examined)
}

/// Judges one state again, as a report described it: `power 57; data 51 then kill 3`. The disk is a new one of
/// the report's seed, with the report's fault armed (`SimDisk::fail`) if it was a sweep's.
pub fn replay(scenario: &impl Scenario, disk: SimDisk, description: &str) -> Result<(), String> {
    let disk = Arc::new(disk);
    examine::run(scenario, &disk).map_err(|violation| violation.what)?;
    let mut log = disk.log();
    for crash in description.split(" then ") {
        let choice: Choice = crash.parse()?;
        let state = CrashState::of(&Arc::new(log), choice);
        let checked = examine::check(scenario, state.open(), state.answered);
        log = checked.map_err(|violation| violation.what)?;
    }
    Ok(())
}

pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unpoisoned()
}
