//! How many connections there are, in all and of each party.
//!
//! Promises: no party, and no number of them, takes the places of our own user; who takes more than others as a
//! stranger makes way first; who is let in no more does not keep a place. Not here: who is a stranger (`fate`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::peer::Party;
use super::rates::Rates;
use super::session::Fate;
use crate::config::Limits;
use crate::control::{Control, Live};
use crate::figures::Figures;
use crate::limits::{ADDRESS_PLACES_ONE_IN, OWN_PLACES_ONE_IN, UNIX_PLACES_ONE_IN};
use crate::os::users::is_own;

/// Counts connections. Where there is no place, a connection of which no call was let in, a stranger's perhaps, gives
/// up its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowd(Arc<Mutex<Counts>>, Figures, Arc<Rates<Party>>);

#[derive(Debug, Default)]
struct Counts {
    /// Of them, those by TCP.
    tcp: u64,
    /// Of them, those of others than our own user.
    others: u64,
    parties: HashMap<Party, u64>,
    /// In the order in which they were taken.
    taken: BTreeMap<u64, Taken>,
    next: u64,
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
    /// The rest is for our own user.
    #[error(
        "others than amemd's own user have {0} connections; the rest of limits.connections is for that user"
    )]
    Others(u64),
    /// The rest is for the Unix socket.
    #[error(
        "there are {0} connections by TCP; the rest of limits.connections is for the Unix socket"
    )]
    Tcp(u64),
    /// The party has too many.
    #[error("it has {0} connections, the limit (limits.connections_per_user)")]
    Party(u64),
    /// The address has too many of those by TCP.
    #[error(
        "it has {0} connections, as many of those that limits.connections leaves for TCP as one address may have"
    )]
    Address(u64),
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
    pub(crate) fn enter(&self, party: Party, live: &Live) -> Result<Place, Full> {
        let limits = &live.limits;
        let most = limits.connections_per_second;
        let rate = self.2.take(&party, most, Instant::now());
        rate.map_err(|_| Full::Rate(most))?;
        let mut counts = self.counts();
        while let Err(full) = counts.check(&party, limits) {
            let stranger = counts.stranger(&party, full, live).ok_or(full)?;
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
        counts.others += u64::from(!is_ours(&party));
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

    /// Frees the places of connections whose callers are let in no more, so long after the change, for as long as it is
    /// polled. Until then they make way for others, and may make a call that is let in.
    pub(crate) async fn watch(&self, control: &Control, after: Duration) {
        let mut changes = control.changes();
        loop {
            // The control has the sender.
            changes.changed().await.ok();
            let outsiders = self.outsiders(&control.live());
            if !outsiders.is_empty() {
                let (crowd, control) = (self.clone(), control.clone());
                tokio::spawn(async move {
                    sleep(after).await;
                    crowd.turn_out(&outsiders, &control.live());
                });
            }
        }
    }

    /// Connections whose callers were let in, and are not by what is in force now, with the state by which they were
    /// last.
    fn outsiders(&self, live: &Live) -> Vec<(u64, u64)> {
        let counts = self.counts();
        let each = counts.taken.iter();
        each.filter(|(_, taken)| taken.fate.was_let_in() && !taken.fate.is_known(live))
            .map(|(number, taken)| (*number, taken.fate.known_at()))
            .collect()
    }

    /// Frees their places, unless their callers were let in since: whoever is not any more after that has its own time.
    fn turn_out(&self, outsiders: &[(u64, u64)], live: &Live) {
        let mut counts = self.counts();
        for (number, known_at) in outsiders {
            let taken = counts.taken.get(number).map(|taken| &taken.fate);
            if taken.is_some_and(|fate| fate.known_at() == *known_at && fate.gives_up(live)) {
                counts.leave(*number);
            }
        }
        self.1.connections().set(counts.taken.len() as u64);
    }
}

fn is_tcp(party: &Party) -> bool {
    matches!(party, Party::Address(_))
}

fn is_ours(party: &Party) -> bool {
    matches!(party, Party::User(uid) if is_own(*uid))
}

impl Counts {
    /// An error if there is no place for a party. What only its own can make way for comes first, and what anybody's
    /// can last: who gets no place costs nobody else one.
    fn check(&self, party: &Party, limits: &Limits) -> Result<(), Full> {
        let most = limits.connections;
        let of_party = self.parties.get(party).copied().unwrap_or_default();
        if of_party >= limits.connections_per_user {
            return Err(Full::Party(limits.connections_per_user));
        }
        let for_unix = most / UNIX_PLACES_ONE_IN;
        if is_tcp(party) {
            let tcp_most = most - for_unix;
            let address_most = (tcp_most / ADDRESS_PLACES_ONE_IN).max(1);
            if of_party >= address_most {
                return Err(Full::Address(address_most));
            }
            if for_unix > 0 && self.tcp >= tcp_most {
                return Err(Full::Tcp(tcp_most));
            }
        }
        let for_us = most / OWN_PLACES_ONE_IN;
        if for_us > 0 && !is_ours(party) && self.others >= most - for_us {
            return Err(Full::Others(most - for_us));
        }
        if self.taken.len() as u64 >= most {
            return Err(Full::All(most));
        }
        Ok(())
    }

    /// A place, of those that are in a party's way, that a connection gives up as no call of it was let in.
    fn stranger(&self, party: &Party, full: Full, live: &Live) -> Option<u64> {
        loop {
            let number = self.oldest_stranger(party, full, live)?;
            // A call of it may have been let in in this very moment.
            if self.taken.get(&number)?.fate.gives_up(live) {
                return Some(number);
            }
        }
    }

    /// The oldest stranger of the party that has most of those in the way: many of one make way for one of another, and
    /// not the other way round. Those of which a call was let in once have some time to make another, and come last.
    fn oldest_stranger(&self, party: &Party, full: Full, live: &Live) -> Option<u64> {
        let is_in_the_way = |taken: &Taken| match full {
            Full::All(_) => true,
            Full::Others(_) => !is_ours(&taken.party),
            Full::Tcp(_) => is_tcp(&taken.party),
            Full::Party(_) | Full::Address(_) => taken.party == *party,
            // No place that is given up helps.
            Full::Rate(_) => false,
        };
        let mut strangers = HashMap::new();
        for (number, taken) in &self.taken {
            if is_in_the_way(taken) && !taken.fate.is_known(live) {
                let is_new = !taken.fate.was_let_in();
                let of_party = strangers.entry((is_new, &taken.party));
                let (_, count, _) = of_party.or_insert((is_new, 0, Reverse(*number)));
                *count += 1;
            }
        }
        let (.., Reverse(oldest)) = strangers.into_values().max()?;
        Some(oldest)
    }

    /// Frees a place, unless it was given up before.
    fn leave(&mut self, number: u64) {
        let Some(taken) = self.taken.remove(&number) else {
            return;
        };
        self.tcp -= u64::from(is_tcp(&taken.party));
        self.others -= u64::from(!is_ours(&taken.party));
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
mod tests;
