//! The short form of the soak, so that it works when there is a day for it.

use std::io::Write;
use std::process::Command;

use amem_locks::LockResultExt;

#[test]
fn a_soak_run_leaves_valid_brains_with_every_answered_write() {
    let _alone = crate::ALONE.lock().unpoisoned();
    let mut soak = Command::new(env!("CARGO_BIN_EXE_amem-soak"));
    let output = soak.args(["--for", "8s"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    drop(write!(std::io::stderr().lock(), "{said}"));
}
