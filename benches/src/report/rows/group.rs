//! Many callers of one writer: each has one request on its way and waits for its answer; the writer takes what waits,
//! commits it as one group, and answers all, as the daemon's writer does.
//!
//! The callers are tasks of one thread and the writer is a thread of its own, whatever it writes to; so a raw log has
//! the same callers as a store.

use std::thread;
use std::time::Instant;

use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};

use super::super::measure::Outcome;

/// Callers.
pub(super) const CALLERS: usize = 64;

type Waiting<T> = (T, oneshot::Sender<bool>);

/// Requests a second. `commit` makes a whole group durable and says of each whether it was accepted.
pub(super) fn rate<T: Send + 'static>(
    requests: Vec<T>,
    mut commit: impl FnMut(Vec<T>) -> Vec<bool> + Send,
) -> Outcome<f64> {
    let count = requests.len();
    let mut shares: Vec<Vec<T>> = (0..CALLERS).map(|_| Vec::new()).collect();
    for (at, request) in requests.into_iter().enumerate() {
        shares[at % CALLERS].push(request);
    }
    let runtime = Builder::new_current_thread().build()?;
    let (sender, mut queue) = mpsc::channel::<Waiting<T>>(CALLERS);
    let began = Instant::now();
    let refused = thread::scope(|scope| {
        scope.spawn(move || {
            while let Some(first) = queue.blocking_recv() {
                let (mut group, mut askers) = (vec![first.0], vec![first.1]);
                while let Ok((request, asker)) = queue.try_recv() {
                    group.push(request);
                    askers.push(asker);
                }
                for (asker, is_done) in askers.into_iter().zip(commit(group)) {
                    // Whoever asked waits for it: there is nobody to tell if it does not.
                    let _ = asker.send(is_done);
                }
            }
        });
        runtime.block_on(async {
            let calls = shares.into_iter().map(|share| call(sender.clone(), share));
            let local = tokio::task::LocalSet::new();
            let callers: Vec<_> = calls.map(|call| local.spawn_local(call)).collect();
            drop(sender);
            local.await;
            let mut refused = 0;
            for caller in callers {
                refused += caller.await.unwrap_or(usize::MAX / CALLERS);
            }
            refused
        })
    });
    match refused {
        0 => Ok(count as f64 / began.elapsed().as_secs_f64()),
        _ => Err(format!("{refused} of {count} requests were not accepted").into()),
    }
}

/// One caller; how many of its requests were not accepted.
async fn call<T>(queue: mpsc::Sender<Waiting<T>>, share: Vec<T>) -> usize {
    let mut refused = 0;
    for request in share {
        let (asker, answer) = oneshot::channel();
        if queue.send((request, asker)).await.is_err() || !answer.await.unwrap_or(false) {
            refused += 1;
        }
    }
    refused
}
