//! The limits of this machine, in which goals are stated.
//!
//! Not here: limits of one row, such as the same lines of the mapped file (`rows::read`) or a raw log with as many
//! callers (`rows::ingest`): the row's own rounds measure those.

mod disk;
mod echo;
mod memory;
mod switch;

use std::path::Path;

use super::measure::Outcome;
use super::table::duration;

/// The machine just before the rows.
#[derive(Debug, Clone)]
pub(super) struct Calibration {
    /// What one event with three edges and a vector adds to the journal.
    pub(super) frame_bytes: usize,
    /// A write of that many bytes and an fdatasync, in seconds.
    pub(super) fdatasync: f64,
    /// Bytes a second, written in order and synced at the end.
    pub(super) sequential: f64,
    /// Bytes a second that one core reads.
    pub(super) bandwidth: f64,
    /// One load that depends on the one before, over as many bytes as the data has, in seconds.
    pub(super) load: f64,
    /// An echo of one caller, in seconds.
    pub(super) echo: f64,
    /// Echoes a second with 64 in flight.
    pub(super) echoes: f64,
    /// From one thread to another and back, halved, in seconds.
    pub(super) switch: f64,
}

impl Calibration {
    /// Measures in a folder, for a brain of `bytes` bytes.
    pub(super) fn measure(folder: &Path, bytes: u64) -> Outcome<Self> {
        let frame_bytes = disk::frame_bytes(folder)?;
        let (echo, echoes) = echo::measure()?;
        Ok(Self {
            frame_bytes,
            fdatasync: disk::fdatasync(folder, frame_bytes)?,
            sequential: disk::sequential(folder, bytes)?,
            bandwidth: memory::bandwidth(),
            load: memory::load(bytes),
            echo,
            echoes,
            switch: switch::measure()?,
        })
    }

    /// In words.
    pub(super) fn shown(&self) -> String {
        format!(
            "fdatasync of {} bytes {} · sequential write + sync {:.0} MB/s · read bandwidth {:.1} GB/s · dependent load {} · \
             echo {}, 64 in flight {:.0}/s · context switch {}",
            self.frame_bytes,
            duration(self.fdatasync),
            self.sequential / 1e6,
            self.bandwidth / 1e9,
            duration(self.load),
            duration(self.echo),
            self.echoes,
            duration(self.switch),
        )
    }

    /// The same for programs.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "frame_bytes": self.frame_bytes,
            "fdatasync": self.fdatasync,
            "sequential_bytes_per_second": self.sequential,
            "bandwidth_bytes_per_second": self.bandwidth,
            "dependent_load": self.load,
            "echo": self.echo,
            "echoes_per_second": self.echoes,
            "context_switch": self.switch,
        })
    }
}
