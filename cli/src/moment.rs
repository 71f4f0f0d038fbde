//! Moments and times as they are written on a command line.

use amem_core::query::time;
use amem_core::view::{AsOf, View};
use amem_core::{Lsn, Micros};

use crate::failure::Failure;

/// A time: RFC 3339, or a day, which is its first moment in UTC.
pub(crate) fn parse_time(text: &str) -> Result<Micros, String> {
    let is_day = text.len() == 10 && !text.contains(['T', 't', ':']);
    let whole = if is_day {
        format!("{text}T00:00:00Z")
    } else {
        text.to_owned()
    };
    time::parse(&whole).map_err(|e| e.to_string())
}

/// A moment: an LSN, or a time.
pub(crate) fn parse_moment(text: &str) -> Result<AsOf, String> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        let lsn = text
            .parse()
            .map_err(|_| "the LSN is too large".to_owned())?;
        return Ok(AsOf::Lsn(Lsn(lsn)));
    }
    parse_time(text).map(AsOf::Time)
}

/// A view as of a moment, or as it is.
pub(crate) fn at(view: &View, moment: Option<AsOf>) -> Result<View, Failure> {
    match moment {
        Some(moment) => Ok(view.as_of(moment)?),
        None => Ok(view.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_numbers_days_or_times() {
        assert_eq!(parse_moment("17"), Ok(AsOf::Lsn(Lsn(17))));
        let day = parse_time("2024-02-29").unwrap();
        assert_eq!(parse_time("2024-02-29T01:00:00+01:00"), Ok(day));
        assert_eq!(parse_moment("2024-02-29"), Ok(AsOf::Time(day)));
        for bad in ["", "yesterday", "2023-02-29", "-5", "99999999999999999999"] {
            assert!(parse_moment(bad).is_err(), "{bad}");
        }
    }
}
