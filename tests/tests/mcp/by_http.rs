//! `/mcp` of the daemon: tokens, roles, projects, and both eras.

use std::process::Command;

use serde_json::{Value, json};

use crate::client::{User, id_in, text_of};

/// A daemon of a user with HTTP, started by its command line.
pub(crate) struct HttpUser {
    pub(crate) user: User,
    address: String,
}

impl HttpUser {
    pub(crate) fn new() -> Self {
        let user = User::new();
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let config = user.home.path().join(".config/amemd");
        std::fs::create_dir_all(&config).unwrap();
        let tokens = user.home.path().join("tokens.toml");
        let settings = format!("[http]\nlisten = \"{address}\"\n[tcp]\ntokens_file = {tokens:?}\n");
        std::fs::write(config.join("config.toml"), settings).unwrap();
        user.prints(&["brain", "create", "memories"]);
        Self { user, address }
    }

    pub(crate) fn token(&self, name: &str, arguments: &[&str]) -> String {
        let mut all = vec!["token", "create", name, "--quiet"];
        all.extend(arguments);
        self.user.prints(&all).trim().to_owned()
    }

    /// Posts a message; the status and the body.
    pub(crate) fn post(
        &self,
        path: &str,
        token: Option<&str>,
        headers: &[&str],
        message: &Value,
    ) -> (u16, Value) {
        let mut curl = Command::new("curl");
        curl.args(["-sS", "-o", "-", "-w", "\n%{http_code}", "-X", "POST"]);
        curl.args(["-H", "Content-Type: application/json"]);
        curl.args(["-H", "Accept: application/json, text/event-stream"]);
        if let Some(token) = token {
            curl.args(["-H", &format!("Authorization: Bearer {token}")]);
        }
        for header in headers {
            curl.args(["-H", header]);
        }
        curl.args([
            "-d",
            &message.to_string(),
            &format!("http://{}{path}", self.address),
        ]);
        let output = curl.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').unwrap();
        (
            status.parse().unwrap(),
            serde_json::from_str(body).unwrap_or(Value::Null),
        )
    }

    fn tool(&self, token: &str, headers: &[&str], name: &str, arguments: Value) -> (String, bool) {
        let params = json!({"name": name, "arguments": arguments});
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let mut all = vec!["MCP-Protocol-Version: 2025-11-25"];
        all.extend(headers);
        let (status, body) = self.post("/mcp", Some(token), &all, &message);
        assert_eq!(status, 200, "{body}");
        text_of(&body)
    }
}

const SHOP: &str = "X-Amem-Project: acme/shop";

#[test]
fn the_door_serves_tools_within_projects_and_to_clients_on_pipes() {
    let http = HttpUser::new();
    let token = http.token("laptop", &["--role", "write"]);
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "web", "version": "1"},
    }});
    let (status, opened) = http.post("/mcp", Some(&token), &[], &initialize);
    assert_eq!(
        (status, &opened["result"]["serverInfo"]["name"]),
        (200, &json!("amem")),
        "{opened}"
    );
    let (text, is_error) = http.tool(
        &token,
        &[SHOP],
        "remember",
        json!({"text": "The cart is kept for a day"}),
    );
    assert!(!is_error && text.contains("project acme/shop"), "{text}");
    let id = id_in(&text);
    let (told, _) = http.tool(
        &token,
        &[SHOP],
        "recall",
        json!({"query": "how long is the cart kept"}),
    );
    assert!(told.contains(&format!("[{id}]")), "{told}");
    let (other, _) = http.tool(
        &token,
        &["X-Amem-Project: acme/blog"],
        "recall",
        json!({"query": "cart kept"}),
    );
    assert!(other.starts_with("nothing known"), "{other}");
    // The same memory by a pipe.
    let folder = http.user.project("any");
    let mut command = http
        .user
        .command(&folder, &["mcp", "--project", "acme/shop"]);
    command.env("AMEM_AGENT", "x");
    let mut client = crate::client::McpClient::of(command).opened();
    assert!(
        client
            .ok("recall", json!({"query": "cart kept"}))
            .contains(&format!("[{id}]"))
    );
}

