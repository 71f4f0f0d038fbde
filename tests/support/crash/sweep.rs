//! Every k-th operation fails, once or for good; then the process dies, or power is cut.
//!
//! The scenario runs with the fault. What it said was answered must be there after a kill, after a power cut
//! at the end, and after power cuts between the fault and the end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use amem_locks::LockResultExt;

use super::examine::{self, ExaminedStates, Recovery};
use super::prove::{Report, held};
use super::scenario::Scenario;
use super::states::crash_states;
use crate::disk::{Among, Chance, EDQUOT, EIO, ENOSPC, EROFS, Effect, Fault};

/// Which faults to try, and how hard to look afterwards.
#[derive(Debug, Clone)]
pub struct Sweep {
    /// The operations that are made to fail, each in turn.
    pub among: Among,
    /// The error numbers.
    pub errors: Vec<i32>,
    /// What has been done nonetheless.
    pub effects: Vec<Effect>,
    /// Of every so many operations one. At least 1.
    pub step: usize,
    /// States of each faulty run that are judged, spread over what came after the fault.
    pub budget: usize,
    /// Crashes of each recovery after a kill.
    pub recovery_budget: usize,
    /// Chance's seed; the disk's too.
    pub seed: u64,
    /// Threads that run.
    pub threads: usize,
    /// Whether the first violation ends the sweep.
    pub stop_at_first: bool,
}

impl Default for Sweep {
    fn default() -> Self {
        Self {
            among: Among::Changes,
            errors: vec![EIO, ENOSPC, EDQUOT, EROFS],
            effects: vec![Effect::Nothing, Effect::Half, Effect::Everything],
            step: 1,
            budget: 48,
            recovery_budget: 8,
            seed: 1,
            threads: thread::available_parallelism().map_or(2, Into::into),
            stop_at_first: false,
        }
    }
}

/// Runs a scenario once for each fault and judges what is left.
pub fn sweep(scenario: &impl Scenario, sweep: &Sweep) -> Report {
    let sound = Arc::new(scenario.disk(sweep.seed));
    let mut report = Report::default();
    if let Err(violation) = examine::run(scenario, &sound) {
        report.violate(sweep.seed, &violation.what);
    }
    let faults = faults(sweep, sound.operations(sweep.among));
    report.operations = faults.len();
    let report = Mutex::new(report);
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..sweep.threads.max(1) {
            scope.spawn(|| {
                while let Some(fault) = faults.get(next.fetch_add(1, Ordering::Relaxed)) {
                    try_one(scenario, sweep, *fault, &report);
                    if sweep.stop_at_first && held(&report).violations > 0 {
                        break;
                    }
                }
            });
        }
    });
    report.into_inner().unpoisoned()
}

fn faults(sweep: &Sweep, operations: u64) -> Vec<Fault> {
    let mut faults = Vec::new();
    for after in (0..operations).step_by(sweep.step.max(1)) {
        // Each error meets each effect as the operations go by.
        let turned = sweep.effects.iter().cycle().skip(after as usize % 8);
        for (&error, &effect) in sweep.errors.iter().zip(turned) {
            for lasting in [false, true] {
                faults.push(Fault {
                    after,
                    among: sweep.among,
                    error,
                    effect,
                    lasting,
                });
            }
        }
    }
    faults
}

fn try_one(scenario: &impl Scenario, sweep: &Sweep, fault: Fault, report: &Mutex<Report>) {
    let disk = Arc::new(scenario.disk(sweep.seed));
    disk.fail(fault);
    if let Err(violation) = examine::run(scenario, &disk) {
        held(report).violate(sweep.seed, &format!("{fault:?}: {violation}"));
    }
    disk.heal();
    let Some(struck) = disk.struck_at() else {
        // An earlier run had more operations; this one is as if there were no fault.
        return;
    };
    let log = disk.log().from_point(struck);
    let seed = Chance::of(sweep.seed, fault.after).word();
    let examined = ExaminedStates::default();
    for state in crash_states(&log, sweep.budget, seed) {
        let recovery = Recovery {
            every: 1,
            budget: sweep.recovery_budget,
        };
        let recoveries = [recovery];
        let crashed = if state.choice.kill {
            &recoveries[..]
        } else {
            &[]
        };
        let mut finding = examine::state(scenario, &state, crashed, seed, &examined);
        for violation in &mut finding.violations {
            violation.what.insert_str(0, &format!("{fault:?}, "));
        }
        let mut report = held(report);
        report.distinct += 1;
        report.note(finding, sweep.seed);
    }
}
