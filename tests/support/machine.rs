//! What a test does on a machine that lacks what it needs: it prints SKIPPED, or fails where the machine is required.

use std::io::Write;

/// Prints what is not tested on this machine, even if all tests pass. With `AMEM_MACHINE=required` that is a failure.
pub fn skipped(why: &str) {
    let is_required = std::env::var_os("AMEM_MACHINE").is_some_and(|wanted| wanted == "required");
    assert!(!is_required, "{why}");
    // What a test prints in the usual way is not shown if it passes.
    drop(writeln!(std::io::stderr().lock(), "SKIPPED: {why}"));
}
