//! How many connections there are, in all and of each party.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::peer::Party;
use crate::config::Limits;
use crate::figures::Figures;
use crate::limits::UNIX_PLACES_ONE_IN;
use crate::rates::Rates;

/// Counts connections.
#[derive(Debug, Clone, Default)]
pub(crate) struct Crowd(Arc<Mutex<Counts>>, Figures, Arc<Rates<Party>>);

#[derive(Debug, Default)]
struct Counts {
    all: u64,
    /// Of those, by TCP.
    tcp: u64,
    parties: HashMap<Party, u64>,
}

/// A place that a connection has; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    crowd: Crowd,
    party: Party,
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

    /// Takes a place.
    pub(crate) fn enter(&self, party: Party, limits: &Limits) -> Result<Place, Full> {
        let most = limits.connections_per_second;
        let rate = self.2.take(&party, most, Instant::now());
        rate.map_err(|_| Full::Rate(most))?;
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.all >= limits.connections {
            return Err(Full::All(limits.connections));
        }
        let is_tcp = matches!(party, Party::Address(_));
        let tcp_most = limits.connections - limits.connections / UNIX_PLACES_ONE_IN;
        if is_tcp && counts.tcp >= tcp_most {
            return Err(Full::Tcp(tcp_most));
        }
        let of_party = counts.parties.entry(party.clone()).or_default();
        if *of_party >= limits.connections_per_user {
            return Err(Full::Party(limits.connections_per_user));
        }
        *of_party += 1;
        counts.all += 1;
        counts.tcp += u64::from(is_tcp);
        self.1.connections().set(counts.all);
        Ok(Place {
            crowd: self.clone(),
            party,
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.all -= 1;
        self.crowd.1.connections().set(counts.all);
        counts.tcp -= u64::from(matches!(self.party, Party::Address(_)));
        if let Some(of_party) = counts.parties.get_mut(&self.party) {
            *of_party -= 1;
            if *of_party == 0 {
                counts.parties.remove(&self.party);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_all_and_for_each_and_come_free() {
        let limits = Limits {
            connections: 3,
            connections_per_user: 2,
            ..Limits::default()
        };
        let crowd = Crowd::default();
        let enter = |uid| crowd.enter(Party::User(uid), &limits);
        let first = enter(1).unwrap();
        let _second = enter(1).unwrap();
        assert_eq!(enter(1).unwrap_err(), Full::Party(2));
        let _third = enter(2).unwrap();
        assert_eq!(enter(2).unwrap_err(), Full::All(3));
        drop(first);
        let again = enter(1).unwrap();
        drop(again);
        let counts = crowd.0.lock().unwrap();
        assert_eq!((counts.all, counts.parties.len()), (2, 2));
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
            .map(|last| crowd.enter(far(last), &limits).unwrap())
            .collect();
        assert_eq!(crowd.enter(far(9), &limits).unwrap_err(), Full::Tcp(6));
        held.push(crowd.enter(Party::User(1), &limits).unwrap());
        held.push(crowd.enter(Party::User(1), &limits).unwrap());
        assert_eq!(
            crowd.enter(Party::User(2), &limits).unwrap_err(),
            Full::All(8)
        );
        drop(held);
        crowd.enter(far(9), &limits).unwrap();
    }
}
