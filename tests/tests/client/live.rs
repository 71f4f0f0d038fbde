//! What was answered is in every view taken after; uses are counted once, however they travel.

use amem_client::core::NodeId;
use amem_client::v1;

use crate::kit::{Kit, fact};

async fn accesses(brain: &amem_client::Brain, event_id: u64) -> u32 {
    let get = v1::GetEventsRequest {
        event_ids: vec![event_id],
        touch: Some(false),
        ..Default::default()
    };
    brain.ask(get).await.unwrap().events[0].access_count
}

#[tokio::test]
async fn a_direct_read_sees_every_answered_change_even_after_a_crash() {
    let mut kit = Kit::new();
    let brain = kit.brain("b").await;
    let other = kit.client().await.brain("b").await.unwrap();
    for round in 0..4 {
        for n in 0..20 {
            let text = format!("round {round} event {n}");
            let done = brain.ingest(vec![fact(&text)]).await.unwrap();
            let got = brain.get(&done.event_ids).await.unwrap();
            assert_eq!(got[0].text, text);
            let by_other = other.by_call().get(&done.event_ids).await.unwrap();
            assert_eq!(by_other[0].text, text);
            // What it was answered by call, it sees directly.
            assert_eq!(other.get(&done.event_ids).await.unwrap()[0].text, text);
        }
        match round {
            0 => {
                let request = v1::CheckpointBrainRequest { brain: "b".into() };
                let client = kit.client().await;
                client.brains().checkpoint_brain(request).await.unwrap();
            }
            1 => {
                kit.kill();
                kit.restart();
            }
            _ => {
                kit.kill();
                // As after a recovery that does not trust the old file: the same brain in another one.
                let file = kit.place.folder().join("b.amem");
                let copy = file.with_extension("copy");
                std::fs::copy(&file, &copy).unwrap();
                std::fs::rename(&copy, &file).unwrap();
                kit.restart();
            }
        }
    }
}

#[tokio::test]
async fn touches_of_direct_reads_are_sent_together_and_once() {
    let mut kit = Kit::new();
    let brain = kit.brain("b").await;
    brain.ingest(vec![fact("one"), fact("two")]).await.unwrap();
    for _ in 0..5 {
        brain.get(&[0]).await.unwrap();
    }
    brain.search("two", 5).await.unwrap();
    let before = brain
        .by_call()
        .ask(v1::WhyRequest::default())
        .await
        .unwrap();
    brain.flush().await.unwrap();
    let after = brain
        .by_call()
        .ask(v1::WhyRequest::default())
        .await
        .unwrap();
    let lsn = |answer: &v1::WhyResponse| answer.moment.as_ref().unwrap().lsn;
    // One commit for all of them, of a frame or two; a search does not touch.
    let frames = lsn(&after) - lsn(&before);
    assert!((1..=2).contains(&frames), "{frames}");
    assert_eq!(
        (accesses(&brain, 0).await, accesses(&brain, 1).await),
        (5, 0)
    );
    brain.flush().await.unwrap();
    let later = brain
        .by_call()
        .ask(v1::WhyRequest::default())
        .await
        .unwrap();
    assert_eq!(lsn(&later), lsn(&after));

    // A daemon that dies with uses waiting here: they arrive at the next one, once.
    brain.get(&[0, 1]).await.unwrap();
    kit.kill();
    let flushing = tokio::spawn({
        let brain = brain.clone();
        async move { brain.flush().await }
    });
    kit.restart();
    flushing.await.unwrap().unwrap();
    assert_eq!(
        (accesses(&brain, 0).await, accesses(&brain, 1).await),
        (6, 1)
    );

    // Dropping the brain sends what waits.
    let other = kit.client().await.brain("b").await.unwrap();
    brain.get(&[1]).await.unwrap();
    drop(brain);
    while accesses(&other, 1).await < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(accesses(&other, 1).await, 2);
}

#[tokio::test]
async fn a_thousand_touches_are_sent_without_a_flush() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    let events = (0..1_001).map(|n| fact(format!("event {n}"))).collect();
    let mut ids = brain.ingest(events).await.unwrap().event_ids;
    let last = ids.pop().unwrap();
    // Another's single use, counted before them, waits for more.
    let other = kit.client().await.brain("b").await.unwrap();
    other.get(&[last]).await.unwrap();
    brain.get(&ids).await.unwrap();
    let reader = brain.reader().unwrap();
    let accesses = |id| {
        let view = reader.view().unwrap();
        view.node(NodeId(id)).unwrap().access_count()
    };
    while accesses(999) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((accesses(0), accesses(last)), (1, 0));
}

#[tokio::test]
async fn a_forgotten_event_is_shown_and_other_touches_still_count() {
    let kit = Kit::new();
    let brain = kit.brain("b").await;
    brain.ingest(vec![fact("one"), fact("two")]).await.unwrap();
    brain.forget(0).await.unwrap();
    let get = v1::GetEventsRequest {
        event_ids: vec![0, 1],
        include_forgotten: true,
        ..Default::default()
    };
    for brain in [brain.clone(), brain.by_call()] {
        let got = brain.ask(get.clone()).await.unwrap();
        assert!(got.events[0].forgotten);
    }
    brain.get(&[1]).await.unwrap();
    brain.flush().await.unwrap();
    // What a flush committed is in every view taken after it, also from the daemon's own touches.
    assert!(accesses(&brain, 1).await >= 2);
}
