//! One reader for each kind of source.

mod claude_code;
mod claude_memories;
mod fields;
mod mcp_memory;

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
        _ => Ok(()),
    }
}
