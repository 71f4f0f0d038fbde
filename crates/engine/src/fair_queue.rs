//! Turns: so much of one kind of work at the same time, given fairly to all who ask for it.
//!
//! Who has to wait stands in a queue of its caller's, and the callers have their turns one after the other: however
//! much one of them asks for, another waits for no more of it than one piece before each of its own.
//!
//! Promises: there are never more turns than were said; a turn that its caller waits for no more goes to the next; a
//! caller for whom nothing waits leaves nothing behind.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::brains::defect;
use crate::refusal::Result;

/// The turns; all clones give the same ones.
#[derive(Debug, Clone)]
pub(crate) struct Turns(Arc<Mutex<Queues>>);

/// A turn: until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn(Turns);

#[derive(Debug)]
struct Queues {
    /// Turns that nobody has: as long as there are some, nobody waits.
    free: usize,
    /// The callers who wait, in the order in which they come next.
    callers: VecDeque<Arc<str>>,
    /// What waits of each, in the order in which it came; never empty.
    waiting: HashMap<Arc<str>, VecDeque<Asked>>,
    next_number: u64,
}

/// A place in a queue.
#[derive(Debug)]
struct Asked {
    number: u64,
    give: oneshot::Sender<Turn>,
}

/// Somebody who waits for a turn; its place is free again when this is dropped.
#[derive(Debug)]
struct Waiting<'a> {
    turns: &'a Turns,
    caller: Arc<str>,
    number: u64,
    /// A turn that comes too late is dropped with this, and so given to the next.
    turn: oneshot::Receiver<Turn>,
}

impl Turns {
    /// So many at the same time.
    pub(crate) fn new(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(Queues {
            free: at_once,
            callers: VecDeque::new(),
            waiting: HashMap::new(),
            next_number: 0,
        })))
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn for a caller, once it has it.
    pub(crate) async fn take(&self, caller: &str) -> Result<Turn> {
        match self.ask(caller) {
            Ok(turn) => Ok(turn),
            // It is given or waited for as long as we are here.
            Err(mut waiting) => (&mut waiting.turn).await.map_err(|_| defect()),
        }
    }

    /// A turn that is free, or a place in the queue.
    fn ask(&self, caller: &str) -> Result<Turn, Waiting<'_>> {
        let mut queues = self.queues();
        if queues.free > 0 {
            queues.free -= 1;
            return Ok(Turn(self.clone()));
        }
        let (give, turn) = oneshot::channel();
        let (caller, number) = queues.wait(caller, give);
        Err(Waiting {
            turns: self,
            caller,
            number,
            turn,
        })
    }

    /// True if nobody has a turn.
    #[cfg(test)]
    pub(crate) fn are_free(&self, at_once: usize) -> bool {
        self.queues().free == at_once
    }

    /// How many wait for one.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.queues().waiting.values().map(VecDeque::len).sum()
    }
}

impl Queues {
    /// A place at the end of a caller's queue.
    fn wait(&mut self, caller: &str, give: oneshot::Sender<Turn>) -> (Arc<str>, u64) {
        let number = self.next_number;
        self.next_number += 1;
        let caller = match self.waiting.get_key_value(caller) {
            Some((caller, _)) => caller.clone(),
            None => {
                let caller = Arc::<str>::from(caller);
                self.callers.push_back(caller.clone());
                caller
            }
        };
        let queue = self.waiting.entry(caller.clone()).or_default();
        queue.push_back(Asked { number, give });
        (caller, number)
    }

