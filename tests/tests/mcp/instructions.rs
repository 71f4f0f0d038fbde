//! Standing instructions at the doors of agents: the brief, recall, prompts, `amemctl ask`.

use serde_json::json;

use crate::client::User;

const VERSIONS: &str = "Always include version numbers when I ask about libraries.";
const GERMAN: &str = "Please always answer in German.";

/// A user who told an agent of a project what holds in every session, and what the project uses.
fn user() -> User {
    let user = User::new();
    let mut session = user.session("claude-code", "shop", "sunday");
    session.says("user", GERMAN);
    session.hook("Stop", &json!({}));
    user.stored("sunday", 1);
    let mut session = user.session("claude-code", "shop", "monday");
    session.says("user", VERSIONS);
    session.says("user", "The shop uses the libraries tokio and axum.");
    session.hook("Stop", &json!({}));
    user.stored("monday", 2);
    user
}

#[test]
fn a_recall_shows_what_was_asked_for_in_every_session_first_and_once() {
    let user = user();
    let mut client = user.client("shop");
    let text = client.ok(
        "recall",
        json!({"query": "which libraries does the shop use?"}),
    );
    let at = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part} in {text}"))
    };
    assert!(at("asked for, in every session:") < at(VERSIONS), "{text}");
    assert!(
        at(VERSIONS) < at(GERMAN) && at(GERMAN) < at("tokio and axum"),
        "{text}"
    );
    assert_eq!(text.matches("version numbers").count(), 1, "{text}");
    // Instructions answer nothing, and those of another project are not shown.
    let nothing = client.ok("recall", json!({"query": "xylophone lessons"}));
    assert!(!nothing.contains(GERMAN), "{nothing}");
    let other = user
        .client("mill")
        .ok("recall", json!({"query": "which libraries?"}));
    assert!(!other.contains(VERSIONS), "{other}");
}

#[test]
fn a_prompt_is_given_the_instructions_that_concern_it_and_none_if_nothing_else_is() {
    let user = user();
    let tuesday = user.session("claude-code", "shop", "tuesday");
    let given = tuesday.prompt("which libraries does the shop use now?");
    assert!(
        given.contains(VERSIONS) && given.contains("axum"),
        "{given}"
    );
    assert!(!given.contains(GERMAN), "{given}");
    // What the session has is not given again.
    let again = tuesday.prompt("and which libraries does the shop use for tests?");
    assert!(!again.contains(VERSIONS), "{again}");
    assert_eq!(tuesday.prompt("write a poem about xylophones"), "");
}

#[test]
fn an_instruction_that_was_forgotten_is_in_no_brief_and_no_recall() {
    let user = user();
    let mut client = user.client("shop");
    let brief = |client: &mut crate::client::McpClient| {
        let answer = client.ask("resources/read", json!({"uri": "amem://brief"}));
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.unwrap().to_owned()
    };
    let before = brief(&mut client);
    let lines: Vec<&str> = before.lines().collect();
    assert_eq!(lines[1], "asked for, in every session:", "{before}");
    assert!(lines[2].contains(" said "), "{before}");
    let line = lines.iter().find(|line| line.contains(GERMAN)).unwrap();
    let id = line.split(['[', ']']).nth(1).unwrap().to_owned();
    client.ok("forget", json!({"ids": [id]}));
    let after = brief(&mut client);
    assert!(
        !after.contains("German") && after.contains(VERSIONS),
        "{after}"
    );
    let text = client.ok(
        "recall",
        json!({"query": "which libraries does the shop use?"}),
    );
    assert!(!text.contains("German"), "{text}");
}

#[test]
fn a_brief_has_the_words_of_the_person_and_a_timeline_what_was_only_said() {
    let user = User::new();
    let mut session = user.session("claude-code", "shop", "monday");
    session.says("user", "We decided to use PostgreSQL for the orders.");
    session.says(
        "user",
        "Quokka deploys go out from the harbour office at noon.",
    );
    session.hook("Stop", &json!({}));
    user.stored("monday", 2);
    let mut client = user.client("shop");
    let answer = client.ask("resources/read", json!({"uri": "amem://brief"}));
    let brief = answer["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(
        brief.contains("by user: We decided to use PostgreSQL for the orders."),
        "{brief}"
    );
    let about = client.ok("timeline", json!({"about": "quokka deploys"}));
    assert!(about.contains("harbour office"), "{about}");
    let none = client.ok("timeline", json!({"about": "xylophone"}));
    assert!(none.starts_with("nothing known"), "{none}");
}
