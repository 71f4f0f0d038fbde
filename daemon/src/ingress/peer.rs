//! The other end of a connection.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::auth::ClientCa;

/// The other end of a connection, as the kernel and TLS know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process of this machine.
    Unix {
        uid: u32,
        /// Its primary group.
        gid: u32,
    },
    /// A TCP client.
    Tcp {
        /// Its address.
        from: SocketAddr,
        /// The daemon's address.
        to: SocketAddr,
        /// True if the connection is encrypted.
        tls: bool,
        /// The principal of the certificate that the client presented.
        certificate: Option<String>,
        /// The CA that client certificates had to be signed by when the connection began.
        client_ca: Option<ClientCa>,
    },
    /// A client of a listener that identifies nobody. It has no rights.
    Anonymous {
        /// Its address.
        from: SocketAddr,
    },
}

/// What connections are counted by: all of one user, or of one network address, count together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum PeerKey {
    User(u32),
    Address(IpAddr),
}

impl Peer {
    pub(crate) fn key(&self) -> PeerKey {
        match self {
            Self::Unix { uid, .. } => PeerKey::User(*uid),
            Self::Tcp { from, .. } | Self::Anonymous { from } => {
                PeerKey::Address(network(from.ip()))
            }
        }
    }
}

/// The addresses that count as one: a /64 network of IPv6, since one host may have all of it, and all of loopback.
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

impl fmt::Display for PeerKey {
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
    fn addresses_of_one_network_are_one_peer_key() {
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
