//! Each tool, end to end.

use serde_json::json;

use crate::client::{User, id_in};

#[test]
fn what_is_remembered_is_recalled_by_another_client_and_by_the_command_line() {
    let user = User::new();
    let mut one = user.client("shop");
    let reason =
        one.remember(json!({"text": "npm installs take four minutes on the build machine"}));
    let id = one.remember(json!({
        "text": "The shop's packages are installed with pnpm",
        "type": "decision",
        "because": [reason],
    }));
    let mut other = user.client("shop");
    let told = other.ok(
        "recall",
        json!({"query": "which package manager installs packages"}),
    );
    let mut lines = told.lines();
    let head = lines.next().unwrap();
    assert!(
        head.starts_with("project shop · brain memories · as of 20"),
        "{told}"
    );
    assert!(head.contains(" of ") && head.contains(" tokens"), "{head}");
    let line = lines
        .find(|line| line.starts_with(&format!("[{id}]")))
        .unwrap();
    assert!(line.starts_with(&format!("[{id}] decision 20")), "{line}");
    assert!(
        line.ends_with(&format!(
            "← [{reason}]: The shop's packages are installed with pnpm"
        )),
        "{line}"
    );
    let found = user.prints(&["search", "memories", "package manager pnpm", "--json"]);
    assert!(found.contains("pnpm"), "{found}");
    assert!(
        user.prints(&["fact", "users"]).contains("shop"),
        "the project is an app"
    );
    let found = user.prints(&["get", "memories", &id[1..], "--json"]);
    assert!(
        found.contains("\"tester\"") && found.contains("EVENT_TYPE_DECISION"),
        "{found}"
    );
}

#[test]
fn a_statement_is_stored_once_and_a_conflict_is_named_and_marked() {
    let user = User::new();
    let mut client = user.client("shop");
    let id = client.remember(json!({"text": "The staging database listens on port 5433"}));
    for same in [
        "The staging database listens on port 5433",
        "the staging database listens on port 5433.",
    ] {
        let answer = client.ok("remember", json!({"text": same}));
        assert!(
            answer.starts_with(&format!("already known as [{id}]")),
            "{answer}"
        );
    }
    let close = client.ok(
        "remember",
        json!({"text": "The staging database listens on port 5434"}),
    );
    assert!(close.starts_with("remembered as ["), "{close}");
    assert!(
        close.contains(&format!("conflict with [{id}], so since 20"))
            && close.contains("call correct"),
        "{close}"
    );
    assert!(!close.contains("close to"), "{close}");
    let told = client.ok("recall", json!({"query": "staging database port"}));
    assert!(
        told.contains("5433") && told.contains("5434") && told.contains("(contradicted)"),
        "{told}"
    );
    // What is done once contradicts nothing.
    let done = client.ok(
        "remember",
        json!({"text": "The staging database listens on port 5435", "type": "episode"}),
    );
    assert!(!done.contains("conflict"), "{done}");
}

#[test]
fn near_words_about_another_thing_are_no_close_memory() {
    let user = User::new();
    let mut client = user.client("shop");
    for (first, second) in [
        (
            "Ada is allergic to peanuts",
            "Ada is allergic to penicillin",
        ),
        (
            "The live database listens on port 6001",
            "The test database listens on port 6002",
        ),
        (
            "The search index is rebuilt by the nightly job",
            "The search index is rebuilt by the weekly job",
        ),
    ] {
        client.remember(json!({"text": first}));
        let said = client.ok("remember", json!({"text": second}));
        assert!(
            !said.contains("close to") && !said.contains("conflict"),
            "{said}"
        );
    }
}

#[test]
fn why_takes_words_and_the_id_of_a_turn() {
    let user = User::new();
    let mut client = user.client("shop");
    let reason =
        client.remember(json!({"text": "npm installs take four minutes on the build machine"}));
    let id = client.remember(json!({
        "text": "The packages of the shop are installed with pnpm",
        "type": "decision",
        "because": [reason],
    }));
    let prompt = |client: &mut crate::client::McpClient, memory: &str| {
        let asked = json!({"name": "why", "arguments": {"id": memory}});
        client.ask("prompts/get", asked).to_string()
    };
    let why = prompt(&mut client, "which package manager installs packages");
    assert!(
        why.contains(&format!("[{id}]")) && why.contains(&format!("[{reason}]")),
        "{why}"
    );
    let none = prompt(&mut client, "the colour of the moon over Lisbon");
    assert!(
        none.contains("error") && none.contains("in project shop"),
        "{none}"
    );
    assert!(prompt(&mut client, " ").contains("give its id"));
    // The turn of a statement is an event of its own, before that of the memory.
    let turn = format!("e{}", id[1..].parse::<u64>().unwrap() - 1);
    let why = client.ok("why", json!({"id": turn}));
    assert!(why.starts_with(&format!("[{id}] decision")), "{why}");
    let told = client.ok("recall", json!({"ids": [turn]}));
    assert!(
        told.contains(&format!("[{id}]")) && !told.contains("replaces"),
        "{told}"
    );
    let corrected = client.ok(
        "correct",
        json!({"id": turn, "text": "The packages of the shop are installed with bun"}),
    );
    assert!(
        corrected.contains(&format!("replaces [{id}]")),
        "{corrected}"
    );
}

