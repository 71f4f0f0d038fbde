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
fn a_moved_folder_a_second_clone_and_a_named_folder_are_one_project() {
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
    std::fs::rename(&first, user.home.path().join("moved")).unwrap();
    let second = user.project("second");
    git(&second, &["init", "-q"]);
    git(
        &second,
        &["remote", "add", "origin", "https://example.org/acme/shop"],
    );
    let elsewhere = user.project("elsewhere");
    let mut named = user.command(&elsewhere, &["mcp"]);
    named.env("CLAUDE_PROJECT_DIR", &second);
    for mut client in [
        user.client("moved"),
        user.client("second"),
        McpClient::of(named).opened(),
    ] {
        let told = client.ok("recall", json!({"query": "which queue"}));
        assert!(
            told.starts_with("project example.org/acme/shop ·"),
            "{told}"
        );
        assert!(told.contains("Redis"), "{told}");
    }
    // The folder decides at each call, not when the server started.
    let mut client = user.client("elsewhere");
    assert!(
        client
            .ok("recall", json!({"query": "which queue"}))
            .starts_with("nothing known")
    );
    std::fs::write(
        elsewhere.join(".amem.toml"),
        "project = \"example.org/acme/shop\"\n",
    )
    .unwrap();
    assert!(
        client
            .ok("recall", json!({"query": "which queue"}))
            .contains("Redis")
    );
    std::fs::write(elsewhere.join(".amem.toml"), "project = 7\n").unwrap();
    let words = client.fails("recall", json!({"query": "which queue"}));
    assert!(
        words.contains(".amem.toml") && words.contains("project is a text"),
        "{words}"
    );
}
