//! Many callers of one writer: each has one request in flight and waits for its answer; the writer takes all waiting
//! requests, commits them as one group, and answers all, as the daemon's writer does.
//!
//! Each caller is a thread, as are those of the peers, and the writer is one of its own, whatever it writes to; so a
//! raw log has the same callers as a store, and both pay for waking them.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use super::super::measure::Outcome;

/// Callers.
pub(super) const CALLERS: usize = 64;

/// A request, and which caller waits for its answer.
type PendingRequest<T> = (T, usize);

/// Requests a second. `commit` makes a whole group durable and says of each whether it was accepted.
pub(super) fn rate<T: Send>(
    requests: Vec<T>,
    mut commit: impl FnMut(Vec<T>) -> Vec<bool> + Send,
) -> Outcome<f64> {
    let count = requests.len();
    let mut shares: Vec<Vec<T>> = (0..CALLERS).map(|_| Vec::new()).collect();
    for (at, request) in requests.into_iter().enumerate() {
        shares[at % CALLERS].push(request);
    }
    let (sender, queue) = sync_channel::<PendingRequest<T>>(CALLERS);
    let (askers, answers): (Vec<_>, Vec<_>) = (0..CALLERS).map(|_| sync_channel(1)).unzip();
    let began = Instant::now();
    let refused: usize = thread::scope(|scope| {
        scope.spawn(move || {
            while let Ok(first) = queue.recv() {
                let waiting = std::iter::once(first).chain(queue.try_iter());
                let (group, callers): (Vec<T>, Vec<usize>) = waiting.unzip();
                for (caller, is_done) in callers.into_iter().zip(commit(group)) {
                    // A caller that does not wait any more is ignored.
                    let _ = askers[caller].send(is_done);
                }
            }
        });
        let callers = shares.into_iter().zip(answers).enumerate();
        let callers: Vec<_> = callers
            .map(|(caller, (share, answer))| {
                let queue = sender.clone();
                scope.spawn(move || call(caller, share, &queue, &answer))
            })
            .collect();
        drop(sender);
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or(count))
            .sum()
    });
    match refused {
        0 => Ok(count as f64 / began.elapsed().as_secs_f64()),
        _ => Err(format!("{refused} of {count} requests were not accepted").into()),
    }
}

/// One caller; how many of its requests were not accepted.
fn call<T>(
    caller: usize,
    share: Vec<T>,
    queue: &SyncSender<PendingRequest<T>>,
    answer: &Receiver<bool>,
) -> usize {
    let mut refused = 0;
    for request in share {
        if queue.send((request, caller)).is_err() || !answer.recv().unwrap_or(false) {
            refused += 1;
        }
    }
    refused
}
