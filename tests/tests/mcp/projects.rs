//! Which memories a client in a folder sees.

use std::io::Write;

use serde_json::json;

use crate::client::{McpClient, User};

/// More than a hook takes in all, on a machine that is busy.
const HOOK_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(30);

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
        // A session that goes on has it.
        let resumed = user.session("codex", other, "unallowed").start("resume");
        assert!(!resumed.contains("amemctl project allow"), "{resumed}");
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

#[test]
fn imported_sessions_are_of_the_projects_of_their_folders() {
    let user = User::new();
    let mut shop = user.session("claude-code", "shop", "of-shop");
    shop.says("user", "We use pnpm for the frontend.");
    let mut bank = user.session("claude-code", "bank", "of-bank");
    bank.says("user", "We use gradle for the backend.");
    // A file that cannot be used does not make its folder's sessions the user's everywhere.
    let wrong = user.project("bank").join(".amem.toml");
    std::fs::write(&wrong, "project = 7\n").unwrap();
    let elsewhere = user.project("elsewhere");
    let mut import = user.command(&elsewhere, &["import", "--from", "claude-code"]);
    // A terminal of a client names the folder of its own session.
    import.env("CLAUDE_PROJECT_DIR", &elsewhere);
    let output = import.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && words.contains("project is a text"),
        "{output:?}"
    );
    std::fs::remove_file(&wrong).unwrap();
    let tools = |folder: &str| {
        let mut client = user.client(folder);
        ["pnpm", "gradle"].map(|tool| {
            let found = client.ok("recall", json!({"query": format!("where is {tool} used")}));
            found.contains(&format!("use {tool}"))
        })
    };
    assert_eq!(tools("shop"), [true, false]);
    assert_eq!(tools("bank"), [false, true]);
    assert_eq!(tools("elsewhere"), [false, false]);
}

/// Makes what is at a path a pipe that nobody writes to.
fn pipe(path: &std::path::Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, fifo, mode, 0).unwrap();
}

#[test]
fn a_permission_is_kept_when_it_is_given_again_and_ends_when_it_is_taken_back() {
    let user = User::new();
    let shop = user.project("shop");
    let file = shop.join(".amem.toml");
    std::fs::write(&file, "project = \"acme/shop\"\n").unwrap();
    let id = || -> String {
        let asked = user.command(&shop, &["project", "show", "--json"]).output();
        let shown: serde_json::Value = serde_json::from_slice(&asked.unwrap().stdout).unwrap();
        shown["data"]["project"].as_str().unwrap().to_owned()
    };
    let by_path = id();
    let mut client = user.client("shop");
    client.remember(json!({"text": "The queue is Redis"}));
    // It says so where a person reads it, and gives no text of the folder.
    let brief = client
        .ask("resources/read", json!({"uri": "amem://brief"}))
        .to_string();
    assert!(
        brief.contains("Redis") && brief.contains("amemctl project allow"),
        "{brief}"
    );
    assert!(!brief.contains("acme/shop"), "{brief}");
    user.allow("shop", &[]);
    assert_eq!(id(), "acme/shop");
    // Once more, with a folder that it was moved from: the claim is that of the first time.
    let old = user.project("old");
    user.client("old")
        .remember(json!({"text": "The carrier is DHL"}));
    user.allow("shop", &["--was", old.to_str().unwrap()]);
    assert_eq!(id(), "acme/shop");
    for (query, known) in [("which queue", "Redis"), ("which carrier", "DHL")] {
        let found = client.ok("recall", json!({ "query": query }));
        assert!(found.contains(known), "{found}");
    }
    let again = user.command(&shop, &["project", "allow"]).output().unwrap();
    let words = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(
        words.contains("is the project acme/shop already"),
        "{words}"
    );
    // The variables of a client's session name its folder, not the one that is meant here.
    let mut other = user.command(&shop, &["project", "show", "--json"]);
    other.env("CLAUDE_PROJECT_DIR", &old);
    let shown = String::from_utf8(other.output().unwrap().stdout).unwrap();
    assert!(shown.contains("acme/shop"), "{shown}");
    // A folder whose file cannot be read any more is forbidden all the same.
    std::fs::remove_file(&file).unwrap();
    pipe(&file);
    let done = user
        .command(&shop, &["project", "forbid"])
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(id(), by_path);
}

