//! Memory of a process beyond its files: the system's anonymous and shared memory.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const MIB: f64 = 1024.0;
/// Interval of the samples for the maximum.
const EVERY: Duration = Duration::from_millis(20);

/// What a process has, in MiB: beyond its files, and of them.
pub(crate) fn of(process: u32) -> Result<(f64, f64), Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let kib = |name: &str| -> Result<f64, Box<dyn Error>> {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next());
        let number = number.ok_or_else(|| format!("/proc does not tell {name}"))?;
        Ok(number.parse()?)
    };
    let own = kib("RssAnon:")? + kib("RssShmem:")?;
    Ok((own / MIB, kib("RssFile:")? / MIB))
}

/// Samples the peak memory of this process beyond its files.
pub(crate) struct Peak {
    is_over: Arc<AtomicBool>,
    /// The maximum, as the bits of an `f64`: those of positive numbers are in their order.
    most: Arc<AtomicU64>,
    watching: Option<JoinHandle<()>>,
}

impl Peak {
    pub(crate) fn watch() -> Self {
        let (is_over, most) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let watching = {
            let (is_over, most) = (is_over.clone(), Arc::<AtomicU64>::clone(&most));
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    if let Ok((own, _)) = of(std::process::id()) {
                        most.fetch_max(own.to_bits(), Ordering::Relaxed);
                    }
                    thread::sleep(EVERY);
                }
            })
        };
        Self {
            is_over,
            most,
            watching: Some(watching),
        }
    }

    /// The maximum since the last call, in MiB.
    pub(crate) fn take(&self) -> f64 {
        f64::from_bits(self.most.swap(0, Ordering::Relaxed))
    }
}

impl Drop for Peak {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watching) = self.watching.take() {
            // It only looks: if it panicked, there is nothing to mend.
            drop(watching.join());
        }
    }
}
