//! The store on a disk that loses power, or its process, at every point: whatever is left opens, has exactly
//! the first k transactions with k between those answered and those handed over, shows what the oracle shows
//! at every moment, and goes on. And a store whose protocol is broken is seen to fail.
//!
//! `AMEM_CRASH_STATES=100000000 cargo test --release -p amem-tests --test crash` tries a hundred million states;
//! `AMEM_CRASH_SCRIPT=erase` plays only the scripts with that in their names.

#![forbid(unsafe_code)]

use std::time::Instant;

use amem_tests::crash::{Plan, Recovery, Report, Scenario, prove};
use amem_tests::scenarios::{
    Arrival, Flaw, Script, Trial, Written, all, erasing, in_steps, replaced,
};

/// States that are judged unless `AMEM_CRASH_STATES` says otherwise.
const STATES: usize = 1_000_000;

/// Parts of the budget for each way in which a file becomes a brain.
const ARRIVAL_SHARE: usize = 2;

/// What is played.
enum Play {
    Script(Box<Script>),
    Arrival(Arrival),
    Written(Written),
}

fn states() -> usize {
    let asked = std::env::var("AMEM_CRASH_STATES");
    asked.map_or(STATES, |n| {
        n.parse().expect("AMEM_CRASH_STATES is a number")
    })
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
    prove(scenario, &plan)
}

#[test]
fn whatever_a_crash_leaves_has_what_was_answered_and_nothing_else() {
    let begun = Instant::now();
    let (mut scripts, mut arrivals) = (all(), Arrival::all());
    arrivals.extend(Arrival::late());
    let mut written = Written::all().to_vec();
    if let Ok(name) = std::env::var("AMEM_CRASH_SCRIPT") {
        scripts.retain(|script| script.name.contains(&name));
        arrivals.retain(|arrival| arrival.name.contains(&name));
        written.retain(|written| written.name.contains(&name));
    }
    let mut shares: usize = scripts.iter().map(|script| script.share).sum();
    shares += arrivals.len() * ARRIVAL_SHARE + written.len();
    let (mut left, mut total, mut violations) = (states(), 0, 0);
    let scripts = scripts
        .into_iter()
        .map(|script| Play::Script(Box::new(script)));
    for (play, seed) in scripts
        .chain(arrivals.into_iter().map(Play::Arrival))
        .chain(written.into_iter().map(Play::Written))
        .zip(1..)
    {
        let since = Instant::now();
        let (name, share, report) = match play {
            Play::Script(script) => {
                let (name, share) = (script.name.to_owned(), script.share);
                let trial = Trial::new(*script, Flaw::None);
                (name, share, judge(&trial, left * share / shares, seed))
            }
            Play::Arrival(arrival) => {
                let report = judge(&arrival, left * ARRIVAL_SHARE / shares, seed);
                (arrival.name, ARRIVAL_SHARE, report)
            }
            Play::Written(written) => {
                let report = judge(&written, left / shares, seed);
                (written.name.to_owned(), 1, report)
            }
        };
        shares -= share;
        left = left.saturating_sub(report.states);
        total += report.states;
        violations += report.violations;
        println!("{name}: {report}, {:.1} s", since.elapsed().as_secs_f32());
    }
    println!(
        "{total} states, {violations} violations, {:.0} s",
        begun.elapsed().as_secs_f32()
    );
    assert_eq!(violations, 0);
    assert!(total >= states() * 9 / 10, "only {total} states");
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
                stop_at_first: true,
                ..Plan::default()
            };
            let report = prove(&Trial::new(script, flaw), &plan);
            judged += report.states;
            report.first.into_iter().next()
        });
        let shown = shown.unwrap_or_else(|| panic!("{flaw:?} is not caught in {judged} states"));
        println!(
            "{flaw:?}, after {judged} states, {:.1} s: {shown}",
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

#[test]
fn every_broken_way_to_write_a_file_whole_is_caught() {
    let flaws = [
        Flaw::CreatedNotSynced,
        Flaw::CreatedSyncedLate,
        Flaw::FolderNotSyncedAfterCreate,
    ];
    for flaw in flaws {
        for written in Written::all() {
            let written = written.with_flaw(flaw);
            let plan = Plan {
                stop_at_first: true,
                ..Plan::default()
            };
            let report = prove(&written, &plan);
            assert!(
                report.violations > 0,
                "{}, {flaw:?}: {report}",
                written.name
            );
        }
    }
}

/// The scripts that show a flaw.
fn showing(flaw: Flaw) -> Vec<Script> {
    match flaw {
        Flaw::OldFileNotRemoved | Flaw::RemovalNotSynced => vec![erasing()],
        Flaw::ReplacementNotSeen => vec![replaced()],
        _ => vec![in_steps()],
    }
}
