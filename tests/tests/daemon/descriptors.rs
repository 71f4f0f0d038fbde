//! A daemon that may open few files.

use std::time::Duration;

use amem_client::v1;
use amem_tests::process::descriptors;
use tonic::Code;

use crate::process::{Daemon, check_refused, create_bare, folder, get, ingest};

/// The limit of open files.
const DESCRIPTORS: u32 = 64;
/// More brains than may be open.
const BRAINS: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn with_few_descriptors_idle_brains_close_and_all_calls_are_answered() {
    let folder = folder();
    let daemon = Daemon::start_with_few_descriptors(folder.path(), DESCRIPTORS);
    let client = daemon.client().await;
    let name = |number: usize| format!("brain-{number}");
    for number in 0..BRAINS {
        create_bare(&client, &name(number)).await;
        ingest(&client, &name(number), &["one"]).await;
        let request = v1::CheckpointBrainRequest {
            brain: name(number),
        };
        client.brains().checkpoint_brain(request).await.unwrap();
        let status = client.admin().get_status(v1::GetStatusRequest {}).await;
        let status = status.unwrap().into_inner();
        assert_eq!(status.brain_count, number as u64 + 1);
        assert!(status.brains.len() <= DESCRIPTORS as usize / 8);
        assert!(status.problems.is_empty(), "{:?}", status.problems);
    }
    // Brains that were closed open again; a third of the descriptors stays free.
    for number in 0..BRAINS {
        assert_eq!(get(&client, &name(number), &[0]).await[0].text, "one");
        let open = descriptors(daemon.pid()).unwrap();
        assert!(open <= DESCRIPTORS as usize * 2 / 3, "{open} are open");
    }
    // What connections may take leaves the rest untouched.
    let mut more = Vec::new();
    for _ in 0..DESCRIPTORS {
        more.push(tokio::net::UnixStream::connect(&daemon.socket).await);
    }
    ingest(&client, &name(0), &["two"]).await;
    let status = client.admin().get_status(v1::GetStatusRequest {}).await;
    assert_eq!(status.unwrap().into_inner().brain_count, BRAINS as u64);
    drop(more);
    assert!(daemon.stop().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_brain_opens_once_one_of_those_in_use_is_free_and_is_refused_otherwise() {
    let folder = folder();
    let daemon = Daemon::start_with_few_descriptors(folder.path(), DESCRIPTORS);
    let client = daemon.client().await;
    for brain in ["last", "early"] {
        create_bare(&client, brain).await;
        ingest(&client, brain, &["one"]).await;
    }
    // Subscriptions use all brains that may be open.
    let mut used = Vec::new();
    let refused = loop {
        let brain = format!("used-{}", used.len());
        let create = v1::CreateBrainRequest {
            brain: brain.clone(),
            ..Default::default()
        };
        if let Err(status) = client.brains().create_brain(create).await {
            break status;
        }
        let follow = v1::SubscribeRequest {
            brain,
            ..Default::default()
        };
        used.push(client.memory().subscribe(follow).await.unwrap());
        assert!(used.len() <= DESCRIPTORS as usize / 8);
    };
    let words = &["are open and in use"];
    check_refused(
        "one more",
        Err::<(), _>(refused),
        Code::ResourceExhausted,
        "OPEN_BRAINS",
        words,
    );
    let freed = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        used.pop();
    };
    let (events, ()) = tokio::join!(get(&client, "last", &[0]), freed);
    assert_eq!(events[0].text, "one");
    drop(used);
    assert!(daemon.stop().success());
}
