//! One state, opened and judged; panics are violations.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use super::prove::held;
use super::scenario::{Scenario, Trace};
use super::states::{CrashState, crash_states};
use super::violation::{Breach, Violation};
use crate::disk::{AnsweredBounds, Chance, Log, SimDisk};

/// Runs a scenario on a disk.
pub(super) fn run(scenario: &impl Scenario, disk: &Arc<SimDisk>) -> Result<(), Violation> {
    let trace = Trace::new(disk);
    catch_unwind(AssertUnwindSafe(|| scenario.run(disk.clone(), &trace)))
        .map_err(|panic| panicked("run", &*panic))
}

/// Opens a disk after a crash; what was done to it since, ending with what has been shown.
pub(super) fn check(
    scenario: &impl Scenario,
    disk: Arc<SimDisk>,
    answered: AnsweredBounds,
) -> Result<Log, Violation> {
    let trace = Trace::new(&disk);
    let found = catch_unwind(AssertUnwindSafe(|| {
        scenario.check(disk.clone(), answered, &trace)
    }))
    .map_err(|panic| panicked("check", &*panic))??;
    if found < answered.must {
        return Err(Breach::Lost.of(format!(
            "transactions lost: {} were answered, {found} are there",
            answered.must
        )));
    }
    if found > answered.may {
        return Err(Breach::Unasked.of(format!(
            "transactions from nowhere: {} were handed over, {found} are there",
            answered.may
        )));
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
    /// Of those, the ones like which one had been examined before, in every byte, name and promise: they were not
    /// opened again.
    pub(super) alike: usize,
    /// What is wrong: where, and what.
    pub(super) violations: Vec<Violation>,
}

/// What was examined in one proof.
#[derive(Debug, Default)]
pub(super) struct ExaminedStates(Mutex<HashSet<u128>>);

impl ExaminedStates {
    /// True if nothing like it was there yet.
    fn is_new(&self, state: &CrashState) -> bool {
        let key = state.key();
        key.is_none_or(|key| held(&self.0).insert(key))
    }
}

/// Examines a state, and crashes its recovery, and the recovery from that, as far as there are `recoveries`; the first
/// always. What is `examined` is not examined again, unless it is one whose recovery is crashed.
pub(super) fn state(
    scenario: &impl Scenario,
    state: &CrashState,
    recoveries: &[Recovery],
    seed: u64,
    examined: &ExaminedStates,
) -> Finding {
    let mut finding = Finding {
        recoveries: vec![0; recoveries.len()],
        ..Finding::default()
    };
    let trail = state.choice.to_string();
    let examiner = Examiner {
        scenario,
        recoveries,
        seed,
        examined,
    };
    examiner.at_level(state, &trail, 0, &mut finding);
    finding
}

/// What stays the same from a state down to the recoveries from its recoveries.
struct Examiner<'e, S> {
    scenario: &'e S,
    recoveries: &'e [Recovery],
    seed: u64,
    examined: &'e ExaminedStates,
}

impl<S: Scenario> Examiner<'_, S> {
    fn at_level(&self, state: &CrashState, trail: &str, level: usize, finding: &mut Finding) {
        // The first of all is always crashed: the caller has chosen it.
        let before = level
            .checked_sub(1)
            .map_or(0, |above| finding.recoveries[above]);
        let recovery = self.recoveries.get(level);
        let crashed = recovery.filter(|recovery| before.is_multiple_of(recovery.every.max(1)));
        if !self.examined.is_new(state) && crashed.is_none() {
            finding.alike += 1;
            return;
        }
        let log = match check(self.scenario, state.open(), state.answered) {
            Ok(log) => log,
            Err(mut violation) => {
                violation.what.insert_str(0, &format!("{trail}: "));
                return finding.violations.push(violation);
            }
        };
        let Some(recovery) = crashed else {
            return;
        };
        let seed = Chance::of(self.seed, level as u64).word();
        for next in crash_states(&log, recovery.budget, seed) {
            finding.recoveries[level] += 1;
            let trail = format!("{trail} then {}", next.choice);
            self.at_level(&next, &trail, level + 1, finding);
        }
    }
}

fn panicked(who: &str, panic: &(dyn Any + Send)) -> Violation {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let words = text.or_else(|| panic.downcast_ref::<&str>().copied());
    let words = words.unwrap_or("(no words)");
    Breach::Panicked.of(format!("the {who} panicked: {words}"))
}
