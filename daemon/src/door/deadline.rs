//! How long a call may take: what it says itself (`grpc-timeout`), within what is allowed.

use std::time::Duration;

use tonic::Code;
use tonic::codegen::http::HeaderMap;

use crate::access::Pace;
use crate::config::Limits;
use crate::refusal::{Refusal, Result};

/// So much before the caller's own deadline, at most: tonic watches that one, too, but answers without our reason.
const AHEAD_MAX: Duration = Duration::from_millis(2);

/// How long a call may take; `None`: as long as it likes.
pub(super) fn deadline(
    headers: &HeaderMap,
    pace: Pace,
    limits: &Limits,
) -> Result<Option<Duration>> {
    let said = said(headers)?.map(|said| said - AHEAD_MAX.min(said / 4));
    let ours = match pace {
        Pace::Stream => return Ok(said),
        Pace::Long => limits.deadline_max(),
        Pace::Call if said.is_some() => limits.deadline_max(),
        Pace::Call => limits.deadline(),
    };
    Ok(Some(said.map_or(ours, |said| said.min(ours))))
}

/// The answer to a call that took too long.
pub(super) fn exceeded(within: Duration) -> Refusal {
    let message = format!(
        "the call was not done within {within:?}; a write may still be done: retry with the same request_id"
    );
    Refusal::new(Code::DeadlineExceeded, "DEADLINE", message)
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
        let of = |text: &str, pace| deadline(&headers(text), pace, &limits).unwrap();
        let none = |pace| deadline(&HeaderMap::new(), pace, &limits).unwrap();
        assert_eq!(none(Pace::Call), secs(10));
        assert_eq!(none(Pace::Long), secs(100));
        assert_eq!(none(Pace::Stream), None);
        assert_eq!(of("50S", Pace::Call), secs(50).map(|d| d - AHEAD_MAX));
        assert_eq!(of("99999999H", Pace::Call), secs(100));
        assert_eq!(of("4n", Pace::Call), Some(Duration::from_nanos(3)));
        assert_eq!(of("50M", Pace::Stream), secs(3000).map(|d| d - AHEAD_MAX));
        for wrong in ["", "S", "1", "1s", "-1S", "123456789S", "1 S"] {
            let refusal = deadline(&headers(wrong), Pace::Call, &limits).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidArgument, "{wrong:?}");
        }
    }
}
