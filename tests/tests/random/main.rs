//! Random histories of a brain through the real writer, beside a naive model.
//!
//! Requests of every kind but merges, in groups, with refused ones and retries; checkpoints at once or beside commits;
//! closing and opening; copies, older views, a follower of the file, the past; and a disk that fails, or loses power,
//! at any operation. A crash leaves every answered request, and of the others a prefix, each whole; the history
//! continues from there. Every view equals the model.
//!
//! `AMEM_RANDOM_HISTORIES=100000 cargo test --release -p amem-tests --test random` tries a hundred thousand histories
//! of `AMEM_RANDOM_STEPS` steps; `AMEM_RANDOM_SEED=7` repeats that of one seed. A failing history is reduced to the
//! steps that it needs, and printed.

#![forbid(unsafe_code)]

mod asks;
mod counts;
mod history;
mod load;
mod looks;
mod machine;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use counts::HistoryCounts;
use history::History;

/// Histories by default.
const HISTORIES: u64 = 450;
/// Steps of each unless `AMEM_RANDOM_STEPS` says otherwise.
const STEPS: u64 = 100;

/// Where a history went wrong.
struct Failure {
    step: u64,
    why: String,
    trace: Vec<String>,
}

fn number(name: &str, unless: u64) -> u64 {
    let asked = std::env::var(name);
    asked.map_or(unless, |n| n.parse().expect("it is a number"))
}

/// Plays a history, without some of its steps.
fn tell(seed: u64, steps: &BTreeSet<u64>, with_trace: bool) -> Result<HistoryCounts, Failure> {
    let (mut at, mut told) = (0, None);
    let done = catch_unwind(AssertUnwindSafe(|| {
        let history = told.insert(History::begin(seed, with_trace)?);
        for &step in steps {
            at = step;
            history.step(step)?;
        }
        history.figures.histories = 1;
        Ok(history.figures.clone())
    }));
    let why = match done {
        Ok(Ok(figures)) => return Ok(figures),
        Ok(Err(why)) => why,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
            format!("panicked: {}", text.unwrap_or_default())
        }
    };
    let trace = told.and_then(|history| history.trace);
    Err(Failure {
        step: at,
        why,
        trace: trace.unwrap_or_default(),
    })
}

/// The fewest steps, found in this way, of a history that fails.
fn shortened(seed: u64, failure: &Failure) -> BTreeSet<u64> {
    let mut steps: BTreeSet<u64> = (0..=failure.step).collect();
    for size in [32, 8, 2, 1, 1] {
        let all: Vec<u64> = steps.iter().copied().collect();
        for part in all.rchunks(size) {
            let mut fewer = steps.clone();
            fewer.retain(|step| !part.contains(step));
            if let Err(failure) = tell(seed, &fewer, false) {
                fewer.retain(|step| *step <= failure.step);
                steps = fewer;
            }
        }
    }
    steps
}

#[test]
fn random_histories_equal_the_model_however_they_end() {
    let begun = Instant::now();
    let steps: BTreeSet<u64> = (0..number("AMEM_RANDOM_STEPS", STEPS)).collect();
    let (first, count) = match std::env::var("AMEM_RANDOM_SEED") {
        Ok(_) => (number("AMEM_RANDOM_SEED", 0), 1),
        Err(_) => (0, number("AMEM_RANDOM_HISTORIES", HISTORIES)),
    };
    let (next, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let (figures, failures) = (Mutex::new(HistoryCounts::default()), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut own = HistoryCounts::default();
                while !failed.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    match tell(first + at, &steps, false) {
                        Ok(figures) => own.add(&figures),
                        Err(failure) => {
                            failed.store(true, Ordering::Relaxed);
                            failures
                                .lock()
                                .expect("no thread panics")
                                .push((first + at, failure));
                        }
                    }
                }
                figures.lock().expect("no thread panics").add(&own);
            });
        }
    });
    let figures = figures.into_inner().expect("no thread panics");
    let failures = failures.into_inner().expect("no thread panics");
    println!("{figures}");
    println!(
        "{} mismatches, {:.0} s",
        failures.len(),
        begun.elapsed().as_secs_f32()
    );
    if let Some((seed, failure)) = failures.first() {
        let steps = shortened(*seed, failure);
        if let Err(failure) = tell(*seed, &steps, true) {
            println!("{}", failure.trace.join("\n"));
            println!("with these steps alone, {steps:?}: {}", failure.why);
        }
        panic!(
            "AMEM_RANDOM_SEED={seed} fails at step {} of history {}: {}",
            failure.step,
            seed - first + 1,
            failure.why
        );
    }
    assert_eq!(figures.histories, count);
    // Many histories must have had all of it.
    let kinds = [&figures.power_cuts, &figures.kills].map(|of| of.len());
    let all = [
        figures.found,
        figures.lost,
        figures.beside,
        figures.replayed,
        figures.erased,
    ];
    assert!(
        count < HISTORIES || kinds == [6, 6] && all.iter().all(|n| *n > 0),
        "{figures}"
    );
}
