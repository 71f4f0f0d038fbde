//! The store on a disk that loses power, or its process, at every point.
//!
//! Whatever is left opens, has exactly the first k transactions with k between those answered and those requested,
//! equals the oracle at every moment, and continues. A store with a broken protocol must fail.
//!
//! `AMEM_CRASH_STATES=100000000 cargo test --release -p amem-tests --test crash` tries a hundred million states;
//! `AMEM_CRASH_SCRIPT=erase` plays the scripts with that in their names, `AMEM_CRASH_PART=2/4` the second of four parts
//! of them, with its part of the states.

#![forbid(unsafe_code)]

use std::time::Instant;

use amem_tests::crash::{Breach, Plan, Recovery, Report, Scenario, prove, prove_on};
use amem_tests::scenarios::{
    Arrival, Flaw, Removal, Script, Trial, WholeFile, all, erasing, in_steps, replaced,
};

/// States that are judged unless `AMEM_CRASH_STATES` says otherwise.
const STATES: usize = 34_000;

/// Of a hundred states of the default form so many are opened at least; the others are as one that was. In a part of
/// it, or in the scripts of one name, so many alone.
const OPENED_PERCENT: usize = 60;
const OPENED_PERCENT_OF_PART: usize = 30;

/// Of fewer states none may be that of a recovery from a crashed recovery.
const DEEP_STATES_MIN: usize = 1_000;

/// Of a hundred states so many at least are those of a recovery from a crashed recovery.
const DEEPER_PERCENT: usize = 10;

/// Parts of the budget for each way in which a file becomes a brain.
const ARRIVAL_SHARE: usize = 2;

/// What is played.
enum Play {
    Script(Box<Script>),
    Arrival(Arrival),
    Removal(Removal),
    Written(WholeFile),
}

impl Play {
    /// Everything.
    fn all() -> Vec<Self> {
        let scripts = all().into_iter().map(|s| Self::Script(Box::new(s)));
        let arrivals = Arrival::all().into_iter().chain(Arrival::late());
        let removals = Removal::all().into_iter().map(Self::Removal);
        let written = WholeFile::all().into_iter().map(Self::Written);
        scripts
            .chain(arrivals.map(Self::Arrival))
            .chain(removals)
            .chain(written)
            .collect()
    }

    /// All that is asked for.
    fn asked() -> Vec<Self> {
        let mut plays = Self::all();
        if let Ok(name) = std::env::var("AMEM_CRASH_SCRIPT") {
            plays.retain(|play| play.name().contains(&name));
        }
        plays
    }

    fn name(&self) -> &str {
        match self {
            Self::Script(script) => script.name,
            Self::Arrival(arrival) => &arrival.name,
            Self::Removal(removal) => removal.name,
            Self::Written(written) => written.name,
        }
    }

    /// Parts of the budget.
    fn share(&self) -> usize {
        match self {
            Self::Script(script) => script.share,
            Self::Arrival(_) => ARRIVAL_SHARE,
            Self::Removal(_) | Self::Written(_) => 1,
        }
    }

    fn judge(self, budget: usize, seed: u64) -> Report {
        match self {
            Self::Script(script) => judge(&Trial::new(*script, Flaw::None), budget, seed),
            Self::Arrival(arrival) => judge(&arrival, budget, seed),
            Self::Removal(removal) => judge(&removal, budget, seed),
            Self::Written(written) => judge(&written, budget, seed),
        }
    }
}

fn states() -> usize {
    let asked = std::env::var("AMEM_CRASH_STATES");
    asked.map_or(STATES, |n| {
        n.parse().expect("AMEM_CRASH_STATES is a number")
    })
}

/// Which part is played, from 0, of how many.
fn part() -> (u64, u64) {
    let Ok(asked) = std::env::var("AMEM_CRASH_PART") else {
        return (0, 1);
    };
    let numbers = asked.split_once('/');
    let numbers = numbers.and_then(|(part, of)| {
        let numbers = (part.parse::<u64>().ok()?, of.parse::<u64>().ok()?);
        Some(numbers)
    });
    match numbers {
        Some((part, of)) if 0 < part && part <= of => (part - 1, of),
        _ => panic!("AMEM_CRASH_PART is a part of how many, as 2/4"),
    }
}

/// Judges so many states of what a scenario leaves, those of crashed recoveries included, or all that there are.
fn judge(scenario: &impl Scenario, budget: usize, seed: u64) -> Report {
    let plan = Plan {
        budget: budget / 2,
        states_max: budget,
        seed,
        recoveries: vec![
            Recovery {
                every: 16,
                budget: 16,
            },
            Recovery {
                every: 16,
                budget: 16,
            },
        ],
        ..Plan::default()
    };
    prove_on(scenario, &plan, scenario.disk(seed).in_small_steps())
}

