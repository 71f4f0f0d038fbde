//! Moments of a session, under the names that clients have for them.

use amem_proto::v1;
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

const EVENTS: [(&str, HookMoment); 20] = [
    ("SessionStart", HookMoment::Start),
    ("sessionStart", HookMoment::Start),
    ("session.start", HookMoment::Start),
    ("UserPromptSubmit", HookMoment::Prompt),
    ("userPromptSubmitted", HookMoment::Prompt),
    ("BeforeAgent", HookMoment::Prompt),
    ("beforeSubmitPrompt", HookMoment::Prompt),
    ("chat.message", HookMoment::Prompt),
    ("PreCompact", HookMoment::Compaction),
    ("preCompact", HookMoment::Compaction),
    ("PreCompress", HookMoment::Compaction),
    ("session.compacting", HookMoment::Compaction),
    ("Stop", HookMoment::Answer),
    ("stop", HookMoment::Answer),
    ("agentStop", HookMoment::Answer),
    ("AfterAgent", HookMoment::Answer),
    ("session.idle", HookMoment::Answer),
    ("SessionEnd", HookMoment::End),
    ("sessionEnd", HookMoment::End),
    ("session.end", HookMoment::End),
];

impl HookMoment {
    /// The moment of a client's event.
    #[must_use]
    pub fn of_event(event: &str) -> Option<Self> {
        let named = EVENTS.iter().find(|(name, _)| *name == event);
        named.map(|(_, moment)| *moment)
    }

    /// True if a session can be given something: clients go on with an answer that has context.
    #[must_use]
    pub fn is_giving(self) -> bool {
        matches!(self, Self::Start | Self::Prompt)
    }
}

impl From<HookMoment> for v1::HookMoment {
    fn from(moment: HookMoment) -> Self {
        match moment {
            HookMoment::Start => Self::Start,
            HookMoment::Prompt => Self::Prompt,
            HookMoment::Answer => Self::Answer,
            HookMoment::Compaction => Self::Compaction,
            HookMoment::End => Self::End,
        }
    }
}
