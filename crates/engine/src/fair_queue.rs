//! A fair queue: a bounded number of permits for one kind of work, given to callers in rotation.
//!
//! Each caller has its own queue, and queues are served in rotation: before each piece of its work, a caller waits for
//! at most one piece of every other caller. The turns of a caller go round its sources (processes, connections): many
//! sources have no more turns than one.
//!
//! Promises: there are never more permits than `at_once`; a permit whose caller stopped waiting goes to the next one;
//! callers without waiting work take no memory.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};

use amem_locks::LockResultExt;
use tokio::sync::oneshot;

use crate::error::Result;
use crate::tasks::DEFECT;

/// The queue; all clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct FairQueue(Arc<Mutex<QueueState>>);

/// Permission to work, until this is dropped.
#[derive(Debug)]
pub(crate) struct Permit(FairQueue);

#[derive(Debug)]
struct QueueState {
    /// Free permits: nothing waits while there are any.
    free: usize,
    /// The keys of callers that wait, in rotation.
    keys: VecDeque<Arc<str>>,
    /// The waiters of each key; never empty.
    waiting: HashMap<Arc<str>, CallerQueue>,
    next_number: u64,
}

/// The waiters of one caller, by source in rotation; each source's, oldest first, are never empty.
#[derive(Debug, Default)]
struct CallerQueue(VecDeque<(u64, VecDeque<Waiter>)>);

impl CallerQueue {
    fn push(&mut self, source: u64, waiter: Waiter) {
        match self.0.iter_mut().find(|(it, _)| *it == source) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.0.push_back((source, VecDeque::from([waiter]))),
        }
    }

    /// Removes the next waiter; other sources come before the next one of its source.
    fn pop(&mut self) -> Option<Waiter> {
        let (source, mut waiters) = self.0.pop_front()?;
        let next = waiters.pop_front();
        if !waiters.is_empty() {
            self.0.push_back((source, waiters));
        }
        next
    }

    fn remove(&mut self, number: u64) -> Option<Waiter> {
        let places = self.0.iter_mut();
        let (waiters, at) = places.map(|(_, waiters)| waiters).find_map(|waiters| {
            let at = waiters.iter().position(|waiter| waiter.number == number)?;
            Some((waiters, at))
        })?;
        let removed = waiters.remove(at);
        self.0.retain(|(_, waiters)| !waiters.is_empty());
        removed
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.0.iter().map(|(_, waiters)| waiters.len()).sum()
    }
}

/// A place in a queue.
#[derive(Debug)]
struct Waiter {
    number: u64,
    give: oneshot::Sender<Permit>,
}

/// A permit that is waited for; dropping this gives the place up.
#[derive(Debug)]
struct PendingPermit<'a> {
    queue: &'a FairQueue,
    key: Arc<str>,
    number: u64,
    /// A permit that arrives too late is dropped with this, and so goes to the next waiter.
    permit: oneshot::Receiver<Permit>,
}

impl FairQueue {
    /// With `at_once` permits.
    pub(crate) fn new(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(QueueState {
            free: at_once,
            keys: VecDeque::new(),
            waiting: HashMap::new(),
            next_number: 0,
        })))
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.0.lock().unpoisoned()
    }

    /// Waits for a permit. `key` names the caller: callers with one key share one turn.
    pub(crate) async fn acquire(&self, key: &str) -> Result<Permit> {
        self.acquire_from(key, 0).await
    }

    /// Waits for a permit on behalf of one of the caller's sources.
    pub(crate) async fn acquire_from(&self, key: &str, source: u64) -> Result<Permit> {
        match self.try_acquire_from(key, source) {
            Ok(permit) => Ok(permit),
            // The sender lives in the queue as long as `self` does.
            Err(mut pending) => (&mut pending.permit).await.map_err(|_| DEFECT),
        }
    }

    /// A free permit, or a place in the queue.
    fn try_acquire_from(&self, key: &str, source: u64) -> Result<Permit, PendingPermit<'_>> {
        let mut state = self.state();
        if state.free > 0 {
            state.free -= 1;
            return Ok(Permit(self.clone()));
        }
        let (give, permit) = oneshot::channel();
        let (key, number) = state.enqueue(key, source, give);
        Err(PendingPermit {
            queue: self,
            key,
            number,
            permit,
        })
    }

    /// True if all permits are free.
    #[cfg(test)]
    pub(crate) fn is_idle(&self, at_once: usize) -> bool {
        self.state().free == at_once
    }

    /// How many wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.state().waiting.values().map(CallerQueue::len).sum()
    }
}

impl QueueState {
    /// Appends a waiter to the queue of its key.
    fn enqueue(
        &mut self,
        key: &str,
        source: u64,
        give: oneshot::Sender<Permit>,
    ) -> (Arc<str>, u64) {
        let number = self.next_number;
        self.next_number += 1;
        let key = match self.waiting.get_key_value(key) {
            Some((key, _)) => key.clone(),
            None => {
                let key = Arc::<str>::from(key);
                self.keys.push_back(key.clone());
                key
            }
        };
        let queue = self.waiting.entry(key.clone()).or_default();
        queue.push(source, Waiter { number, give });
        (key, number)
    }

    /// Removes the next waiter in rotation; if none waits, the permit becomes free.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
        while let Some(key) = self.keys.pop_front() {
            let Some(queue) = self.waiting.get_mut(&key) else {
                continue;
            };
            let next = queue.pop();
            if queue.0.is_empty() {
                self.waiting.remove(&key);
            } else {
                // Other keys come before the next waiter of this one.
                self.keys.push_back(key);
            }
            if let Some(next) = next {
                return Some(next.give);
            }
        }
        self.free += 1;
        None
    }

    /// Removes a waiter, if it still waits.
    fn remove(&mut self, key: &Arc<str>, number: u64) -> Option<Waiter> {
        let queue = self.waiting.get_mut(key)?;
        let removed = queue.remove(number);
        if queue.0.is_empty() {
            self.waiting.remove(key);
            self.keys.retain(|other| other != key);
        }
        removed
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = self.0.state().next();
        if let Some(next) = next {
            // If the waiter left in this very moment, the permit comes back, is dropped, and goes on.
            drop(next.send(Permit(self.0.clone())));
        }
    }
}

