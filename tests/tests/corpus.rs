//! Every target of `tests/support/fuzz` on its seeds, on what once crashed (`fuzz/corpus`), and on bytes made of both,
//! the same each time. `AMEM_FUZZ_SECS` is how long each target goes on (1); `fuzz/run` follows coverage.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use amem_client::v1;
use amem_tests::fuzz::{TARGETS, Target, mutate, requests_read};
use amem_tests::random::Random;
use prost::Message;
use prost_types::FileDescriptorSet;
use rustix::time::{ClockId, clock_gettime};

/// Inputs made for each target at most: as many on every machine that is not too slow for them.
const MADE_MAX: u64 = 400;
/// How long one input may keep a thread busy: each takes milliseconds. As `fuzz/run` has it.
const INPUT_TAKES_MAX: Duration = Duration::from_secs(10);
/// Memory of all targets at once, at most. As `fuzz/run` has it for one.
const MEMORY_BYTES_MAX: u64 = 2 << 30;

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

/// How long this thread was busy, whatever else goes on on the machine.
fn busy() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap()
}

/// The most memory that this process has had, in bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kilobytes = line.unwrap().trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().unwrap() << 10
}

/// Runs a target; how often, or the input that it fails on.
fn run(target: &Target, until: Duration, most: u64) -> Result<u64, String> {
    let (begun, mut count) = (Instant::now(), 0);
    let mut inputs = kept(target);
    let seeds = (target.seeds)();
    let least = seeds.len() as u64;
    inputs.extend(seeds);
    inputs.push(Vec::new());
    let mut try_one = |input: &[u8]| {
        let before = busy();
        let ran = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        let took = busy() - before;
        count += 1;
        if ran.is_ok() && took <= INPUT_TAKES_MAX {
            return Ok(());
        }
        Err(format!(
            "{}: {took:?} for {} bytes: {}",
            target.name,
            input.len(),
            input.escape_ascii()
        ))
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
    match least {
        0 => Err(format!("{}: it has no seeds", target.name)),
        _ if count < least => Err(format!("{}: {count} of {least} seeds", target.name)),
        _ => Ok(count),
    }
}

#[test]
fn no_input_makes_a_target_panic_hang_or_exceed_its_memory_bound() {
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
    let memory = memory();
    assert!(memory <= MEMORY_BYTES_MAX, "{memory} bytes of memory");
}

#[test]
fn every_request_message_has_a_fuzz_target() {
    let protos = FileDescriptorSet::decode(v1::DESCRIPTORS).unwrap();
    let services = protos.file.iter().flat_map(|file| &file.service);
    let calls = services.flat_map(|service| &service.method);
    let asked: BTreeSet<_> = calls
        .map(|call| call.input_type().rsplit('.').next().unwrap())
        .collect();
    assert!(asked.len() > 50, "{asked:?}");
    assert_eq!(requests_read().collect::<BTreeSet<_>>(), asked);
    // Each once: a number names a message.
    assert_eq!(requests_read().count(), asked.len());
}

#[test]
fn every_target_has_a_program_in_the_fuzz_crate() {
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
