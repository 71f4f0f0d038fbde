//! One reader for each kind of source.

mod chat;
mod chatgpt;
mod claude_ai;
mod claude_code;
mod claude_memories;
mod codex;
mod copilot;
mod fields;
mod gemini;
mod graphiti;
mod head;
mod json_files;
mod letta;
mod mcp_memory;
mod mem0;
mod opencode;

use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::kind::SourceKind;
use crate::notes::read_notes;
use crate::output::ItemOutput;

pub(crate) use head::{JsonHead, LineHead, TableNames};

type ReadFiles = fn(&FileTree, &[&TreeFile], &mut ItemOutput<'_>) -> Result<(), SourceError>;

/// How a kind is recognised and read. Notes and memories of Claude Code are known by their names.
pub(crate) struct SourceReader {
    pub(crate) kind: SourceKind,
    read: ReadFiles,
    pub(crate) line: Option<fn(&LineHead<'_>) -> Option<&'static str>>,
    pub(crate) json: Option<fn(&JsonHead<'_>) -> Option<&'static str>>,
    pub(crate) tables: Option<fn(&TableNames<'_>) -> Option<&'static str>>,
}

impl SourceReader {
    const fn new(kind: SourceKind, read: ReadFiles) -> Self {
        Self {
            kind,
            read,
            line: None,
            json: None,
            tables: None,
        }
    }

    const fn by_line(mut self, line: fn(&LineHead<'_>) -> Option<&'static str>) -> Self {
        self.line = Some(line);
        self
    }

    const fn by_json(mut self, json: fn(&JsonHead<'_>) -> Option<&'static str>) -> Self {
        self.json = Some(json);
        self
    }

    const fn by_tables(mut self, tables: fn(&TableNames<'_>) -> Option<&'static str>) -> Self {
        self.tables = Some(tables);
        self
    }
}

/// One row for each kind, in the order in which a file is tried: the first that recognises it reads it.
pub(crate) const READERS: [SourceReader; SourceKind::ALL.len()] = [
    SourceReader::new(SourceKind::ClaudeCode, claude_code::read_transcripts)
        .by_line(claude_code::recognize_line),
    SourceReader::new(SourceKind::ClaudeMemories, claude_memories::read_memories),
    SourceReader::new(SourceKind::Codex, codex::read_rollouts).by_line(codex::recognize_line),
    SourceReader::new(SourceKind::Gemini, gemini::read_sessions)
        .by_line(gemini::recognize_line)
        .by_json(gemini::recognize_json),
    SourceReader::new(SourceKind::Copilot, copilot::read_events).by_line(copilot::recognize_line),
    SourceReader::new(SourceKind::Opencode, opencode::read_databases)
        .by_tables(opencode::recognize_tables),
    SourceReader::new(SourceKind::ChatGpt, chatgpt::read_exports).by_json(chatgpt::recognize_json),
    SourceReader::new(SourceKind::ClaudeAi, claude_ai::read_exports)
        .by_json(claude_ai::recognize_json),
    SourceReader::new(SourceKind::Letta, letta::read_agents).by_json(letta::recognize_json),
    SourceReader::new(SourceKind::McpMemory, mcp_memory::read_graphs)
        .by_line(mcp_memory::recognize_line)
        .by_json(mcp_memory::recognize_json),
    SourceReader::new(SourceKind::Graphiti, graphiti::read_graphs)
        .by_line(graphiti::recognize_line)
        .by_json(graphiti::recognize_json),
    SourceReader::new(SourceKind::Mem0, mem0::read_memories)
        .by_line(mem0::recognize_line)
        .by_json(mem0::recognize_json)
        .by_tables(mem0::recognize_tables),
    SourceReader::new(SourceKind::Obsidian, read_notes),
    SourceReader::new(SourceKind::BasicMemory, read_notes),
    SourceReader::new(SourceKind::Markdown, read_notes),
    SourceReader::new(SourceKind::Chat, chat::read_chats)
        .by_line(chat::recognize_line)
        .by_json(chat::recognize_json),
];

/// Reads files of one kind.
pub(crate) fn read_files(
    kind: SourceKind,
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    out.kind = kind;
    match READERS.iter().find(|reader| reader.kind == kind) {
        Some(reader) => (reader.read)(tree, files, out),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_one_reader() {
        for kind in SourceKind::ALL {
            let readers = READERS.iter().filter(|reader| reader.kind == kind);
            assert_eq!(readers.count(), 1, "{kind}");
        }
        let refused = "emacs".parse::<SourceKind>().unwrap_err();
        assert!(refused.starts_with("unknown kind of source \"emacs\": use one of claude-code, "));
    }
}
