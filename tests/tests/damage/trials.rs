//! Damaged copies, tried on all cores.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use amem_tests::damaged::Verdict;

use crate::KNOWN;

/// Failures that are printed.
const PRINTED_MAX: usize = 20;

/// What came of all of them.
#[derive(Debug, Default)]
struct Outcome {
    counts: BTreeMap<Verdict, usize>,
    /// Those that damaged nothing.
    same: usize,
    panics: usize,
    failures: Vec<String>,
}

/// Judges `count` copies, each made by `make` from its number, which also names it. Every `read_each`th that verify
/// tells of is read to its end as well.
pub(crate) fn judge(
    what: &str,
    count: usize,
    read_each: usize,
    make: impl Fn(usize) -> (String, Vec<u8>) + Sync,
) {
    let outcome = Mutex::new(Outcome::default());
    let next = AtomicUsize::new(0);
    let cores = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let (name, bytes) = make(at);
                    let read = at.is_multiple_of(read_each);
                    let told = (bytes != KNOWN.bytes())
                        .then(|| catch_unwind(AssertUnwindSafe(|| KNOWN.judge(&bytes, read))));
                    outcome.lock().unwrap().add(&name, told);
                }
            });
        }
    });
    let outcome = outcome.into_inner().unwrap();
    let of = |verdict| outcome.counts.get(&verdict).unwrap_or(&0);
    println!(
        "{} {what}: at open {}, by verify {}, in padding {}, panics {}",
        count - outcome.same,
        of(Verdict::AtOpen),
        of(Verdict::ByVerify),
        of(Verdict::InPadding),
        outcome.panics
    );
    let failures = &outcome.failures;
    let shown = failures
        .iter()
        .take(PRINTED_MAX)
        .cloned()
        .collect::<Vec<_>>();
    assert!(
        failures.is_empty(),
        "{} of them:\n{}",
        failures.len(),
        shown.join("\n")
    );
}

type TrialResult = thread::Result<Result<Verdict, String>>;

impl Outcome {
    fn add(&mut self, name: &str, told: Option<TrialResult>) {
        match told {
            None => self.same += 1,
            Some(Ok(Ok(verdict))) => *self.counts.entry(verdict).or_default() += 1,
            Some(Ok(Err(why))) => self.failures.push(format!("{name}: {why}")),
            Some(Err(_)) => {
                self.panics += 1;
                self.failures.push(format!("{name}: a panic"));
            }
        }
    }
}
