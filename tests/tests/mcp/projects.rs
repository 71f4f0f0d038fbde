//! Which memories a client in a folder sees.

use serde_json::json;

use crate::client::{McpClient, User};

#[test]
fn a_project_sees_its_own_memories_and_the_users_and_no_others() {
    let user = User::new();
    let mut shop = user.client("shop");
    let mut blog = user.client("blog");
    let id = shop.remember(json!({"text": "Orders are stored in PostgreSQL"}));
    shop.remember(json!({"text": "Ada reads errors in German", "scope": "user"}));
    let told = blog.ok("recall", json!({"query": "where are orders stored"}));
    assert!(!told.contains("PostgreSQL"), "{told}");
    let told = blog.ok("recall", json!({"query": "language of errors"}));
    assert!(told.contains("German"), "{told}");
    for (tool, arguments) in [
        ("recall", json!({"ids": [id]})),
        ("why", json!({"id": id})),
        ("correct", json!({"id": id, "text": "In files"})),
        ("forget", json!({"ids": [id]})),
        (
            "remember",
            json!({"text": "It rests on that", "because": [id]}),
        ),
    ] {
        let words = blog.fails(tool, arguments);
        assert!(
            words.contains(&format!("no memory [{id}]")),
            "{tool}: {words}"
        );
    }
    let only = shop.ok(
        "recall",
        json!({"query": "Ada orders errors", "scope": "user"}),
    );
    assert!(
        only.contains("German") && !only.contains("PostgreSQL"),
        "{only}"
    );
}

#[test]
fn at_home_there_is_only_the_users_memory() {
    let user = User::new();
    let folder = user.home.path().to_owned();
    let mut home = McpClient::of(user.command(&folder, &["mcp"])).opened();
    let words = home.fails("remember", json!({"text": "x y z", "scope": "project"}));
    assert!(words.contains("no project here"), "{words}");
    home.remember(json!({"text": "Ada works from Porto"}));
    let told = user
        .client("shop")
        .ok("recall", json!({"query": "where does Ada work"}));
    assert!(told.contains("Porto"), "{told}");
}

#[test]
fn a_clone_and_a_folder_that_says_so_are_the_project_once_a_person_allowed_it() {
    let user = User::new();
    let git = |folder: &std::path::Path, arguments: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]);
        let done = git.args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let first = user.project("first");
    git(&first, &["init", "-q"]);
    git(
        &first,
        &["remote", "add", "origin", "git@example.org:acme/shop.git"],
    );
    user.client("first")
        .remember(json!({"text": "The queue is Redis"}));
    let second = user.project("second");
    git(&second, &["init", "-q"]);
    git(
        &second,
        &["remote", "add", "origin", "https://example.org/acme/shop"],
    );
    let elsewhere = user.project("elsewhere");
    std::fs::write(
        elsewhere.join(".amem.toml"),
        "project = \"example.org/acme/shop\"\n",
    )
    .unwrap();
    for other in ["second", "elsewhere"] {
        let mut client = user.client(other);
        client.remember(json!({"text": format!("Only {other} has a lighthouse")}));
        let found = client.ok("recall", json!({"query": "which queue"}));
        assert!(!found.contains("Redis"), "{found}");
        let start = user.session("codex", other, "unallowed").start("startup");
        assert!(
            start.contains("amemctl project allow") && !start.contains("acme/shop"),
            "{start}"
        );
        // A program that an agent runs has no terminal.
        let refused = user
            .command(&user.project(other), &["project", "allow"])
            .output()
            .unwrap();
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && words.contains("terminal"),
            "{words}"
        );
    }
    for folder in ["first", "second", "elsewhere"] {
        user.allow(folder, &[]);
    }
    let mut named = user.command(&elsewhere, &["mcp"]);
    named.env("CLAUDE_PROJECT_DIR", &second);
    for (other, mut client) in [
        ("second", user.client("second")),
        ("elsewhere", user.client("elsewhere")),
        ("second", McpClient::of(named).opened()),
    ] {
        client.remember(json!({"text": format!("The {other} cart is blue")}));
        let found = client.ok("recall", json!({"query": "which queue"}));
        assert!(
            found.starts_with("project example.org/acme/shop ·"),
            "{found}"
        );
        // What was learned in the folder before is found there, too.
        let found = client.ok("recall", json!({"query": "who has a lighthouse"}));
        assert!(found.contains(other), "{found}");
    }
    let found = user
        .client("second")
        .ok("recall", json!({"query": "elsewhere cart colour blue"}));
    assert!(found.contains("The elsewhere cart is blue"), "{found}");
    // A moved folder is the project that it was, once it is allowed to be it.
    let moved = user.home.path().join("moved");
    std::fs::rename(&first, &moved).unwrap();
    let mut client = user.client("moved");
    assert!(
        !client
            .ok("recall", json!({"query": "which queue"}))
            .contains("Redis")
    );
    user.allow("moved", &["--was", first.to_str().unwrap()]);
    assert!(
        client
            .ok("recall", json!({"query": "which queue"}))
            .contains("Redis")
    );
    // The folder decides at each call, not when the server started.
    let mut client = user.client("elsewhere");
    std::fs::write(elsewhere.join(".amem.toml"), "project = 7\n").unwrap();
    let words = client.fails("recall", json!({"query": "which queue"}));
    assert!(
        words.contains(".amem.toml") && words.contains("project is a text"),
        "{words}"
    );
}
