//! What the operating system knows of this process.
//!
//! Where the system does not tell something, it is 0.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// This process at a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Process {
    /// Bytes of memory that are its own: not those of files that it maps, which the system takes back when it needs to.
    pub(crate) memory_bytes: u64,
    /// Bytes of mapped files that are in memory.
    pub(crate) mapped_bytes: u64,
    /// Open descriptors.
    pub(crate) descriptors: u64,
    /// The most that there may be; 0 without a limit.
    pub(crate) descriptors_max: u64,
    /// Threads.
    pub(crate) threads: u64,
    /// Processor time of all threads.
    pub(crate) cpu: Duration,
}

impl Process {
    /// As it is now. Reads two files of the system: not for every call.
    pub(crate) fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let descriptors = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        Self {
            descriptors: descriptors as u64,
            descriptors_max: getrlimit(Resource::Nofile).current.unwrap_or(0),
            cpu: Duration::try_from(cpu).unwrap_or_default(),
            ..Self::of_status(&status)
        }
    }

    /// What stands in /proc/self/status, see proc_pid_status(5).
    fn of_status(status: &str) -> Self {
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let word = line.and_then(|rest| rest.strip_prefix(':')?.split_whitespace().next());
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        let bytes = |name| number(name) * 1024;
        Self {
            memory_bytes: bytes("RssAnon"),
            // The page cache of files, and what is shared without one.
            mapped_bytes: bytes("RssFile") + bytes("RssShmem"),
            threads: number("Threads"),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_and_threads_are_read_and_what_is_not_told_is_nothing() {
        let status =
            "Name:\tx\nRssAnon:\t    12 kB\nRssFile:\t 4 kB\nRssShmem:\t0 kB\nThreads:\t7\n";
        let process = Process::of_status(status);
        let told = (process.memory_bytes, process.mapped_bytes, process.threads);
        assert_eq!(told, (12 << 10, 4 << 10, 7));
        assert_eq!(Process::of_status("RssAnon: many"), Process::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_descriptors_and_threads() {
        let process = Process::now();
        assert!(
            process.memory_bytes > 0 && process.threads > 0,
            "{process:?}"
        );
        assert!(process.descriptors >= 3, "{process:?}");
    }
}
