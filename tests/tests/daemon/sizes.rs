//! A daemon that may make no large file.

use amem_client::{Client, v1};
use tonic::Code;
use uuid::Uuid;

use crate::process::{Daemon, check_refused, create_bare, facts, folder, get, ingest};

/// So many blocks are 2 MiB, or 4 MiB where the shell counts in larger ones.
const BLOCKS: u32 = 4096;
/// More of the texts than fit into such a file.
const TEXTS: usize = 200;

/// About 64 KB that can't be packed to much less.
fn text() -> String {
    let word = |_| Uuid::new_v4().simple().to_string();
    (0..2000).map(word).collect::<Vec<_>>().join(" ")
}

/// All of them are there, word for word.
async fn check(client: &Client, brain: &str, told: &[String]) {
    for (id, told) in (0..).zip(told) {
        let found = get(client, brain, &[id]).await;
        assert_eq!(found[0].text, *told, "event {id} of {brain}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_file_size_limit_writes_are_refused_and_the_daemon_keeps_serving() {
    let folder = folder();
    let daemon = Daemon::start_with_small_files(folder.path(), BLOCKS);
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let mut told = Vec::new();
    let refused = loop {
        let text = text();
        match client.memory().ingest(facts("b", &[&text])).await {
            Ok(_) => told.push(text),
            Err(status) => break status,
        }
        assert!(told.len() < TEXTS, "it is not refused");
    };
    let words = &["b.amem", "File too large", "ulimit -f", "start amemd again"];
    let again = client.memory().ingest(facts("b", &[&text()])).await;
    for answer in [Err(refused), again] {
        check_refused(
            "no room",
            answer,
            Code::ResourceExhausted,
            "DISK_FULL",
            words,
        );
    }
    assert!(!told.is_empty());
    check(&client, "b", &told).await;
    // Others are written as ever.
    create_bare(&client, "other").await;
    ingest(&client, "other", &["fine"]).await;
    assert!(daemon.stop().success());

    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    check(&client, "b", &told).await;
    check(&client, "other", &["fine".to_owned()]).await;
    told.push(text());
    let done = ingest(&client, "b", &[told[told.len() - 1].as_str()]).await;
    assert_eq!(done.event_ids, [told.len() as u64 - 1]);
    check(&client, "b", &told).await;
    let problems = client.admin().get_status(v1::GetStatusRequest {}).await;
    assert!(problems.unwrap().into_inner().problems.is_empty());
}
