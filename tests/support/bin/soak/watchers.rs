//! Subscriptions, which resume where they broke off, and readers of the files.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use amem_client::{Reader, v1};
use amem_format::NodeId;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::world::{LEDGERS, World};

/// Starts them; the readers are threads, as following a file waits for nothing.
pub(crate) fn start(world: &Arc<World>, tasks: &mut JoinSet<()>) -> Vec<JoinHandle<()>> {
    let mut readers = Vec::new();
    for brain in LEDGERS {
        tasks.spawn_local(follow(world.clone(), brain));
        let world = world.clone();
        readers.push(std::thread::spawn(move || read(&world, brain)));
    }
    readers
}

/// Each commit arrives once, in order, also across restarts of the daemon.
async fn follow(world: Arc<World>, brain: &'static str) {
    let (mut after, mut instance) = (0, String::new());
    while !world.has_ended() {
        let request = v1::SubscribeRequest {
            brain: brain.into(),
            after_lsn: Some(after),
            instance: instance.clone(),
            ..Default::default()
        };
        let subscribe = async || world.client.memory().subscribe(request.clone()).await;
        let Some(mut commits) = world.done("Subscribe", subscribe).await else {
            return;
        };
        let mut goes_on = false;
        while !world.has_ended() {
            let Ok(next) = timeout(Duration::from_millis(200), commits.message()).await else {
                continue;
            };
            let commit = match next {
                Ok(Some(commit)) => commit,
                // A client that lags behind begins again, as does one that has lost the daemon.
                Ok(None) => break,
                Err(status) => {
                    if !World::passes(&status) {
                        world.wrong(format!("{brain}: the commits after {after}: {status}"));
                    }
                    sleep(Duration::from_millis(5)).await;
                    break;
                }
            };
            let moment = commit.moment.clone().unwrap_or_default();
            instance = moment.instance;
            if commit.kind() == v1::CommitKind::Unspecified {
                continue;
            }
            // The parts of one commit have its LSN.
            if moment.lsn < after || (moment.lsn == after && !goes_on) {
                world.wrong(format!(
                    "{brain}: LSN {} was told after {after}",
                    moment.lsn
                ));
            }
            goes_on = commit.more;
            if !goes_on {
                world.add("commits followed");
                after = moment.lsn;
            }
        }
    }
}

/// No view is older than the one before, and each can be read.
fn read(world: &World, brain: &str) {
    let file = world.place.folder().join(format!("{brain}.amem"));
    let reader = match Reader::open(&file) {
        Ok(reader) => reader,
        Err(why) => return world.wrong(format!("{}: {why}", file.display())),
    };
    let mut last = 0;
    while !world.has_ended() {
        let read = reader.view().and_then(|view| {
            let newest = view.nodes().checked_sub(1);
            let text = newest.map(|id| view.node(NodeId(id))?.text().map(|text| text.len()));
            Ok((view.lsn().0, text.transpose()?))
        });
        match read {
            Ok((lsn, Some(0))) => world.wrong(format!("{brain}: an empty text at LSN {lsn}")),
            Ok((lsn, _)) if lsn < last => {
                world.wrong(format!("{brain}: LSN {lsn} was seen after {last}"));
            }
            Ok((lsn, _)) => last = lsn,
            Err(why) => world.wrong(format!("{brain}: {why}")),
        }
        world.add("views");
        std::thread::sleep(Duration::from_millis(2));
    }
}
