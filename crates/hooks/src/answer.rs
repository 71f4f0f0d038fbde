//! What a hook prints: context in the form of its client.

use amem_agents::HookMoment;

use crate::client::HookClient;

/// The JSON with the context; `None` if there is none, and nothing is to be printed.
///
/// `event` is the client's name of the moment: some drop an answer that has another, or any key that they do not know.
#[must_use]
pub fn answer_json(client: HookClient, event: &str, context: &str) -> Option<String> {
    let is_taken =
        HookMoment::of_event(event).is_some_and(|moment| client.agent().takes_context(moment));
    if context.is_empty() || !is_taken {
        return None;
    }
    let answer = client.agent().answer(event, context)?;
    Some(answer.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_has_the_form_of_its_client_and_no_other_key() {
        let named = |name: &str| HookClient::named(name).unwrap();
        let of = |name, event| answer_json(named(name), event, "x").unwrap_or_default();
        let nested =
            r#"{"hookSpecificOutput":{"additionalContext":"x","hookEventName":"BeforeAgent"}}"#;
        let same = |text: &str, expected: &str| {
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(text), read(expected));
        };
        same(&of("gemini", "BeforeAgent"), nested);
        same(&of("codex", "BeforeAgent"), nested);
        same(
            &of("copilot", "SessionStart"),
            r#"{"additionalContext":"x"}"#,
        );
        same(
            &of("cursor", "sessionStart"),
            r#"{"additional_context":"x"}"#,
        );
        assert_eq!(of("cursor", "beforeSubmitPrompt"), "");
        // A hook that gives context at the end makes some clients go on.
        assert_eq!(of("claude-code", "Stop"), "");
        assert_eq!(answer_json(named("claude-code"), "SessionStart", ""), None);
    }
}
