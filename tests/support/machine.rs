//! What a test does where the machine lacks what it needs.

use std::io::Write;

/// Tells what is not tested on this machine, even if all tests pass. With `AMEM_MACHINE=required` that is a failure.
pub fn skipped(why: &str) {
    let is_required = std::env::var_os("AMEM_MACHINE").is_some_and(|wanted| wanted == "required");
    assert!(!is_required, "{why}");
    // What a test prints in the usual way is not shown if it passes.
    drop(writeln!(std::io::stderr().lock(), "SKIPPED: {why}"));
}
