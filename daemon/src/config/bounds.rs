//! The limits that can be set: one table makes their names, defaults and ranges, and the type that carries them.

use std::time::Duration;

use amem_store::limits::CHECKPOINT_JOURNAL_BYTES_MAX;

use super::keys::Key;
use super::layers::Layers;
use crate::error::Result;
use crate::limits::{
    BRAIN_IDLE_CLOSE, CALLS_PER_SECOND, CONNECTION_STREAMS_MAX, CONNECTIONS_MAX,
    CONNECTIONS_PER_SECOND, CONNECTIONS_PER_USER_MAX, DEADLINE, DEADLINE_MAX, HANDSHAKE_DEADLINE,
    KEEPALIVE, KEEPALIVE_ANSWER, PREFACE_DEADLINE, REQUEST_BYTES_IN_FLIGHT_MAX,
    REQUESTS_IN_FLIGHT_MAX, SEND_AFTER,
};

macro_rules! limits {
    ($($(#[doc = $words:literal])* $field:ident: $live:literal, $variable:literal, $default:expr, $least:literal..=$most:expr;)*) => {
        /// The limits that can be set.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $words])* pub $field: u64,)*
        }

        /// Their names.
        pub(super) const KEYS: &[Key] = &[$(Key {
            name: concat!("limits.", stringify!($field)),
            variable: $variable,
            live: $live,
        },)*];

        impl Default for Limits {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }

        impl Limits {
            pub(super) fn read(layers: &mut Layers) -> Result<Self> {
                Ok(Self {
                    $($field: layers.whole(
                        concat!("limits.", stringify!($field)),
                        $default,
                        $least..=$most,
                    )?,)*
                })
            }
        }
    };
}

/// A day: what waits longer waits for nothing.
const DAY_SECS: u64 = 86_400;

limits! {
    /// Connections at the same time.
    connections: true, "AMEMD_LIMITS_CONNECTIONS", CONNECTIONS_MAX, 1..=65_536;
    /// Connections of one user, or of one address by TCP, at the same time.
    connections_per_user: true, "AMEMD_LIMITS_CONNECTIONS_PER_USER", CONNECTIONS_PER_USER_MAX, 1..=65_536;
    /// New connections of one user, or of one address by TCP, within a second.
    connections_per_second: true, "AMEMD_LIMITS_CONNECTIONS_PER_SECOND", CONNECTIONS_PER_SECOND, 1..=1_000_000;
    /// Streams of one connection at the same time.
    streams_per_connection: false, "AMEMD_LIMITS_STREAMS_PER_CONNECTION", CONNECTION_STREAMS_MAX as u64, 1..=1024;
    /// Calls that are under way at the same time.
    requests_in_flight: true, "AMEMD_LIMITS_REQUESTS_IN_FLIGHT", REQUESTS_IN_FLIGHT_MAX, 1..=1_000_000;
    /// Calls of one caller within a second.
    calls_per_second: true, "AMEMD_LIMITS_CALLS_PER_SECOND", CALLS_PER_SECOND, 1..=10_000_000;
    /// Bytes of the requests that are under way.
    request_bytes_in_flight: true, "AMEMD_LIMITS_REQUEST_BYTES_IN_FLIGHT", REQUEST_BYTES_IN_FLIGHT_MAX, 1024..=1 << 40;
    /// Seconds that a call may take which does not say how long it waits.
    deadline_secs: true, "AMEMD_LIMITS_DEADLINE_SECS", DEADLINE.as_secs(), 1..=DAY_SECS;
    /// Seconds that a call may take at most, whatever it says.
    deadline_max_secs: true, "AMEMD_LIMITS_DEADLINE_MAX_SECS", DEADLINE_MAX.as_secs(), 1..=DAY_SECS;
    /// Milliseconds within which a new connection must speak HTTP/2.
    preface_millis: true, "AMEMD_LIMITS_PREFACE_MILLIS", PREFACE_DEADLINE.as_millis() as u64, 1..=600_000;
    /// Milliseconds that a TLS handshake may take.
    handshake_millis: true, "AMEMD_LIMITS_HANDSHAKE_MILLIS", HANDSHAKE_DEADLINE.as_millis() as u64, 1..=600_000;
    /// Seconds that an answer of a stream waits to be read.
    send_secs: true, "AMEMD_LIMITS_SEND_SECS", SEND_AFTER.as_secs(), 1..=30;
    /// Seconds between two looks at whether a silent peer is still there.
    keepalive_secs: false, "AMEMD_LIMITS_KEEPALIVE_SECS", KEEPALIVE.as_secs(), 1..=DAY_SECS;
    /// Seconds after which a brain that nobody asks for is closed.
    idle_close_secs: true, "AMEMD_LIMITS_IDLE_CLOSE_SECS", BRAIN_IDLE_CLOSE.as_secs(), 1..=365 * DAY_SECS;
    /// Bytes of a brain's journal from which on it gets a checkpoint, however large its base is.
    journal_bytes_max: false, "AMEMD_LIMITS_JOURNAL_BYTES_MAX", CHECKPOINT_JOURNAL_BYTES_MAX, 1_048_576..=CHECKPOINT_JOURNAL_BYTES_MAX;
}

impl Limits {
    /// How long a call may take that does not say it.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_secs).min(self.deadline_max())
    }

    /// How long a call may take at most.
    pub fn deadline_max(&self) -> Duration {
        Duration::from_secs(self.deadline_max_secs)
    }

    /// Within which time a new connection must speak HTTP/2.
    pub fn preface(&self) -> Duration {
        Duration::from_millis(self.preface_millis)
    }

    /// How long a TLS handshake may take.
    pub fn handshake(&self) -> Duration {
        Duration::from_millis(self.handshake_millis)
    }

    /// How long an answer of a stream waits to be read.
    pub fn send_after(&self) -> Duration {
        Duration::from_secs(self.send_secs)
    }

    /// How often a silent peer is looked at.
    pub fn keepalive(&self) -> Duration {
        Duration::from_secs(self.keepalive_secs)
    }

    /// How long a silent peer may take to answer: no longer than it is left alone.
    pub fn keepalive_answer(&self) -> Duration {
        KEEPALIVE_ANSWER.min(self.keepalive())
    }

    /// After which time a brain that nobody asks for is closed.
    pub fn idle_close(&self) -> Duration {
        Duration::from_secs(self.idle_close_secs)
    }
}
