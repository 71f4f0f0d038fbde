//! Turns of earlier versions are read for standing instructions while their brain is open: once after it was opened,
//! and once after each of its checkpoints.
//!
//! Promises: one reading of a brain at a time, bounded (`amem_facts::limits`); a brain that has none left is not
//! written.

use std::collections::HashMap;
use std::sync::Arc;

use amem_engine::tasks::spawn_part;
use amem_engine::{OpenBrain, PRINCIPAL};
use amem_facts::Facts;
use amem_format::Generation;
use tokio::sync::Semaphore;
use uuid::Uuid;

use super::gateway::Gateway;

/// The agent in whose name the daemon marks turns.
const AGENT: &str = "standing_reader";

/// The instance and generation of each open brain that was read last.
#[derive(Default)]
pub(super) struct StandingReads(HashMap<String, (Uuid, Generation)>);

impl StandingReads {
    /// Begins to read the open brains that were opened, or have a new generation, since the last time: as many as there
    /// are places.
    pub(super) fn begin(&mut self, gateway: &Arc<Gateway>, slots: &Arc<Semaphore>) {
        let open = gateway.brains.engine().open_brains();
        self.0
            .retain(|name, _| open.iter().any(|brain| brain.name == *name));
        for brain in open {
            let view = brain.view();
            let now = (view.instance(), view.identity().generation);
            if self.0.get(&brain.name) == Some(&now) {
                continue;
            }
            let Ok(slot) = slots.clone().try_acquire_owned() else {
                return;
            };
            self.0.insert(brain.name.clone(), now);
            let gateway = gateway.clone();
            spawn_part(async move {
                let _slot = slot;
                read(&gateway, &brain).await;
            });
        }
    }
}

/// Reads the next turns of a brain.
async fn read(gateway: &Gateway, brain: &Arc<OpenBrain>) {
    let read = |facts: &Facts<'_>| facts.read_standing();
    let work = gateway.fact_work(PRINCIPAL, brain, AGENT, read);
    let why = match gateway.fact_calls.0.of(PRINCIPAL).run(work).await {
        Ok(Ok(read)) if read.refused > 0 => {
            return tracing::warn!(
                brain = brain.name,
                turns = read.refused,
                "standing instructions of earlier turns are not shown: the attributes of the turns have no room"
            );
        }
        Ok(Ok(read)) if read.marked > 0 => {
            return tracing::info!(
                brain = brain.name,
                turns = read.marked,
                rest = !read.is_done,
                "standing instructions were found in earlier turns"
            );
        }
        Ok(Ok(_)) => return,
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    tracing::warn!(
        brain = brain.name,
        why,
        "its turns were not read for standing instructions: they are after its next checkpoint"
    );
}
