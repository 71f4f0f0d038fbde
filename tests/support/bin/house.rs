//! Prints the structure of the production code in a checkout: import cycles, type names, long functions, lines.
//!
//! `amem-house [FOLDER] [--imports]`: the workspace in FOLDER, this one without it; `--imports` adds the imports that
//! close each cycle.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use amem_tests::house::Structure;

fn main() {
    let (options, folders): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let structure = Structure::of(&folders.first().map_or(here, PathBuf::from));
    let mut lines = vec![structure.to_string()];
    if options.iter().any(|option| option == "--imports") {
        for cycle in structure.file_cycles.iter().chain(&structure.module_cycles) {
            lines.push(format!("cycle of {}:\n", cycle.members.join(" ")));
            lines.extend(cycle.imports.iter().map(|import| format!("  {import}\n")));
        }
    }
    // A closed pipe, as of `head`, is no failure.
    drop(io::stdout().write_all(lines.concat().as_bytes()));
}
