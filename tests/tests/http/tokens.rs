//! Tokens by HTTP: in which header, for which brain, for whose memories.

use amem_client::v1;
use serde_json::{Value, json};

use crate::client::{WebAnswer, WebCaller, daemon};
use crate::process::Daemon;
use crate::routes::add;

/// A token within the scope of a user.
async fn scoped(daemon: &Daemon, user: &str) -> WebCaller {
    let request = v1::CreateTokenRequest {
        name: user.into(),
        permission: v1::Permission::Write.into(),
        scope: Some(v1::Scope {
            user: Some(user.into()),
            ..Default::default()
        }),
        ..Default::default()
    };
    let made = daemon.client().await.admin().create_token(request).await;
    WebCaller::bearer(daemon, &made.unwrap().into_inner().token)
}

#[tokio::test]
async fn a_token_is_shown_in_one_of_three_headers_until_it_is_revoked() {
    let (daemon, admin) = daemon().await;
    let token = daemon.token().await;
    let web = |shows: String| WebCaller {
        shows,
        ..admin.clone()
    };
    for front in [
        "authorization: Bearer ",
        "authorization: Token ",
        "X-API-Key: ",
    ] {
        assert_eq!(
            web(format!("{front}{token}")).get("/v1/ping/").ok()["status"],
            "ok"
        );
        let wrong = web(format!("{front}{}", "0".repeat(64)));
        let answer = wrong.get("/v1/ping/");
        assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        answer.refused(401, "AuthenticationError", "TOKEN");
        // Without a token nobody learns which ids and paths there are.
        for target in ["/v1/memories/x/", "/v9/", "/metrics"] {
            wrong
                .get(target)
                .refused(401, "AuthenticationError", "TOKEN");
        }
    }
    for shows in [
        String::new(),
        format!("authorization: Basic {token}"),
        format!("x-api-key: {token}\r\nx-api-key: {token}"),
    ] {
        web(shows)
            .get("/v1/ping/")
            .refused(401, "AuthenticationError", "TOKEN");
    }
    let revoke = v1::RevokeTokenRequest {
        name: "test".into(),
    };
    daemon
        .client()
        .await
        .admin()
        .revoke_token(revoke)
        .await
        .unwrap();
    let answer = web(format!("authorization: Token {token}")).get("/v1/ping/");
    answer.refused(401, "AuthenticationError", "TOKEN");
}

