//! The proof finds nothing wrong with a right protocol, and what is wrong with every wrong one.

use super::toy::{Flaw, Guard, Toy};
use super::*;
use crate::disk::{Among, EIO, Effect, Fault, SimDisk};

fn toy(flaw: Flaw) -> Toy {
    Toy {
        flaw,
        guard: match flaw {
            Flaw::TailNotZeroed => Guard::Zeros,
            Flaw::Unchained => Guard::Chain,
            _ => Guard::Copy,
        },
        transactions: 10,
        group: 2,
        checkpoint_every: 2,
    }
}

#[test]
fn a_correct_protocol_holds_in_every_crash_state() {
    let plan = Plan::default();
    let report = prove(&toy(Flaw::None), &plan);
    assert_eq!(report.violations, 0, "{report}");
    assert!(report.distinct >= 2000, "{report}");
    let disk = SimDisk::new(1).without_exchange();
    let report = prove_on(&toy(Flaw::None), &plan, disk);
    assert_eq!(report.violations, 0, "{report}");
}

#[test]
fn zeros_alone_or_chaining_alone_prevents_an_old_tail_from_returning() {
    for guard in [Guard::Zeros, Guard::Chain] {
        let toy = Toy {
            guard,
            ..toy(Flaw::None)
        };
        let report = prove(&toy, &Plan::default());
        assert_eq!(report.violations, 0, "{guard:?}: {report}");
        assert!(report.distinct >= 2000, "{guard:?}: {report}");
    }
}

#[test]
fn groups_and_their_reorderings_are_enumerated_as_far_as_the_budget_goes() {
    let toy = Toy {
        group: 4,
        transactions: 24,
        ..toy(Flaw::None)
    };
    let plan = Plan::default();
    let report = prove(&toy, &plan);
    assert_eq!(report.violations, 0, "{report}");
    assert_eq!(report.distinct, plan.budget, "{report}");
}

#[test]
fn a_correct_protocol_gives_no_false_answer_when_operations_fail() {
    let report = sweep(&toy(Flaw::None), &Sweep::default());
    assert_eq!(report.violations, 0, "{report}");
    assert!(report.operations >= 300, "{report}");
}

#[test]
fn every_wrong_protocol_is_caught_by_crashes() {
    let rows: [(&'static [Breach], &[Flaw]); 4] = [
        (
            &[Breach::Lost],
            &[
                Flaw::CommitNotSynced,
                Flaw::AnswerBeforeSync,
                Flaw::FolderNotSyncedAfterPublish,
                Flaw::OtherFolderSynced,
                Flaw::FolderNotSyncedAfterExchange,
                Flaw::ExchangeBeforeSync,
                Flaw::RemoveThenPublish,
                Flaw::YoungerFramesForgotten,
                Flaw::CellBelieved,
                Flaw::RecoveryNotSynced,
                Flaw::RecoveryFolderNotSynced,
            ],
        ),
        (&[Breach::Unopened], &[Flaw::BaseInPlace, Flaw::NoChecksum]),
        (&[Breach::Unasked], &[Flaw::TailNotZeroed, Flaw::Unchained]),
        (&[Breach::Other], &[Flaw::HalfTransaction]),
    ];
    let mut caught = 0;
    for (stop_at, flaws) in rows {
        let plan = Plan {
            stop_at,
            ..Plan::default()
        };
        for flaw in flaws {
            let report = prove(&toy(*flaw), &plan);
            let shown = report.caught.as_ref();
            let shown = shown.unwrap_or_else(|| panic!("{flaw:?} is not caught: {report}"));
            println!("{flaw:?}: {shown}");
            caught += 1;
        }
    }
    println!("{caught} broken toys caught");
}

#[test]
fn every_wrong_answer_to_an_error_is_caught_by_faults() {
    let flaws = [
        Flaw::RecoveryInPlace,
        Flaw::SyncRetried,
        Flaw::SyncErrorIgnored,
        Flaw::WriteErrorIgnored,
        Flaw::FolderErrorIgnored,
    ];
    for flaw in flaws {
        let sound = prove(&toy(flaw), &Plan::default());
        assert_eq!(
            sound.violations, 0,
            "{flaw:?} is right without errors: {sound}"
        );
        let plan = Sweep {
            stop_at_first: true,
            ..Sweep::default()
        };
        let report = sweep(&toy(flaw), &plan);
        assert!(report.violations > 0, "{flaw:?} not caught: {report}");
    }
}

#[test]
fn a_reported_violation_can_be_replayed() {
    for flaw in [Flaw::AnswerBeforeSync, Flaw::RecoveryNotSynced] {
        let report = prove(&toy(flaw), &Plan::default());
        for line in &report.first {
            let (_, line) = line.split_once(", ").unwrap();
            let (crash, what) = line.split_once(": ").unwrap();
            let again = replay(&toy(flaw), SimDisk::new(1), crash);
            assert_eq!(again, Err(what.to_owned()), "{flaw:?} {crash}");
        }
        assert!(!report.first.is_empty());
    }
}

#[test]
fn a_violation_found_by_a_sweep_can_be_replayed() {
    let fault = Fault {
        after: 12,
        among: Among::Changes,
        error: EIO,
        effect: Effect::Half,
        lasting: false,
    };
    let armed = || {
        let disk = SimDisk::new(1);
        disk.fail(fault);
        disk
    };
    let crash = "kill 26 then power 29";
    assert_eq!(
        replay(&toy(Flaw::SyncErrorIgnored), armed(), crash),
        Err("transactions lost: 4 were answered, 0 are there".into())
    );
    assert_eq!(replay(&toy(Flaw::None), armed(), crash), Ok(()));
}
