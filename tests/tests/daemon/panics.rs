//! A daemon in this process, and a defect that a call meets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use amem_client::{Client, v1};
use amem_tests::disk::{About, HookedDisk, SimDisk};
use tonic::{Code, Status};

use crate::faulty::FaultyDaemon;
use crate::process::{check_refused, create_bare, get, ingest};

/// How long a brain may take to be tried again.
const PATIENCE: Duration = Duration::from_secs(30);

async fn read(client: &Client, brain: &str) -> Result<String, Status> {
    let request = v1::GetEventsRequest {
        brain: brain.into(),
        event_ids: vec![0],
        ..Default::default()
    };
    let answer = client.queries().get_events(request).await?;
    Ok(answer.into_inner().events.remove(0).text)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_while_a_brain_is_opened_for_reading_fails_only_that_call() {
    let disk = Arc::new(SimDisk::new(12));
    let served = FaultyDaemon::start(disk.clone()).await;
    let client = served.client().await;
    for brain in ["b", "other"] {
        create_bare(&client, brain).await;
        ingest(&client, brain, &["before"]).await;
    }
    served.end().await;

    // All are closed again before anybody is served: the first call that names one opens it.
    let armed = Arc::new(AtomicBool::new(false));
    let hook = {
        let armed = armed.clone();
        move |about| {
            let is_hit = about == About::Open && armed.swap(false, Ordering::SeqCst);
            assert!(!is_hit, "a defect");
        }
    };
    let served = FaultyDaemon::start(Arc::new(HookedDisk::new(disk, hook))).await;
    let client = served.client().await;
    client
        .admin()
        .get_status(v1::GetStatusRequest {})
        .await
        .unwrap();
    armed.store(true, Ordering::SeqCst);
    let refused = |answer| {
        let words = &["a defect stopped this call"];
        check_refused("a defect", answer, Code::Internal, "INTERNAL", words);
    };
    refused(read(&client, "b").await);
    assert!(!armed.load(Ordering::SeqCst), "the defect was not met");
    assert_eq!(read(&client, "other").await.unwrap(), "before");
    // It is not tried again at once.
    let begun = Instant::now();
    let text = loop {
        match read(&client, "b").await {
            Ok(text) => break text,
            answer => refused(answer),
        }
        assert!(begun.elapsed() < PATIENCE, "it is never opened");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(text, "before");
    ingest(&client, "b", &["after"]).await;
    assert_eq!(get(&client, "b", &[1]).await[0].text, "after");
    served.end().await;
}
