//! What is left of something: in the files below a folder, byte by byte, and in removed files that a process still
//! holds.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::stage::{DemoError, Result};

/// How long a removed file may be held.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often that is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A file that has traces.
pub(super) struct Hit {
    /// Which.
    pub(super) file: PathBuf,
    /// How many different ones.
    pub(super) traces: usize,
}

/// What was looked at.
#[derive(Default)]
pub(super) struct Scanned {
    /// Files.
    pub(super) files: u64,
    /// Bytes in them.
    pub(super) bytes: u64,
}

/// Looks for traces in every byte of every file below a folder, hidden ones and those of the daemon's own too.
pub(super) fn scan(folder: &Path, traces: &[Vec<u8>]) -> Result<(Vec<Hit>, Scanned)> {
    let (mut hits, mut scanned) = (Vec::new(), Scanned::default());
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let cannot = || DemoError::io(format!("look into {}", folder.display()));
        for entry in fs::read_dir(&folder).map_err(cannot())? {
            let entry = entry.map_err(cannot())?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(cannot())?);
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                let content = match fs::read(&path) {
                    Ok(content) => content,
                    // Gone since it was listed.
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    Err(error) => {
                        return Err(DemoError::io(format!("read {}", path.display()))(error));
                    }
                };
                scanned.files += 1;
                scanned.bytes += content.len() as u64;
                let found = traces.iter().filter(|trace| has(&content, trace)).count();
                if found > 0 {
                    hits.push(Hit {
                        file: path,
                        traces: found,
                    });
                }
            }
        }
    }
    Ok((hits, scanned))
}

/// Does a process let go of every file that has been removed? A call that was given up may hold one for a moment.
pub(super) fn lets_go(pid: u32) -> Result<bool> {
    let began = Instant::now();
    while holds_removed(pid)? {
        if began.elapsed() > PATIENCE {
            return Ok(false);
        }
        thread::sleep(LOOK_EVERY);
    }
    Ok(true)
}

/// Does a process still map a file that has been removed, or hold it open? Where the kernel has no `/proc`, nobody
/// can say, and nobody is blamed.
fn holds_removed(pid: u32) -> Result<bool> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    if !process.exists() {
        return Ok(false);
    }
    let maps = process.join("maps");
    let mapped =
        fs::read_to_string(&maps).map_err(DemoError::io(format!("read {}", maps.display())))?;
    let is_removed = |name: &str| name.contains(".amem") && name.ends_with(" (deleted)");
    if mapped.lines().any(is_removed) {
        return Ok(true);
    }
    let open = process.join("fd");
    let cannot = || DemoError::io(format!("look into {}", open.display()));
    for entry in fs::read_dir(&open).map_err(cannot())? {
        // A descriptor may be closed while we look at them.
        let Ok(target) = fs::read_link(entry.map_err(cannot())?.path()) else {
            continue;
        };
        if is_removed(&target.to_string_lossy()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Does `content` have the bytes of `trace`, one after the other? Letters count as they are written.
pub(super) fn has(content: &[u8], trace: &[u8]) -> bool {
    let Some((first, rest)) = trace.split_first() else {
        return false;
    };
    let mut left = content;
    while let Some(at) = left.iter().position(|byte| byte == first) {
        left = &left[at + 1..];
        if left.starts_with(rest) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_found_wherever_it_stands_and_only_whole() {
        let found = ["xyz", "axyz", "xyzb", "xxyz", "xyxyz"];
        assert!(found.iter().all(|text| has(text.as_bytes(), b"xyz")));
        let other = ["", "xy", "yz", "xyyz", "x yz"];
        assert!(!other.iter().any(|text| has(text.as_bytes(), b"xyz")));
    }

    #[test]
    fn every_file_below_a_folder_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("brains/.amemd")).unwrap();
        let hidden = folder.path().join("brains/.amemd/.kept");
        fs::write(&hidden, "so xyz it is").unwrap();
        fs::write(folder.path().join("other"), "nothing").unwrap();
        let (hits, scanned) = scan(folder.path(), &[b"xyz".to_vec(), b"w".to_vec()]).unwrap();
        assert_eq!((scanned.files, scanned.bytes), (2, 19));
        assert_eq!((hits.len(), &hits[0].file, hits[0].traces), (1, &hidden, 1));
    }
}
