//! The kinds of sources, and their names on a command line.

use std::fmt;
use std::str::FromStr;

/// What kinds have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KindClass {
    /// Turns, mainly. An export may be of some conversations.
    Conversation,
    /// Folders of Markdown, which one reader reads.
    Notes,
    /// All that there is: what is no longer in the file is gone.
    State,
    /// Memories, and what belongs to them.
    Memories,
}

/// Makes the enum of its rows: the kind, its name on a command line, its class. `readers` has the reader of each.
macro_rules! source_kinds {
    ($($(#[$doc:meta])* $kind:ident $name:literal $class:ident,)*) => {
        /// What a file is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum SourceKind {
            $($(#[$doc])* $kind,)*
        }

        impl SourceKind {
            /// All kinds, in the order in which they are shown.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// Its name on a command line.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            fn class(self) -> KindClass {
                match self {
                    $(Self::$kind => KindClass::$class,)*
                }
            }
        }
    };
}

source_kinds! {
    /// Sessions of Claude Code: `projects/<folder>/<session>.jsonl`.
    ClaudeCode "claude-code" Conversation,
    /// Memories of Claude Code: `projects/<folder>/memory/*.md`.
    ClaudeMemories "claude-memories" State,
    /// Sessions of Codex: `sessions/Y/M/D/rollout-*.jsonl`.
    Codex "codex" Conversation,
    /// Sessions of Gemini CLI: `tmp/<project>/chats/session-*`.
    Gemini "gemini" Conversation,
    /// Sessions of Copilot CLI: `session-state/<id>/events.jsonl`.
    Copilot "copilot" Conversation,
    /// Sessions of opencode: its SQLite database.
    Opencode "opencode" Conversation,
    /// The export of ChatGPT.
    ChatGpt "chatgpt" Conversation,
    /// The export of Claude.ai.
    ClaudeAi "claude" Conversation,
    /// Memories of mem0: what `get_all` answers, or its history database.
    Mem0 "mem0" Memories,
    /// The graph of the MCP memory server.
    McpMemory "mcp-memory" State,
    /// A vault of Obsidian.
    Obsidian "obsidian" Notes,
    /// Notes of Basic Memory.
    BasicMemory "basic-memory" Notes,
    /// Other Markdown: `AGENTS.md`, `CLAUDE.md`, a folder of notes.
    Markdown "markdown" Notes,
    /// An agent file of Letta.
    Letta "letta" Memories,
    /// Nodes, edges and episodes of Graphiti or Zep.
    Graphiti "graphiti" Memories,
    /// Conversations: turns as JSON, or as text.
    Chat "chat" Conversation,
}

impl SourceKind {
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
        self.class() == KindClass::Notes
    }

    /// True if a file of it is all that there is: what is no longer in the file is gone. An export of conversations may
    /// be of some of them.
    #[must_use]
    pub fn is_whole_state(self) -> bool {
        matches!(self.class(), KindClass::Notes | KindClass::State)
    }

    /// True if its items are mainly turns of conversations.
    #[must_use]
    pub fn is_conversation(self) -> bool {
        self.class() == KindClass::Conversation
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
            format!("unknown kind of source {text:?}: use one of {names}")
        })
    }
}
