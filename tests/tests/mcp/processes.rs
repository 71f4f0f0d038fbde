//! Two writers, ends of processes, and a daemon that goes away.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{McpClient, User, text_of};

#[test]
fn all_writes_of_two_clients_at_once_are_kept() {
    let user = User::new();
    let mut clients = [user.client("shop"), user.client("shop")];
    let mut ids = [Vec::new(), Vec::new()];
    for number in 0..20 {
        for (at, client) in clients.iter_mut().enumerate() {
            let text = format!("Part {number} of writer {at} is done");
            let call = json!({"name": "remember", "arguments": {"text": text}});
            ids[at].push(client.request("tools/call", call));
        }
    }
    let mut stored = 0;
    for (client, ids) in clients.iter_mut().zip(&ids) {
        for id in ids {
            let (text, is_error) = text_of(&client.answer(*id));
            assert!(!is_error && text.starts_with("remembered as ["), "{text}");
            stored += 1;
        }
    }
    assert_eq!(stored, 40);
    let listed = user.prints(&["fact", "export", "--app", &app_of(&user), "--json"]);
    for at in 0..2 {
        for number in 0..20 {
            let text = format!("Part {number} of writer {at} is done");
            assert_eq!(listed.matches(&text).count(), 1, "{text}");
        }
    }
}

/// The id of the only project.
fn app_of(user: &User) -> String {
    let users = user.prints(&["fact", "users", "--json"]);
    let users: serde_json::Value = serde_json::from_str(&users).unwrap();
    let text = users.to_string();
    let at = text.find("shop-").unwrap_or_else(|| panic!("{text}"));
    text[at..].split('"').next().unwrap().to_owned()
}

#[test]
fn the_server_ends_with_its_client_and_at_signals() {
    let user = User::new();
    let mut client = user.client("shop");
    client.ok("recall", json!({"query": "anything"}));
    client.close_input();
    assert_eq!(client.ended(), Some(0));
    for signal in ["-INT", "-TERM"] {
        let mut client = user.client("shop");
        let pid = client.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &pid])
            .status();
        assert!(sent.unwrap().success());
        assert_eq!(client.ended(), Some(0), "{signal}");
    }
    // Before any message.
    let mut silent = McpClient::of(user.command(&user.project("shop"), &["mcp"]));
    silent.close_input();
    assert_eq!(silent.ended(), Some(0));
}

#[test]
fn requests_before_the_end_of_input_are_answered() {
    let user = User::new();
    let mut client = user.client("shop");
    client.ok("recall", json!({"query": "warm"}));
    let call = json!({"name": "remember", "arguments": {"text": "The last word before the end"}});
    let id = client.request("tools/call", call);
    client.close_input();
    let (text, is_error) = text_of(&client.answer(id));
    assert!(!is_error, "{text}");
    let told = user
        .client("shop")
        .ok("recall", json!({"query": "last word"}));
    assert!(told.contains("last word before the end"), "{told}");
}

#[test]
fn a_daemon_that_went_away_is_started_again() {
    let user = User::new();
    let mut client = user.client("shop");
    let id = client.remember(json!({"text": "Backups run at 03:40"}));
    user.prints(&["shutdown"]);
    let told = client.ok("recall", json!({"query": "when do backups run"}));
    assert!(told.contains(&format!("[{id}]")), "{told}");
}

#[test]
fn the_first_answer_does_not_wait_for_the_daemon() {
    let user = User::new();
    drop(user.client("shop"));
    let mut took = Vec::new();
    for _ in 0..10 {
        let command = user.command(&user.project("shop"), &["mcp"]);
        let since = Instant::now();
        let mut client = McpClient::of(command);
        client.initialize("2025-06-18");
        took.push(since.elapsed());
    }
    took.sort();
    println!(
        "first answer after {:?} at best, {:?} in the middle",
        took[0], took[5]
    );
    // Of a debug build on a loaded machine; a release build needs a tenth of it.
    assert!(took[0] < Duration::from_millis(500), "{took:?}");
}
