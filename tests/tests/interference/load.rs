//! What goes on in a brain while a tool is used on its file.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use amem_client::{Client, v1};
use tokio::task::JoinHandle;

use crate::world::{World, ingest};

/// Writers of a brain under load.
const WRITERS: u64 = 2;

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    Idle,
    /// Two writers write as fast as they are answered.
    Loaded,
    /// They do, and one checkpoint follows the other.
    Checkpointed,
}

/// The writers of a brain.
pub(crate) struct Load {
    ended: Arc<AtomicBool>,
    writers: Vec<JoinHandle<BTreeSet<String>>>,
    checkpoints: Option<JoinHandle<u64>>,
}

impl Load {
    /// Starts them, and waits until they are under way.
    pub(crate) async fn start(world: &World, brain: &str, state: State) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let mut load = Self {
            ended: ended.clone(),
            writers: Vec::new(),
            checkpoints: None,
        };
        if state == State::Idle {
            return load;
        }
        for writer in 0..WRITERS {
            let (client, brain, ended) = (world.connect().await, brain.to_owned(), ended.clone());
            load.writers
                .push(tokio::spawn(write(client, brain, writer, ended)));
        }
        if state == State::Checkpointed {
            let (client, brain) = (world.connect().await, brain.to_owned());
            load.checkpoints = Some(tokio::spawn(checkpoint(client, brain, ended)));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        load
    }

    /// Ends them; gives the texts that were answered.
    pub(crate) async fn end(self) -> BTreeSet<String> {
        self.ended.store(true, Ordering::Relaxed);
        let mut answered = BTreeSet::from(["in the base", "in the journal"].map(str::to_owned));
        for writer in self.writers {
            answered.extend(writer.await.unwrap());
        }
        if let Some(checkpoints) = self.checkpoints {
            assert!(checkpoints.await.unwrap() > 0, "no checkpoint was made");
        }
        answered
    }
}

/// Writes until it is stopped; gives what was answered.
async fn write(
    client: Client,
    brain: String,
    writer: u64,
    ended: Arc<AtomicBool>,
) -> BTreeSet<String> {
    let mut answered = BTreeSet::new();
    for at in 0.. {
        if ended.load(Ordering::Relaxed) {
            break;
        }
        let text = format!("writer {writer} says {at}");
        match ingest(&client, &brain, &text).await {
            Ok(()) => drop(answered.insert(text)),
            // The brain may be gone, which is for the row to say.
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    answered
}

async fn checkpoint(client: Client, brain: String, ended: Arc<AtomicBool>) -> u64 {
    let mut made = 0;
    while !ended.load(Ordering::Relaxed) {
        let request = v1::CheckpointBrainRequest {
            brain: brain.clone(),
        };
        match client.brains().checkpoint_brain(request).await {
            Ok(_) => made += 1,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
    made
}
