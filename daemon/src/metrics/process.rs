//! The resources of this process; a value that the operating system does not report is 0.

use std::fs;
use std::time::Duration;

use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_gettime};

/// The resources of this process at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Process {
    /// Bytes of private memory. Pages of mapped files are not included: the system reclaims them at need.
    pub(crate) memory_bytes: u64,
    /// Resident bytes of mapped files.
    pub(crate) mapped_bytes: u64,
    /// Open descriptors.
    pub(crate) descriptors: u64,
    /// Their limit; 0 without one.
    pub(crate) descriptors_max: u64,
    pub(crate) threads: u64,
    /// Processor time of all threads.
    pub(crate) cpu: Duration,
}

impl Process {
    /// Reads two files of `/proc`: too slow for every call.
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

    /// Parses /proc/self/status, see proc_pid_status(5).
    fn of_status(status: &str) -> Self {
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let word = line.and_then(|rest| rest.strip_prefix(':')?.split_whitespace().next());
            word.and_then(|word| word.parse().ok()).unwrap_or(0)
        };
        let bytes = |name| number(name) * 1024;
        Self {
            memory_bytes: bytes("RssAnon"),
            // Files, and shared memory.
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
