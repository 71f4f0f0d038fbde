//! The packages of a workspace that hold production code, and the roots from which each is compiled.

use std::fs;
use std::path::{Path, PathBuf};

/// Members of the workspace that are no production code.
const OTHERS: [&str; 3] = ["tests", "benches", "fuzz"];

/// The folders of the production packages, relative to the workspace, in the manifest's order.
pub(super) fn folders(workspace: &Path) -> Vec<String> {
    let manifest =
        fs::read_to_string(workspace.join("Cargo.toml")).expect("the workspace's manifest");
    let members = manifest
        .split_once("\nmembers = [")
        .and_then(|(_, rest)| rest.split_once(']'))
        .expect("the workspace's members")
        .0;
    let folders = members.split('"').skip(1).step_by(2).map(str::to_owned);
    folders
        .filter(|folder| !OTHERS.contains(&folder.as_str()))
        .collect()
}

/// The files at which the compiler starts: the library, the programs and the build script.
pub(super) fn roots(workspace: &Path, folder: &str) -> Vec<PathBuf> {
    let folder = workspace.join(folder);
    let mut roots: Vec<_> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .map(|name| folder.join(name))
        .into();
    let programs = fs::read_dir(folder.join("src/bin"))
        .into_iter()
        .flatten()
        .flatten();
    roots.extend(programs.map(|entry| entry.path()));
    roots.retain(|path| path.extension().is_some_and(|end| end == "rs") && path.exists());
    roots.sort();
    roots
}