impl Drop for PendingPermit<'_> {
    fn drop(&mut self) {
        let removed = self.queue.state().remove(&self.key, self.number);
        drop(removed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits for permits while none is free.
    fn ask<'a>(queue: &'a FairQueue, callers: &[&str]) -> Vec<PendingPermit<'a>> {
        let asked = callers
            .iter()
            .map(|caller| queue.try_acquire_from(caller, 0).unwrap_err());
        asked.collect()
    }

    /// The one that has a permit now, and its index.
    fn given(waiting: &mut [PendingPermit<'_>]) -> Option<(usize, Permit)> {
        let mut each = waiting.iter_mut().enumerate();
        each.find_map(|(at, one)| Some((at, one.permit.try_recv().ok()?)))
    }

    /// All permits are free and nothing waits.
    fn check_idle(queue: &FairQueue, at_once: usize) {
        let state = queue.state();
        let left = (state.keys.len(), state.waiting.len());
        assert_eq!((state.free, left), (at_once, (0, 0)));
    }

    #[test]
    fn callers_have_their_turns_one_after_the_other_however_much_one_asks_for() {
        let queue = FairQueue::new(1);
        let mut has = queue.try_acquire_from("a", 0).unwrap();
        let mut waiting = ask(&queue, &["a", "a", "a", "a", "b", "c", "b"]);
        let mut order = Vec::new();
        for _ in 0..waiting.len() {
            assert!(given(&mut waiting).is_none(), "two have a permit");
            drop(has);
            let (at, permit) = given(&mut waiting).expect("nobody has the permit");
            order.push(format!("{}{at}", waiting[at].key));
            has = permit;
        }
        assert_eq!(order, ["a0", "b4", "c5", "a1", "b6", "a2", "a3"]);
        drop(has);
        check_idle(&queue, 1);
    }

    #[test]
    fn the_turns_of_a_caller_go_round_its_processes() {
        let queue = FairQueue::new(1);
        let mut has = queue.try_acquire_from("a", 1).unwrap();
        let mut waiting: Vec<_> = [("a", 1), ("a", 1), ("a", 1), ("a", 2), ("b", 3), ("a", 2)]
            .map(|(key, source)| queue.try_acquire_from(key, source).unwrap_err())
            .into();
        // One that gives up leaves the order of the others.
        drop(waiting.remove(1));
        let mut order = Vec::new();
        for _ in 0..waiting.len() {
            drop(has);
            let (at, permit) = given(&mut waiting).expect("nobody has the permit");
            order.push(format!("{}{at}", waiting[at].key));
            has = permit;
        }
        assert_eq!(order, ["a0", "b3", "a2", "a1", "a4"]);
        drop(has);
        check_idle(&queue, 1);
    }

    #[test]
    fn so_many_have_a_turn_and_no_more() {
        let queue = FairQueue::new(2);
        let (first, second) = (
            queue.try_acquire_from("a", 0).unwrap(),
            queue.try_acquire_from("b", 0).unwrap(),
        );
        let mut waiting = ask(&queue, &["a", "c"]);
        assert!(given(&mut waiting).is_none());
        drop(second);
        let (at, third) = given(&mut waiting).unwrap();
        assert_eq!((at, given(&mut waiting).is_none()), (0, true));
        drop(first);
        let (at, fourth) = given(&mut waiting).unwrap();
        assert_eq!(at, 1);
        drop((third, fourth));
        check_idle(&queue, 2);
    }

    #[test]
    fn who_gives_up_leaves_its_queue_and_a_turn_that_comes_too_late_goes_to_the_next() {
        let queue = FairQueue::new(1);
        let has = queue.try_acquire_from("a", 0).unwrap();
        let mut waiting = ask(&queue, &["a", "b", "b", "c"]);
        // One of two, and all of a caller.
        drop(waiting.remove(1));
        drop(waiting.remove(0));
        assert_eq!((queue.waiting(), queue.state().keys.len()), (2, 2));
        // It has the permit, goes without having taken it, and the next one has it.
        drop(has);
        assert_eq!(queue.waiting(), 1);
        drop(waiting.remove(0));
        let (_, last) = given(&mut waiting).expect("the permit is lost");
        drop(last);
        check_idle(&queue, 1);
        // Also where none waits any more.
        let has = queue.try_acquire_from("a", 0).unwrap();
        let waiting = ask(&queue, &["a"]);
        drop(has);
        drop(waiting);
        check_idle(&queue, 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_turn_is_lost_or_doubled_when_a_caller_gives_up() {
        let queue = FairQueue::new(2);
        let tasks: Vec<_> = (0..400_u64)
            .map(|n| {
                let queue = queue.clone();
                tokio::spawn(async move {
                    let permit = queue
                        .acquire(["a", "b", "c"][n as usize % 3])
                        .await
                        .unwrap();
                    for _ in 0..n % 5 {
                        tokio::task::yield_now().await;
                    }
                    drop(permit);
                })
            })
            .collect();
        for task in tasks.iter().step_by(3) {
            task.abort();
            tokio::task::yield_now().await;
        }
        for task in tasks {
            if let Err(why) = task.await {
                assert!(why.is_cancelled(), "{why}");
            }
        }
        check_idle(&queue, 2);
    }
}
