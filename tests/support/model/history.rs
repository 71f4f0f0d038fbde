//! The log of a brain, and what was known at any of its moments.

use amem_core::view::AsOf;
use amem_core::{Flags, Lsn, Micros};

use super::state::{Act, Event, RATES, State};

/// A commit: its number, its time, what it did.
type Commit = (u64, i64, Vec<Act>);

/// A brain as its log.
#[derive(Debug, Default)]
pub struct Model {
    log: Vec<Commit>,
}

/// What a view shows: the state at the moment asked about, hiding what is hidden now.
#[derive(Debug)]
pub struct Known {
    /// Events and edges of the moment, sessions and rates of now.
    pub state: State,
    /// The newest commit.
    pub now: u64,
    /// The moment asked about.
    pub moment: u64,
}

impl Model {
    /// Adds a commit.
    pub fn commit(&mut self, lsn: Lsn, time: Micros, acts: Vec<Act>) {
        self.log.push((lsn.0, time.0, acts));
    }

    /// A base is made of all there is.
    pub fn checkpoint(&mut self) {
        if let Some((_, _, acts)) = self.log.last_mut() {
            acts.push(Act::Checkpoint);
        }
    }

    /// The number of commits.
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The time of a commit.
    pub fn time(&self, lsn: Lsn) -> Micros {
        let found = self.log.iter().rfind(|(number, ..)| *number <= lsn.0);
        Micros(found.map_or(0, |(_, time, _)| *time))
    }

    /// What a view sees whose newest commit is `now`, `checkpoints` of which its file went through.
    pub fn known(&self, now: Lsn, checkpoints: usize, moment: Option<AsOf>) -> Known {
        let is_in = |(lsn, time, _): &&Commit| match moment {
            None => true,
            Some(AsOf::Lsn(moment)) => *lsn <= moment.0,
            Some(AsOf::Time(moment)) => *time <= moment.0,
        };
        let all = self.log.iter().take_while(|(lsn, ..)| *lsn <= now.0);
        let present = replay(all.clone(), checkpoints);
        let then = all.clone().filter(is_in).last();
        let (moment, time) = then.map_or((0, 0), |(lsn, time, _)| (*lsn, *time));
        if moment == now.0 {
            return Known {
                state: present,
                now: now.0,
                moment,
            };
        }
        let mut state = replay(all.filter(is_in), checkpoints);
        for (event, now) in state.events.iter_mut().zip(&present.events) {
            as_of(event, now, time);
        }
        let State {
            sessions, rates, ..
        } = present;
        Known {
            state: State {
                sessions,
                rates,
                ..state
            },
            now: now.0,
            moment,
        }
    }
}

/// What hides an event, and how often it was used, is as of now; strength is that of the moment, unused.
fn as_of(event: &mut Event, now: &Event, time: i64) {
    let is_forgotten = now.flags.has(Flags::FORGOTTEN);
    event.flags = event.flags.set(Flags::FORGOTTEN, is_forgotten);
    if now.flags.has(Flags::ERASED) {
        event.clear();
    }
    (event.accesses, event.accessed) = (now.accesses, now.accessed);
    event.indexed.clone_from(&now.indexed);
    event.strength = event.faded(time, event.created_at, 0, &RATES);
}

fn replay<'l>(log: impl Iterator<Item = &'l Commit>, checkpoints: usize) -> State {
    let (mut state, mut done) = (State::default(), 0);
    for (_, time, acts) in log {
        for act in acts {
            if matches!(act, Act::Checkpoint) {
                done += 1;
                if done > checkpoints {
                    continue;
                }
            }
            state.apply(*time, act);
        }
    }
    state
}
