//! What goes on beside the writers: questions, checkpoints, decay, files that are put into the folder.

use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_client::v1;
use amem_tests::random::Random;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_stream::iter;
use uuid::Uuid;
use v1::merge_brain_request::Part;
use v1::merge_options::From;

use crate::noted;
use crate::world::{LEDGERS, MIXED, SEED_EVENTS, World};

/// Sends queries.
const ASKERS: u64 = 3;
/// How long they think in between.
const THINKS: Duration = Duration::from_millis(10);
/// How long a file may take until it is a brain.
const ADOPTED_AFTER: Duration = Duration::from_secs(30);

/// Starts all of it; each ends when all does.
pub(crate) fn start(world: &Arc<World>, tasks: &mut JoinSet<()>) {
    for asker in 0..ASKERS {
        tasks.spawn_local(ask(world.clone(), asker));
    }
    tasks.spawn_local(noted::remember(world.clone()));
    tasks.spawn_local(keep_house(world.clone()));
    tasks.spawn_local(bring_files(world.clone()));
}

pub(crate) fn options(agent: &str) -> Option<v1::WriteOptions> {
    Some(v1::WriteOptions {
        agent: agent.into(),
        request_id: Uuid::now_v7().to_string(),
        ..Default::default()
    })
}

/// Waits, but not beyond the end.
pub(crate) async fn pause(world: &World, time: Duration) {
    let began = Instant::now();
    while !world.has_ended() && began.elapsed() < time {
        sleep(Duration::from_millis(20).min(time)).await;
    }
}

async fn ask(world: Arc<World>, asker: u64) {
    let mut random = Random::new(world.seed ^ (asker << 32));
    while !world.has_ended() {
        let brain = random.pick(&LEDGERS).to_owned();
        let text = format!("who says {} only once", random.below(1000));
        let queries = || world.client.queries();
        match random.below(6) {
            0..=1 => {
                let request = v1::GetEventsRequest {
                    brain,
                    event_ids: Vec::new(),
                    ..Default::default()
                };
                // Of ids that are there, however far it is.
                let info = v1::GetBrainRequest {
                    brain: request.brain.clone(),
                };
                let of = || async { world.client.brains().get_brain(info.clone()).await };
                let Some(info) = world.done("GetBrain", of).await else {
                    continue;
                };
                let events = info.status.map_or(0, |status| status.events);
                if events == 0 {
                    continue;
                }
                let event_ids = (0..10).map(|_| random.below(events)).collect();
                let request = v1::GetEventsRequest {
                    event_ids,
                    ..request
                };
                let of = || async { queries().get_events(request.clone()).await };
                world.done("GetEvents", of).await;
            }
            2 => {
                let request = v1::TextRequest {
                    brain,
                    text,
                    ..Default::default()
                };
                let of = || async { queries().text(request.clone()).await };
                world.done("Text", of).await;
            }
            3 => {
                let request = v1::SearchRequest {
                    brain,
                    text,
                    ..Default::default()
                };
                let of = || async { queries().search(request.clone()).await };
                world.done("Search", of).await;
            }
            4 => {
                let request = v1::ContextRequest {
                    brain,
                    text,
                    ..Default::default()
                };
                let of = || async { queries().context(request.clone()).await };
                world.done("Context", of).await;
            }
            _ => {
                let request = v1::ListConflictsRequest {
                    brain,
                    ..Default::default()
                };
                let of = || async { queries().list_conflicts(request.clone()).await };
                world.done("ListConflicts", of).await;
            }
        }
        sleep(THINKS).await;
    }
}

/// Asks for a checkpoint, which may be cut off.
pub(crate) async fn checkpoint(world: Arc<World>, brain: &'static str) {
    let request = v1::CheckpointBrainRequest {
        brain: brain.into(),
    };
    let of = || async {
        world
            .client
            .brains()
            .checkpoint_brain(request.clone())
            .await
    };
    world.done("CheckpointBrain", of).await;
}

/// Checkpoints and decay, in turns.
async fn keep_house(world: Arc<World>) {
    let every = (world.lasts / 40).clamp(Duration::from_millis(300), Duration::from_secs(30));
    for brain in LEDGERS.into_iter().chain([MIXED]).cycle() {
        pause(&world, every).await;
        if world.has_ended() {
            return;
        }
        checkpoint(world.clone(), brain).await;
        let request = v1::DecayRequest {
            brain: brain.into(),
            options: options("keeper"),
        };
        let of = || async { world.client.memory().decay(request.clone()).await };
        world.done("Decay", of).await;
    }
}

/// Puts a copy of a brain's file into the folder; it becomes a brain, is merged into another, and removed.
async fn bring_files(world: Arc<World>) {
    let every = (world.lasts / 40).clamp(Duration::from_millis(300), Duration::from_secs(30));
    for n in 0.. {
        pause(&world, every).await;
        if world.has_ended() {
            return;
        }
        let name = format!("brought-{n}");
        let file = world.place.folder().join(format!("{name}.amem"));
        if let Err(why) = std::fs::copy(&world.seed_file, &file) {
            world.wrong(format!("{}: {why}", file.display()));
            return;
        }
        let Some(instance) = adopted(&world, &name).await else {
            continue;
        };
        world.add("files adopted");
        merge(&world, &name).await;
        remove(&world, &name, &instance).await;
    }
}

/// Waits until a file is a brain of as many events as it has; gives its instance.
async fn adopted(world: &World, name: &str) -> Option<String> {
    let began = Instant::now();
    let request = v1::GetBrainRequest { brain: name.into() };
    while began.elapsed() < ADOPTED_AFTER {
        // Until then there is no such brain, which is no fault.
        if let Ok(answer) = world.client.brains().get_brain(request.clone()).await {
            let answer = answer.into_inner();
            let events = answer.status.map(|status| status.events);
            if events != Some(SEED_EVENTS) {
                world.wrong(format!("{name} has {events:?} events, not {SEED_EVENTS}"));
            }
            return answer.moment.map(|moment| moment.instance);
        }
        sleep(Duration::from_millis(20)).await;
    }
    world.wrong(format!("{name} is no brain after {ADOPTED_AFTER:?}"));
    None
}

async fn merge(world: &World, from: &str) {
    let request = v1::MergeBrainRequest {
        part: Some(Part::Options(v1::MergeOptions {
            brain: MIXED.into(),
            options: options("merger"),
            from: Some(From::FromBrain(from.into())),
            dry_run: false,
        })),
    };
    let of = || async {
        world
            .client
            .brains()
            .merge_brain(iter([request.clone()]))
            .await
    };
    if world.done("MergeBrain", of).await.is_some() {
        world.add("merges");
    }
}

async fn remove(world: &World, name: &str, instance: &str) {
    let request = v1::RemoveBrainRequest {
        brain: name.into(),
        instance: instance.into(),
    };
    let began = Instant::now();
    loop {
        match world.client.brains().remove_brain(request.clone()).await {
            Ok(_) => return,
            // It was removed, and the answer was lost with the daemon.
            Err(status) if status.code() == tonic::Code::NotFound => return,
            Err(status) if began.elapsed() > ADOPTED_AFTER => {
                world.wrong(format!("removing {name}: {status}"));
                return;
            }
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}