#[tokio::test]
async fn a_token_does_what_its_role_allows_on_its_brain_and_no_more() {
    let (daemon, admin) = daemon().await;
    let id = add(&admin, &json!({"user_id": "ada"}), "likes tea");
    let reads = WebCaller::bearer(
        &daemon,
        &daemon.token_of("reads", v1::Permission::Read).await,
    );
    assert_eq!(
        reads.get(&format!("/v1/memories/{id}/")).ok()["memory"],
        "likes tea"
    );
    let body = json!({"messages": "likes milk", "user_id": "ada"});
    let refused = reads
        .post("/v1/memories/", &body)
        .refused(403, "PermissionError", "ROLE");
    assert_eq!(refused["stored"], "nothing");
    reads
        .delete(&format!("/v1/memories/{id}/"))
        .refused(403, "PermissionError", "ROLE");
    let other = daemon
        .token_for("other", v1::Permission::Write, &["elsewhere"])
        .await;
    let other = WebCaller::bearer(&daemon, &other);
    for target in [
        "/v1/memories/?user_id=ada".to_owned(),
        format!("/v1/memories/{id}/"),
    ] {
        other
            .get(&target)
            .refused(404, "NotFoundError", "UNKNOWN_BRAIN");
    }
    let writes = WebCaller::bearer(&daemon, &daemon.token().await);
    writes
        .post("/v1/reset/", &Value::Null)
        .refused(403, "PermissionError", "ROLE");
    for target in [
        "/v1/memories/?user_id=*",
        "/v1/memories/?user_id=*&agent_id=*&app_id=*&run_id=*",
    ] {
        writes
            .delete(target)
            .refused(403, "PermissionError", "ROLE");
    }
    assert_eq!(
        admin.get("/v1/memories/?user_id=ada").ok()["results"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    add(&admin, &json!({"user_id": "bob"}), "likes milk");
    add(&admin, &json!({"agent_id": "helper"}), "likes order");
    assert_eq!(admin.delete("/v1/memories/?user_id=*").ok()["deleted"], 2);
    let left = admin.get("/v1/entities/").ok();
    assert_eq!(
        (&left["count"], &left["results"][0]["name"]),
        (&json!(1), &json!("helper"))
    );
}

#[tokio::test]
async fn a_token_of_a_user_neither_sees_nor_changes_what_another_has() {
    let (daemon, admin) = daemon().await;
    let (ada, bob) = (scoped(&daemon, "ada").await, scoped(&daemon, "bob").await);
    let id = add(&ada, &json!({}), "likes tea");
    let of_bob = add(&bob, &json!({}), "likes milk");
    assert_eq!(
        admin.get(&format!("/v1/memories/{id}/")).ok()["user_id"],
        "ada"
    );
    let texts = |answer: WebAnswer| {
        let answer = answer.ok();
        let results = answer["results"].as_array().unwrap().clone();
        results
            .iter()
            .map(|item| item["memory"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts(bob.get("/v1/memories/search/?q=likes+tea")),
        ["likes milk"]
    );
    assert_eq!(texts(bob.get("/v1/memories/")), ["likes milk"]);
    assert_eq!(
        texts(bob.post(
            "/v3/memories/",
            &json!({"filters": {"OR": [{"user_id": "ada"}, {"user_id": "bob"}]}})
        )),
        ["likes milk"]
    );
    let not_found = |answer: WebAnswer| answer.refused(404, "NotFoundError", "UNKNOWN_MEMORY");
    not_found(bob.get(&format!("/v1/memories/{id}/")));
    not_found(bob.get(&format!("/v1/memories/{id}/history/")));
    not_found(bob.put(&format!("/v1/memories/{id}/"), &json!({"text": "x"})));
    not_found(bob.delete(&format!("/v1/memories/{id}/")));
    not_found(bob.post(
        "/v1/feedback/",
        &json!({"memory_id": id, "feedback": "NEGATIVE"}),
    ));
    not_found(bob.put(
        "/v1/batch/",
        &json!({"memories": [{"memory_id": id, "text": "x"}]}),
    ));
    let both = json!({"memories": [{"memory_id": of_bob, "text": "likes oats"}, {"memory_id": id, "text": "x"}]});
    let mixed = bob.put("/v1/batch/", &both).ok();
    assert_eq!(mixed["results"][1]["code"], "UNKNOWN_MEMORY", "{mixed}");
    let denied = |answer: WebAnswer| answer.refused(403, "PermissionError", "TOKEN_SCOPE");
    denied(bob.get("/v1/memories/?user_id=ada"));
    denied(bob.delete("/v1/memories/?user_id=ada"));
    denied(bob.delete("/v2/entities/user/ada/"));
    denied(bob.post("/v1/memories/", &json!({"messages": "x", "user_id": "ada"})));
    denied(bob.delete("/v1/memories/?user_id=*"));
    denied(bob.get("/metrics"));
    let events = bob.get("/v1/events/").ok();
    assert_eq!(events["count"], 1);
    assert_eq!(events["results"][0]["results"][0]["memory"], "likes oats");
    let event = ada.get("/v1/events/").ok()["results"][0]["id"].clone();
    let target = format!("/v1/event/{}/", event.as_str().unwrap());
    ada.get(&target).ok();
    bob.get(&target)
        .refused(404, "NotFoundError", "UNKNOWN_EVENT");
    let users = bob.get("/v1/entities/").ok();
    assert_eq!(
        (&users["count"], &users["results"][0]["name"]),
        (&json!(1), &json!("bob"))
    );
    bob.post("/v1/reset/", &Value::Null).ok();
    assert_eq!(texts(bob.get("/v1/memories/")), [""; 0]);
    assert_eq!(texts(ada.get("/v1/memories/")), ["likes tea"]);
}