#[test]
fn tokens_roles_origins_and_brains_are_those_of_the_door() {
    let http = HttpUser::new();
    let (reader, writer) = (
        http.token("r", &["--role", "read"]),
        http.token("w", &["--role", "write"]),
    );
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let era = ["MCP-Protocol-Version: 2025-11-25"];
    assert_eq!(http.post("/mcp", None, &era, &list).0, 401);
    assert_eq!(http.post("/mcp", Some("wrong"), &era, &list).0, 401);
    let foreign = [era[0], "Origin: https://evil.example"];
    assert_eq!(http.post("/mcp", Some(&writer), &foreign, &list).0, 403);
    assert_eq!(http.post("/mcp", Some(&reader), &era, &list).0, 200);
    let (words, is_error) = http.tool(
        &reader,
        &[SHOP],
        "remember",
        json!({"text": "The sky is green"}),
    );
    assert!(is_error && words.contains("role"), "{words}");
    let (_, is_error) = http.tool(&reader, &[SHOP], "recall", json!({"query": "sky"}));
    assert!(!is_error);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "recall", "arguments": {"query": "x"},
    }});
    let (_, missing) = http.post("/mcp/nosuch", Some(&writer), &era, &call);
    let (words, is_error) = text_of(&missing);
    assert!(is_error && words.contains("nosuch"), "{words}");
    let both = [era[0], "X-Amem-Brain: other"];
    assert_eq!(
        http.post("/mcp/memories", Some(&writer), &both, &call).0,
        400
    );
}

#[test]
fn a_token_of_a_user_stays_within_its_scope() {
    let http = HttpUser::new();
    let ada = http.token("ada", &["--role", "write", "--user", "ada"]);
    let bob = http.token("bob", &["--role", "write", "--user", "bob"]);
    let (text, is_error) = http.tool(
        &ada,
        &[SHOP],
        "remember",
        json!({"text": "Ada's key is under the stone"}),
    );
    assert!(!is_error, "{text}");
    let id = id_in(&text);
    for query in ["key under the stone", "Ada"] {
        let (told, _) = http.tool(
            &bob,
            &[SHOP, "X-Amem-User: ada"],
            "recall",
            json!({"query": query}),
        );
        assert!(told.starts_with("nothing known"), "{told}");
    }
    for (tool, arguments) in [
        ("recall", json!({"ids": [id]})),
        ("correct", json!({"id": id, "text": "It is gone"})),
        ("forget", json!({"ids": [id]})),
        ("remember", json!({"text": "So it is", "because": [id]})),
    ] {
        let (words, is_error) = http.tool(&bob, &[SHOP], tool, arguments);
        assert!(is_error && words.contains("no memory"), "{tool}: {words}");
    }
    let (told, _) = http.tool(
        &ada,
        &[SHOP],
        "recall",
        json!({"query": "key under the stone"}),
    );
    assert!(told.contains("stone"), "{told}");
}

#[test]
fn a_write_without_a_project_asks_for_it_and_a_read_says_what_it_searched() {
    let http = HttpUser::new();
    let token = http.token("laptop", &["--role", "write", "--user", "ada"]);
    let text = "The ferry to the island leaves at nine";
    for arguments in [
        json!({"text": text}),
        json!({"text": text, "scope": "project"}),
    ] {
        let (words, is_error) = http.tool(&token, &[], "remember", arguments);
        assert!(
            is_error
                && words.contains("X-Amem-Project: acme/shop")
                && words.contains("scope \"user\""),
            "{words}"
        );
    }
    let (none, is_error) = http.tool(&token, &[], "recall", json!({"query": "ferry island"}));
    assert!(
        !is_error && none.contains("the memory of user ada, and in no project"),
        "{none}"
    );
    let (stored, is_error) = http.tool(
        &token,
        &[],
        "remember",
        json!({"text": text, "scope": "user"}),
    );
    assert!(
        !is_error && stored.contains("user ada, in every project"),
        "{stored}"
    );
    let (found, _) = http.tool(&token, &[], "recall", json!({"query": "ferry island"}));
    assert!(found.starts_with("user ada, no project named"), "{found}");
    let (stored, is_error) = http.tool(
        &token,
        &[SHOP],
        "remember",
        json!({"text": "The shop closes at six"}),
    );
    assert!(
        !is_error && stored.contains("project acme/shop"),
        "{stored}"
    );
}
