//! The programs as users have them: `amemctl` with `amemd` beside it.
//!
//! Cargo builds a package's programs for that package's own tests only, so these are built on demand, once for each
//! process of tests, with the profile that the tests have.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// A command of `amemctl`, with nothing of the environment that would lead it elsewhere.
pub fn amemctl() -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(FOLDER.get_or_init(build).join("amemctl"));
    for (name, _) in env::vars_os() {
        let is_ours = |name: &str| name.starts_with("AMEM") || name.starts_with("XDG_");
        if name.to_str().is_some_and(is_ours) {
            command.env_remove(name);
        }
    }
    command
}

/// The program of the daemon, beside `amemctl`.
pub fn amemd() -> PathBuf {
    let amemctl = amemctl();
    PathBuf::from(amemctl.get_program()).with_file_name("amemd")
}

/// Builds them; gives the folder that they are in.
fn build() -> PathBuf {
    let test = env::current_exe().unwrap_or_else(|e| panic!("where is this test? {e}"));
    // A test is TARGET/PROFILE/deps/NAME.
    let mut above = test.ancestors().skip(2);
    let (Some(folder), Some(target)) = (above.next(), above.next()) else {
        panic!("{} is not in a target folder", test.display());
    };
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "-p", "amemctl", "-p", "amemd", "--target-dir"])
        .arg(target)
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    if folder.ends_with("release") {
        command.arg("--release");
    }
    let built = command
        .output()
        .unwrap_or_else(|e| panic!("cannot run cargo: {e}"));
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "the programs don't build:\n{said}");
    folder.to_owned()
}
