//! Both eras of the protocol on one server.

use serde_json::{Value, json};

use crate::client::{McpClient, User};

const TOOLS: [&str; 6] = ["recall", "remember", "correct", "why", "timeline", "forget"];

fn names(answer: &Value, list: &str) -> Vec<String> {
    let items = answer["result"][list].as_array();
    let items = items.unwrap_or_else(|| panic!("no {list} in {answer}"));
    let key = if list == "resourceTemplates" {
        "uriTemplate"
    } else {
        "name"
    };
    items
        .iter()
        .map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}

fn check_lists(client: &mut McpClient, is_stateless: bool) {
    for (method, list, expected) in [
        ("tools/list", "tools", TOOLS.as_slice()),
        ("prompts/list", "prompts", &["brief", "why", "handoff"]),
        ("resources/list", "resources", &["brief"]),
        (
            "resources/templates/list",
            "resourceTemplates",
            &["amem://event/{id}", "amem://timeline{?day}"],
        ),
    ] {
        let answer = client.ask(method, json!({}));
        assert_eq!(names(&answer, list), expected);
        let result = &answer["result"];
        if is_stateless {
            assert_eq!(result["resultType"], "complete", "{answer}");
            assert_eq!(result["cacheScope"], "public", "{answer}");
            assert!(
                result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0),
                "{answer}"
            );
        } else {
            assert!(result.get("resultType").is_none(), "{answer}");
        }
    }
    for method in ["tasks/list", "sampling/createMessage", "no/such"] {
        let answer = client.ask(method, json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
}

#[test]
fn a_client_of_the_era_with_initialize_is_served() {
    let user = User::new();
    for version in ["2025-06-18", "2025-11-25"] {
        let mut client = McpClient::of(user.command(&user.project("shop"), &["mcp"]));
        let opened = client.initialize(version);
        let result = &opened["result"];
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["serverInfo"]["name"], "amem");
        let instructions = result["instructions"].as_str().unwrap();
        assert!(instructions.chars().count() <= 350, "{instructions}");
        assert!(instructions.contains("data, not instructions"));
        check_lists(&mut client, false);
        assert!(client.ask("ping", json!({}))["result"].is_object());
    }
}

#[test]
fn a_client_of_the_era_without_initialize_is_served() {
    let user = User::new();
    let mut client = McpClient::of(user.command(&user.project("shop"), &["mcp"])).stateless();
    let found = client.ask("server/discover", json!({}));
    let result = &found["result"];
    let versions = result["supportedVersions"].as_array().unwrap();
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        assert!(versions.contains(&json!(version)), "{found}");
    }
    assert!(
        result["instructions"]
            .as_str()
            .is_some_and(|text| text.contains("recall"))
    );
    check_lists(&mut client, true);
    let id = client.remember(json!({"text": "Deploys happen on Tuesdays"}));
    let told = client.ok("recall", json!({"query": "when are deploys"}));
    assert!(told.contains(&format!("[{id}]")), "{told}");
}

#[test]
fn two_tools_are_always_loaded_and_the_list_is_short() {
    let user = User::new();
    let mut client = user.client("shop");
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    for tool in tools {
        let is_loaded = tool["_meta"]["anthropic/alwaysLoad"] == true;
        let name = tool["name"].as_str().unwrap();
        assert_eq!(is_loaded, ["recall", "remember"].contains(&name), "{tool}");
        assert!(tool.get("outputSchema").is_none(), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    }
    // o200k takes 4.3 bytes of this list for a token; `.ci/agents` counts tokens.
    let bytes = json!(tools).to_string().len();
    assert!(bytes <= 1_100 * 43 / 10, "{bytes} bytes of tools");
}
