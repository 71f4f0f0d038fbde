//! The names of a vault's notes, to find what a link means.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

/// Paths, titles, aliases and permalinks of notes. Only hashes of names are in memory.
#[derive(Debug, Default)]
pub(super) struct NoteIndex {
    by_name: HashMap<u64, u32>,
}

impl NoteIndex {
    /// Adds a name of a note; the first note with a name has it.
    pub(super) fn add(&mut self, name: &str, note: usize) {
        let Ok(note) = u32::try_from(note) else {
            return;
        };
        self.by_name.entry(key(name)).or_insert(note);
    }

    /// Adds a path, its ends, and its file's name.
    pub(super) fn add_path(&mut self, path: &str, note: usize) {
        let path = without_ending(path);
        self.add(path, note);
        let mut at = 0;
        while let Some(slash) = path[at..].find('/') {
            at += slash + 1;
            self.add(&path[at..], note);
        }
    }

    /// The note that a link in the note at `path` means: relative, absolute within the vault, or by name.
    pub(super) fn find(&self, target: &str, path: &str) -> Option<usize> {
        let target = without_ending(target.trim_start_matches('/'));
        let by = |name: &str| self.by_name.get(&key(name)).map(|note| *note as usize);
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let relative = resolved(folder, target);
        relative
            .and_then(|relative| by(&relative))
            .filter(|_| target.contains('/'))
            .or_else(|| by(target))
    }
}

fn key(name: &str) -> u64 {
    xxh3_64(name.trim().to_lowercase().as_bytes())
}

fn without_ending(path: &str) -> &str {
    let ending = path.len().checked_sub(3).and_then(|at| path.get(at..));
    match ending {
        Some(ending) if ending.eq_ignore_ascii_case(".md") => &path[..path.len() - 3],
        _ => path,
    }
}

/// A relative path from a folder; none if it leaves the vault.
fn resolved(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_means_a_path_an_end_of_one_or_a_name() {
        let mut index = NoteIndex::default();
        for (note, path) in ["a/Plan.md", "b/Plan.md", "b/c/Deep.md"].iter().enumerate() {
            index.add_path(path, note);
        }
        index.add("The Plan", 1);
        for (target, from, expected) in [
            ("plan", "x.md", Some(0)),
            ("b/Plan", "x.md", Some(1)),
            ("../a/plan.md", "b/Plan.md", Some(0)),
            ("c/Deep", "b/Plan.md", Some(2)),
            ("Deep", "a/Plan.md", Some(2)),
            ("the plan", "x.md", Some(1)),
            ("../../a/Plan", "x.md", None),
            ("none", "x.md", None),
        ] {
            assert_eq!(index.find(target, from), expected, "{target} from {from}");
        }
    }
}
