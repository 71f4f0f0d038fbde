//! How many connections there are, in all and of each party.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use tokio::sync::oneshot;

use super::peer::Party;
use crate::config::Limits;
use crate::figures::Figures;
use crate::limits::UNIX_PLACES_ONE_IN;
use crate::rates::Rates;

/// Counts connections. Where there is no place, the oldest of which no call was let in, a stranger's perhaps, gives up
/// its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowd(Arc<Mutex<Counts>>, Figures, Arc<Rates<Party>>);

#[derive(Debug, Default)]
struct Counts {
    /// Of them, those by TCP.
    tcp: u64,
    parties: HashMap<Party, u64>,
    /// In the order in which they were taken.
    taken: BTreeMap<u64, Taken>,
    next: u64,
}

/// What became of a connection: whichever comes first.
#[derive(Debug, Default)]
pub(crate) struct Fate(AtomicU8);

impl Fate {
    /// A call of it was let in: it keeps its place.
    const KNOWN: u8 = 1;
    /// Its place was given to another.
    const GIVEN_UP: u8 = 2;

    fn is_now(&self, fate: u8) -> bool {
        let set = self
            .0
            .compare_exchange(0, fate, Ordering::Relaxed, Ordering::Relaxed);
        set.is_ok()
    }

    /// A call of it was let in.
    pub(crate) fn let_in(&self) {
        self.is_now(Self::KNOWN);
    }

    /// True if that came first.
    pub(crate) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) == Self::KNOWN
    }

    /// Gives up its place, unless a call of it was let in.
    fn gives_up(&self) -> bool {
        self.is_now(Self::GIVEN_UP)
    }
}

/// A place that is taken.
#[derive(Debug)]
struct Taken {
    party: Party,
    fate: Arc<Fate>,
    /// Dropped when it must be given up.
    _give_up: oneshot::Sender<()>,
}

/// A place that a connection has; it is free again when this is dropped. Ready, as a future, when it has been given to
/// another.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Crowd,
    number: u64,
    fate: Arc<Fate>,
    /// `None` once it was.
    given_up: Option<oneshot::Receiver<()>>,
}

impl Place {
    /// What becomes of the connection.
    pub(crate) fn fate(&self) -> Arc<Fate> {
        self.fate.clone()
    }
}

impl Future for Place {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(given_up) = &mut self.given_up {
            ready!(Pin::new(given_up).poll(cx)).ok();
            self.given_up = None;
        }
        Poll::Ready(())
    }
}

/// Why there is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    /// There are too many.
    #[error("there are {0} connections, the limit (limits.connections)")]
    All(u64),
    /// The rest is for the Unix socket.
    #[error(
        "there are {0} connections by TCP; the rest of limits.connections is for the Unix socket"
    )]
    Tcp(u64),
    /// The party has too many.
    #[error("it has {0} connections, the limit (limits.connections_per_user)")]
    Party(u64),
    /// The party comes too often.
    #[error(
        "it makes more than {0} connections a second, the limit (limits.connections_per_second)"
    )]
    Rate(u64),
}

impl Crowd {
    /// Nobody is there.
    pub(crate) fn new(figures: Figures) -> Self {
        Self(Arc::default(), figures, Arc::default())
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if need be that of a connection of which no call was let in.
    pub(crate) fn enter(&self, party: Party, limits: &Limits) -> Result<Place, Full> {
        let most = limits.connections_per_second;
        let rate = self.2.take(&party, most, Instant::now());
        rate.map_err(|_| Full::Rate(most))?;
        let mut counts = self.counts();
        while let Err(full) = counts.check(&party, limits) {
            let stranger = counts.stranger(&party, full).ok_or(full)?;
            counts.leave(stranger);
        }
        let (give_up, given_up) = oneshot::channel();
        let place = Place {
            crowd: self.clone(),
            number: counts.next,
            fate: Arc::default(),
            given_up: Some(given_up),
        };
        counts.tcp += u64::from(is_tcp(&party));
        *counts.parties.entry(party.clone()).or_default() += 1;
        counts.next += 1;
        let taken = Taken {
            party,
            fate: place.fate(),
            _give_up: give_up,
        };
        counts.taken.insert(place.number, taken);
        self.1.connections().set(counts.taken.len() as u64);
        Ok(place)
    }
}

fn is_tcp(party: &Party) -> bool {
    matches!(party, Party::Address(_))
}

impl Counts {
    /// An error if there is no place for a party.
    fn check(&self, party: &Party, limits: &Limits) -> Result<(), Full> {
        if self.taken.len() as u64 >= limits.connections {
            return Err(Full::All(limits.connections));
        }
        let tcp_most = limits.connections - limits.connections / UNIX_PLACES_ONE_IN;
        if is_tcp(party) && self.tcp >= tcp_most {
            return Err(Full::Tcp(tcp_most));
        }
        let of_party = self.parties.get(party).copied().unwrap_or_default();
        if of_party >= limits.connections_per_user {
            return Err(Full::Party(limits.connections_per_user));
        }
        Ok(())
    }

