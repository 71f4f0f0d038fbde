//! Prints the structure of the production code in a checkout: import cycles, type names, long functions, lines.
//!
//! `amem-house [FOLDER] [--imports]`: the workspace in FOLDER, this one without it; `--imports` adds the imports that
//! close each cycle.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use amem_tests::house::Structure;

fn main() {
    let (options, folders): (Vec<_>, Vec<_>) = std::env::args()
        .skip(1)
        .partition(|word| word.starts_with("--"));
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let structure = Structure::of(&folders.first().map_or(here, PathBuf::from));
    print!("{structure}");
    if options.iter().any(|option| option == "--imports") {
        for cycle in structure.file_cycles.iter().chain(&structure.module_cycles) {
            println!("cycle of {}:", cycle.members.join(" "));
            cycle
                .imports
                .iter()
                .for_each(|import| println!("  {import}"));
        }
    }
}
