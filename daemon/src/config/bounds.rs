//! The configurable limits: one table declares their names, defaults and ranges, and the type that holds them.

use std::ops::RangeInclusive;
use std::time::Duration;

use amem_store::limits::CHECKPOINT_JOURNAL_BYTES_MAX;

use super::setting_key::SettingKey;
use crate::error::Result;
use crate::limits::{
    ANSWER_BYTES_IN_FLIGHT_MAX, BRAIN_IDLE_CLOSE, CALLS_PER_SECOND, CONNECTION_STREAMS_MAX,
    CONNECTIONS_MAX, CONNECTIONS_PER_SECOND, CONNECTIONS_PER_USER_MAX, DEADLINE, DEADLINE_MAX,
    HANDSHAKE_DEADLINE, HTTP_ADD_AFTER, HTTP_BODY_AFTER, KEEPALIVE, KEEPALIVE_ANSWER,
    PREFACE_DEADLINE, REQUEST_BYTES_IN_FLIGHT_MAX, REQUESTS_IN_FLIGHT_MAX, SEND_AFTER,
};

macro_rules! limits {
    ($($(#[doc = $words:literal])* $field:ident: $live:literal, $variable:literal, $default:expr, $least:literal..=$most:expr;)*) => {
        /// The configurable limits.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Limits {
            $($(#[doc = $words])* pub $field: u64,)*
        }

        pub(super) const KEYS: &[SettingKey] = &[$(SettingKey {
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
            /// Reads each limit with `whole`, which takes its name, its default and its range.
            pub(super) fn read(
                mut whole: impl FnMut(&'static str, u64, RangeInclusive<u64>) -> Result<u64>,
            ) -> Result<Self> {
                Ok(Self {
                    $($field: whole(
                        concat!("limits.", stringify!($field)),
                        $default,
                        $least..=$most,
                    )?,)*
                })
            }
        }
    };
}

const DAY_SECS: u64 = 86_400;

limits! {
    /// Open connections.
    connections: true, "AMEMD_LIMITS_CONNECTIONS", CONNECTIONS_MAX, 1..=65_536;
    /// Connections of one user, or of one address by TCP.
    connections_per_user: true, "AMEMD_LIMITS_CONNECTIONS_PER_USER", CONNECTIONS_PER_USER_MAX, 1..=65_536;
    /// New connections of one user, or of one address by TCP, within a second.
    connections_per_second: true, "AMEMD_LIMITS_CONNECTIONS_PER_SECOND", CONNECTIONS_PER_SECOND, 1..=1_000_000;
    /// Open streams of one connection.
    streams_per_connection: false, "AMEMD_LIMITS_STREAMS_PER_CONNECTION", CONNECTION_STREAMS_MAX as u64, 1..=1024;
    /// Calls under way.
    requests_in_flight: true, "AMEMD_LIMITS_REQUESTS_IN_FLIGHT", REQUESTS_IN_FLIGHT_MAX, 1..=1_000_000;
    /// Calls of one caller a second.
    calls_per_second: true, "AMEMD_LIMITS_CALLS_PER_SECOND", CALLS_PER_SECOND, 1..=10_000_000;
    /// Bytes of the requests under way.
    request_bytes_in_flight: true, "AMEMD_LIMITS_REQUEST_BYTES_IN_FLIGHT", REQUEST_BYTES_IN_FLIGHT_MAX, 1024..=1 << 40;
    /// Bytes of the answers under way.
    answer_bytes_in_flight: true, "AMEMD_LIMITS_ANSWER_BYTES_IN_FLIGHT", ANSWER_BYTES_IN_FLIGHT_MAX, 33_554_432..=1 << 40;
    /// Seconds that a call without a deadline may take.
    deadline_secs: true, "AMEMD_LIMITS_DEADLINE_SECS", DEADLINE.as_secs(), 1..=DAY_SECS;
    /// Seconds that any call may take.
    deadline_max_secs: true, "AMEMD_LIMITS_DEADLINE_MAX_SECS", DEADLINE_MAX.as_secs(), 1..=DAY_SECS;
    /// Milliseconds within which a client must send the preface of HTTP/2.
    preface_millis: true, "AMEMD_LIMITS_PREFACE_MILLIS", PREFACE_DEADLINE.as_millis() as u64, 1..=600_000;
    /// Milliseconds that a TLS handshake may take.
    handshake_millis: true, "AMEMD_LIMITS_HANDSHAKE_MILLIS", HANDSHAKE_DEADLINE.as_millis() as u64, 1..=600_000;
    /// Milliseconds that amemd waits for the next part of a request's body by HTTP.
    body_millis: true, "AMEMD_LIMITS_BODY_MILLIS", HTTP_BODY_AFTER.as_millis() as u64, 1..=600_000;
    /// Milliseconds after which an add by HTTP is answered before its end: it goes on, and has an event to ask.
    add_wait_millis: true, "AMEMD_LIMITS_ADD_WAIT_MILLIS", HTTP_ADD_AFTER.as_millis() as u64, 1..=600_000;
    /// Seconds that a message of a stream waits to be read.
    send_secs: true, "AMEMD_LIMITS_SEND_SECS", SEND_AFTER.as_secs(), 1..=30;
    /// Seconds of silence after which a peer gets a ping.
    keepalive_secs: false, "AMEMD_LIMITS_KEEPALIVE_SECS", KEEPALIVE.as_secs(), 1..=DAY_SECS;
    /// Seconds after which an idle brain is closed.
    idle_close_secs: true, "AMEMD_LIMITS_IDLE_CLOSE_SECS", BRAIN_IDLE_CLOSE.as_secs(), 1..=365 * DAY_SECS;
    /// Bytes of a brain's journal from which on it gets a checkpoint, however large its base is.
    journal_bytes_max: false, "AMEMD_LIMITS_JOURNAL_BYTES_MAX", CHECKPOINT_JOURNAL_BYTES_MAX, 1_048_576..=CHECKPOINT_JOURNAL_BYTES_MAX;
}

impl Limits {
    /// The deadline of a call that gives none.
    pub fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_secs).min(self.deadline_max())
    }

    /// The largest deadline.
    pub fn deadline_max(&self) -> Duration {
        Duration::from_secs(self.deadline_max_secs)
    }

    /// The time to send the preface of HTTP/2.
    pub fn preface(&self) -> Duration {
        Duration::from_millis(self.preface_millis)
    }

    /// The time for a TLS handshake.
    pub fn handshake(&self) -> Duration {
        Duration::from_millis(self.handshake_millis)
    }

    /// The wait for the next part of a request's body by HTTP.
    pub fn body_after(&self) -> Duration {
        Duration::from_millis(self.body_millis)
    }

    /// The wait for an add by HTTP.
    pub fn add_after(&self) -> Duration {
        Duration::from_millis(self.add_wait_millis)
    }

    /// The time that a message of a stream waits to be read.
    pub fn send_after(&self) -> Duration {
        Duration::from_secs(self.send_secs)
    }

    /// The silence after which a peer gets a ping.
    pub fn keepalive(&self) -> Duration {
        Duration::from_secs(self.keepalive_secs)
    }

    /// The time to answer a ping: no longer than the silence before it.
    pub fn keepalive_answer(&self) -> Duration {
        KEEPALIVE_ANSWER.min(self.keepalive())
    }

    /// The time after which an idle brain is closed.
    pub fn idle_close(&self) -> Duration {
        Duration::from_secs(self.idle_close_secs)
    }
}
