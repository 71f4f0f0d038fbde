//! When the jobs of brains ran last and their outcomes, from one run of the daemon to the next: the file
//! `.amemd/jobs.json`.
//!
//! So a machine that is off each night knows in the morning what it has missed, even of closed brains.
//! Promises: the file is whole, new or old, after a power cut too; if it is lost or can't be read, jobs count from now,
//! and the file is renamed and logged. It is bounded. No call waits for it.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use amem_format::Micros;
use amem_store::disk::Disk;
use amem_store::disk::atomic_file;
use amem_store::disk::os::OsDisk;
use amem_store::folder::OWN;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::entry::ScheduledJob;
use crate::jobs::JobKind;
use crate::limits::{JOB_MESSAGE_BYTES_MAX, LAST_RUNS_BYTES_MAX, LAST_RUNS_FOR, LAST_RUNS_MAX};

/// Its name among our own files.
const NAME: &str = "jobs.json";
/// The version that this daemon writes, and the newest that it reads.
const VERSION: u32 = 1;

/// The last run of a job of a brain, or since when it is due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastRun {
    pub(super) instance: Uuid,
    pub(super) job: String,
    pub(super) schedule: String,
    /// Microseconds since 1970, as all times here.
    pub(super) since: i64,
    pub(super) last: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default)]
    pub(super) failed: bool,
    /// When its brain was last there.
    pub(super) seen: i64,
}

#[derive(Debug, Serialize, Deserialize)]
struct LastRunsJson {
    version: u32,
    jobs: Vec<LastRun>,
}

/// The version of a file, whatever else it has.
#[derive(Debug, Deserialize)]
struct LastRunsVersion {
    version: u32,
}

/// Which job it is.
pub(super) type LastRunKey = (Uuid, String);

impl LastRun {
    pub(super) fn of(entry: &ScheduledJob, seen: Micros) -> Self {
        let message = match &entry.outcome {
            None => None,
            Some(Ok(what) | Err(what)) => Some(short(what).to_owned()),
        };
        Self {
            instance: entry.instance,
            job: entry.kind.name().to_owned(),
            schedule: entry.schedule.to_string(),
            since: entry.since.0,
            last: if entry.running {
                entry.before.map(|last| last.0)
            } else {
                entry.last.map(|last| last.0)
            },
            message,
            failed: matches!(entry.outcome, Some(Err(_))),
            seen: seen.0,
        }
    }

    /// The job of a brain as an earlier daemon left it; none if there is no such job any more.
    pub(super) fn job_of(&self, brain: &str) -> Option<ScheduledJob> {
        let kind = JobKind::by_name(&self.job)?;
        let message = self.message.clone();
        Some(ScheduledJob {
            kind,
            brain: brain.to_owned(),
            instance: self.instance,
            schedule: self.schedule.parse().ok()?,
            since: Micros(self.since),
            last: self.last.map(Micros),
            before: None,
            outcome: message.map(|what| if self.failed { Err(what) } else { Ok(what) }),
            next: None,
            running: false,
            runs: 0,
        })
    }

    pub(super) fn key(&self) -> LastRunKey {
        (self.instance, self.job.clone())
    }
}