#[test]
fn a_list_of_projects_that_cannot_be_used_allows_nothing_and_is_reported() {
    let user = User::new();
    let shop = user.project("shop");
    std::fs::write(shop.join(".amem.toml"), "project = \"acme/shop\"\n").unwrap();
    let mut client = user.client("shop");
    client.remember(json!({"text": "The queue is Redis"}));
    user.allow("shop", &[]);
    client.remember(json!({"text": "The carrier is DHL"}));
    let list = user.home.path().join(".local/share/amem/projects.toml");
    assert!(list.is_file());
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(&list, mode).unwrap();
    // The agent goes on with the memory of the path.
    let found = client.ok("recall", json!({"query": "which queue, which carrier"}));
    assert!(found.contains("Redis") && !found.contains("DHL"), "{found}");
    let start = user.session("codex", "shop", "s1").start("startup");
    assert!(
        start.contains("Redis") && start.contains("amemctl project list"),
        "{start}"
    );
    for act in ["list", "show", "allow", "forbid"] {
        let refused = user.command(&shop, &["project", act]).output().unwrap();
        let words = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && words.contains("chmod 600"),
            "{act}: {words}"
        );
    }
}

#[test]
fn pipes_devices_and_links_of_a_folder_hold_no_hook_and_no_tool() {
    let user = User::new();
    let shop = user.project("shop");
    user.client("shop")
        .remember(json!({"text": "The queue is Redis"}));
    let file = shop.join(".amem.toml");
    let link = |target: &str| std::os::unix::fs::symlink(target, &file).unwrap();
    for kind in ["pipe", "/dev/zero", "/proc/self/environ"] {
        match kind {
            "pipe" => pipe(&file),
            target => link(target),
        }
        let since = std::time::Instant::now();
        let mut command = user.command(&shop, &["mcp"]);
        command.env("OPENAI_API_KEY", "s3cret-key");
        let words = McpClient::of(command)
            .opened()
            .fails("recall", json!({"query": "which queue"}));
        assert!(
            words.contains(".amem.toml") && !words.contains("s3cret"),
            "{kind}: {words}"
        );
        let input = json!({"session_id": kind, "cwd": shop, "hook_event_name": "SessionStart"});
        let output = user.hook(
            &shop,
            &["--client", "codex", "--explain"],
            input.to_string().as_bytes(),
        );
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && output.stdout.is_empty() && words.contains(".amem.toml"),
            "{kind}: {output:?}"
        );
        assert!(since.elapsed() < HOOK_TIME_MAX, "{kind}");
        std::fs::remove_file(&file).unwrap();
    }
    let start = user.session("codex", "shop", "well").start("startup");
    assert!(start.contains("Redis"), "{start}");
}

#[test]
fn a_hook_ends_in_time_whatever_holds_it_up() {
    let user = User::new();
    let shop = user.project("shop");
    user.client("shop")
        .remember(json!({"text": "The queue is Redis"}));
    let input = json!({"session_id": "s1", "cwd": shop, "hook_event_name": "SessionStart"});
    let file = user.home.path().join("input.json");
    std::fs::write(&file, input.to_string()).unwrap();
    // The client reads nothing, and its pipe is full.
    let (_unread, mut full) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&full, true).unwrap();
    while full.write(&[b' '; 4096]).is_ok() {}
    while full.write(b" ").is_ok() {}
    rustix::io::ioctl_fionbio(&full, false).unwrap();
    let mut child = user
        .command(&shop, &["hook", "--client", "codex"])
        .stdin(std::fs::File::open(&file).unwrap())
        .stdout(full)
        .spawn()
        .unwrap();
    let since = std::time::Instant::now();
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if since.elapsed() > HOOK_TIME_MAX {
            child.kill().unwrap();
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(ended.success(), "{ended:?}");
}