#[test]
fn a_correction_replaces_and_names_what_rested_on_the_old_belief() {
    let user = User::new();
    let mut client = user.client("shop");
    let old = client.remember(json!({"text": "The payment provider allows 50 requests a second"}));
    let rests = client.remember(json!({
        "text": "Payments are sent in batches of 40 a second",
        "type": "decision",
        "because": [old],
    }));
    let answer = client.ok(
        "correct",
        json!({
            "id": old,
            "text": "The payment provider allows 20 requests a second",
            "reason": "their documentation of November",
        }),
    );
    let new = id_in(&answer);
    assert!(answer.contains(&format!("replaces [{old}]")), "{answer}");
    assert!(answer.contains(&format!("[{rests}] decision")), "{answer}");
    let told = client.ok(
        "recall",
        json!({"query": "payment provider requests a second"}),
    );
    assert!(
        told.contains("20 requests") && !told.contains("50 requests"),
        "{told}"
    );
    // The old id is refused: another agent may act on what it read before.
    let late = client.fails("correct", json!({"id": old, "text": "It allows 30"}));
    assert!(
        late.contains(&format!("replaced already by [{new}]")),
        "{late}"
    );
    let why = client.ok("why", json!({"id": new}));
    assert!(
        why.contains("50 requests") && why.contains("documentation of November"),
        "{why}"
    );
    let why = client.ok("why", json!({"id": rests}));
    assert!(
        why.contains(&format!("← [{new}]")) && why.contains("corrected since"),
        "{why}"
    );
    let impact = client.ok("why", json!({"id": new, "direction": "consequences"}));
    assert!(impact.contains(&format!("→ [{rests}]")), "{impact}");
    let corrections = client.ok(
        "recall",
        json!({"query": "payment provider", "type": "correction"}),
    );
    assert!(
        corrections.contains(&format!("[{new}]")) && !corrections.contains(&rests),
        "{corrections}"
    );
}

#[test]
fn a_time_line_is_by_day_and_begins_where_it_is_asked_to() {
    let user = User::new();
    let mut client = user.client("shop");
    for (text, day) in [
        ("The first release went out", "2026-03-02"),
        ("The second release went out", "2026-04-07"),
    ] {
        client.remember(json!({"text": text, "type": "episode", "happened_at": day}));
    }
    client.remember(json!({"text": "The third release is being prepared"}));
    let all = client.ok("timeline", json!({"since": "2026-01-01"}));
    let at = |text: &str| all.find(text).unwrap_or_else(|| panic!("{text} in {all}"));
    assert!(
        at("2026-03-02:") < at("first release") && at("first release") < at("2026-04-07:"),
        "{all}"
    );
    assert!(at("second release") < at("third release"), "{all}");
    let part = client.ok(
        "timeline",
        json!({"since": "2026-03-01", "until": "2026-04-01"}),
    );
    assert!(part.contains("first") && !part.contains("second"), "{part}");
    let last = client.ok("timeline", json!({}));
    assert!(last.contains("third") && !last.contains("second"), "{last}");
    let about = client.ok("timeline", json!({"about": "second release"}));
    assert!(about.contains("second"), "{about}");
    let day = client.ask(
        "resources/read",
        json!({"uri": "amem://timeline?day=2026-04-07"}),
    );
    let text = day["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("second") && !text.contains("first"), "{text}");
}

#[test]
fn forgotten_memories_are_not_recalled_and_erased_ones_are_gone_from_the_files() {
    let user = User::new();
    let mut client = user.client("shop");
    let ended = client.remember(json!({"text": "The old office is in Lisbon"}));
    let secret = client.remember(json!({"text": "The vault word is xylophone-nine"}));
    let answer = client.ok("forget", json!({"ids": [ended], "reason": "moved"}));
    assert!(answer.contains(&format!("forgot [{ended}]")), "{answer}");
    let answer = client.ok(
        "correct",
        json!({"id": secret, "text": "The vault word is xylophone-ten"}),
    );
    let secret = id_in(&answer);
    client.ok("forget", json!({"ids": [secret], "erase": true}));
    for query in ["office", "vault word xylophone"] {
        let told = client.ok("recall", json!({"query": query}));
        assert!(told.starts_with("nothing known about"), "{told}");
        assert!(told.ends_with("in project shop"), "{told}");
    }
    assert!(
        client
            .fails("recall", json!({"ids": [ended]}))
            .contains("no memory")
    );
    user.prints(&["shutdown"]);
    let mut files = vec![user.home.path().to_owned()];
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
        } else if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let has = bytes.windows(9).any(|part| part == b"xylophone");
            assert!(!has, "{}", path.display());
        }
    }
}

