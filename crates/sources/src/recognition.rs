//! What one file is, by its name and its first bytes.

use std::io;

use serde_json::Value;

use crate::input::{FileTree, TreeFile, decode_head};
use crate::kind::SourceKind;
use crate::plain_turn::split_turn;
use crate::readers::{JsonHead, LineHead, READERS, TableNames};

/// What a file is.
pub(crate) enum FileGuess {
    /// The kind, and why.
    Kind(SourceKind, String),
    /// What it looks like.
    Other(String),
}

/// Files that programs begin with these bytes.
const MAGICS: [(&[u8], &str); 9] = [
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a file packed by gzip"),
    (b"\x28\xb5\x2f\xfd", "a file packed by zstd"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"Rar!", "a RAR archive"),
];
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// Lines of a file's head that are looked at.
const LINES_MAX: usize = 40;

pub(crate) fn recognize(tree: &FileTree, file: &TreeFile) -> io::Result<FileGuess> {
    let ending = file.ending();
    if matches!(ending.as_str(), "md" | "markdown" | "mdx") {
        return Ok(note(tree, file));
    }
    if file.bytes == 0 {
        return Ok(FileGuess::Other("an empty file".to_owned()));
    }
    let is_single = !tree.is_folder() && !tree.is_zip();
    let is_text = matches!(
        ending.as_str(),
        "jsonl" | "json" | "ndjson" | "af" | "txt" | "log" | ""
    );
    let is_database = matches!(ending.as_str(), "db" | "sqlite" | "sqlite3");
    if !is_text && !is_database && !is_single {
        return Ok(FileGuess::Other(format!("a .{ending} file")));
    }
    let head = tree.head(file)?;
    if head.starts_with(SQLITE_MAGIC) {
        return Ok(database(tree, file));
    }
    if let Some((_, what)) = MAGICS.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Ok(FileGuess::Other((*what).to_owned()));
    }
    let Some(head) = decode_head(&head) else {
        return Ok(FileGuess::Other("a binary file".to_owned()));
    };
    let text = head.trim_start();
    // A chat may begin with the time of its first turn in brackets.
    let first = text.lines().next().and_then(split_turn);
    let is_chat = first.is_some_and(|turn| !turn.time.is_empty());
    Ok(if text.starts_with(['{', '[']) && !is_chat {
        json(file, text)
    } else {
        plain(file, text, is_single)
    })
}

fn note(tree: &FileTree, file: &TreeFile) -> FileGuess {
    let shown = tree.shown(file);
    let mut folders = shown.rsplit('/').skip(1);
    let is_memory = folders.next() == Some("memory") && folders.nth(1) == Some("projects");
    if is_memory {
        let why = "a Markdown file in projects/…/memory".to_owned();
        FileGuess::Kind(SourceKind::ClaudeMemories, why)
    } else {
        FileGuess::Kind(SourceKind::Markdown, "a Markdown file".to_owned())
    }
}

fn database(tree: &FileTree, file: &TreeFile) -> FileGuess {
    let Some(path) = tree.disk_path(file) else {
        let what = match tree.is_zip() {
            true => "a SQLite database within a ZIP: unpack it first",
            false => "a SQLite database",
        };
        return FileGuess::Other(what.to_owned());
    };
    let (connection, _) = match crate::input::open_database(&path) {
        Ok(open) => open,
        Err(error) => {
            return FileGuess::Other(format!("a SQLite database that cannot be read: {error}"));
        }
    };
    let has = |table: &str| {
        let sql = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?1";
        connection
            .query_row(sql, [table], |row| row.get::<_, i64>(0))
            .is_ok_and(|count| count > 0)
    };
    let names = TableNames { has: &has };
    let found = READERS
        .iter()
        .find_map(|reader| Some((reader.kind, reader.tables?(&names)?)));
    if let Some((kind, why)) = found {
        return FileGuess::Kind(kind, why.to_owned());
    }
    FileGuess::Other("a SQLite database of another program".to_owned())
}

fn json(file: &TreeFile, text: &str) -> FileGuess {
    let kind = |kind, why: &str| FileGuess::Kind(kind, why.to_owned());
    let name = file.name();
    if text.starts_with('{') {
        for line in text.lines().take(LINES_MAX) {
            let first = serde_json::Deserializer::from_str(line)
                .into_iter::<Value>()
                .next();
            if let Some(Ok(value)) = first
                && let Some((found, why)) = line_kind(&value, name)
            {
                return kind(found, why);
            }
        }
    }
    let ending = file.ending();
    let head = JsonHead {
        text,
        ending: &ending,
    };
    let found = READERS
        .iter()
        .find_map(|reader| Some((reader.kind, reader.json?(&head)?)));
    let is_export = name.starts_with("conversations");
    match found {
        Some((found, why)) => kind(found, why),
        None if is_export && text.starts_with('[') && text.trim_end().len() <= 2 => {
            FileGuess::Other("an export without conversations".to_owned())
        }
        None => FileGuess::Other(format!("JSON of another program{}", first_keys(text))),
    }
}

/// The kind of a line of JSON lines.
fn line_kind(value: &Value, name: &str) -> Option<(SourceKind, &'static str)> {
    let head = LineHead { value, name };
    READERS
        .iter()
        .find_map(|reader| Some((reader.kind, reader.line?(&head)?)))
}

/// The keys of the first object, for people.
fn first_keys(text: &str) -> String {
    let mut keys = Vec::new();
    let parts: Vec<&str> = text.splitn(40, '"').collect();
    for pair in parts.windows(2).skip(1).step_by(2) {
        if pair[1].trim_start().starts_with(':') && keys.len() < 5 {
            keys.push(pair[0]);
        }
    }
    if keys.is_empty() {
        String::new()
    } else {
        format!(", with the keys {}", keys.join(", "))
    }
}

/// A conversation as text, or prose. Only a file that is named by itself: a folder has texts of every kind.
fn plain(_file: &TreeFile, text: &str, is_single: bool) -> FileGuess {
    let lines: Vec<&str> = text
        .lines()
        .take(LINES_MAX)
        .filter(|line| !line.trim().is_empty())
        .collect();
    let turns = lines
        .iter()
        .filter(|line| crate::plain_turn::split_turn(line).is_some())
        .count();
    let is_chat = turns >= 2 && turns * 3 >= lines.len();
    if is_chat {
        let why = "lines that begin with a speaker".to_owned();
        return FileGuess::Kind(SourceKind::Chat, why);
    }
    let what = match text.trim_start().get(..1) {
        Some("<") => "HTML or XML",
        _ if is_single => "prose: name it .md to read it as a note",
        _ => "prose",
    };
    FileGuess::Other(what.to_owned())
}
