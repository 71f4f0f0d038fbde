//! Who is at the other end of a connection.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use super::connection_limit::Place;
use super::session::Fate;
use crate::auth::Authority;
use crate::grpc::Unsent;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process of this machine, as the kernel knows it.
    Unix {
        /// Its user.
        uid: u32,
        /// Its first group.
        gid: u32,
    },
    /// Somebody by TCP.
    Tcp {
        /// From where.
        from: SocketAddr,
        /// Our end.
        to: SocketAddr,
        /// True if nobody in between can read or change what is said.
        tls: bool,
        /// The name of the certificate that was shown.
        certificate: Option<String>,
        /// The authority that certificates had to be of when the connection began.
        authority: Option<Authority>,
    },
}

/// What a peer shares its places with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Party {
    User(u32),
    Address(IpAddr),
}

impl Peer {
    pub(crate) fn party(&self) -> Party {
        match self {
            Self::Unix { uid, .. } => Party::User(*uid),
            Self::Tcp { from, .. } => Party::Address(network(from.ip())),
        }
    }
}

/// The addresses that one party has: by IPv6 anybody has a network of 64 bits, and on this machine all of its own.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        address if address.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address => address,
    }
}

/// A peer, what becomes of its connection, and what that has not sent yet. Every request carries it
/// among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) peer: Peer,
    pub(crate) fate: Arc<Fate>,
    pub(crate) unsent: Arc<Unsent>,
}

impl Guest {
    /// One that has a place.
    pub(crate) fn at(peer: Peer, place: &Place) -> Self {
        Self {
            peer,
            fate: place.fate(),
            unsent: Arc::default(),
        }
    }

    /// One without.
    #[cfg(test)]
    pub(crate) fn new(peer: Peer) -> Self {
        Self {
            peer,
            fate: Arc::default(),
            unsent: Arc::default(),
        }
    }
}

impl fmt::Display for Party {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(uid) => write!(out, "user {uid}"),
            Self::Address(address) => write!(out, "{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_many_addresses_is_one_party() {
        for (one, other, same) in [
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
            ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
            ("10.0.0.1", "10.0.0.2", false),
            ("127.0.0.1", "127.255.3.4", true),
            ("127.0.0.1", "::ffff:127.0.0.2", true),
            ("127.0.0.1", "::1", true),
            ("127.0.0.1", "128.0.0.1", false),
        ] {
            let [one, other] = [one, other].map(|text| network(text.parse().unwrap()));
            assert_eq!(one == other, same, "{one} {other}");
        }
    }
}
