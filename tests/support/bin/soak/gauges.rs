//! Memory and descriptors of the daemon over time.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_tests::process::{descriptors, resident};
use tokio::time::sleep;

use crate::world::{Failure, World};

/// Memory may grow by so much while everything goes on, and by a quarter of what the brains have in the end: it holds
/// what is not yet in a base, and what a checkpoint takes for a moment is not given back at once.
const GROWTH_BYTES_MAX: f64 = (64 << 20) as f64;
/// Bytes an hour by which memory may grow, and a quarter of those by which the brains do, for the same reason. In the
/// second half of five minutes the slope is that of what settles: 124 MiB/h, which came to 4.3 MiB. So much in half an
/// hour is 9 MiB/h, and this is seven times that; a heap for each thread was some 1,000.
const SLOPE_BYTES_MAX: f64 = (64 << 20) as f64;
/// How long is looked for a slope to count: the second half of an hour.
const SLOPE_COUNTS_FROM: Duration = Duration::from_secs(1800);
/// Descriptors that come and go: a file that is being adopted, a checkpoint, a brain that is removed.
const DESCRIPTORS_MAX: usize = 24;
/// Looks, at most.
const LOOKS: u32 = 4000;

/// One look.
struct Look {
    at: Duration,
    bytes: f64,
    /// Those of the brains' files.
    brains: f64,
    descriptors: usize,
}

/// What was seen.
pub(crate) struct Gauges {
    looks: Vec<Look>,
    /// How long was looked.
    lasts: Duration,
}

/// The bytes of all brains of a folder.
fn brains_bytes(folder: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.path().extension().is_some_and(|end| end == "amem") {
            bytes += match entry.metadata() {
                Ok(file) => file.len(),
                // Brains are removed, and files replaced, at any moment.
                Err(gone) if gone.kind() == io::ErrorKind::NotFound => 0,
                Err(why) => return Err(why),
            };
        }
    }
    Ok(bytes)
}

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
                brains: brains_bytes(world.place.folder())? as f64,
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
        Ok(Self { looks, lasts })
    }

    /// Bytes an hour, by least squares.
    fn slope(&self, bytes_of: fn(&Look) -> f64) -> f64 {
        let count = self.looks.len() as f64;
        let mean = |of: fn(&Look) -> f64| self.looks.iter().map(of).sum::<f64>() / count;
        let (at, bytes) = (mean(|l| l.at.as_secs_f64()), mean(bytes_of));
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let each = |l: &Look| of(l.at.as_secs_f64() - at, bytes_of(l) - bytes);
            self.looks.iter().map(each).sum::<f64>()
        };
        3600.0 * sum(&|x, y| x * y) / sum(&|x, _| x * x).max(f64::MIN_POSITIVE)
    }

    /// True if memory grows no faster than it may, as far as the samples show.
    fn is_slow(&self) -> bool {
        let brains = self.slope(|look| look.brains).max(0.0);
        self.lasts < SLOPE_COUNTS_FROM
            || self.slope(|look| look.bytes) <= SLOPE_BYTES_MAX + brains / 4.0
    }

    /// The middle one of a tenth of the looks.
    fn tenth(&self, last: bool) -> (f64, usize) {
        let tenth = (self.looks.len() / 10).max(1);
        let looks = if last {
            &self.looks[self.looks.len() - tenth..]
        } else {
            &self.looks[..tenth]
        };
        let mut bytes: Vec<f64> = looks.iter().map(|l| l.bytes).collect();
        let mut open: Vec<usize> = looks.iter().map(|l| l.descriptors).collect();
        bytes.sort_by(f64::total_cmp);
        open.sort_unstable();
        (bytes[tenth / 2], open[tenth / 2])
    }

    /// Prints it; false if it is not flat.
    pub(crate) fn tell(&self, brains_bytes: u64, said: &mut String) -> bool {
        if self.looks.is_empty() {
            return true;
        }
        let ((first, open_first), (last, open_last)) = (self.tenth(false), self.tenth(true));
        let most = self.looks.iter().map(|l| l.descriptors).max().unwrap_or(0);
        let (megabyte, slope) = (f64::from(1 << 20), self.slope(|look| look.bytes));
        let seconds = self.looks.last().map_or(0.0, |l| l.at.as_secs_f64());
        let _ = write!(
            said,
            "\nmemory of the last process, of its own, over {seconds:.0} s: {:.1} → {:.1} MiB, slope {:.1} MiB/h by \
             least squares; of the brains {:.1} MiB/h\ndescriptors: {open_first} → {open_last}, at most {most}",
            first / megabyte,
            last / megabyte,
            slope / megabyte,
            self.slope(|look| look.brains) / megabyte,
        );
        let tenths = self.looks.chunks(self.looks.len().div_ceil(10));
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
        if !self.is_slow() {
            let most = SLOPE_BYTES_MAX / megabyte;
            let _ = write!(
                said,
                "\nWRONG: memory may grow by {most} MiB/h, and a quarter of what the brains do"
            );
        }
        is_flat && self.is_slow()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks for so many minutes at memory and brains that grow by so many MiB an hour.
    fn looked(minutes: u64, memory: f64, brains: f64) -> Gauges {
        let look = |second: u64| {
            let grown = |by: f64| by * second as f64 / 3600.0 * f64::from(1 << 20);
            Look {
                at: Duration::from_secs(second),
                // What comes and goes has no slope.
                bytes: 1e8 + grown(memory) + (second % 2) as f64 * 1e6,
                brains: 1e9 + grown(brains),
                descriptors: 30,
            }
        };
        Gauges {
            looks: (0..minutes * 60).map(look).collect(),
            lasts: Duration::from_secs(minutes * 60),
        }
    }

    #[test]
    fn memory_that_grows_for_half_an_hour_fails_unless_the_brains_grow() {
        let rows = [
            (30, 60.0, 0.0, true),
            (30, 70.0, 0.0, false),
            (30, 70.0, 40.0, true),
            (30, 70.0, -40.0, false),
            (720, 70.0, 0.0, false),
            (5, 124.0, 0.0, true),
        ];
        for (minutes, memory, brains, is_right) in rows {
            let mut said = String::new();
            // Brains without end: what is judged here is the slope alone.
            let told = looked(minutes, memory, brains).tell(1 << 40, &mut said);
            assert_eq!(told, is_right, "{minutes} min, {memory}, {brains}: {said}");
            assert_eq!(
                said.contains("WRONG: memory may grow by 64 MiB/h"),
                !is_right
            );
        }
    }
}
