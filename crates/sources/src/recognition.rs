//! What one file is, by its name and its first bytes.

use std::io;

use serde_json::Value;

use crate::input::{FileTree, TreeFile, decode_head};
use crate::kind::SourceKind;
use crate::plain_turn::split_turn;

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
        return FileGuess::Other("a SQLite database within a ZIP: unpack it first".to_owned());
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
    if has("message") && has("part") && has("session") {
        let why = "a SQLite database with session, message and part".to_owned();
        return FileGuess::Kind(SourceKind::Opencode, why);
    }
    if has("history") || has("memory_history") {
        let why = "a SQLite database with history".to_owned();
        return FileGuess::Kind(SourceKind::Mem0, why);
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
    // A head may be cut, and an object may be over many lines: look for the keys.
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    let is_export = name.starts_with("conversations");
    if has("mapping") && (has("current_node") || has("author")) {
        kind(SourceKind::ChatGpt, "conversations with a mapping")
    } else if has("chat_messages") {
        kind(SourceKind::ClaudeAi, "conversations with chat_messages")
    } else if has("uuid") && (has("prompt_template") || has("conversations_memory") || has("docs"))
    {
        kind(SourceKind::ClaudeAi, "projects or memories of Claude.ai")
    } else if file.ending() == "af" || has("core_memory") || has("agent_type") && has("messages") {
        kind(SourceKind::Letta, "an agent with core memory")
    } else if has("entities") && has("observations") || has("relationType") && has("from") {
        kind(SourceKind::McpMemory, "entities with observations")
    } else if has("fact") && (has("source_node_uuid") || has("valid_at")) || has("episodic_edges") {
        kind(SourceKind::Graphiti, "edges with facts")
    } else if has("projectHash") && has("messages") || has("sessionId") && has("gemini") {
        kind(SourceKind::Gemini, "a session with projectHash")
    } else if has("memory")
        && (has("results") || has("user_id") || has("created_at") || has("memories"))
    {
        kind(SourceKind::Mem0, "memories with ids")
    } else if has("messages") && has("role") || has("role") && has("content") {
        kind(SourceKind::Chat, "messages with role and content")
    } else if has("speaker") && has("text") || has("conversations") && has("from") && has("value") {
        kind(SourceKind::Chat, "turns with their speakers")
    } else if is_export && text.starts_with('[') && text.trim_end().len() <= 2 {
        FileGuess::Other("an export without conversations".to_owned())
    } else {
        let keys = first_keys(text);
        FileGuess::Other(format!("JSON of another program{keys}"))
    }
}

/// The kind of a line of JSON lines.
fn line_kind(value: &Value, name: &str) -> Option<(SourceKind, &'static str)> {
    let has = |key: &str| value.get(key).is_some();
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
    let kind = text("type");
    if has("sessionId") && (has("parentUuid") || has("uuid") || has("isSidechain")) {
        return Some((
            SourceKind::ClaudeCode,
            "lines with sessionId and parentUuid",
        ));
    }
    if kind == "session_meta"
        || has("payload") && matches!(kind, "response_item" | "event_msg" | "turn_context")
    {
        return Some((SourceKind::Codex, "lines with response_item"));
    }
    if name.starts_with("rollout-")
        && (has("instructions") || has("record_type") || kind == "message")
    {
        return Some((SourceKind::Codex, "a rollout by its name"));
    }
    if has("projectHash") && has("sessionId") {
        return Some((SourceKind::Gemini, "a session with projectHash"));
    }
    if has("data") && (kind.starts_with("session.") || kind.ends_with(".message")) {
        return Some((SourceKind::Copilot, "events with a type and data"));
    }
    if matches!(kind, "entity" | "relation" | "_aim") {
        return Some((SourceKind::McpMemory, "lines of entities and relations"));
    }
    if has("fact") && (has("source_node_uuid") || has("valid_at") || has("uuid")) {
        return Some((SourceKind::Graphiti, "lines of edges with facts"));
    }
    if has("memory") && has("id") {
        return Some((SourceKind::Mem0, "lines of memories with ids"));
    }
    let is_turn = (has("role") || has("speaker")) && (has("content") || has("text"));
    let is_list = value.get("messages").is_some_and(Value::is_array);
    (is_turn || is_list && !has("agent_type") && !has("projectHash") && !has("core_memory"))
        .then_some((SourceKind::Chat, "turns as JSON"))
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
