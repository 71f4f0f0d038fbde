//! Sessions of the mixed brain: opened, filled, corrected, summarised, closed; some of it is forgotten, some erased.
//! What must be there in the end, and what must be gone, is noted.

use std::sync::Arc;
use std::time::Duration;

use amem_client::v1;
use amem_tests::random::Random;
use uuid::Uuid;

use crate::others::{options, pause};
use crate::world::{MIXED, World, events};

/// What is known of the mixed brain.
#[derive(Debug, Default, Clone)]
pub(crate) struct MixedBrain {
    /// Events that must be there.
    pub(crate) kept: Vec<(u64, String)>,
    /// Texts of which no byte may be anywhere.
    pub(crate) erased: Vec<(u64, String)>,
}

/// A round after the other; in the end what is known is left in the world.
pub(crate) async fn remember(world: Arc<World>) {
    let (mut random, mut noted) = (Random::new(world.seed ^ 77), MixedBrain::default());
    let every = (world.lasts / 30_000).max(Duration::from_millis(30));
    for round in 0.. {
        if world.has_ended() {
            break;
        }
        session(&world, round, &mut noted).await;
        if random.below(4) == 0 {
            secret(&world, &mut noted).await;
        }
        pause(&world, every).await;
    }
    world.note(noted);
}

async fn ingest(world: &World, session_id: Option<u32>, texts: &[String]) -> Option<Vec<u64>> {
    let mut events = events(texts.iter().cloned());
    for event in &mut events {
        event.session_id = session_id;
    }
    let request = v1::IngestRequest {
        brain: MIXED.into(),
        options: options("noter"),
        events,
        ..Default::default()
    };
    let of = || async { world.client.memory().ingest(request.clone()).await };
    let done = world.done("Ingest", of).await?;
    Some(done.event_ids)
}

async fn session(world: &World, round: u64, noted: &mut MixedBrain) -> Option<()> {
    let memory = || world.client.memory();
    let request = v1::OpenSessionRequest {
        brain: MIXED.into(),
        options: options("noter"),
        key: format!("round-{round}"),
    };
    let of = || async { memory().open_session(request.clone()).await };
    let session_id = world.done("OpenSession", of).await?.session_id;
    let text = |n| format!("in round {round} this was noted as number {n}");
    let texts: Vec<String> = (0..6).map(text).collect();
    let ids = ingest(world, Some(session_id), &texts).await?;
    noted.kept.extend(ids.iter().copied().zip(texts));

    let correction = format!("in round {round} this was corrected");
    let request = v1::CorrectRequest {
        brain: MIXED.into(),
        options: options("noter"),
        target_id: ids[2],
        event: Some(events([correction.clone()]).remove(0)),
        ..Default::default()
    };
    let of = || async { memory().correct(request.clone()).await };
    let corrected = world.done("Correct", of).await?;
    noted.kept.push((corrected.event_id, correction));

    if round.is_multiple_of(3) {
        let request = v1::CompressSessionRequest {
            brain: MIXED.into(),
            options: options("noter"),
            session_id,
            ..Default::default()
        };
        let of = || async { memory().compress_session(request.clone()).await };
        world.done("CompressSession", of).await?;
    }
    let request = v1::CloseSessionRequest {
        brain: MIXED.into(),
        options: options("noter"),
        session_id,
        outcome: "done".into(),
    };
    let of = || async { memory().close_session(request.clone()).await };
    world.done("CloseSession", of).await?;
    world.add("sessions");
    Some(())
}

/// Something is said, and erased.
async fn secret(world: &World, noted: &mut MixedBrain) -> Option<()> {
    let text = format!("a secret {}", Uuid::new_v4());
    let id = *ingest(world, None, std::slice::from_ref(&text))
        .await?
        .first()?;
    let request = v1::EraseRequest {
        brain: MIXED.into(),
        options: options("noter"),
        event_ids: vec![id],
        ..Default::default()
    };
    let of = || async { world.client.memory().erase(request.clone()).await };
    world.done("Erase", of).await?;
    noted.erased.push((id, text));
    world.add("erases");
    Some(())
}
