//! How long a call may take: what it says itself (`grpc-timeout`), within what is allowed.

use std::time::Duration;

use tokio::time::Instant;
use tonic::Code;
use tonic::codegen::http::HeaderMap;

use crate::access::{Needs, Pace};
use crate::config::Limits;
use crate::refusal::{Refusal, Result};

/// So much before the caller's own deadline, at most: tonic watches that one, too, but answers without our reason.
const AHEAD_MAX: Duration = Duration::from_millis(2);

/// When a call must be done.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// The moment.
    pub(crate) at: Instant,
    /// How long that was from the beginning.
    within: Duration,
    /// True if the call has a request_id.
    is_repeatable: bool,
}

impl Deadline {
    /// The deadline of a call that begins now; `None`: as long as it likes.
    pub(crate) fn of(headers: &HeaderMap, needs: Needs, limits: &Limits) -> Result<Option<Self>> {
        let within = within(headers, needs.pace, limits)?;
        Ok(within.map(|within| Self {
            at: Instant::now() + within,
            within,
            is_repeatable: needs.is_repeatable,
        }))
    }

    /// True if it has passed.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    /// The answer to a call that took too long.
    pub(crate) fn exceeded(&self) -> Refusal {
        let within = self.within;
        let next = match self.is_repeatable {
            true => "what it writes may still be done: retry with the same request_id",
            false => "give it more time, or ask for less",
        };
        let message = format!("the call was not done within {within:?}; {next}");
        Refusal::new(Code::DeadlineExceeded, "DEADLINE", message)
    }
}

/// How long a call may take; `None`: as long as it likes.
fn within(headers: &HeaderMap, pace: Pace, limits: &Limits) -> Result<Option<Duration>> {
    let said = said(headers)?.map(|said| said - AHEAD_MAX.min(said / 4));
    let ours = match pace {
        Pace::Stream => return Ok(said),
        Pace::Long => limits.deadline_max(),
        Pace::Call if said.is_some() => limits.deadline_max(),
        Pace::Call => limits.deadline(),
    };
    Ok(Some(said.map_or(ours, |said| said.min(ours))))
}

/// What the caller says: at most eight digits and a unit (PROTOCOL-HTTP2 of gRPC).
fn said(headers: &HeaderMap) -> Result<Option<Duration>> {
    let Some(value) = headers.get("grpc-timeout") else {
        return Ok(None);
    };
    let wrong = || {
        let why = "it must be one to eight digits and one of H, M, S, m, u, n";
        Refusal::invalid("grpc-timeout", why)
    };
    let (unit, digits) = value.as_bytes().split_last().ok_or_else(wrong)?;
    if !(1..=8).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return Err(wrong());
    }
    let number = digits
        .iter()
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    Ok(Some(match unit {
        b'H' => Duration::from_secs(number * 3600),
        b'M' => Duration::from_secs(number * 60),
        b'S' => Duration::from_secs(number),
        b'm' => Duration::from_millis(number),
        b'u' => Duration::from_micros(number),
        b'n' => Duration::from_nanos(number),
        _ => return Err(wrong()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(text: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", text.parse().unwrap());
        headers
    }

    #[test]
    fn a_callers_deadline_counts_within_the_largest() {
        let limits = Limits {
            deadline_secs: 10,
            deadline_max_secs: 100,
            ..Limits::default()
        };
        let secs = |secs| Some(Duration::from_secs(secs));
        let of = |text: &str, pace| within(&headers(text), pace, &limits).unwrap();
        let none = |pace| within(&HeaderMap::new(), pace, &limits).unwrap();
        assert_eq!(none(Pace::Call), secs(10));
        assert_eq!(none(Pace::Long), secs(100));
        assert_eq!(none(Pace::Stream), None);
        assert_eq!(of("50S", Pace::Call), secs(50).map(|d| d - AHEAD_MAX));
        assert_eq!(of("99999999H", Pace::Call), secs(100));
        assert_eq!(of("4n", Pace::Call), Some(Duration::from_nanos(3)));
        assert_eq!(of("50M", Pace::Stream), secs(3000).map(|d| d - AHEAD_MAX));
        for wrong in ["", "S", "1", "1s", "-1S", "123456789S", "1 S"] {
            let refusal = within(&headers(wrong), Pace::Call, &limits).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidArgument, "{wrong:?}");
        }
    }

    #[test]
    fn only_a_call_that_has_a_request_id_is_to_be_retried_with_it() {
        for (path, has) in [
            ("/amem.v1.MemoryService/Ingest", true),
            ("/amem.v1.MemoryService/Erase", true),
            ("/amem.v1.MemoryService/Subscribe", false),
            ("/amem.v1.QueryService/Search", false),
            ("/amem.v1.BrainService/CheckpointBrain", false),
        ] {
            let needs = crate::access::needs(path).unwrap();
            let deadline = Deadline::of(&headers("1S"), needs, &Limits::default());
            let message = deadline.unwrap().unwrap().exceeded().0.message;
            assert_eq!(message.contains("request_id"), has, "{path}: {message}");
        }
    }
}
