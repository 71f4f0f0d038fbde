//! `amemctl ask` and `amemctl remember`: the doors of a person to what agents are given and store.

use std::process::Output;

use amem_tests::programs::number;
use serde_json::{Value, json};

use crate::client::{McpClient, User, id_in};

impl User {
    /// What `amemctl` does in a project.
    fn run(&self, project: &str, arguments: &[&str]) -> Output {
        let folder = self.project(project);
        self.command(&folder, arguments).output().unwrap()
    }

    /// What it prints there.
    fn prints_in(&self, project: &str, arguments: &[&str]) -> String {
        let output = self.run(project, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn data_in(&self, project: &str, arguments: &[&str]) -> Value {
        let printed = self.prints_in(project, &[arguments, &["--json"]].concat());
        let mut printed: Value = serde_json::from_str(&printed).unwrap();
        printed["data"].take()
    }

    /// What it says where it fails.
    fn refusal_in(&self, project: &str, arguments: &[&str]) -> String {
        let output = self.run(project, arguments);
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }
}

#[test]
fn what_was_only_said_is_the_answer_of_ask() {
    let user = User::new();
    let said = "Quokka deploys go out from the harbour office at noon";
    user.prints(&["fact", "add", said, "--user", "ada"]);
    let answer = user.prints_in("shop", &["ask", "quokka deploys", "--user", "ada"]);
    assert!(answer.contains("said") && answer.contains(said), "{answer}");
    let line = answer.lines().next().unwrap();
    assert!(line.starts_with("[e"), "{answer}");
    // It has a day.
    let year = answer.split(" said ").nth(1).unwrap();
    assert!(year.starts_with("20"), "{answer}");
    let data = user.data_in("shop", &["ask", "quokka", "deploys", "--user", "ada"]);
    let best = &data["entries"][0];
    assert_eq!(best["source"], "RECALL_SOURCE_SAID", "{data}");
    assert_eq!(best["text"], said, "{data}");
    assert!(best["relevance"].as_f64().unwrap() > 0.5, "{data}");
    // Nobody else's.
    let other = user.prints_in("shop", &["ask", "quokka deploys", "--user", "bob"]);
    assert!(other.contains("the memory of user bob"), "{other}");
    assert!(!other.contains("harbour"), "{other}");
}

#[test]
fn ask_without_a_scope_is_about_the_project_of_the_folder_and_the_user() {
    let user = User::new();
    user.prints_in("shop", &["remember", "The shop is deployed on Mondays"]);
    user.prints_in("mill", &["remember", "The mill is deployed on Fridays"]);
    let everywhere = "Ada wants deployed builds signed";
    user.prints_in("mill", &["remember", everywhere, "--scope", "user"]);
    let answer = user.prints_in("shop", &["ask", "when is it deployed?"]);
    assert!(answer.contains("Mondays"), "{answer}");
    assert!(answer.contains(everywhere), "{answer}");
    assert!(!answer.contains("Fridays"), "{answer}");
    let nothing = user.prints_in("shop", &["ask", "xylophone lessons"]);
    assert!(nothing.contains("in project shop"), "{nothing}");
    // The lines are those that an agent is given.
    let mut client = user.client("shop");
    let given = client.ok("recall", json!({"query": "when is it deployed?"}));
    for line in answer.lines().filter(|line| line.starts_with('[')) {
        assert!(given.contains(line), "{line}: {given}");
    }
}

#[test]
fn ask_says_what_had_no_room() {
    let user = User::new();
    for number in 0..12 {
        let text = format!(
            "Ferry number {number} leaves the harbour {}",
            "slowly ".repeat(20)
        );
        user.prints_in("shop", &["remember", &text]);
    }
    let answer = user.prints_in("shop", &["ask", "ferry harbour", "--tokens", "100"]);
    assert!(
        answer.contains("had no room, raise --tokens: [e"),
        "{answer}"
    );
    let all = user.data_in("shop", &["ask", "ferry harbour", "--tokens", "100"]);
    assert!(all["entries"].as_array().unwrap().len() > 3, "{all}");
}

#[test]
fn remember_has_the_rules_and_the_answer_of_the_tool() {
    let user = User::new();
    let mut client = user.client("shop");
    let text = "We use pnpm for the web packages";
    let printed = user.prints_in("shop", &["remember", text]);
    assert!(printed.contains("(fact, project shop)"), "{printed}");
    let id = id_in(&printed);
    // Both know what the other stored.
    let again = client.ok(
        "remember",
        json!({"text": "we use `pnpm` for the web packages."}),
    );
    assert!(
        again.starts_with(&format!("already known as [{id}]")),
        "{again}"
    );
    let again = user.data_in("shop", &["remember", text]);
    assert_eq!(again["stored"], false, "{again}");
    let because = [
        "remember",
        "Packages are hoisted",
        "--kind",
        "decision",
        "--because",
        &id,
    ];
    let decided = user.prints_in("shop", &because);
    assert!(decided.contains("(decision, project shop)"), "{decided}");
    let why = client.ok("why", json!({"id": id_in(&decided)}));
    assert!(why.contains("pnpm"), "{why}");
}

#[test]
fn remember_refuses_what_the_tool_refuses() {
    let user = User::new();
    let long = "word ".repeat(2_000);
    let refused = user.refusal_in("shop", &["remember", &long]);
    assert!(
        refused.contains("10000 bytes") || refused.contains("9999 bytes"),
        "{refused}"
    );
    let refused = user.refusal_in("shop", &["remember", "  "]);
    assert!(refused.contains("the statement is empty"), "{refused}");
    let refused = user.refusal_in("shop", &["remember", "It rests", "--because", "e77"]);
    assert!(refused.contains("[e77]"), "{refused}");
    let refused = user.refusal_in("shop", &["remember", "It rests", "--because", "x"]);
    assert!(refused.contains("\"x\" is no id of a memory"), "{refused}");
    let refused = user.refusal_in("shop", &["remember", "It is so", "--kind", "poem"]);
    assert!(
        refused.contains("poem") && refused.contains("decision"),
        "{refused}"
    );
    let refused = user.refusal_in("shop", &["ask", "port", "--filter-json", "{"]);
    assert!(refused.contains("--filter-json is no JSON"), "{refused}");
}

#[test]
fn the_id_of_what_was_said_is_read_at_every_door() {
    let user = User::new();
    let said = "Quokka deploys go out from the harbour office at noon";
    let mut session = user.session("claude-code", "shop", "monday");
    session.start("startup");
    session.says("user", said);
    session.hook("Stop", &json!({}));
    user.stored("monday", 1);
    let asked = user.data_in("shop", &["ask", "quokka deploys harbour"]);
    let best = &asked["entries"][0];
    assert_eq!(best["source"], "RECALL_SOURCE_SAID", "{asked}");
    let event = format!("e{}", number(&best["eventId"]));
    let turn = best["id"].as_str().unwrap();
    let mut client = user.client("shop");
    for id in [event.as_str(), turn] {
        let shown = client.ok("recall", json!({"ids": [id]}));
        assert!(
            shown.contains(&format!("[{event}] said 20")) && shown.contains(said),
            "{shown}"
        );
        let got = user.data_in("shop", &["fact", "get", id]);
        assert_eq!(
            (&got["fact"]["memory"], &got["fact"]["kind"]),
            (&json!(said), &json!("said")),
            "{got}"
        );
    }
    let folder = user.project("shop");
    let mut fetching =
        McpClient::of(user.command(&folder, &["mcp", "--compat", "openai"])).opened();
    let searched = fetching.ok("search", json!({"query": "quokka deploys harbour"}));
    assert!(searched.contains(&format!("\"{event}\"")), "{searched}");
    let fetched = fetching.ok("fetch", json!({"id": event}));
    assert!(fetched.contains(said), "{fetched}");
    let why = client.ok("why", json!({"id": event}));
    assert!(why.contains(said), "{why}");
    let why = user.prints_in("shop", &["why", "memories", &event]);
    assert!(why.contains("Quokka"), "{why}");
    let refused = client.fails("correct", json!({"id": event, "text": "At one"}));
    assert!(refused.contains("is what was said"), "{refused}");
    let folder = user.project("shop");
    let mut mem0 = McpClient::of(user.command(&folder, &["mcp", "--compat", "mem0"])).opened();
    let project = user.data_in("shop", &["fact", "get", turn])["fact"]["scope"]["app"].take();
    let query = json!({"query": "quokka deploys harbour", "filters": {"app_id": project}});
    let searched = mem0.ok("search_memories", query);
    assert!(
        searched.contains(turn) && searched.contains("\"said\""),
        "{searched}"
    );
    // Another project's agent does not reach it.
    let mut other = user.client("mill");
    assert!(
        other
            .fails("recall", json!({"ids": [event]}))
            .contains("no memory")
    );
    let forgot = client.ok("forget", json!({"ids": [event]}));
    assert!(forgot.contains(&format!("forgot [{event}]")), "{forgot}");
    let nothing = user.prints_in("shop", &["ask", "quokka deploys harbour"]);
    assert!(!nothing.contains("harbour office"), "{nothing}");
    assert!(
        client
            .fails("recall", json!({"ids": [event]}))
            .contains("no memory")
    );
}
