//! Every target of `tests/support/fuzz` on its seeds, on what once crashed (`fuzz/corpus`), and on bytes made of both,
//! the same each time. `AMEM_FUZZ_SECS` is how long each target goes on (1); `fuzz/run` follows coverage.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use amem_tests::fuzz::{TARGETS, Target, mutate};
use amem_tests::random::Random;

/// Inputs made for each target at most: as many on every machine that is not too slow for them.
const MADE_MAX: u64 = 400;

/// What the corpus keeps of a target.
fn kept(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/corpus")
        .join(target.name);
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Runs a target; how often, or the input that it fails on.
fn run(target: &Target, until: Duration, most: u64) -> Result<u64, String> {
    let (begun, mut count) = (Instant::now(), 0);
    let mut inputs = kept(target);
    inputs.extend((target.seeds)());
    inputs.push(Vec::new());
    let mut try_one = |input: &[u8]| {
        count += 1;
        let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        ran.map_err(|_| {
            format!(
                "{}: {} bytes: {}",
                target.name,
                input.len(),
                input.escape_ascii()
            )
        })
    };
    inputs.iter().try_for_each(|input| try_one(input))?;
    let random = &mut Random::new(7);
    for _ in 0..most {
        if begun.elapsed() > until {
            break;
        }
        let at = random.below(inputs.len() as u64) as usize;
        try_one(&mutate(&inputs[at], random))?;
    }
    Ok(count)
}

#[test]
fn no_bytes_make_a_target_panic() {
    let asked = env::var("AMEM_FUZZ_SECS").ok().map(|n| n.parse().unwrap());
    let (seconds, most) = asked.map_or((1, MADE_MAX), |seconds| (seconds, u64::MAX));
    let failed = thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || {
                let targets = TARGETS.iter().skip(half).step_by(2);
                let ran = targets.map(|target| {
                    let ran = run(target, Duration::from_secs(seconds), most);
                    println!("{}: {:?} executions", target.name, ran.as_ref().ok());
                    ran
                });
                ran.filter_map(Result::err).collect::<Vec<_>>()
            })
        });
        halves.map(|half| half.join().unwrap()).concat()
    });
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn every_target_has_its_own_program_in_the_fuzzers_crate() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz");
    let text = fs::read_to_string(manifest.join("Cargo.toml")).unwrap();
    for target in TARGETS {
        assert!(
            text.contains(&format!("name = \"{}\"", target.name)),
            "{}",
            target.name
        );
        let program = fs::read_to_string(manifest.join(format!("targets/{}.rs", target.name)));
        assert!(
            program
                .unwrap()
                .contains(&format!("fuzz::run(\"{}\", data)", target.name))
        );
    }
}