#[test]
fn every_crash_state_has_the_answered_writes_and_no_others() {
    let begun = Instant::now();
    let (part, of) = part();
    let plays = Play::asked();
    let all: usize = plays.iter().map(Play::share).sum();
    let mut plays: Vec<_> = (1u64..)
        .zip(plays)
        .filter(|(seed, _)| (seed - 1) % of == part)
        .collect();
    // What a small one leaves of its budget goes to those after it.
    plays.sort_by_key(|(_, play)| play.share());
    let mut shares: usize = plays.iter().map(|(_, play)| play.share()).sum();
    let asked = states() * shares / all.max(1);
    let opened_min = opened_min(asked, shares);
    let mut left = asked;
    let mut sum = Report::default();
    for (seed, play) in plays {
        let since = Instant::now();
        let (name, share) = (play.name().to_owned(), play.share());
        let report = play.judge(left * share / shares, seed);
        shares -= share;
        left = left.saturating_sub(report.states);
        println!("{name}: {report}, {:.1} s", since.elapsed().as_secs_f32());
        let is_deep = report.deeper > 0 || report.states < DEEP_STATES_MIN;
        assert!(is_deep, "{name}: no crash of a crashed recovery");
        sum.states += report.states;
        sum.deeper += report.deeper;
        sum.alike += report.alike;
        sum.violations += report.violations;
    }
    let Report {
        states,
        deeper,
        alike,
        violations,
        ..
    } = sum;
    println!(
        "{states} states, {deeper} of them two deep, {alike} as others, {violations} violations, {:.0} s",
        begun.elapsed().as_secs_f32()
    );
    assert_eq!(violations, 0);
    assert!(states >= asked * 9 / 10, "only {states} states of {asked}");
    let opened = states - alike;
    assert!(
        opened >= opened_min,
        "only {opened} states opened, not {opened_min}"
    );
    assert!(
        deeper >= states * DEEPER_PERCENT / 100,
        "only {deeper} states two deep"
    );
}

/// How many states are opened at least where so many are asked for with so many parts of the budget. Of more than in
/// the default form no more: the longer it goes on, the more of what recoveries leave has been there before.
fn opened_min(asked: usize, shares: usize) -> usize {
    let all: usize = Play::all().iter().map(Play::share).sum();
    let percent = if shares == all {
        OPENED_PERCENT
    } else {
        OPENED_PERCENT_OF_PART
    };
    asked.min(STATES * shares / all) * percent / 100
}

#[test]
fn every_broken_protocol_is_caught() {
    let begun = Instant::now();
    let mut caught = 0;
    for flaw in Flaw::BY_CRASHES {
        let since = Instant::now();
        let mut judged = 0;
        let shown = showing(flaw).into_iter().find_map(|script| {
            let plan = Plan {
                budget: 20_000,
                stop_at: flaw.breaches(),
                ..Plan::default()
            };
            let report = prove(&Trial::new(script, flaw), &plan);
            judged += report.states;
            if report.caught.is_none() {
                println!("{flaw:?}: {report}");
            }
            report.caught
        });
        let breaches = flaw.breaches();
        let shown = shown
            .unwrap_or_else(|| panic!("{flaw:?} is not caught as {breaches:?} in {judged} states"));
        println!(
            "{flaw:?}, {breaches:?} after {judged} states, {:.1} s: {shown}",
            since.elapsed().as_secs_f32()
        );
        caught += 1;
    }
    let seconds = begun.elapsed().as_secs_f32();
    println!(
        "{caught} of {} broken protocols caught, {seconds:.0} s",
        Flaw::BY_CRASHES.len()
    );
}

/// Proves that a scenario with a flaw is seen to fail.
fn expect_caught(name: &str, flaw: Flaw, scenario: &impl Scenario) {
    let plan = Plan {
        stop_at: &Breach::CLEAR,
        ..Plan::default()
    };
    let report = prove(scenario, &plan);
    assert!(report.caught.is_some(), "{name}, {flaw:?}: {report}");
}

#[test]
fn every_broken_way_to_replace_a_file_is_caught() {
    let flaws = [
        Flaw::CreatedNotSynced,
        Flaw::CreatedSyncedLate,
        Flaw::FolderNotSyncedAfterCreate,
    ];
    for flaw in flaws {
        for written in WholeFile::all() {
            expect_caught(written.name, flaw, &written.clone().with_flaw(flaw));
        }
    }
}

#[test]
fn every_broken_adoption_is_caught() {
    // That the folder is not synced does not show: it is synced again when the brain is opened, before any answer.
    for flaw in [Flaw::CreatedNotSynced, Flaw::CreatedSyncedLate] {
        for arrival in Arrival::all() {
            let arrival = arrival.with_flaw(flaw);
            expect_caught(&arrival.name, flaw, &arrival);
        }
    }
}

#[test]
fn every_broken_removal_is_caught() {
    let flaws = [
        Flaw::FolderNotSyncedAfterExchange,
        Flaw::OtherFolderSynced,
        Flaw::OldFileNotRemoved,
        Flaw::RemovalNotSynced,
    ];
    for flaw in flaws {
        let [removal, _] = Removal::all().map(|removal| removal.with_flaw(flaw));
        expect_caught(removal.name, flaw, &removal);
    }
    let flaw = Flaw::SavedFolderNotSynced;
    let [_, raced] = Removal::all().map(|removal| removal.with_flaw(flaw));
    expect_caught(raced.name, flaw, &raced);
}

/// The scripts that show a flaw.
fn showing(flaw: Flaw) -> Vec<Script> {
    match flaw {
        Flaw::OldFileNotRemoved | Flaw::RemovalNotSynced => vec![erasing()],
        Flaw::ReplacementNotSeen => vec![replaced()],
        _ => vec![in_steps()],
    }
}
