//! The tools of other servers, by their names and shapes.

use serde_json::{Value, json};

use crate::client::{McpClient, User};

fn with(user: &User, set: &str) -> McpClient {
    let folder = user.project("shop");
    McpClient::of(user.command(&folder, &["mcp", "--compat", set])).opened()
}

fn read(client: &mut McpClient, tool: &str, arguments: Value) -> Value {
    let text = client.ok(tool, arguments);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn the_knowledge_graph_is_written_by_two_clients_and_read_whole() {
    let user = User::new();
    let mut clients = [with(&user, "memory"), with(&user, "memory")];
    let mut ids = [Vec::new(), Vec::new()];
    for number in 0..20 {
        for (at, client) in clients.iter_mut().enumerate() {
            let name = format!("p{at}-{number}");
            let entity = json!({"name": name, "entityType": "part", "observations": ["is new"]});
            let call = json!({"name": "create_entities", "arguments": {"entities": [entity]}});
            ids[at].push(client.request("tools/call", call));
        }
    }
    for (client, ids) in clients.iter_mut().zip(&ids) {
        for id in ids {
            let answer = client.answer(*id);
            assert_ne!(answer["result"]["isError"], true, "{answer}");
        }
    }
    let [mut client, _other] = clients;
    let graph = read(&mut client, "read_graph", json!({}));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 40);
    let again = json!({"entities": [{"name": "p0-1", "entityType": "x", "observations": []}]});
    assert_eq!(read(&mut client, "create_entities", again), json!([]));
    let relation = json!({"from": "p0-1", "to": "p1-1", "relationType": "rests on"});
    let made = read(
        &mut client,
        "create_relations",
        json!({"relations": [relation]}),
    );
    assert_eq!(made, json!([relation]));
    let added =
        json!({"observations": [{"entityName": "p0-1", "contents": ["is new", "is blue"]}]});
    let added = read(&mut client, "add_observations", added);
    assert_eq!(
        added,
        json!([{"entityName": "p0-1", "addedObservations": ["is blue"]}])
    );
    let missing = json!({"observations": [{"entityName": "nope", "contents": ["x"]}]});
    assert!(
        client
            .fails("add_observations", missing)
            .contains("nope not found")
    );
    let found = read(&mut client, "search_nodes", json!({"query": "BLUE"}));
    let expected =
        json!([{"name": "p0-1", "entityType": "part", "observations": ["is new", "is blue"]}]);
    assert_eq!(found["entities"], expected);
    assert_eq!(
        read(&mut client, "open_nodes", json!({"names": ["p0-1"]}))["entities"],
        expected
    );
    let gone = json!({"deletions": [{"entityName": "p0-1", "observations": ["is new"]}]});
    client.ok("delete_observations", gone);
    client.ok("delete_relations", json!({"relations": [relation]}));
    client.ok("delete_entities", json!({"entityNames": ["p1-1"]}));
    let graph = read(&mut client, "read_graph", json!({}));
    assert_eq!(graph["entities"].as_array().unwrap().len(), 39);
    assert_eq!(graph["relations"], json!([]));
    // The same memories are found by our own tools.
    assert!(
        client
            .ok("recall", json!({"query": "is blue"}))
            .contains("p0-1: is blue")
    );
}

#[test]
fn the_tools_of_mem0_answer_its_json() {
    let user = User::new();
    let mut client = with(&user, "mem0");
    let added = read(
        &mut client,
        "add_memory",
        json!({"text": "Ada is allergic to nuts", "user_id": "ada"}),
    );
    assert_eq!(added["results"][0]["event"], "ADD", "{added}");
    let id = added["results"][0]["id"].clone();
    let talk = json!([{"role": "user", "content": "I live in Porto"}]);
    let told = read(
        &mut client,
        "add_memory",
        json!({"messages": talk, "user_id": "ada"}),
    );
    assert_eq!(told["results"][0]["event"], "ADD", "{told}");
    let found = read(
        &mut client,
        "search_memories",
        json!({"query": "allergic", "filters": {"user_id": "ada"}}),
    );
    assert_eq!(found["results"][0]["id"], id, "{found}");
    let listed = read(&mut client, "get_memories", json!({"user_id": "ada"}));
    assert_eq!(listed["results"].as_array().unwrap().len(), 2, "{listed}");
    read(
        &mut client,
        "update_memory",
        json!({"memory_id": id, "text": "Ada is allergic to peanuts"}),
    );
    let one = read(&mut client, "get_memory", json!({"memory_id": id}));
    assert_eq!(one["memory"], "Ada is allergic to peanuts");
    read(&mut client, "delete_memory", json!({"memory_id": id}));
    assert!(
        client
            .fails("delete_all_memories", json!({}))
            .contains("nothing was deleted")
    );
    read(
        &mut client,
        "delete_all_memories",
        json!({"user_id": "ada"}),
    );
    let listed = read(&mut client, "get_memories", json!({"user_id": "ada"}));
    assert_eq!(listed["results"], json!([]));
}

#[test]
fn search_and_fetch_answer_objects_with_id_title_and_url() {
    let user = User::new();
    let mut client = with(&user, "openai");
    let id = client.remember(json!({"text": "The logo is a green heron"}));
    let found = read(
        &mut client,
        "search",
        json!({"query": "what is on the logo"}),
    );
    assert_eq!(found["results"][0]["id"], id.as_str(), "{found}");
    assert_eq!(found["results"][0]["url"], format!("amem://event/{id}"));
    let document = read(&mut client, "fetch", json!({"id": id}));
    assert_eq!(document["text"], "The logo is a green heron");
    assert!(
        client
            .fails("fetch", json!({"id": "e9999"}))
            .contains("no memory")
    );
}
