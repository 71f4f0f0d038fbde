//! What a hook prints: context in the form of its client.

use serde_json::json;

use crate::client::HookClient;
use crate::moment::HookMoment;

/// True if the client reads context at this moment.
#[must_use]
pub fn takes_context(client: HookClient, moment: HookMoment) -> bool {
    // Cursor lets a hook block a prompt, and has no field for context there.
    moment.is_giving() && !(client == HookClient::Cursor && moment == HookMoment::Prompt)
}

/// The JSON with the context; `None` if there is none, and nothing is to be printed.
///
/// `event` is the client's name of the moment: some drop an answer that has another, or any key that they do not know.
#[must_use]
pub fn answer_json(client: HookClient, event: &str, context: &str) -> Option<String> {
    let is_taken = HookMoment::of_event(event).is_some_and(|moment| takes_context(client, moment));
    if context.is_empty() || !is_taken {
        return None;
    }
    let answer = match client {
        HookClient::ClaudeCode | HookClient::Codex | HookClient::Gemini => json!({
            "hookSpecificOutput": {"hookEventName": event, "additionalContext": context}
        }),
        HookClient::Copilot | HookClient::Opencode => json!({"additionalContext": context}),
        HookClient::Cursor => json!({"additional_context": context}),
    };
    Some(answer.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_has_the_form_of_its_client_and_no_other_key() {
        let of = |client, event| answer_json(client, event, "x").unwrap_or_default();
        let nested =
            r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"BeforeAgent"}}"#;
        let same = |text: &str, expected: &str| {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(text), read(expected));
        };
        same(&of(HookClient::Gemini, "BeforeAgent"), nested);
        same(&of(HookClient::Codex, "BeforeAgent"), nested);
        same(
            &of(HookClient::Copilot, "SessionStart"),
            r#"{"additionalContext":"x"}"#,
        );
        same(
            &of(HookClient::Cursor, "sessionStart"),
            r#"{"additional_context":"x"}"#,
        );
        assert_eq!(of(HookClient::Cursor, "beforeSubmitPrompt"), "");
        // A hook that gives context at the end makes some clients go on.
        assert_eq!(of(HookClient::ClaudeCode, "Stop"), "");
        assert_eq!(
            answer_json(HookClient::ClaudeCode, "SessionStart", ""),
            None
        );
    }
}
