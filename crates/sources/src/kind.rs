//! The kinds of sources, and their names on a command line.

use std::fmt;
use std::str::FromStr;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceKind {
    /// Sessions of Claude Code: `projects/<folder>/<session>.jsonl`.
    ClaudeCode,
    /// Memories of Claude Code: `projects/<folder>/memory/*.md`.
    ClaudeMemories,
    /// Sessions of Codex: `sessions/Y/M/D/rollout-*.jsonl`.
    Codex,
    /// Sessions of Gemini CLI: `tmp/<project>/chats/session-*`.
    Gemini,
    /// Sessions of Copilot CLI: `session-state/<id>/events.jsonl`.
    Copilot,
    /// Sessions of opencode: its SQLite database.
    Opencode,
    /// The export of ChatGPT.
    ChatGpt,
    /// The export of Claude.ai.
    ClaudeAi,
    /// Memories of mem0: what `get_all` answers, or its history database.
    Mem0,
    /// The graph of the MCP memory server.
    McpMemory,
    /// A vault of Obsidian.
    Obsidian,
    /// Notes of Basic Memory.
    BasicMemory,
    /// Other Markdown: `AGENTS.md`, `CLAUDE.md`, a folder of notes.
    Markdown,
    /// An agent file of Letta.
    Letta,
    /// Nodes, edges and episodes of Graphiti or Zep.
    Graphiti,
    /// Conversations: turns as JSON, or as text.
    Chat,
}

impl SourceKind {
    /// All kinds, in the order in which they are shown.
    pub const ALL: [Self; 16] = [
        Self::ClaudeCode,
        Self::ClaudeMemories,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Opencode,
        Self::ChatGpt,
        Self::ClaudeAi,
        Self::Mem0,
        Self::McpMemory,
        Self::Obsidian,
        Self::BasicMemory,
        Self::Markdown,
        Self::Letta,
        Self::Graphiti,
        Self::Chat,
    ];

    /// Its name on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeMemories => "claude-memories",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::ChatGpt => "chatgpt",
            Self::ClaudeAi => "claude",
            Self::Mem0 => "mem0",
            Self::McpMemory => "mcp-memory",
            Self::Obsidian => "obsidian",
            Self::BasicMemory => "basic-memory",
            Self::Markdown => "markdown",
            Self::Letta => "letta",
            Self::Graphiti => "graphiti",
            Self::Chat => "chat",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind in source ids. Notes have one, so that a vault that becomes one of Obsidian keeps its ids.
    #[must_use]
    pub fn id_name(self) -> &'static str {
        if self.is_notes() {
            "markdown"
        } else {
            self.name()
        }
    }

    /// True for folders of Markdown, which one reader reads.
    #[must_use]
    pub fn is_notes(self) -> bool {
        matches!(self, Self::Obsidian | Self::BasicMemory | Self::Markdown)
    }

    /// True if a file of it is all that there is: what is no longer in the file is gone. An export of conversations may
    /// be of some of them.
    #[must_use]
    pub fn is_whole_state(self) -> bool {
        self.is_notes() || matches!(self, Self::ClaudeMemories | Self::McpMemory)
    }

    /// True if its items are mainly turns of conversations.
    #[must_use]
    pub fn is_conversation(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode
                | Self::Codex
                | Self::Gemini
                | Self::Copilot
                | Self::Opencode
                | Self::ChatGpt
                | Self::ClaudeAi
                | Self::Chat
        )
    }

    /// True if a file of kind `other` is one that a caller means who asks for this kind.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        self == other
            || self.is_notes() && other.is_notes()
            || self == Self::ClaudeCode && other == Self::ClaudeMemories
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SourceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::named(text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("{text:?} is no kind of source; the kinds are {names}")
        })
    }
}
