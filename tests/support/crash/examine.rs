//! One state, opened and judged; panics are violations.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::scenario::{Scenario, Trace};
use super::states::{CrashState, crash_states};
use crate::disk::{Answered, Log, SimDisk};

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

/// What was found about a state and the recoveries from it.
#[derive(Debug, Default)]
pub(super) struct Finding {
    /// Crashes during or after recovery that were examined.
    pub(super) recoveries: usize,
    /// What is wrong: where, and what.
    pub(super) violations: Vec<String>,
}

/// Examines a state; and crashes its recovery, too, in up to `recovery_budget` ways.
pub(super) fn state(
    scenario: &impl Scenario,
    state: &CrashState,
    recovery_budget: usize,
    seed: u64,
) -> Finding {
    let mut finding = Finding::default();
    match check(scenario, state.open(), state.answered) {
        Err(what) => finding.violations.push(format!("{}: {what}", state.choice)),
        Ok(log) if recovery_budget > 0 => {
            for second in crash_states(&log, recovery_budget, seed) {
                finding.recoveries += 1;
                if let Err(what) = check(scenario, second.open(), second.answered) {
                    let line = format!("{} then {}: {what}", state.choice, second.choice);
                    finding.violations.push(line);
                }
            }
        }
        Ok(_) => {}
    }
    finding
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("(no words)")
        .to_owned()
}
