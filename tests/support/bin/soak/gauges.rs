//! Memory and descriptors of the daemon over time.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_tests::process::{descriptors, resident};
use tokio::time::sleep;

use crate::world::{Failure, World};

/// Memory may grow by so much while everything goes on, and by a quarter of what the brains have in the end: it holds
/// what is not yet in a base, and what a checkpoint takes for a moment is not given back at once.
const GROWTH_BYTES_MAX: f64 = (64 << 20) as f64;
/// Descriptors that come and go: a file that is being adopted, a checkpoint, a brain that is removed.
const DESCRIPTORS_MAX: usize = 24;
/// Looks, at most.
const LOOKS: u32 = 4000;

/// One look.
struct Look {
    at: Duration,
    bytes: f64,
    descriptors: usize,
}

/// What was seen.
pub(crate) struct Gauges(Vec<Look>);

impl Gauges {
    /// Looks at a process again and again for so long.
    pub(crate) async fn watch(
        world: &Arc<World>,
        pid: u32,
        lasts: Duration,
    ) -> Result<Self, Failure> {
        let (began, every) = (
            Instant::now(),
            (lasts / LOOKS).max(Duration::from_millis(100)),
        );
        let mut looks = Vec::new();
        let mut told = began;
        while began.elapsed() < lasts {
            looks.push(Look {
                at: began.elapsed(),
                bytes: resident(pid)? as f64,
                descriptors: descriptors(pid)?,
            });
            if told.elapsed() > (lasts / 5).max(Duration::from_secs(5)) {
                told = Instant::now();
                let pid = pid.to_string();
                let mut command = tokio::process::Command::new("kill");
                command.args(["-HUP", &pid]).status().await?;
                world.add("reloads");
            }
            sleep(every).await;
        }
        Ok(Self(looks))
    }

    /// Bytes a second, by least squares.
    fn slope(&self) -> f64 {
        let count = self.0.len() as f64;
        let mean = |of: fn(&Look) -> f64| self.0.iter().map(of).sum::<f64>() / count;
        let (at, bytes) = (mean(|l| l.at.as_secs_f64()), mean(|l| l.bytes));
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let each = |l: &Look| of(l.at.as_secs_f64() - at, l.bytes - bytes);
            self.0.iter().map(each).sum::<f64>()
        };
        sum(&|x, y| x * y) / sum(&|x, _| x * x).max(f64::MIN_POSITIVE)
    }

    /// The middle one of a tenth of the looks.
    fn tenth(&self, last: bool) -> (f64, usize) {
        let tenth = (self.0.len() / 10).max(1);
        let looks = match last {
            true => &self.0[self.0.len() - tenth..],
            false => &self.0[..tenth],
        };
        let mut bytes: Vec<f64> = looks.iter().map(|l| l.bytes).collect();
        let mut open: Vec<usize> = looks.iter().map(|l| l.descriptors).collect();
        bytes.sort_by(f64::total_cmp);
        open.sort_unstable();
        (bytes[tenth / 2], open[tenth / 2])
    }

    /// Tells it; false if it is not flat.
    pub(crate) fn tell(&self, brains_bytes: u64, said: &mut String) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let ((first, open_first), (last, open_last)) = (self.tenth(false), self.tenth(true));
        let most = self.0.iter().map(|l| l.descriptors).max().unwrap_or(0);
        let (megabyte, slope) = (f64::from(1 << 20), self.slope());
        let seconds = self.0.last().map_or(0.0, |l| l.at.as_secs_f64());
        let _ = write!(
            said,
            "\nmemory of the last process, of its own, over {seconds:.0} s: {:.1} → {:.1} MiB, slope {:.1} MiB/h by \
             least squares\ndescriptors: {open_first} → {open_last}, at most {most}",
            first / megabyte,
            last / megabyte,
            slope * 3600.0 / megabyte,
        );
        let tenths = self.0.chunks(self.0.len().div_ceil(10));
        let tenths = tenths.map(|looks| {
            let bytes: f64 = looks.iter().map(|l| l.bytes).sum();
            format!("{:.1}", bytes / looks.len() as f64 / megabyte)
        });
        let tenths: Vec<String> = tenths.collect();
        let _ = write!(
            said,
            "\nmemory by tenths of that time, MiB: {}",
            tenths.join(" ")
        );
        let growth_max = GROWTH_BYTES_MAX + brains_bytes as f64 / 4.0;
        let is_flat = last - first <= growth_max && open_last <= open_first + DESCRIPTORS_MAX;
        if !is_flat {
            said.push_str("\nWRONG: that is not flat");
        }
        is_flat
    }
}
