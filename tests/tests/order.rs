//! The lock-free publication: every interleaving of its threads, and every memory ordering in it.
//!
//! `amem-order` compiles the sources of the format crate with loom under them. Each model is explored to its end; then
//! again with each ordering in the sources relaxed, which at least one model must find wrong, or the ordering has no
//! reason. Loom sees only the atomics of `sync`, so these files may use no others.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The sources that are explored.
const SOURCES: [&str; 11] = [
    "append.rs",
    "base/summary_cache.rs",
    "base/head_cache.rs",
    "delta/entry.rs",
    "delta/log.rs",
    "delta/postings.rs",
    "delta/skiplist.rs",
    "delta/sparse.rs",
    "delta/terms.rs",
    "delta/event_set.rs",
    "publish.rs",
];

/// What a run of a model said: its standard output, or what it found wrong.
fn explore(args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-order"));
    let out = command.args(args).env("RUST_BACKTRACE", "0").output();
    let out = out.unwrap();
    let errors = String::from_utf8_lossy(&out.stderr).into_owned();
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let is_found = |line: &&str| line.contains("wrong: ") || line.contains("Causality violation");
    match errors.lines().find(is_found) {
        Some(line) => Err(line.to_owned()),
        None => panic!("{args:?} ended for another reason: {errors}"),
    }
}

/// Does the same for each of many, as many at a time as there are processors.
fn each<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (Mutex::new(0..all.len()), Mutex::new(BTreeMap::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let at = next.lock().unwrap().next();
                    let Some(at) = at else { break };
                    let result = work(&all[at]);
                    done.lock().unwrap().insert(at, result);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// A model that was explored to its end: its name, how long it took, and the orderings that it came by.
struct Exploration {
    model: String,
    took: Duration,
    sites: Vec<String>,
}

fn explore_all() -> Vec<Exploration> {
    let models = explore(&[]).unwrap();
    let models: Vec<_> = models.lines().map(str::to_owned).collect();
    each(&models, |model| {
        let begun = Instant::now();
        let said = explore(&[model]).unwrap_or_else(|why| panic!("{model}: {why}"));
        let took = begun.elapsed();
        let (runs, sites) = said.split_once('\n').unwrap();
        println!("{model}: {runs}, {took:.1?}");
        Exploration {
            model: model.clone(),
            took,
            sites: sites.lines().map(str::to_owned).collect(),
        }
    })
}

/// The code of a source of core, without its tests.
fn code(source: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/format/src");
    let text = std::fs::read_to_string(path.join(source)).unwrap();
    let code = text.split("#[cfg(test)]").next();
    code.unwrap_or_default().to_owned()
}

#[test]
fn every_interleaving_is_correct_and_every_ordering_matters() {
    let mut explored = explore_all();
    explored.sort_by_key(|explored| explored.took);
    let mut sites = BTreeMap::<_, Vec<_>>::new();
    for explored in &explored {
        for site in &explored.sites {
            let models = sites.entry(site.as_str()).or_default();
            models.push(explored.model.as_str());
        }
    }
    // None is left out: those that were come by are those that are written.
    let written: usize = SOURCES
        .iter()
        .map(|source| {
            let code = code(source);
            ["Acquire", "Release", "AcqRel", "SeqCst"]
                .into_iter()
                .map(|order| code.matches(&format!("Ordering::{order}")).count())
                .sum::<usize>()
        })
        .sum();
    assert_eq!(sites.len(), written, "orderings of {sites:#?}");
    let sites: Vec<_> = sites.into_iter().collect();
    let caught = each(&sites, |(site, models)| {
        let place = site.split(' ').next().unwrap();
        let found = models.iter().find_map(|model| {
            let why = explore(&[model, place]).err()?;
            Some(format!("{model}: {why}"))
        });
        println!("{site} relaxed: {}", found.as_deref().unwrap_or("nothing"));
        found.is_some()
    });
    let count = caught.iter().filter(|&&caught| caught).count();
    println!("{count} of {} relaxed orderings caught", sites.len());
    assert_eq!(count, sites.len(), "an ordering whose lack nobody notices");
}

#[test]
fn explored_code_takes_its_atomics_from_one_module() {
    for source in SOURCES {
        let code = code(source);
        assert!(
            code.contains("use crate::sync::") || source == "delta/skiplist.rs",
            "{source}"
        );
        assert!(
            !code.contains("std::sync"),
            "{source}: std's are not explored"
        );
    }
}
