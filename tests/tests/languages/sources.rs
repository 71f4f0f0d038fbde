//! A package's sources beside the protos and the lists of cases, as in the repository, and how it is installed.
//!
//! They are copied into the target folder first, so that nothing is built among them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::kit::{Kit, say};

/// What a copy leaves behind: what may have been built or installed among the sources.
const BUILT: [&str; 6] = [
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "proto",
    ".mypy_cache",
];

/// A package's sources beside the protos and the conformance list, as in the repository.
pub(crate) struct Sources {
    folder: TempDir,
    package: PathBuf,
    cases: PathBuf,
}

impl Sources {
    /// Copies them.
    pub(crate) fn of(package: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let copy = |path: &str| {
            let to = folder.path().join(path);
            copy(&root.join(path), &to);
            to
        };
        copy("proto/proto");
        copy("clients/places.json");
        let (package, cases) = (
            copy(&format!("clients/{package}")),
            copy("clients/conformance.json"),
        );
        Self {
            folder,
            package,
            cases,
        }
    }

    /// The folder that holds them.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The package.
    pub(crate) fn package(&self) -> &Path {
        &self.package
    }

    /// Installs the Python package, and gives the folder in which an interpreter finds it.
    pub(crate) fn installed(&self, kit: &Kit) -> PathBuf {
        let site = self.folder.path().join("site");
        let mut install = kit.interpreter();
        install.args(["-m", "pip", "install", "--quiet", "--no-input"]);
        // What it is built with, and what it needs, are those of the kit: nothing is fetched.
        install.args(["--no-index", "--no-build-isolation", "--no-deps"]);
        install.arg("--target").arg(&site).arg(&self.package);
        step("Python, installed", &mut install);
        site
    }

    /// The arguments of a script of the package that runs the conformance list.
    pub(crate) fn conformance(&self, script: &str) -> Vec<PathBuf> {
        let script = self.package.join(script);
        vec![script, "--cases".into(), self.cases.clone()]
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_file() {
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
        return;
    }
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        let is_built = BUILT.iter().any(|built| name.to_str() == Some(*built));
        if !is_built && !name.to_string_lossy().ends_with(".egg-info") {
            copy(&from.join(&name), &to.join(&name));
        }
    }
}

/// Runs a step; fails with all that it said.
pub(crate) fn step(what: &str, command: &mut Command) {
    let output = command.output().unwrap();
    let said = [&output.stdout[..], &output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{what}: {said}");
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    say(&format!("{what}: {}", last.unwrap_or("done")));
}
