//! After an erase: which readers still have an earlier file open, and when the last one closes it.

use std::time::{Duration, SystemTime};

use amem_client::{Client, Reader, v1};
use amem_engine::limits::REPLACED_HELD_MAX;

use crate::process::{Daemon, create_bare, folder};

async fn add(client: &Client, text: &str) -> u64 {
    let request = v1::IngestRequest {
        brain: "b".into(),
        events: vec![v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: text.into(),
            ..Default::default()
        }],
        ..Default::default()
    };
    let answer = client.memory().ingest(request).await.unwrap().into_inner();
    answer.event_ids[0]
}

async fn erase(client: &Client, id: u64, wait: Duration) -> v1::EraseResponse {
    let request = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![id],
        reader_wait: Some(wait.try_into().unwrap()),
        ..Default::default()
    };
    client.memory().erase(request).await.unwrap().into_inner()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erase_reports_when_the_last_mapping_of_an_earlier_file_ended() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let path = folder.path().join("b.amem");
    let first = add(&client, "the first secret").await;
    let second = add(&client, "the second secret").await;
    // There is no reader.
    let third = add(&client, "the third secret").await;
    let answer = erase(&client, third, Duration::ZERO).await;
    assert!(answer.readers_gone.is_some(), "{answer:?}");

    // One reads the file of now, one that of a generation before, which has it as well.
    let earlier = Reader::open(&path).unwrap();
    assert_eq!(earlier.view().unwrap().nodes(), 3);
    let fold = v1::CheckpointBrainRequest { brain: "b".into() };
    client.brains().checkpoint_brain(fold).await.unwrap();
    let answer = erase(&client, first, Duration::ZERO).await;
    assert_eq!(answer.readers_gone, None);
    assert_eq!(answer.readers_unknown, "");
    let holders: Vec<u32> = answer
        .holders
        .iter()
        .map(|holder| holder.process_id)
        .collect();
    assert_eq!(holders, [std::process::id()], "{answer:?}");
    assert!(!answer.holders[0].program.is_empty());

    // It lets go while the next erase waits.
    let waiting = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(earlier.view().unwrap().nodes(), 3);
        SystemTime::now()
    });
    let answer = erase(&client, second, Duration::from_secs(20)).await;
    let let_go = waiting.join().unwrap();
    let gone = SystemTime::try_from(answer.readers_gone.unwrap()).unwrap();
    // The old mapping ends just before the view is there.
    let early = let_go.duration_since(gone).unwrap_or_default();
    assert!(early < Duration::from_millis(200), "{early:?} too early");
    assert!(answer.holders.is_empty());

    let request = v1::EraseRequest {
        brain: "b".into(),
        event_ids: vec![second],
        reader_wait: Some(Duration::from_secs(61).try_into().unwrap()),
        ..Default::default()
    };
    let refused = client.memory().erase(request).await.unwrap_err();
    assert_eq!(refused.code(), tonic::Code::InvalidArgument);
    assert!(refused.message().contains("reader_wait"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_erases_releases_its_own_mapping_during_the_erase() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let secret = add(&client, "a secret").await;
    let brain = client.brain("b").await.unwrap();
    assert!(brain.is_direct());
    let request = v1::EraseRequest {
        event_ids: vec![secret],
        ..Default::default()
    };
    let answer = brain.write(request).await.unwrap();
    assert!(answer.readers_gone.is_some(), "{answer:?}");
    assert!(brain.is_direct());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_replaced_files_than_are_tracked_leave_their_readers_unknown() {
    let folder = folder();
    let daemon = Daemon::start(folder.path());
    let client = daemon.client().await;
    create_bare(&client, "b").await;
    let path = folder.path().join("b.amem");
    let mut held = Vec::new();
    for n in 0..=REPLACED_HELD_MAX {
        add(&client, &format!("event {n}")).await;
        held.push(std::fs::File::open(&path).unwrap());
        let fold = v1::CheckpointBrainRequest { brain: "b".into() };
        client.brains().checkpoint_brain(fold).await.unwrap();
    }
    let answer = erase(&client, 0, Duration::ZERO).await;
    assert_eq!(answer.readers_gone, None);
    let most = REPLACED_HELD_MAX.to_string();
    assert!(answer.readers_unknown.contains(&most), "{answer:?}");
}
