//! What is not survived: a user that makes the file writable and truncates it destroys it.

use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant};

use amem_client::v1;
use tonic::Code;

use crate::PATIENCE;
use crate::world::World;

/// What ends a process that reads of a mapping what its file has no longer.
const SIGBUS: i32 = 7;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_truncated_by_its_owner_ends_the_daemon_and_the_next_one_reports_it() {
    let mut world = World::start().await;
    world.make("b").await;
    // Without the first it is refused: see the table.
    assert!(world.run("chmod 600 $b && truncate -s 4096 $b", "b"));
    let get = v1::GetEventsRequest {
        brain: "b".into(),
        event_ids: vec![0, 1],
        ..Default::default()
    };
    let began = Instant::now();
    let ended = loop {
        let answer = world.client.queries().get_events(get.clone()).await;
        if let Some(ended) = world.running.ended() {
            break ended;
        }
        assert!(began.elapsed() < PATIENCE, "it goes on: {answer:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    assert_eq!(ended.signal(), Some(SIGBUS), "{ended:?}");

    world.start_again().await;
    let refused = world.client.queries().get_events(get).await.unwrap_err();
    assert_eq!(refused.code(), Code::DataLoss, "{refused}");
    let request = v1::ListProblemsRequest::default();
    let problems = world.client.admin().list_problems(request).await;
    let problems = problems.unwrap().into_inner().problems;
    assert!(
        problems.iter().any(|told| told.brain == "b"),
        "{problems:?}"
    );
    // Everything else is served.
    world.ingest("other", "afterwards").await.unwrap();
}
