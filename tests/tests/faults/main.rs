//! Operations of the disk that fail: no answer is false, a poisoned brain reports it until it is recovered, a full disk
//! stops a checkpoint and not the brain.
//!
//! By default one script has each of its operations fail, the others every 36th; `AMEM_FAULT_STEP=1 cargo test
//! --release -p amem-tests --test faults` makes all fail, and compares more. `one` has the effects of single failures.

#![forbid(unsafe_code)]

mod one;

use std::time::Instant;

use amem_tests::crash::{Report, Scenario, Sweep, sweep};
use amem_tests::disk::{Among, EDQUOT, EFBIG, EIO, ENOSPC, EROFS, Kind};
use amem_tests::scenarios::{
    Arrival, Flaw, Removal, Script, Trial, WholeFile, faulty, in_steps, replaced,
};

fn plan() -> Sweep {
    let thorough = step() == 1;
    Sweep {
        errors: vec![EIO, ENOSPC, EROFS, EDQUOT, EFBIG],
        budget: if thorough { 24 } else { 3 },
        recovery_budget: if thorough { 8 } else { 2 },
        ..Sweep::default()
    }
}

fn step() -> usize {
    let asked = std::env::var("AMEM_FAULT_STEP");
    asked.map_or(36, |n| n.parse().expect("AMEM_FAULT_STEP is a number"))
}

/// Those that only look, with one error.
fn looks(plan: &Sweep) -> [Sweep; 5] {
    [Kind::Open, Kind::Identity, Kind::List, Kind::Len, Kind::Map].map(|kind| Sweep {
        among: Among::Only(kind),
        errors: vec![EIO],
        ..plan.clone()
    })
}

/// The sweeps of a script: all operations that change something, with every error; and those that only look.
fn sweeps(script: Script) -> Vec<(Script, Sweep)> {
    let step = if script.name == in_steps().name {
        1
    } else {
        step()
    };
    let plan = Sweep { step, ..plan() };
    let mut out: Vec<_> = looks(&plan).map(|look| (script.clone(), look)).into();
    if script.secrets.is_empty() {
        out.push((script, plan));
        return out;
    }
    // Should the sync of a folder fail, then a file that was removed from it may come back after a power cut;
    // only what is in the brain is promised then.
    let but = Among::ChangesBut(Kind::SyncFolder);
    out.push((
        script.clone(),
        Sweep {
            among: but,
            ..plan.clone()
        },
    ));
    let mut open = script;
    open.secrets.clear();
    let only = Among::Only(Kind::SyncFolder);
    out.push((
        open,
        Sweep {
            among: only,
            step: 1,
            ..plan
        },
    ));
    out
}

/// Sweeps a scenario, prints the result, and adds it.
fn judge(total: &mut Report, name: &str, scenario: &impl Scenario, plan: Sweep) {
    let report = sweep(scenario, &plan);
    let (among, faults) = (plan.among, report.operations);
    println!("{name}, {among:?}: {faults} faults, {report}");
    total.operations += report.operations;
    total.states += report.states;
    total.violations += report.violations;
}

/// The same for what only looks, and for what changes something.
fn judge_all(total: &mut Report, name: &str, scenario: &impl Scenario, changes: Sweep) {
    for look in looks(&changes) {
        judge(total, name, scenario, look);
    }
    judge(total, name, scenario, changes);
}

#[test]
fn no_failed_operation_causes_a_false_answer() {
    let begun = Instant::now();
    let mut total = Report::default();
    for (script, plan) in faulty().into_iter().flat_map(sweeps) {
        let (name, trial) = (script.name, Trial::new(script, Flaw::None));
        judge(&mut total, name, &trial.without_readers(), plan);
    }
    let stepped = || Sweep {
        step: step(),
        ..plan()
    };
    let no_exchange = "a replaced file, no exchange";
    for script in [replaced(), replaced().without_exchange(no_exchange)] {
        let (name, trial) = (script.name, Trial::new(script, Flaw::None));
        judge_all(&mut total, name, &trial.without_readers(), stepped());
    }
    for arrival in Arrival::late().into_iter().chain(Arrival::all()) {
        // A process that puts a file there meets errors of its own: half a file counts for nothing.
        judge_all(&mut total, &arrival.name, &arrival, stepped());
    }
    for removal in Removal::all() {
        // A removal that was not answered is not promised to be durable, though a later answer is.
        let removal = removal.unsearched();
        judge_all(&mut total, removal.name, &removal, stepped());
    }
    for written in WholeFile::all() {
        let plan = Sweep { step: 1, ..plan() };
        judge_all(&mut total, written.name, &written, plan);
    }
    println!(
        "{} faults, {} states, {} false answers or panics, {:.0} s",
        total.operations,
        total.states,
        total.violations,
        begun.elapsed().as_secs_f32()
    );
    assert_eq!(total.violations, 0);
    assert!(total.operations >= 5000, "only {} faults", total.operations);
}

#[test]
fn every_wrong_answer_to_an_error_is_caught() {
    for flaw in Flaw::BY_FAULTS.into_iter().chain([Flaw::RunsDiffer]) {
        let kind = match flaw {
            Flaw::WriteErrorIgnored => Kind::Write,
            Flaw::FolderErrorIgnored => Kind::SyncFolder,
            _ => Kind::Sync,
        };
        let plan = Sweep {
            among: Among::Only(kind),
            stop_at_first: true,
            budget: 24,
            ..plan()
        };
        let report = sweep(&Trial::new(in_steps(), flaw).without_readers(), &plan);
        let is_right = flaw == Flaw::RunsDiffer;
        assert_ne!(report.violations > 0, is_right, "{flaw:?}: {report}");
    }
}
