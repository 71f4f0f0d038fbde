//! The load: requests in progress, and the bytes of their bodies. A request over a limit is refused before it is read.
//!
//! Promises: a slot and its bytes are free again however the request ends.
//! Not here: how a protocol counts the bytes that arrive (`gateway::request_body`).

use std::sync::Arc;

use amem_proto::answer::Code;
use hyper::http::{HeaderMap, header};

use super::quota::{Quota, QuotaLease, QuotaRefusal};
use super::requirement::{Pace, Requirement};
use crate::auth::Caller;
use crate::config::Limits;
use crate::limits::{BATCH_BYTES_MAX, DECODED_ONE_IN, DECODED_TIMES_MAX};
use crate::refusal::{Refusal, Result};

/// The requests in progress.
#[derive(Debug, Default)]
pub(crate) struct LoadLimits {
    calls: Quota,
    bytes: Quota,
}

/// A request in progress, with the bytes of its body. It is over once all clones are dropped.
#[derive(Debug, Clone)]
pub(crate) struct CallSlot {
    _call: Arc<QuotaLease>,
    bytes: Arc<HeldBytes>,
}

/// The bytes that a request holds.
#[derive(Debug)]
pub(crate) struct HeldBytes(QuotaLease);

fn busy(what: &str, why: &QuotaRefusal, name: &str) -> Refusal {
    let message = format!("the daemon is busy ({what}, {why}: limits.{name}): retry later");
    Refusal::new(Code::ResourceExhausted, "LOAD", message)
}

fn busy_with_bytes(why: &QuotaRefusal) -> Refusal {
    let what = "too many bytes of requests are in progress";
    busy(what, why, "request_bytes_in_flight")
}

impl LoadLimits {
    /// Takes a slot for a request, and holds the bytes that its head announces.
    pub(crate) fn acquire(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
        requirement: &Requirement,
        limits: &Limits,
    ) -> Result<CallSlot> {
        let call = self.calls.take(caller, 1, limits.requests_in_flight);
        let call =
            call.map_err(|why| busy("too many calls are in progress", &why, "requests_in_flight"))?;
        // A stream holds the bytes of one message after the other. A request that announces nothing still sends some.
        let announced = match requirement.pace {
            Pace::Stream => 1,
            _ => announced(headers).clamp(1, requirement.request_bytes_max.max(1)),
        };
        let bytes = self
            .bytes
            .take(caller, announced, limits.request_bytes_in_flight)
            .map_err(|why| busy_with_bytes(&why))?;
        Ok(CallSlot {
            _call: Arc::new(call),
            bytes: Arc::new(HeldBytes(bytes)),
        })
    }
}

fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

impl CallSlot {
    /// The bytes that the request holds.
    pub(crate) fn bytes(&self) -> &Arc<HeldBytes> {
        &self.bytes
    }
}

impl HeldBytes {
    /// Holds this many bytes from now on, at most those of the largest message.
    pub(crate) fn hold(&self, bytes: u64) -> Result<()> {
        let max = BATCH_BYTES_MAX as u64 * DECODED_TIMES_MAX / DECODED_ONE_IN;
        let held = self.0.change(bytes.min(max));
        held.map_err(|why| busy_with_bytes(&why))
    }
}

#[cfg(test)]
impl LoadLimits {
    pub(crate) fn calls_held(&self) -> u64 {
        self.calls.all()
    }

    pub(crate) fn bytes_held(&self) -> u64 {
        self.bytes.all()
    }

    /// `acquire` for an administrator of every brain.
    pub(crate) fn acquire_as_admin(
        &self,
        headers: &HeaderMap,
        limits: &Limits,
    ) -> Result<CallSlot> {
        let mut rights = crate::auth::Rights::default();
        rights.add(None, crate::auth::Role::Admin);
        let admin = Caller::new("uid:1".into(), rights);
        let requirement = Requirement::of_call("/amem.v1.MemoryService/Ingest").unwrap();
        self.acquire(headers, &admin, &requirement, limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES_MAX;

    fn limits(calls: u64, bytes: u64) -> Limits {
        Limits {
            requests_in_flight: calls,
            request_bytes_in_flight: bytes,
            ..Limits::default()
        }
    }

    fn announce(bytes: u64) -> HeaderMap {
        [(header::CONTENT_LENGTH, bytes.into())]
            .into_iter()
            .collect()
    }

    #[test]
    fn calls_and_announced_bytes_are_refused_above_their_limits_and_come_back() {
        let load = LoadLimits::default();
        let none = HeaderMap::new();
        let first = load.acquire_as_admin(&none, &limits(2, 100)).unwrap();
        let _second = load
            .acquire_as_admin(&announce(60), &limits(2, 100))
            .unwrap();
        let refusal = load.acquire_as_admin(&none, &limits(2, 100)).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "LOAD")
        );
        assert!(refusal.message.contains("limits.requests_in_flight"));
        let refusal = load
            .acquire_as_admin(&announce(40), &limits(9, 100))
            .unwrap_err();
        assert!(refusal.message.contains("limits.request_bytes_in_flight"));
        // A refused request holds nothing.
        let third = load
            .acquire_as_admin(&announce(39), &limits(3, 100))
            .unwrap();
        drop((first, third));
        assert_eq!((load.calls_held(), load.bytes_held()), (1, 60));
    }

    #[test]
    fn announcements_are_believed_up_to_a_message_of_the_call() {
        let load = LoadLimits::default();
        let slot = load
            .acquire_as_admin(&announce(1 << 40), &Limits::default())
            .unwrap();
        assert_eq!(load.bytes_held(), MESSAGE_BYTES_MAX as u64);
        slot.bytes().hold(7).unwrap();
        assert_eq!(load.bytes_held(), 7);
    }
}
