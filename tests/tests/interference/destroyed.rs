//! What is not survived: a user that makes the file writable and truncates it destroys it. The daemon says so, and goes
//! on with the others.

use std::time::{Duration, Instant};

use amem_client::v1;
use tonic::Code;

use crate::PATIENCE;
use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_truncated_by_its_owner_is_refused_and_the_others_are_served() {
    let mut world = World::start().await;
    world.make("b").await;
    // Without the first it is refused: see the table.
    assert!(world.run("chmod 600 $b && truncate -s 4096 $b", "b"));
    let get = v1::GetEventsRequest {
        brain: "b".into(),
        event_ids: vec![0, 1],
        ..Default::default()
    };
    let refused = world.client.queries().get_events(get.clone()).await;
    let refused = refused.unwrap_err();
    assert_eq!(refused.code(), Code::DataLoss, "{refused}");
    assert!(refused.message().contains("brain restore b"), "{refused}");
    let refused = world.ingest("b", "refused").await.unwrap_err();
    assert_eq!(refused.code(), Code::DataLoss, "{refused}");
    assert_eq!(world.running.ended(), None);

    // The next one reports what is left.
    let pid = world.running.pid();
    assert!(world.run(&format!("kill {pid}"), "b"));
    let began = Instant::now();
    while world.running.ended().is_none() {
        assert!(began.elapsed() < PATIENCE, "it does not end");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
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
