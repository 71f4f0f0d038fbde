//! The deadline that a gRPC caller asks for: the header `grpc-timeout`.

use std::time::Duration;

use tonic::codegen::http::HeaderMap;

use crate::refusal::{Refusal, Result};

/// How much earlier than the caller's deadline the daemon answers, at most: the caller's library enforces that deadline
/// as well, but does not know the daemon's reason.
const AHEAD_MAX: Duration = Duration::from_millis(2);

/// The time that the caller gives the call.
pub(super) fn asked(headers: &HeaderMap) -> Result<Option<Duration>> {
    let timeout = timeout(headers)?;
    Ok(timeout.map(|timeout| timeout - AHEAD_MAX.min(timeout / 4)))
}

/// At most eight digits and a unit (PROTOCOL-HTTP2 of gRPC).
fn timeout(headers: &HeaderMap) -> Result<Option<Duration>> {
    let Some(value) = headers.get("grpc-timeout") else {
        return Ok(None);
    };
    let wrong = || {
        let why = "the value must be one to eight digits and a unit: H, M, S, m, u or n";
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
    use amem_proto::answer::Code;

    #[test]
    fn a_timeout_is_one_to_eight_digits_and_a_unit() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", text.parse().unwrap());
            asked(&headers)
        };
        assert_eq!(asked(&HeaderMap::new()), Ok(None));
        for (text, wanted) in [
            ("50S", Duration::from_secs(50) - AHEAD_MAX),
            ("50M", Duration::from_secs(3000) - AHEAD_MAX),
            ("2H", Duration::from_secs(7200) - AHEAD_MAX),
            ("8m", Duration::from_millis(6)),
            ("4n", Duration::from_nanos(3)),
        ] {
            assert_eq!(of(text), Ok(Some(wanted)), "{text}");
        }
        for wrong in ["", "S", "1", "1s", "-1S", "123456789S", "1 S"] {
            let refusal = of(wrong).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidArgument, "{wrong:?}");
        }
    }
}
