//! The files beside the workspace: brains written by the reference, with dumps by its own reader.
//!
//! They are not part of the project; a test that needs them says so and passes where they are missing.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The reference brains by name.
pub const REFERENCE_BRAINS: [&str; 4] = ["empty", "small", "medium", "sparse_ids"];

/// A brain written by the reference, and what its own reader saw in it.
#[derive(Debug)]
pub struct ReferenceBrain {
    /// Its name, without extension.
    pub name: &'static str,
    /// Where it is.
    pub path: PathBuf,
    /// The file.
    pub bytes: Vec<u8>,
    /// The dump.
    pub dump: Value,
}

/// The folder of shared files: `AMEM_SHARED`, or `../shared` beside the workspace. Without one a
/// message is printed for the test that asked.
pub fn shared_dir() -> Option<PathBuf> {
    let dir = match std::env::var_os("AMEM_SHARED") {
        Some(dir) => PathBuf::from(dir),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    if dir.join("data").is_dir() {
        return Some(dir);
    }
    eprintln!(
        "not checked: no shared files in {} (set AMEM_SHARED to their folder)",
        dir.display()
    );
    None
}

/// The reference brain of a name.
pub fn reference_brain(name: &'static str) -> Option<ReferenceBrain> {
    let folder = shared_dir()?.join("data/reference-brains");
    let path = folder.join(format!("{name}.amem"));
    let read = |path: &Path| {
        std::fs::read(path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()))
    };
    let dump = read(&folder.join(format!("{name}.json")));
    Some(ReferenceBrain {
        name,
        bytes: read(&path),
        path,
        dump: serde_json::from_slice(&dump).unwrap_or_else(|e| panic!("{name}.json: {e}")),
    })
}

/// Every reference brain; none where the shared files are missing.
pub fn reference_brains() -> Vec<ReferenceBrain> {
    REFERENCE_BRAINS
        .iter()
        .map_while(|name| reference_brain(name))
        .collect()
}
