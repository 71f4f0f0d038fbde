//! Who is at the other end of a connection.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Who is at the other end of a connection; every request of it carries this among its extensions.
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
            Self::Tcp { from, .. } => Party::Address(from.ip()),
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
