//! FactService on a real daemon: by gRPC and by amemctl.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use amem_client::v1;
use amem_tests::programs::number;
use serde_json::Value;
use tonic::Code;

use crate::process::{Daemon, folder};

fn scope(user: &str) -> Option<v1::Scope> {
    Some(v1::Scope {
        user: Some(user.into()),
        ..v1::Scope::default()
    })
}

fn said(text: &str) -> v1::AddFactsRequest {
    v1::AddFactsRequest {
        messages: vec![v1::FactMessage {
            text: text.into(),
            ..v1::FactMessage::default()
        }],
        scope: scope("ada"),
        ..v1::AddFactsRequest::default()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn facts_are_added_found_changed_and_told_over_grpc() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut facts = daemon.client().await.facts();
    let first = facts
        .add_facts(said("I live in Porto"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(first.results[0].event(), v1::FactEvent::Add);
    let second = facts
        .add_facts(said("I moved to Rome"))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        second.results[0].event(),
        v1::FactEvent::Update,
        "{second:?}"
    );
    let id = first.results[0].id.clone();
    assert_eq!(second.results[0].id, id);
    let search = v1::SearchFactsRequest {
        query: "where does she live, in Rome".into(),
        scope: scope("ada"),
        explain: true,
        ..v1::SearchFactsRequest::default()
    };
    let found = facts
        .search_facts(search.clone())
        .await
        .unwrap()
        .into_inner();
    let hit = &found.hits[0];
    assert_eq!(hit.fact.as_ref().unwrap().id, id);
    assert!(
        hit.score > 0.0 && hit.score <= 1.0 && hit.parts.is_some(),
        "{hit:?}"
    );
    let other = v1::SearchFactsRequest {
        scope: scope("bob"),
        ..search
    };
    assert!(
        facts
            .search_facts(other)
            .await
            .unwrap()
            .into_inner()
            .hits
            .is_empty()
    );
    let history = v1::GetFactHistoryRequest {
        id: id.clone(),
        ..v1::GetFactHistoryRequest::default()
    };
    let told = facts
        .get_fact_history(history.clone())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(told.records.len(), 2);
    assert_eq!(told.records[1].sources[0].text, "I moved to Rome");
    let delete = v1::DeleteFactRequest {
        id: id.clone(),
        ..v1::DeleteFactRequest::default()
    };
    facts.delete_fact(delete.clone()).await.unwrap();
    let again = facts.delete_fact(delete).await.unwrap_err();
    assert_eq!(again.code(), Code::NotFound);
    assert!(
        facts
            .get_fact_history(history.clone())
            .await
            .unwrap()
            .into_inner()
            .deleted
    );
    let reset = v1::ResetFactsRequest {
        scope: scope("ada"),
        ..v1::ResetFactsRequest::default()
    };
    let gone = facts.reset_facts(reset).await.unwrap().into_inner();
    assert!(gone.events >= 5, "{gone:?}");
    assert_eq!(
        facts.get_fact_history(history).await.unwrap_err().code(),
        Code::NotFound
    );
    let bare = v1::AddFactsRequest {
        scope: None,
        ..said("I like tea")
    };
    let refused = facts.add_facts(bare).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("user_id"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_twice_is_executed_once() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let mut facts = daemon.client().await.facts();
    let request = v1::AddFactsRequest {
        infer: Some(false),
        options: Some(v1::WriteOptions {
            request_id: uuid::Uuid::now_v7().to_string(),
            ..v1::WriteOptions::default()
        }),
        ..said("User likes tea")
    };
    let first = facts.add_facts(request.clone()).await.unwrap().into_inner();
    daemon.kill();
    let daemon = Daemon::start(folder.path());
    let mut facts = daemon.client().await.facts();
    let again = facts.add_facts(request).await.unwrap().into_inner();
    assert_eq!(again.results, first.results);
    let list = v1::ListFactsRequest {
        scope: scope("ada"),
        ..v1::ListFactsRequest::default()
    };
    assert_eq!(
        facts
            .list_facts(list)
            .await
            .unwrap()
            .into_inner()
            .facts
            .len(),
        1
    );
}

/// Runs `amemctl fact …` with JSON output; returns the exit code and the envelope.
fn fact(socket: &Path, arguments: &[&str], input: &str) -> (Option<i32>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-tested-ctl"));
    command.arg("fact").args(arguments);
    command.arg("--json").arg("--socket").arg(socket);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let envelope = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    (output.status.code(), envelope)
}

#[test]
fn amemctl_reads_a_conversation_and_shows_what_it_remembers() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let run = |arguments: &[&str], input: &str| fact(&daemon.socket, arguments, input);
    let conversation = [
        r#"{"role":"user","content":"I live in Porto and I'm allergic to nuts."}"#,
        r#"{"role":"assistant","content":"Noted."}"#,
        r#"{"role":"user","content":"I moved to Rome last month."}"#,
    ];
    let (exit, added) = run(&["add", "-", "--user", "ada"], &conversation.join("\n"));
    assert_eq!(exit, Some(0), "{added}");
    assert_eq!(added["data"]["turnIds"].as_array().unwrap().len(), 3);
    let (_, listed) = run(&["ls", "--user", "ada"], "");
    let facts = listed["data"]["facts"].as_array().unwrap();
    let home = facts
        .iter()
        .find(|fact| fact["memory"].as_str().unwrap().contains("Rome"));
    let home = home.unwrap_or_else(|| panic!("{listed}"));
    let id = home["id"].as_str().unwrap();
    let (_, found) = run(&["search", "allergic to what", "--user", "ada"], "");
    let best = found["data"]["hits"][0]["fact"]["memory"].as_str().unwrap();
    assert!(best.contains("nuts"), "{found}");
    let (_, updated) = run(&["update", id, "User lives in Rome"], "");
    assert_eq!(updated["data"]["fact"]["memory"], "User lives in Rome");
    let (_, history) = run(&["history", id], "");
    let records = history["data"]["records"].as_array().unwrap();
    assert!(records.len() >= 2, "{history}");
    let (exit, _) = run(&["delete", id], "");
    assert_eq!(exit, Some(0));
    let (exit, gone) = run(&["get", id], "");
    assert_ne!(exit, Some(0));
    assert_eq!(gone["error"]["code"], "unknown_memory");
    let (_, users) = run(&["users"], "");
    assert_eq!(users["data"]["scopes"][0]["value"], "ada");
    let (exit, refused) = run(&["add", "I like tea"], "");
    assert_ne!(exit, Some(0));
    assert_eq!(refused["error"]["code"], "scope", "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_updates_at_once_one_is_done_and_the_others_say_why_not() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let mut facts = client.facts();
    let added = facts.add_facts(said("I live in Porto")).await.unwrap();
    let known = added.into_inner().results.remove(0);
    let update = |text: String| v1::UpdateFactRequest {
        id: known.id.clone(),
        text: Some(text),
        expected_text: Some(known.memory.clone()),
        ..v1::UpdateFactRequest::default()
    };
    let calls = (0..16).map(|at| {
        let (mut facts, request) = (client.facts(), update(format!("User lives at {at}")));
        tokio::spawn(async move { facts.update_fact(request).await })
    });
    let mut done = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(answer) => done.push(answer.into_inner().fact.unwrap().memory),
            Err(refused) => assert_eq!(refused.code(), Code::Aborted, "{refused}"),
        }
    }
    assert_eq!(done.len(), 1, "{done:?}");
    let get = |id: &str| v1::GetFactRequest {
        id: id.into(),
        ..v1::GetFactRequest::default()
    };
    let now = facts.get_fact(get(&known.id)).await.unwrap().into_inner();
    assert_eq!(now.fact.unwrap().memory, done[0]);
    let refused = facts.get_fact(get("no-uuid")).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    assert!(refused.message().contains("no-uuid"), "{refused}");
    let mut empty = update(String::new());
    empty.expected_text = None;
    let refused = facts.update_fact(empty).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
}

/// Runs `amemctl` with JSON output; returns the data of the envelope.
fn ctl(socket: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_amem-tested-ctl"));
    command
        .args(arguments)
        .arg("--json")
        .arg("--socket")
        .arg(socket);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    let envelope: Value = serde_json::from_slice(&output.stdout).unwrap();
    envelope["data"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_of_a_formed_fact_shows_its_turn_by_grpc_and_by_amemctl() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    for (kind, text) in [
        ("", "I live in Porto"),
        ("", "We decided to use Postgres because it has transactions"),
        ("skill", "The site is built with make"),
        ("inference", "The backups are slow"),
    ] {
        let request = v1::AddFactsRequest {
            infer: Some(kind.is_empty()),
            kind: kind.into(),
            ..said(text)
        };
        let added = client
            .facts()
            .add_facts(request)
            .await
            .unwrap()
            .into_inner();
        let event_id = added.results[0].event_id;
        let why = v1::WhyRequest {
            brain: "memories".into(),
            event_id,
            ..Default::default()
        };
        let tree = client.queries().why(why).await.unwrap().into_inner();
        let steps = tree.steps.iter().filter_map(|step| step.event.as_ref());
        let turns: Vec<_> = steps
            .filter(|event| event.text == text && event.id != event_id)
            .collect();
        assert_eq!(turns.len(), 1, "{tree:?}");
        let shown = ctl(&daemon.socket, &["why", "memories", &event_id.to_string()]);
        let steps = shown["steps"].as_array().unwrap().iter();
        let turn = steps
            .filter(|step| number(&step["event"]["id"]) == turns[0].id)
            .count();
        assert_eq!(turn, 1, "{shown}");
        let impact = v1::ImpactRequest {
            brain: "memories".into(),
            event_id: turns[0].id,
            ..Default::default()
        };
        let tree = client.queries().impact(impact).await.unwrap().into_inner();
        let mut steps = tree.steps.iter().filter_map(|step| step.event.as_ref());
        assert!(steps.any(|event| event.id == event_id), "{tree:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn adds_at_once_to_a_run_by_grpc_are_one_chain_in_one_session() {
    const CALLS: usize = 12;
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    let calls = (0..CALLS).map(|at| {
        let mut facts = client.facts();
        let request = v1::AddFactsRequest {
            scope: Some(v1::Scope {
                run: Some("standup".into()),
                ..v1::Scope::default()
            }),
            infer: Some(false),
            ..said(&format!("note {at} of this meeting"))
        };
        tokio::spawn(async move { facts.add_facts(request).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
    let session = v1::GetSessionRequest {
        brain: "memories".into(),
        session: Some(v1::get_session_request::Session::Key("standup".into())),
        as_of: None,
    };
    let found = client.queries().get_session(session).await.unwrap();
    let session = found.into_inner().session.unwrap();
    let asked = v1::PatternRequest {
        brain: "memories".into(),
        selection: Some(v1::Selection {
            session_ids: vec![session.id],
            ..v1::Selection::default()
        }),
        page_size: 100,
        ..v1::PatternRequest::default()
    };
    let events = client
        .queries()
        .pattern(asked)
        .await
        .unwrap()
        .into_inner()
        .events;
    assert_eq!(events.len(), CALLS);
    let newest = events.iter().map(|event| event.id).max().unwrap();
    let traverse = v1::TraverseRequest {
        brain: "memories".into(),
        event_id: newest,
        types: vec![v1::EdgeType::TemporalNext.into()],
        depth: 50,
        ..Default::default()
    };
    let walked = client
        .queries()
        .traverse(traverse)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(walked.steps.len(), CALLS);
}

#[test]
fn each_role_of_what_amemctl_reads_is_taken_as_what_it_is() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let array = r#"[{"role": "user", "content": "I live in Porto."},
        {"role": "assistant", "content": "I am allergic to nuts."}]"#;
    let lines = "user: I live in Porto.\nassistant: I am allergic to nuts.\n";
    for (user, input) in [("ada", array), ("bob", lines)] {
        let (exit, added) = fact(&daemon.socket, &["add", "-", "--user", user], input);
        assert_eq!(exit, Some(0), "{added}");
        assert_eq!(
            added["data"]["turnIds"].as_array().unwrap().len(),
            2,
            "{added}"
        );
        let (_, listed) = fact(&daemon.socket, &["ls", "--user", user], "");
        let listed = listed.to_string();
        assert!(
            listed.contains("Porto") && !listed.contains("nuts"),
            "{listed}"
        );
    }
}
