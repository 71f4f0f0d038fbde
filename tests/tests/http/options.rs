//! Options of requests for memories: obeyed, refused, or ignored and named.

use serde_json::{Value, json};

use crate::client::daemon;
use crate::routes::add;

fn texts(answer: &Value) -> Vec<String> {
    let results = answer["results"].as_array().unwrap().iter();
    let mut texts: Vec<String> = results
        .map(|item| item["memory"].as_str().unwrap().to_owned())
        .collect();
    texts.sort();
    texts
}

#[tokio::test]
async fn no_option_that_changes_an_answer_or_a_date_is_dropped_in_silence() {
    let (_daemon, web) = daemon().await;
    let id = add(&web, &json!({"user_id": "ada"}), "likes tea");
    let memory = format!("/v1/memories/{id}/");
    let adding = json!({"messages": "likes milk", "infer": false, "user_id": "ada"});
    let asking = json!({"query": "tea", "user_id": "ada"});
    let all = json!({"user_id": "ada"});
    let rows = [
        ("POST", "/v1/memories/", &adding, "immutable", json!(true)),
        (
            "POST",
            "/v1/memories/",
            &adding,
            "timezone",
            json!("Europe/Lisbon"),
        ),
        (
            "POST",
            "/v1/memories/",
            &adding,
            "categories",
            json!(["food"]),
        ),
        (
            "POST",
            "/v1/memories/",
            &adding,
            "custom_categories",
            json!([{"food": "what is eaten"}]),
        ),
        ("POST", "/v1/memories/", &adding, "includes", json!("food")),
        (
            "POST",
            "/v3/memories/search/",
            &asking,
            "show_expired",
            json!(true),
        ),
        (
            "POST",
            "/v3/memories/search/",
            &asking,
            "observation_date",
            json!("2026-03-01"),
        ),
        ("POST", "/v2/memories/", &all, "showExpired", json!(true)),
        (
            "POST",
            "/v2/memories/",
            &all,
            "timezone",
            json!("Europe/Lisbon"),
        ),
        (
            "DELETE",
            "/v1/memories/",
            &all,
            "start_date",
            json!("2026-03-01"),
        ),
        ("DELETE", "/v1/memories/", &all, "keywords", json!(["tea"])),
        (
            "PUT",
            &*memory,
            &json!({"text": "likes rum"}),
            "immutable",
            json!(true),
        ),
        (
            "PUT",
            &*memory,
            &json!({"text": "likes rum"}),
            "timestamp",
            json!(1_700_000_000),
        ),
    ];
    for (method, path, body, name, value) in &rows {
        let mut body = (*body).clone();
        body[*name] = value.clone();
        let refused = web.send(method, path, &[], &body);
        let refused = refused.refused(400, "ValidationError", "INVALID");
        let detail = refused["detail"].as_str().unwrap();
        let snake = if *name == "showExpired" {
            "show_expired"
        } else {
            name
        };
        assert!(
            detail.starts_with(snake),
            "{method} {path} {name}: {detail}"
        );
    }
    // Nothing of it was executed.
    assert_eq!(texts(&web.get("/memories?user_id=ada").ok()), ["likes tea"]);
    for (name, value) in [
        ("rerank", json!(true)),
        ("org_id", json!("o")),
        ("show_expired", json!(false)),
    ] {
        let mut body = asking.clone();
        body[name] = value;
        let found = web.post("/v3/memories/search/", &body);
        // What asks for what happens anyway is obeyed.
        let named = (name != "show_expired").then_some(name);
        assert_eq!(found.status, 200, "{name}");
        assert_eq!(found.header("x-amem-ignored"), named);
    }
}

#[tokio::test]
async fn lists_and_searches_obey_times_words_and_categories() {
    let (_daemon, web) = daemon().await;
    let ada = json!({"user_id": "ada"});
    add(&web, &ada, "likes green tea");
    let food = json!({"user_id": "ada", "metadata": {"categories": ["food"]}});
    add(&web, &food, "likes rye bread");
    let with = |name: &str, value: Value| {
        let mut body = json!({"user_id": "ada"});
        body[name] = value;
        texts(&web.post("/v3/memories/", &body).ok())
    };
    let both = ["likes green tea", "likes rye bread"];
    assert_eq!(with("keywords", json!(["TEA"])), ["likes green tea"]);
    assert_eq!(with("categories", json!(["food"])), ["likes rye bread"]);
    assert_eq!(with("start_date", json!("2020-01-01")), both);
    assert_eq!(with("end_date", json!("2020-01-01")), Vec::<String>::new());
    let body = json!({"user_id": "ada", "query": "likes", "keywords": ["bread"]});
    let found = web.post("/v3/memories/search/", &body).ok();
    assert_eq!(texts(&found), ["likes rye bread"]);
    assert_eq!(found["results"][0]["categories"], json!(["food"]));
}

#[tokio::test]
async fn the_day_of_an_observation_is_when_the_message_was_said() {
    let (_daemon, web) = daemon().await;
    for name in ["observation_date", "observation_datetime", "timestamp"] {
        let mut body =
            json!({"messages": format!("likes tea by {name}"), "infer": false, "user_id": "ada"});
        body[name] = "2021-05-06".into();
        web.post("/v1/memories/", &body).ok();
    }
    let filters = json!({"AND": [{"user_id": "ada"}, {"happened_at": {"lt": "2021-05-07"}}]});
    let found = web.post("/v3/memories/", &json!({"filters": filters})).ok();
    assert_eq!(texts(&found).len(), 3, "{found}");
}

#[tokio::test]
async fn turns_of_a_run_by_rest_are_a_session_and_follow_each_other() {
    let (_daemon, web) = daemon().await;
    for text in ["I live in Porto", "I like tea"] {
        let messages =
            json!([{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]);
        let body = json!({"messages": messages, "run_id": "standup"});
        web.post("/v3/memories/add/", &body).ok();
    }
    let session = json!({"key": "standup"});
    let found = web.post("/v1/brains/memories/get-session", &session).ok();
    let id = found["session"]["id"].clone();
    let asked = json!({"selection": {"session_ids": [id]}});
    let events = web.post("/v1/brains/memories/pattern", &asked).ok();
    let events = events["events"].as_array().unwrap();
    assert_eq!(events.len(), 4, "{events:?}");
    let number = |event: &Value| {
        event["id"]
            .as_str()
            .map_or(0, |id| id.parse::<u64>().unwrap())
    };
    let newest = events.iter().map(number).max().unwrap();
    let walk = json!({"event_id": newest, "types": ["EDGE_TYPE_TEMPORAL_NEXT"], "depth": 9});
    let walk = web.post("/v1/brains/memories/traverse", &walk).ok();
    assert_eq!(walk["steps"].as_array().unwrap().len(), 4, "{walk}");
}
