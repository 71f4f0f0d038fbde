//! Faults of real file systems: power loss, failed write-back, a full disk, a read-only one.
//!
//! `cuts` shuts file systems down under a writer, `tool` under `amemctl`, `rig` makes their write-back fail, `full`
//! leaves no space and makes them read-only, `checkpoint` makes write-back fail under a checkpoint of
//! the daemon. All of it runs on loop devices, which takes root; elsewhere a test prints
//! SKIPPED and the reason. `AMEM_POWER_CUTS` is the number of power losses on each file system, `AMEM_SEED` repeats the
//! moments.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper that fails is a test that fails"
)]

mod checkpoint;
mod cuts;
mod full;
mod history;
mod rig;
mod tool;
mod writer;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use amem_tests::machine::skipped;
use amem_tests::mounts::{Kind, Mount};
use tempfile::TempDir;

/// A number of a long run, set by an environment variable.
fn size(variable: &str, short: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(short)
}

/// Says something that is seen although the test passes.
fn say(what: &str) {
    drop(writeln!(std::io::stderr().lock(), "{what}"));
}

/// Room that several images may take.
const IMAGES_BYTES: u64 = 2 << 30;

/// A folder in memory if there is one: what the images of file systems are in need not survive us.
fn scratch() -> TempDir {
    let memory = Path::new("/dev/shm");
    let room = rustix::fs::statvfs(memory).map_or(0, |of| of.f_bavail * of.f_frsize);
    let made = if room >= IMAGES_BYTES {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    made.unwrap()
}

/// A file system, or nothing where there can be none, which is printed.
fn mounted(kind: Kind, below: &Path, what: &str) -> Option<Mount> {
    match Mount::make(kind, below) {
        Ok(mount) => Some(mount),
        Err(why) => {
            skipped(&format!("{what} on {kind} is not tested here: {why}"));
            None
        }
    }
}

/// An empty folder that is there after a power cut.
fn make_folder(folder: &Path) {
    fs::create_dir(folder).unwrap();
    for folder in [folder, folder.parent().unwrap()] {
        File::open(folder).unwrap().sync_all().unwrap();
    }
}
