//! One state, opened and judged; panics are violations.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::scenario::{Scenario, Trace};
use super::states::{CrashState, crash_states};
use crate::disk::{Answered, Chance, Log, SimDisk};

/// Runs a scenario on a disk.
pub(super) fn run(scenario: &impl Scenario, disk: &Arc<SimDisk>) -> Result<(), String> {
    let trace = Trace::new(disk);
    catch_unwind(AssertUnwindSafe(|| scenario.run(disk.clone(), &trace)))
        .map_err(|panic| format!("the run panicked: {}", words(&*panic)))
}

/// Opens a disk after a crash; what was done to it since, ending with what has been shown.
pub(super) fn check(
    scenario: &impl Scenario,
    disk: Arc<SimDisk>,
    answered: Answered,
) -> Result<Log, String> {
    let trace = Trace::new(&disk);
    let found = catch_unwind(AssertUnwindSafe(|| {
        scenario.check(disk.clone(), answered, &trace)
    }))
    .map_err(|panic| format!("the check panicked: {}", words(&*panic)))??;
    if found < answered.must {
        return Err(format!(
            "transactions lost: {} were answered, {found} are there",
            answered.must
        ));
    }
    if found > answered.may {
        return Err(format!(
            "transactions from nowhere: {} were handed over, {found} are there",
            answered.may
        ));
    }
    trace.acknowledge(found);
    Ok(disk.log())
}

/// Crashes of what a check does: of its recovery, that is, and of what it goes on with.
#[derive(Debug, Clone, Copy)]
pub struct Recovery {
    /// Of so many checks one is crashed. At least 1.
    pub every: usize,
    /// In so many ways, at most.
    pub budget: usize,
}

/// What was found about a state and the recoveries from it.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// Crashes during or after recovery that were examined, and crashes of the recoveries from these, and so on.
    pub(super) recoveries: Vec<usize>,
    /// What is wrong: where, and what.
    pub(super) violations: Vec<String>,
}

/// Examines a state, and crashes its recovery, and the recovery from that, as far as there are `recoveries`; the first
/// always.
pub(super) fn state(
    scenario: &impl Scenario,
    state: &CrashState,
    recoveries: &[Recovery],
    seed: u64,
) -> Finding {
    let mut finding = Finding {
        recoveries: vec![0; recoveries.len()],
        ..Finding::default()
    };
    let trail = state.choice.to_string();
    at_level(scenario, state, &trail, recoveries, 0, seed, &mut finding);
    finding
}

fn at_level(
    scenario: &impl Scenario,
    state: &CrashState,
    trail: &str,
    recoveries: &[Recovery],
    level: usize,
    seed: u64,
    finding: &mut Finding,
) {
    let log = match check(scenario, state.open(), state.answered) {
        Ok(log) => log,
        Err(what) => return finding.violations.push(format!("{trail}: {what}")),
    };
    let Some(recovery) = recoveries.get(level) else {
        return;
    };
    // The first of all is always crashed: whoever asks has chosen.
    let before = level
        .checked_sub(1)
        .map_or(0, |above| finding.recoveries[above]);
    if !before.is_multiple_of(recovery.every.max(1)) {
        return;
    }
    for next in crash_states(&log, recovery.budget, Chance::of(seed, level as u64).word()) {
        finding.recoveries[level] += 1;
        let trail = format!("{trail} then {}", next.choice);
        at_level(
            scenario,
            &next,
            &trail,
            recoveries,
            level + 1,
            seed,
            finding,
        );
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("(no words)")
        .to_owned()
}
