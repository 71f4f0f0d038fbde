//! Moments of a session, under the names that clients have for them.

use serde::{Deserialize, Serialize};

use crate::client::AgentClient;

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
    /// The moment of an event of any client.
    #[must_use]
    pub fn of_event(event: &str) -> Option<Self> {
        let mut events = AgentClient::ALL
            .iter()
            .flat_map(|client| client.row().events);
        let named = events.find(|(_, name)| *name == event);
        named.map(|(moment, _)| *moment)
    }

    /// True if a session can be given something: clients go on with an answer that has context.
    #[must_use]
    pub fn is_giving(self) -> bool {
        matches!(self, Self::Start | Self::Prompt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_names_the_same_moment_in_every_client() {
        for client in AgentClient::ALL {
            for (moment, event) in client.row().events {
                assert_eq!(HookMoment::of_event(event), Some(*moment), "{event}");
            }
        }
        assert_eq!(HookMoment::of_event("PreToolUse"), None);
    }
}