    /// Takes out whose turn it is now; without anybody the turn is free.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        while let Some(caller) = self.callers.pop_front() {
            let Some(queue) = self.waiting.get_mut(&caller) else {
                continue;
            };
            let next = queue.pop_front();
            match queue.is_empty() {
                true => drop(self.waiting.remove(&caller)),
                // The others come before its next one.
                false => self.callers.push_back(caller),
            }
            if let Some(next) = next {
                return Some(next.give);
            }
        }
        self.free += 1;
        None
    }

    /// Gives a place up, if it is still there.
    fn leave(&mut self, caller: &Arc<str>, number: u64) -> Option<Asked> {
        let queue = self.waiting.get_mut(caller)?;
        let at = queue.iter().position(|asked| asked.number == number)?;
        let left = queue.remove(at);
        if queue.is_empty() {
            self.waiting.remove(caller);
            self.callers.retain(|other| other != caller);
        }
        left
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.0.queues().next();
        if let Some(next) = next {
            // Where who waited has gone in this very moment, the turn comes back, is dropped, and goes on.
            drop(next.send(Turn(self.0.clone())));
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let left = self.turns.queues().leave(&self.caller, self.number);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Those who ask for a turn while there is none.
    fn ask<'a>(turns: &'a Turns, callers: &[&str]) -> Vec<Waiting<'a>> {
        let asked = callers.iter().map(|caller| turns.ask(caller).unwrap_err());
        asked.collect()
    }

    /// Who of them has a turn now, by where it stands among them.
    fn given(waiting: &mut [Waiting<'_>]) -> Option<(usize, Turn)> {
        let mut each = waiting.iter_mut().enumerate();
        each.find_map(|(at, one)| Some((at, one.turn.try_recv().ok()?)))
    }

    /// Nobody waits, nobody has a turn, and nothing is left of anybody.
    fn check_idle(turns: &Turns, at_once: usize) {
        let queues = turns.queues();
        let left = (queues.callers.len(), queues.waiting.len());
        assert_eq!((queues.free, left), (at_once, (0, 0)));
    }

    #[test]
    fn callers_have_their_turns_one_after_the_other_however_much_one_asks_for() {
        let turns = Turns::new(1);
        let mut has = turns.ask("a").unwrap();
        let mut waiting = ask(&turns, &["a", "a", "a", "a", "b", "c", "b"]);
        let mut order = Vec::new();
        for _ in 0..waiting.len() {
            assert!(given(&mut waiting).is_none(), "two have a turn");
            drop(has);
            let (at, turn) = given(&mut waiting).expect("nobody has the turn");
            order.push(format!("{}{at}", waiting[at].caller));
            has = turn;
        }
        assert_eq!(order, ["a0", "b4", "c5", "a1", "b6", "a2", "a3"]);
        drop(has);
        check_idle(&turns, 1);
    }

    #[test]
    fn so_many_have_a_turn_and_no_more() {
        let turns = Turns::new(2);
        let (first, second) = (turns.ask("a").unwrap(), turns.ask("b").unwrap());
        let mut waiting = ask(&turns, &["a", "c"]);
        assert!(given(&mut waiting).is_none());
        drop(second);
        let (at, third) = given(&mut waiting).unwrap();
        assert_eq!((at, given(&mut waiting).is_none()), (0, true));
        drop(first);
        let (at, fourth) = given(&mut waiting).unwrap();
        assert_eq!(at, 1);
        drop((third, fourth));
        check_idle(&turns, 2);
    }

    #[test]
    fn who_gives_up_leaves_its_queue_and_a_turn_that_comes_too_late_goes_to_the_next() {
        let turns = Turns::new(1);
        let has = turns.ask("a").unwrap();
        let mut waiting = ask(&turns, &["a", "b", "b", "c"]);
        // One of two, and all of a caller.
        drop(waiting.remove(1));
        drop(waiting.remove(0));
        assert_eq!((turns.waiting(), turns.queues().callers.len()), (2, 2));
        // It has the turn, goes without having taken it, and the next one has it.
        drop(has);
        assert_eq!(turns.waiting(), 1);
        drop(waiting.remove(0));
        let (_, last) = given(&mut waiting).expect("the turn is lost");
        drop(last);
        check_idle(&turns, 1);
        // Also where nobody waits any more.
        let has = turns.ask("a").unwrap();
        let waiting = ask(&turns, &["a"]);
        drop(has);
        drop(waiting);
        check_idle(&turns, 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_turn_is_lost_or_made_whoever_gives_up_at_any_moment() {
        let turns = Turns::new(2);
        let tasks: Vec<_> = (0..400_u64)
            .map(|n| {
                let turns = turns.clone();
                tokio::spawn(async move {
                    let turn = turns.take(["a", "b", "c"][n as usize % 3]).await.unwrap();
                    for _ in 0..n % 5 {
                        tokio::task::yield_now().await;
                    }
                    drop(turn);
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
        check_idle(&turns, 2);
    }
}
