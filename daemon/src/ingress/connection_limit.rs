//! The connection limit: how many connections are open, in all and for each peer.
//!
//! Where there is no slot, an unauthorized connection loses its own (`session`): one of the peer that has most of them.
//! Promises: the daemon's own user always finds a slot, and so does the Unix socket beside TCP; a connection whose
//! caller is no longer accepted does not keep its slot. Not here: what authorizes a connection (`session`).

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use amem_locks::LockResultExt;
use tokio::sync::oneshot;
use tokio::time::sleep;

use super::peer::PeerKey;
use super::rates::RateLimiter;
use super::session::SessionState;
use crate::config::Limits;
use crate::control::{Control, LiveConfig};
use crate::limits::{ADDRESS_SLOTS_ONE_IN, OWN_SLOTS_ONE_IN, UNIX_SLOTS_ONE_IN};
use crate::metrics::DaemonMetrics;
use amem_host::users::is_own;

/// Counts connections; all clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionLimit {
    connections: Arc<Mutex<Connections>>,
    metrics: DaemonMetrics,
    rates: Arc<RateLimiter<PeerKey>>,
}

#[derive(Debug, Default)]
struct Connections {
    /// Those by TCP.
    tcp: u64,
    /// Those of other users than the daemon's own.
    others: u64,
    by_peer: HashMap<PeerKey, u64>,
    /// By number, which grows: the oldest comes first.
    open: BTreeMap<u64, OpenConnection>,
    next: u64,
    /// The most that the limit of open files leaves for connections; unlimited if `None`.
    descriptors_max: Option<u64>,
}

#[derive(Debug)]
struct OpenConnection {
    key: PeerKey,
    session: Arc<SessionState>,
    /// Dropped to evict the connection.
    _evict: oneshot::Sender<()>,
}

/// The slot of a connection; dropping it frees the slot. As a future it is ready once the connection is evicted.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    limit: ConnectionLimit,
    number: u64,
    session: Arc<SessionState>,
    /// `None` once evicted.
    evicted: Option<oneshot::Receiver<()>>,
}

impl ConnectionSlot {
    /// The state of the connection.
    pub(crate) fn session(&self) -> Arc<SessionState> {
        self.session.clone()
    }
}

impl Future for ConnectionSlot {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(evicted) = &mut self.evicted {
            ready!(Pin::new(evicted).poll(cx)).ok();
            self.evicted = None;
        }
        Poll::Ready(())
    }
}

/// Why a connection gets no slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectionRefusal {
    /// All slots are taken.
    #[error("there are {0} connections, the limit (limits.connections)")]
    All(u64),
    /// The limit of open files allows no more.
    #[error(
        "there are {0} connections, all that the limit of open files allows (`ulimit -n`, LimitNOFILE= in the unit)"
    )]
    Descriptors(u64),
    /// The rest is reserved for the daemon's own user.
    #[error(
        "users other than amemd's own have {0} connections; the rest of limits.connections is reserved for amemd's user"
    )]
    Others(u64),
    /// The rest is reserved for the Unix socket.
    #[error(
        "there are {0} connections by TCP; the rest of limits.connections is reserved for the Unix socket"
    )]
    Tcp(u64),
    /// The peer has too many.
    #[error("it has {0} connections, the limit (limits.connections_per_user)")]
    Peer(u64),
    /// The address has too many of those by TCP.
    #[error("it has {0} connections, the share of one address in limits.connections by TCP")]
    Address(u64),
    /// The peer connects too often.
    #[error(
        "it makes more than {0} connections a second, the limit (limits.connections_per_second)"
    )]
    Rate(u64),
}