    /// The oldest place, of those that are in a party's way, that a connection gives up as no call of it was let in.
    fn stranger(&self, party: &Party, full: Full) -> Option<u64> {
        let is_in_the_way = |taken: &Taken| match full {
            Full::All(_) => true,
            Full::Tcp(_) => is_tcp(&taken.party),
            Full::Party(_) => taken.party == *party,
            Full::Rate(_) => false,
        };
        let mut taken = self.taken.iter();
        let found = taken.find(|(_, taken)| is_in_the_way(taken) && taken.fate.gives_up());
        found.map(|(number, _)| *number)
    }

    /// Frees a place, unless it was given up before.
    fn leave(&mut self, number: u64) {
        let Some(taken) = self.taken.remove(&number) else {
            return;
        };
        self.tcp -= u64::from(is_tcp(&taken.party));
        if let Some(of_party) = self.parties.get_mut(&taken.party) {
            *of_party -= 1;
            if *of_party == 0 {
                self.parties.remove(&taken.party);
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.crowd.counts();
        counts.leave(self.number);
        self.crowd.1.connections().set(counts.taken.len() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place of which a call was let in.
    fn known(place: Result<Place, Full>) -> Result<Place, Full> {
        let place = place?;
        place.fate().let_in();
        Ok(place)
    }

    #[test]
    fn places_are_counted_in_all_and_for_each_and_come_free() {
        let limits = Limits {
            connections: 3,
            connections_per_user: 2,
            ..Limits::default()
        };
        let crowd = Crowd::default();
        let enter = |uid| known(crowd.enter(Party::User(uid), &limits));
        let first = enter(1).unwrap();
        let _second = enter(1).unwrap();
        assert_eq!(enter(1).unwrap_err(), Full::Party(2));
        let _third = enter(2).unwrap();
        assert_eq!(enter(2).unwrap_err(), Full::All(3));
        drop(first);
        let again = enter(1).unwrap();
        drop(again);
        let counts = crowd.0.lock().unwrap();
        assert_eq!((counts.taken.len(), counts.parties.len()), (2, 2));
    }

    #[test]
    fn who_connects_too_often_is_turned_away_and_others_are_not() {
        let limits = Limits {
            connections_per_second: 2,
            ..Limits::default()
        };
        let crowd = Crowd::default();
        let enter = |uid| crowd.enter(Party::User(uid), &limits).map(drop);
        let turned_away = (0..100).filter(|_| enter(1) == Err(Full::Rate(2)));
        assert!(turned_away.count() > 50);
        enter(2).unwrap();
    }

    #[test]
    fn strangers_by_tcp_leave_places_for_the_unix_socket() {
        let limits = Limits {
            connections: 8,
            connections_per_user: 8,
            ..Limits::default()
        };
        let crowd = Crowd::default();
        let far = |last| Party::Address([10, 0, 0, last].into());
        let mut held: Vec<_> = (0..6)
            .map(|last| known(crowd.enter(far(last), &limits)).unwrap())
            .collect();
        assert_eq!(crowd.enter(far(9), &limits).unwrap_err(), Full::Tcp(6));
        held.push(known(crowd.enter(Party::User(1), &limits)).unwrap());
        held.push(known(crowd.enter(Party::User(1), &limits)).unwrap());
        assert_eq!(
            crowd.enter(Party::User(2), &limits).unwrap_err(),
            Full::All(8)
        );
        drop(held);
        crowd.enter(far(9), &limits).unwrap();
    }

    #[tokio::test]
    async fn who_has_made_no_call_gives_up_its_place_the_oldest_first() {
        let limits = Limits {
            connections: 8,
            connections_per_user: 4,
            ..Limits::default()
        };
        let crowd = Crowd::default();
        let enter = |last| crowd.enter(Party::Address([10, 0, 0, last].into()), &limits);
        let first = known(enter(1)).unwrap();
        let mut held: Vec<_> = (0..3).map(|_| enter(1).unwrap()).collect();
        let oldest = held.remove(0);
        let another = enter(2).unwrap();
        // Of its own party, though another's is there as well.
        held.push(enter(1).unwrap());
        oldest.await;
        // Of all by TCP.
        held.push(enter(2).unwrap());
        let next = held.remove(0);
        held.push(enter(3).unwrap());
        next.await;
        for place in held.iter().chain([&first, &another]) {
            place.fate().let_in();
        }
        assert_eq!(enter(3).unwrap_err(), Full::Tcp(6));
        let counts = || {
            let counts = crowd.counts();
            (counts.taken.len(), counts.tcp, counts.parties.len())
        };
        assert_eq!(counts(), (6, 6, 3));
        drop((first, another, held));
        assert_eq!(counts(), (0, 0, 0));
    }
}
