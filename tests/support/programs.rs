//! The programs as users have them: `amemctl` with `amemd` beside it.
//!
//! Cargo builds a package's programs for that package's own tests only, so this package has programs that are the same.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::OnceLock;
use std::{env, fs, io};

use serde_json::Value;

/// A command of `amemctl`, with nothing of the environment that would lead it elsewhere.
pub fn amemctl() -> Command {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let mut command = Command::new(FOLDER.get_or_init(named).join("amemctl"));
    for (name, _) in env::vars_os() {
        let is_ours = |name: &str| name.starts_with("AMEM") || name.starts_with("XDG_");
        if name.to_str().is_some_and(is_ours) {
            command.env_remove(name);
        }
    }
    // Expected output has times in UTC.
    command.env("TZ", "UTC");
    command
}

/// The program of the daemon, beside `amemctl`.
pub fn amemd() -> PathBuf {
    let amemctl = amemctl();
    PathBuf::from(amemctl.get_program()).with_file_name("amemd")
}

/// Puts them beside each other under the names that users know; gives the folder.
fn named() -> PathBuf {
    let test = env::current_exe().unwrap_or_else(|e| panic!("where is this test? {e}"));
    // A test is TARGET/PROFILE/deps/NAME, what it is built with TARGET/PROFILE/NAME.
    let built = test.ancestors().nth(2);
    let built = built.unwrap_or_else(|| panic!("{} is not in a target folder", test.display()));
    let folder = built.join("programs");
    for (program, name) in [
        ("amem-tested-ctl", "amemctl"),
        ("amem-tested-daemon", "amemd"),
    ] {
        let linked = link(&built.join(program), &folder.join(name));
        linked.unwrap_or_else(|e| panic!("{program} as {name} in {}: {e}", folder.display()));
    }
    folder
}

/// Gives a program another name, also while other tests do so.
fn link(program: &Path, name: &Path) -> io::Result<()> {
    if let Some(folder) = name.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    if file(name).is_some_and(|named| file(program) == Some(named)) {
        // The program finds itself under this name.
        return Ok(());
    }
    let ours = name.with_extension(process::id().to_string());
    fs::hard_link(program, &ours)?;
    fs::rename(&ours, name)?;
    // A file that had the name before keeps this one, too.
    match fs::remove_file(&ours) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// A 64-bit number of an answer in JSON: protobuf writes it as a text, and leaves 0 out.
pub fn number(value: &Value) -> u64 {
    let number = match value {
        Value::Null => Some(0),
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    number.unwrap_or_else(|| panic!("{value} is no number"))
}

/// A list of an answer in JSON: protobuf leaves an empty one out.
pub fn list(value: &Value) -> &[Value] {
    match value {
        Value::Null => &[],
        other => other
            .as_array()
            .unwrap_or_else(|| panic!("{other} is no list")),
    }
}
