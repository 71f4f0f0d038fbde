//! Our own programs that amemctl starts: amemd, and the process behind a hook.
//!
//! Promises: they get the variables of `amem_host::child::own_command`, those by which a client names its project,
//! and those that the file of models names for keys; no other keys of the shell that happens to start them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use amem_host::child;
use amem_host::project::FOLDER_VARIABLES;

use crate::connection::settings::DaemonSettings;

/// The file of models of amemd; its setting is `models.file`.
const MODELS_VARIABLE: &str = "AMEMD_MODELS_FILE";

/// A command with the variables that our programs need.
pub(crate) fn own_command(program: &Path) -> Command {
    let mut command = child::own_command(program);
    let keys = models_file().map(|file| {
        // A file that amemd refuses names no keys; amemd reports it when it starts.
        amem_models::key_variables(&file).unwrap_or_default()
    });
    let projects = FOLDER_VARIABLES.iter().map(|name| (*name).to_owned());
    for name in keys.unwrap_or_default().into_iter().chain(projects) {
        if let Some(value) = env::var_os(&name) {
            command.env(name, value);
        }
    }
    command
}

fn models_file() -> Option<PathBuf> {
    let named = env::var_os(MODELS_VARIABLE).filter(|value| !value.is_empty());
    match named {
        Some(named) => Some(PathBuf::from(named)),
        None => DaemonSettings::of_process().models.file,
    }
}
