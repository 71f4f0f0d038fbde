//! The workspace as files, and Markdown as tables.

use std::fs;
use std::path::{Path, PathBuf};

/// A text file of the workspace.
pub(crate) struct File {
    /// Relative to the workspace, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    pub(crate) fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    /// Lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line))
    }

    /// The `//!` words at the start of a Rust file, without the marks.
    pub(crate) fn words(&self) -> Vec<&str> {
        let marked = self.text.lines().map_while(|l| l.strip_prefix("//!"));
        marked.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect()
    }
}

/// Where the workspace is.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the package is in a workspace").into()
}

/// Every text file that belongs to the workspace, by path; what is built, and what is hidden but `.ci`, left out.
pub(crate) fn files() -> Vec<File> {
    let (root, mut out) = (root(), Vec::new());
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace") {
            let entry = entry.expect("an entry of the workspace");
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with('.') && name != ".ci" {
                continue;
            }
            let kind = entry.file_type().expect("a kind of file");
            if kind.is_dir() {
                if !matches!(&*name, "target" | "node_modules" | "__pycache__") {
                    folders.push(path);
                }
            } else if kind.is_file()
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(&root).expect("below the workspace");
                let path = path.to_string_lossy().replace('\\', "/");
                out.push(File { path, text });
            }
        }
    }
    out.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(out.len() > 100, "only {} files were found", out.len());
    out
}

/// One file of the workspace.
pub(crate) fn file(path: &str) -> File {
    let text = fs::read_to_string(root().join(path));
    File {
        path: path.into(),
        text: text.unwrap_or_else(|e| panic!("{path}: {e}")),
    }
}

/// The rows of the first table below a heading whose first line begins with the given cells; header left out.
pub(crate) fn table(file: &File, heading: &str, front: &[&str]) -> Vec<Vec<String>> {
    let mut lines = file
        .text
        .lines()
        .skip_while(|line| line.trim_start_matches('#') != format!(" {heading}"))
        .skip_while(|line| !row(line).is_some_and(|r| r.iter().zip(front).all(|(a, b)| a == b)));
    assert!(
        lines.next().is_some(),
        "{}: no table {front:?} below \"{heading}\"",
        file.path
    );
    let rows: Vec<_> = lines.skip(1).map_while(row).collect();
    assert!(!rows.is_empty(), "{}: empty table {front:?}", file.path);
    rows
}

/// The cells of a line of a table.
fn row(line: &str) -> Option<Vec<String>> {
    let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|c| c.trim().to_owned()).collect())
}

/// What stands between backticks in a text.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Numbers that a source gives to constants of a type, in order: (name, value).
pub(crate) fn constants(file: &File, of: &str) -> Vec<(String, u64)> {
    let constant = |line: &str| {
        let (_, rest) = line.trim().split_once("const ")?;
        let (name, rest) = rest.split_once(": ")?;
        let value = rest
            .strip_prefix(of)?
            .strip_prefix(" = ")?
            .strip_suffix(';')?;
        Some((name.to_owned(), number(value)?))
    };
    file.text.lines().filter_map(constant).collect()
}

/// A number as sources write it: `7`, `1_000`, `0x41`, `256 << 10`.
fn number(text: &str) -> Option<u64> {
    let text = text.replace('_', "");
    if let Some((value, shift)) = text.split_once(" << ") {
        return Some(value.parse::<u64>().ok()? << shift.parse::<u32>().ok()?);
    }
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Fails with every complaint.
pub(crate) fn none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