/// A text, cut at `JOB_MESSAGE_BYTES_MAX`.
fn short(text: &str) -> &str {
    let mut end = text.len().min(JOB_MESSAGE_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The file.
#[derive(Debug)]
pub(super) struct LastRunsFile {
    folder: PathBuf,
    path: PathBuf,
    /// What it has, without when brains were there.
    written: Vec<LastRun>,
    /// Why the last write failed, which is logged once.
    trouble: Option<String>,
}

impl LastRunsFile {
    /// Opens the file of a folder of brains; returns what it has.
    pub(super) fn open(folder: &Path) -> (Self, HashMap<LastRunKey, LastRun>) {
        let mut file = Self {
            folder: folder.to_owned(),
            path: folder.join(OWN).join(NAME),
            written: Vec::new(),
            trouble: None,
        };
        let runs = match read(&file.path) {
            Ok(runs) => runs,
            Err(why) => {
                let aside = file.path.with_extension("json.aside");
                let moved = fs::rename(&file.path, &aside).err();
                tracing::warn!(
                    file = %file.path.display(),
                    why,
                    aside = %aside.display(),
                    not_moved = moved.map(|e| e.to_string()),
                    "the file of last runs can't be read: it is renamed, and jobs count from now"
                );
                Vec::new()
            }
        };
        file.written = sorted(runs.clone());
        let runs = runs.into_iter().map(|run| (run.key(), run)).collect();
        (file, runs)
    }

    /// Writes the runs; a failure is logged.
    pub(super) fn write_or_log(&mut self, runs: Vec<LastRun>, now: Micros) {
        let trouble = self.write(runs, now).err().map(|e| e.to_string());
        if trouble.is_some() && trouble != self.trouble {
            tracing::warn!(
                file = %self.path.display(),
                why = trouble,
                "the file of last runs can't be written: after a restart jobs count from an earlier moment"
            );
        }
        self.trouble = trouble;
    }

    /// Writes the runs, unless the file has them; of more than `LAST_RUNS_MAX`, those whose brains were there last.
    pub(super) fn write(
        &mut self,
        runs: Vec<LastRun>,
        now: Micros,
    ) -> Result<bool, Box<dyn Error>> {
        let runs = bounded(runs, now);
        let comparable = sorted(runs.clone());
        if comparable == self.written {
            return Ok(false);
        }
        let mut whole = LastRunsJson {
            version: VERSION,
            jobs: runs,
        };
        let mut bytes = serde_json::to_vec(&whole)?;
        // Escapes may take many bytes: then there is room for fewer.
        while bytes.len() as u64 > LAST_RUNS_BYTES_MAX {
            whole.jobs.truncate(whole.jobs.len() / 2);
            bytes = serde_json::to_vec(&whole)?;
        }
        let disk: Arc<dyn Disk> = Arc::new(OsDisk::new(&self.folder)?);
        let (tmp, name) = (format!("{OWN}/{NAME}.new"), format!("{OWN}/{NAME}"));
        atomic_file::write(&disk, OWN, &tmp, &name, &bytes)?;
        self.written = comparable;
        Ok(true)
    }
}

/// Comparable runs: a brain that is still there is no change.
fn sorted(mut runs: Vec<LastRun>) -> Vec<LastRun> {
    for run in &mut runs {
        run.seen = 0;
    }
    runs.sort_unstable_by(|a, b| (a.instance, &a.job).cmp(&(b.instance, &b.job)));
    runs
}

fn bounded(mut runs: Vec<LastRun>, now: Micros) -> Vec<LastRun> {
    let oldest = now.0.saturating_sub(LAST_RUNS_FOR.as_micros() as i64);
    // A time in the future was noted by a wrong clock: it counts as now.
    for run in &mut runs {
        run.seen = run.seen.min(now.0);
    }
    runs.retain(|run| run.seen >= oldest);
    runs.sort_unstable_by(|a, b| {
        let of = |run: &LastRun| (-run.seen, run.instance);
        of(a).cmp(&of(b)).then_with(|| a.job.cmp(&b.job))
    });
    runs.truncate(LAST_RUNS_MAX);
    runs
}

fn read(path: &Path) -> Result<Vec<LastRun>, String> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e.to_string()),
    };
    let mut bytes = Vec::new();
    let mut limited = file.take(LAST_RUNS_BYTES_MAX + 1);
    limited.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > LAST_RUNS_BYTES_MAX {
        return Err(format!("it has more than {LAST_RUNS_BYTES_MAX} bytes"));
    }
    let LastRunsVersion { version } = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    if version > VERSION {
        return Err(format!(
            "it is of version {version}, and this daemon knows {VERSION}"
        ));
    }
    let whole: LastRunsJson = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
    let mut jobs = whole.jobs;
    jobs.truncate(LAST_RUNS_MAX);
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros(1_700_000_000_000_000);

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(OWN)).unwrap();
        folder
    }

    fn run(instance: u128, seen: i64) -> LastRun {
        LastRun {
            instance: Uuid::from_u128(instance),
            job: "JOB_KIND_DECAY".into(),
            schedule: "daily 03:00".into(),
            since: 5,
            last: Some(7),
            message: Some("what it did".into()),
            failed: true,
            seen,
        }
    }

    #[test]
    fn what_was_written_reads_back_and_is_written_when_it_has_changed() {
        let folder = folder();
        let (mut file, read) = LastRunsFile::open(folder.path());
        assert!(read.is_empty());
        assert!(file.write(vec![run(1, NOW.0)], NOW).unwrap());
        assert!(!file.write(vec![run(1, NOW.0 - 1)], NOW).unwrap());
        let (mut file, read) = LastRunsFile::open(folder.path());
        assert_eq!(read.into_values().collect::<Vec<_>>(), [run(1, NOW.0)]);
        assert!(!file.write(vec![run(1, NOW.0)], NOW).unwrap());
        let changed = LastRun {
            last: Some(8),
            ..run(1, NOW.0)
        };
        assert!(file.write(vec![changed], NOW).unwrap());
        let own = fs::read_dir(folder.path().join(OWN)).unwrap();
        assert_eq!(own.count(), 1);
    }

    #[test]
    fn files_that_cannot_be_read_are_set_aside_and_jobs_count_from_now() {
        let many = format!(
            "{{\"version\":1,\"jobs\":[]}}{}",
            " ".repeat(LAST_RUNS_BYTES_MAX as usize)
        );
        for bytes in [
            "",
            "{",
            "[]",
            "{\"jobs\":[]}",
            "{\"version\":2,\"jobs\":[]}",
            "{\"version\":2,\"something\":\"else\"}",
            "{\"version\":1,\"jobs\":[{\"instance\":\"?\"}]}",
            &many,
        ] {
            let folder = folder();
            let path = folder.path().join(OWN).join(NAME);
            fs::write(&path, bytes).unwrap();
            let (mut file, read) = LastRunsFile::open(folder.path());
            let told = &bytes[..bytes.len().min(40)];
            assert!(read.is_empty() && !path.exists(), "{told}");
            let aside = path.with_extension("json.aside");
            assert_eq!(fs::read(aside).unwrap(), bytes.as_bytes(), "{told}");
            assert!(file.write(vec![run(1, NOW.0)], NOW).unwrap(), "{told}");
        }
        // A folder that can't be written to is an error, and no more.
        let folder = tempfile::tempdir().unwrap();
        let (mut file, _) = LastRunsFile::open(folder.path());
        assert!(file.write(vec![run(1, NOW.0)], NOW).is_err());
    }

    #[test]
    fn brains_that_are_gone_for_long_are_dropped_and_the_file_is_bounded() {
        let long_ago = NOW.0 - LAST_RUNS_FOR.as_micros() as i64 - 1;
        let years_ahead = NOW.0 * 2;
        let left = bounded(
            vec![run(1, long_ago), run(2, NOW.0), run(3, years_ahead)],
            NOW,
        );
        let ids: Vec<_> = left.iter().map(|run| run.instance.as_u128()).collect();
        assert_eq!(ids, [2, 3]);
        assert_eq!(left[1].seen, NOW.0);
        let longest = LastRun {
            message: Some("ä".repeat(JOB_MESSAGE_BYTES_MAX)),
            ..run(1, NOW.0)
        };
        let entry = longest.job_of("b").unwrap();
        let longest = LastRun::of(&entry, NOW);
        assert!(longest.message.as_ref().unwrap().len() <= JOB_MESSAGE_BYTES_MAX);
        let each = serde_json::to_vec(&longest).unwrap().len() as u64 + 64;
        assert!(
            each * LAST_RUNS_MAX as u64 <= LAST_RUNS_BYTES_MAX,
            "{each} bytes each"
        );
        let many = (0..LAST_RUNS_MAX as i64 + 10)
            .map(|n| run(n as u128, NOW.0 - n))
            .collect();
        let left = bounded(many, NOW);
        assert_eq!(left.len(), LAST_RUNS_MAX);
        assert!(
            left.iter()
                .all(|run| run.instance.as_u128() < LAST_RUNS_MAX as u128)
        );
    }
}
