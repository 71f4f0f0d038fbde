//! Memory: how much one core reads per second, and the latency of a load that depends on the previous one.

use std::hint::black_box;
use std::time::Instant;

use super::super::measure::median;
use crate::data::Random;

/// Bytes that are summed.
const SCANNED: usize = 512 << 20;
/// Loads in a chase.
const LOADS: usize = 1 << 20;

/// A line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(u64);

/// Bytes a second of a sum over memory.
pub(super) fn bandwidth() -> f64 {
    let all = vec![1u64; SCANNED / 8];
    let rates = (0..7).map(|_| {
        let began = Instant::now();
        black_box(sum(black_box(&all)));
        SCANNED as f64 / began.elapsed().as_secs_f64()
    });
    median(rates.collect())
}

/// Sixteen sums beside each other, so that none waits for another.
fn sum(all: &[u64]) -> u64 {
    let mut sums = [0u64; 16];
    for part in all.chunks_exact(16) {
        for (sum, number) in sums.iter_mut().zip(part) {
            *sum = sum.wrapping_add(*number);
        }
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// Seconds of one step of a random chase through cache lines, over `bytes` bytes.
pub(super) fn load(bytes: u64) -> f64 {
    let count = (bytes / 64).clamp(1 << 10, 1 << 27);
    let mut lines: Vec<Line> = (0..count).map(Line).collect();
    // One circle through all of them (Sattolo, 1986).
    let mut random = Random::new(11);
    for last in (1..lines.len()).rev() {
        lines.swap(last, random.below(last as u64) as usize);
    }
    let mut at = 0;
    let times = (0..7).map(|_| {
        let began = Instant::now();
        for _ in 0..LOADS {
            at = lines[at as usize].0;
        }
        at = black_box(at);
        began.elapsed().as_secs_f64() / LOADS as f64
    });
    median(times.collect())
}
