//! What amemctl prints of a brain, to the byte: a file in `transcripts/` for each command line.
//!
//! A file begins with `$ amemctl ` and the line. What follows is stdout, each line of stderr behind `! `, and the exit
//! code if it is not 0. With `AMEM_UPDATE=1` the test writes what the program prints now; a new file needs its first
//! line only.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::brains;
use crate::tool::{Tool, words};

const PROGRAM: &str = "$ amemctl ";
/// Rewrites the files.
const UPDATE: &str = "AMEM_UPDATE";
/// Fewer would mean that the folder was not found.
const FILES_MIN: usize = 40;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/transcripts");
    let entries = fs::read_dir(&folder).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The transcript of a line as the program behaves now.
fn transcript(tool: &Tool, line: &str) -> String {
    let ran = tool.run(&words(line));
    let mut text = format!("{PROGRAM}{line}\n{}", ran.out);
    for line in ran.err.lines() {
        text.push_str(&format!("! {line}\n"));
    }
    if ran.exit != 0 {
        text.push_str(&format!("exit code {}\n", ran.exit));
    }
    text
}

#[test]
fn every_transcript_is_what_the_program_prints() {
    let tool = Tool::with("b.amem", &brains::story());
    let is_update = env::var_os(UPDATE).is_some_and(|value| value == "1");
    let files = files();
    assert!(files.len() >= FILES_MIN, "{} files", files.len());
    let mut differing = Vec::new();
    for file in &files {
        let before = fs::read_to_string(file).unwrap();
        let line = before
            .lines()
            .next()
            .and_then(|first| first.strip_prefix(PROGRAM));
        let line = line.unwrap_or_else(|| panic!("{} begins with no command", file.display()));
        let now = transcript(&tool, line);
        if now == before {
            continue;
        }
        match is_update {
            true => fs::write(file, &now).unwrap(),
            false => differing.push(format!("{}:\n{now}", file.display())),
        }
    }
    assert!(
        differing.is_empty(),
        "{UPDATE}=1 writes what is printed now:\n{}",
        differing.join("\n")
    );
}