impl ConnectionLimit {
    /// `descriptors_max` bounds the connections whatever the configuration says.
    pub(crate) fn new(metrics: DaemonMetrics, descriptors_max: u64) -> Self {
        let connections = Connections {
            descriptors_max: Some(descriptors_max),
            ..Connections::default()
        };
        Self {
            connections: Arc::new(Mutex::new(connections)),
            metrics,
            ..Self::default()
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        let connections = self.connections.lock();
        connections.unpoisoned()
    }

    /// Takes a slot, if necessary that of an unauthorized connection.
    pub(crate) fn acquire(
        &self,
        key: PeerKey,
        live: &LiveConfig,
    ) -> Result<ConnectionSlot, ConnectionRefusal> {
        let limits = &live.limits;
        let per_second = limits.connections_per_second;
        let rate = self.rates.take(&key, per_second, Instant::now());
        rate.map_err(|_| ConnectionRefusal::Rate(per_second))?;
        let mut connections = self.connections();
        while let Err(refusal) = connections.check(&key, limits) {
            let evicted = connections.evict_one(&key, refusal, live).ok_or(refusal)?;
            connections.release(evicted);
        }
        let (evict, evicted) = oneshot::channel();
        let slot = ConnectionSlot {
            limit: self.clone(),
            number: connections.next,
            session: Arc::default(),
            evicted: Some(evicted),
        };
        connections.tcp += u64::from(is_tcp(&key));
        connections.others += u64::from(!is_own_user(&key));
        *connections.by_peer.entry(key.clone()).or_default() += 1;
        connections.next += 1;
        let open = OpenConnection {
            key,
            session: slot.session(),
            _evict: evict,
        };
        connections.open.insert(slot.number, open);
        self.report(&connections);
        Ok(slot)
    }

    fn report(&self, connections: &Connections) {
        let open = connections.open.len() as u64;
        self.metrics.connections().set(open);
    }

    /// Evicts connections whose callers a change of the configuration no longer accepts, `after` that change, for as
    /// long as it is polled. Until then they lose their slots only to other connections, and may authorize themselves
    /// again.
    pub(crate) async fn watch(&self, control: &Control, after: Duration) {
        let mut changes = control.changes();
        loop {
            // The control owns the sender.
            changes.changed().await.ok();
            let unauthorized = self.unauthorized(&control.live());
            if !unauthorized.is_empty() {
                let (limit, control) = (self.clone(), control.clone());
                tokio::spawn(async move {
                    sleep(after).await;
                    limit.evict(&unauthorized, &control.live());
                });
            }
        }
    }

    /// Connections that were authorized and no longer are: their numbers, and the change at which they last were.
    fn unauthorized(&self, live: &LiveConfig) -> Vec<(u64, u64)> {
        let connections = self.connections();
        let each = connections.open.iter();
        each.filter(|(_, open)| open.session.was_authorized() && !open.session.is_authorized(live))
            .map(|(number, open)| (*number, open.session.authorized_at()))
            .collect()
    }

    /// Evicts these, unless they were authorized since: a later change gives them their own time.
    fn evict(&self, unauthorized: &[(u64, u64)], live: &LiveConfig) {
        let mut connections = self.connections();
        for (number, authorized_at) in unauthorized {
            let session = connections.open.get(number).map(|open| &open.session);
            if session.is_some_and(|session| {
                session.authorized_at() == *authorized_at && session.evict(live)
            }) {
                connections.release(*number);
            }
        }
        self.report(&connections);
    }
}

fn is_tcp(key: &PeerKey) -> bool {
    matches!(key, PeerKey::Address(_))
}

fn is_own_user(key: &PeerKey) -> bool {
    matches!(key, PeerKey::User(uid) if is_own(*uid))
}

impl Connections {
    /// An error if there is no slot for a peer. The checks that only the peer's own connections can satisfy come first:
    /// a peer that gets no slot must cost no other peer one.
    fn check(&self, key: &PeerKey, limits: &Limits) -> Result<(), ConnectionRefusal> {
        let descriptors_max = self.descriptors_max.unwrap_or(u64::MAX);
        let max = limits.connections.min(descriptors_max);
        let of_peer = self.by_peer.get(key).copied().unwrap_or_default();
        if of_peer >= limits.connections_per_user {
            return Err(ConnectionRefusal::Peer(limits.connections_per_user));
        }
        let for_unix = max / UNIX_SLOTS_ONE_IN;
        if is_tcp(key) {
            let tcp_max = max - for_unix;
            let address_max = (tcp_max / ADDRESS_SLOTS_ONE_IN).max(1);
            if of_peer >= address_max {
                return Err(ConnectionRefusal::Address(address_max));
            }
            if for_unix > 0 && self.tcp >= tcp_max {
                return Err(ConnectionRefusal::Tcp(tcp_max));
            }
        }
        let for_own = max / OWN_SLOTS_ONE_IN;
        if for_own > 0 && !is_own_user(key) && self.others >= max - for_own {
            return Err(ConnectionRefusal::Others(max - for_own));
        }
        if self.open.len() as u64 >= max {
            return Err(if max < limits.connections {
                ConnectionRefusal::Descriptors(max)
            } else {
                ConnectionRefusal::All(max)
            });
        }
        Ok(())
    }

    /// Evicts an unauthorized connection that is in the way of a peer; `None` if there is none.
    fn evict_one(
        &self,
        key: &PeerKey,
        refusal: ConnectionRefusal,
        live: &LiveConfig,
    ) -> Option<u64> {
        loop {
            let number = self.oldest_unauthorized(key, refusal, live)?;
            // A request on it may be admitted at this moment.
            if self.open.get(&number)?.session.evict(live) {
                return Some(number);
            }
        }
    }

    /// The oldest unauthorized connection of the peer that has most of those in the way, so that many connections of
    /// one peer make room for another peer, not the reverse. Connections that were authorized once come last: they have
    /// `FIRST_CALL_AFTER` for another request.
    fn oldest_unauthorized(
        &self,
        key: &PeerKey,
        refusal: ConnectionRefusal,
        live: &LiveConfig,
    ) -> Option<u64> {
        let is_in_the_way = |open: &OpenConnection| match refusal {
            ConnectionRefusal::All(_) | ConnectionRefusal::Descriptors(_) => true,
            ConnectionRefusal::Others(_) => !is_own_user(&open.key),
            ConnectionRefusal::Tcp(_) => is_tcp(&open.key),
            ConnectionRefusal::Peer(_) | ConnectionRefusal::Address(_) => open.key == *key,
            // No eviction lowers a rate.
            ConnectionRefusal::Rate(_) => false,
        };
        let mut candidates = HashMap::new();
        for (number, open) in &self.open {
            if is_in_the_way(open) && !open.session.is_authorized(live) {
                let is_new = !open.session.was_authorized();
                let of_peer = candidates.entry((is_new, &open.key));
                let (_, count, _) = of_peer.or_insert((is_new, 0, Reverse(*number)));
                *count += 1;
            }
        }
        let (.., Reverse(oldest)) = candidates.into_values().max()?;
        Some(oldest)
    }

    /// Frees a slot, unless it is free already.
    fn release(&mut self, number: u64) {
        let Some(open) = self.open.remove(&number) else {
            return;
        };
        self.tcp -= u64::from(is_tcp(&open.key));
        self.others -= u64::from(!is_own_user(&open.key));
        if let Some(of_peer) = self.by_peer.get_mut(&open.key) {
            *of_peer -= 1;
            if *of_peer == 0 {
                self.by_peer.remove(&open.key);
            }
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut connections = self.limit.connections();
        connections.release(self.number);
        self.limit.report(&connections);
    }
}

#[cfg(test)]
mod tests;