#[test]
fn the_past_is_recalled_as_it_was_believed() {
    let user = User::new();
    let mut client = user.client("shop");
    let id = client.remember(json!({"text": "The API is at version 1"}));
    let then = present();
    client.ok(
        "correct",
        json!({"id": id, "text": "The API is at version 2"}),
    );
    let past = client.ok("recall", json!({"query": "API version", "as_of": then}));
    assert!(
        past.contains("version 1") && !past.contains("version 2"),
        "{past}"
    );
    let long_ago = client.ok(
        "recall",
        json!({"query": "API version", "as_of": "3 days ago"}),
    );
    assert!(long_ago.starts_with("nothing known"), "{long_ago}");
}

/// The present, in microseconds.
fn present() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let micros = i64::try_from(since.unwrap().as_micros()).unwrap();
    amem_query::time::display(amem_format::Micros(micros)).to_string()
}

#[test]
fn answers_keep_to_their_budget_and_say_what_was_left_out() {
    let user = User::new();
    let mut client = user.client("shop");
    for number in 0..30 {
        let text = format!(
            "Service number {number} of the cluster {}",
            "listens behind the proxy ".repeat(8)
        );
        client.remember(json!({"text": text}));
    }
    let short = client.ok(
        "recall",
        json!({"query": "services of the cluster", "max_tokens": 200}),
    );
    assert!(short.chars().count() <= 200 * 4 + 600, "{short}");
    assert!(short.contains("left out for max_tokens: ["), "{short}");
    let long = client.ok(
        "recall",
        json!({"query": "services of the cluster", "max_tokens": 8_000}),
    );
    assert!(long.chars().count() > short.chars().count());
}

#[test]
fn a_brief_has_instructions_first_and_as_much_of_each_part_as_there_is_room_for() {
    let user = User::new();
    let mut client = user.client("shop");
    for number in 0..40 {
        client.remember(json!({"text": format!("Service {number} was given its own database"), "type": "decision"}));
        client.remember(
            json!({"text": format!("Job {number} takes {number} minutes on the build machine")}),
        );
    }
    let mut session = user.session("claude-code", "shop", "monday");
    session.start("startup");
    session.says(
        "user",
        "Always include version numbers when I ask about libraries.",
    );
    session.hook("Stop", &json!({}));
    user.stored("monday", 1);
    client.remember(json!({"text": "Ada prefers short answers", "scope": "user"}));
    let brief = client.ask("resources/read", json!({"uri": "amem://brief"}));
    let brief = brief["result"]["contents"][0]["text"].as_str().unwrap();
    let tokens = brief.chars().count() / 4;
    assert!((500..=620).contains(&tokens), "{tokens}: {brief}");
    let lines: Vec<&str> = brief.lines().collect();
    let with = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    assert!(
        with("own database") >= 7 && with("on the build machine") >= 7,
        "{brief}"
    );
    assert!(with("short answers") == 1, "{brief}");
    let instruction = lines
        .iter()
        .position(|line| line.contains("include version numbers"));
    assert_eq!(instruction, Some(2), "{brief}");
}

#[test]
fn prompts_and_resources_show_what_is_known() {
    let user = User::new();
    let mut client = user.client("shop");
    let id = client
        .remember(json!({"text": "Releases are cut from the branch stable", "type": "decision"}));
    client.remember(json!({"text": "Ada prefers short answers", "scope": "user"}));
    let brief = client.ask("prompts/get", json!({"name": "brief"}));
    let text = brief["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("branch stable") && text.contains("short answers"),
        "{text}"
    );
    let why = client.ask(
        "prompts/get",
        json!({"name": "why", "arguments": {"id": id}}),
    );
    assert!(why.to_string().contains("branch stable"), "{why}");
    let handoff = client.ask("prompts/get", json!({"name": "handoff"}));
    assert!(handoff.to_string().contains("remember"), "{handoff}");
    for uri in ["amem://brief".to_owned(), format!("amem://event/{id}")] {
        let read = client.ask("resources/read", json!({"uri": uri}));
        assert!(
            read["result"]["contents"][0]["text"]
                .to_string()
                .contains("branch stable"),
            "{read}"
        );
    }
    let none = client.ask("resources/read", json!({"uri": "amem://event/e99999"}));
    assert!(
        none["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("e99999")),
        "{none}"
    );
    let none = client.ask("prompts/get", json!({"name": "nope"}));
    assert_eq!(none["error"]["code"], -32602, "{none}");
}
