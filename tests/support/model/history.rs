//! The log of a brain, and what was known at any of its moments.

use amem_format::view::{AsOf, View};
use amem_format::{Flags, Lsn, Micros};

use super::state::{Act, Event, RATES, State};

/// A commit: its number, its time, what it did.
type Commit = (u64, i64, Vec<Act>);

/// A brain as its log.
#[derive(Debug, Default)]
pub struct Model {
    log: Vec<Commit>,
}

/// What a view shows: the state at the moment asked about, hiding what is hidden now.
#[derive(Debug, Clone)]
pub struct ViewState {
    /// Events, edges and sessions of the moment, rates of now.
    pub state: State,
    /// The newest commit.
    pub now: u64,
    /// The moment asked about.
    pub moment: u64,
    /// The time of its newest commit.
    pub time: i64,
}

impl Model {
    /// Adds a commit.
    pub fn commit(&mut self, lsn: Lsn, time: Micros, acts: Vec<Act>) {
        self.log.push((lsn.0, time.0, acts));
    }

    /// All acts, in order.
    pub fn acts(&self) -> impl Iterator<Item = &Act> {
        self.log.iter().flat_map(|(.., acts)| acts)
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

    /// What a view sees, or what it sees of a moment.
    pub fn known(&self, view: &View, moment: Option<AsOf>) -> ViewState {
        let (now, base) = (view.lsn(), view.identity().base_lsn);
        let is_asked = moment.is_some();
        let is_in = |(lsn, time, _): &&Commit| match moment {
            None => true,
            Some(AsOf::Lsn(moment)) => *lsn <= moment.0,
            Some(AsOf::Time(moment)) => *time <= moment.0,
        };
        let all = self.log.iter().take_while(|(lsn, ..)| *lsn <= now.0);
        let present = replay(all.clone(), base);
        let then = all.clone().filter(is_in).last();
        let (moment, time) = then.map_or((0, 0), |(lsn, time, _)| (*lsn, *time));
        if moment == now.0 && !is_asked {
            return ViewState {
                state: present,
                now: now.0,
                moment,
                time,
            };
        }
        let mut state = replay(all.filter(is_in), base);
        for (event, now) in state.events.iter_mut().zip(&present.events) {
            as_of(event, now, time);
        }
        let rates = present.rates;
        ViewState {
            state: State { rates, ..state },
            now: now.0,
            moment,
            time,
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

/// All that commits leave. A text that was erased before the base was made is in no index of words any more.
fn replay<'l>(log: impl Iterator<Item = &'l Commit>, base: Lsn) -> State {
    let mut state = State::default();
    for (lsn, time, acts) in log {
        for act in acts {
            state.apply(*time, act);
            if let Act::Erase(id) = act
                && *lsn <= base.0
            {
                state.events[*id as usize].indexed.clear();
            }
        }
    }
    state
}
