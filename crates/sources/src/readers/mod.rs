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

/// Reads files of one kind.
pub(crate) fn read_files(
    kind: SourceKind,
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    out.kind = kind;
    match kind {
        SourceKind::ClaudeCode => claude_code::read_transcripts(tree, files, out),
        SourceKind::ClaudeMemories => claude_memories::read_memories(tree, files, out),
        SourceKind::McpMemory => mcp_memory::read_graphs(tree, files, out),
        SourceKind::Obsidian | SourceKind::BasicMemory | SourceKind::Markdown => {
            read_notes(tree, files, out)
        }
        SourceKind::Codex => codex::read_rollouts(tree, files, out),
        SourceKind::Gemini => gemini::read_sessions(tree, files, out),
        SourceKind::Copilot => copilot::read_events(tree, files, out),
        SourceKind::Opencode => opencode::read_databases(tree, files, out),
        SourceKind::ChatGpt => chatgpt::read_exports(tree, files, out),
        SourceKind::ClaudeAi => claude_ai::read_exports(tree, files, out),
        SourceKind::Mem0 => mem0::read_memories(tree, files, out),
        SourceKind::Letta => letta::read_agents(tree, files, out),
        SourceKind::Graphiti => graphiti::read_graphs(tree, files, out),
        SourceKind::Chat => chat::read_chats(tree, files, out),
    }
}
