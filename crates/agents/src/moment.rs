//! Moments of a session.

use serde::{Deserialize, Serialize};

/// A moment of a session that has a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HookMoment {
    /// It starts, or its context was compacted or cleared.
    Start,
    /// A prompt is sent.
    Prompt,
    /// An answer is complete.
    Answer,
    /// Its context is about to be compacted.
    Compaction,
    /// It ends.
    End,
}

impl HookMoment {
    /// True if a session can be given something: clients go on with an answer that has context.
    #[must_use]
    pub fn is_giving(self) -> bool {
        matches!(self, Self::Start | Self::Prompt)
    }
}
