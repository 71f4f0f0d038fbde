//! Conversion of types, times, moments and vector spaces between messages and `amem_format`.

use amem_format::view::{AsOf, View};
use amem_format::{EdgeType, EventType, Lsn, Micros};
use uuid::Uuid;

use super::refusal::{Refusal, Result};
use crate::{Timestamp, v1};

/// Type number n > 0 in messages is n − 1 in the file.
fn number(what: &str, value: i32) -> Result<Option<u8>> {
    match value.checked_sub(1) {
        Some(-1) => Ok(None),
        Some(n) => match u8::try_from(n) {
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(Refusal::invalid(
                what,
                format!("unknown type {value}: use 1 to 256"),
            )),
        },
        None => Err(Refusal::invalid(
            what,
            format!("unknown type {value}: use 1 to 256"),
        )),
    }
}

/// An event type; `None` if unset.
pub fn event_type(value: i32) -> Result<Option<EventType>> {
    Ok(number("type", value)?.map(EventType))
}

/// Event types, each of which must be set.
pub fn event_types(values: &[i32]) -> Result<Vec<EventType>> {
    let said = |value: &i32| {
        event_type(*value)?.ok_or_else(|| Refusal::invalid("types", "a type is unspecified"))
    };
    values.iter().map(said).collect()
}

/// An edge type, which must be set.
pub fn edge_type(value: i32) -> Result<EdgeType> {
    let number = number("type", value)?;
    number.map(EdgeType).ok_or_else(|| {
        Refusal::invalid(
            "type",
            "an edge needs one: say what it means, such as CAUSED_BY",
        )
    })
}

/// Edge types, each of which must be set.
pub fn edge_types(values: &[i32]) -> Result<Vec<EdgeType>> {
    values.iter().map(|value| edge_type(*value)).collect()
}

/// The number of a type in messages.
pub fn type_number(value: u8) -> i32 {
    i32::from(value) + 1
}

/// A time as a timestamp.
pub fn timestamp(time: Micros) -> Timestamp {
    Timestamp {
        seconds: time.0.div_euclid(1_000_000),
        nanos: time.0.rem_euclid(1_000_000) as i32 * 1000,
    }
}

/// A timestamp as a time, truncated to microseconds. `what` names it in the refusal.
pub fn micros(what: &str, time: Timestamp) -> Result<Micros> {
    let whole = (0..1_000_000_000)
        .contains(&time.nanos)
        .then(|| {
            time.seconds
                .checked_mul(1_000_000)?
                .checked_add(i64::from(time.nanos) / 1000)
        })
        .flatten();
    whole.map(Micros).ok_or_else(|| {
        let why = format!("{} s and {} ns are no time", time.seconds, time.nanos);
        Refusal::invalid(what, why)
    })
}

/// An earlier moment; `None` if unset.
pub fn as_of(moment: Option<v1::AsOf>) -> Result<Option<AsOf>> {
    let Some(moment) = moment else {
        return Ok(None);
    };
    match moment.moment {
        Some(v1::as_of::Moment::Lsn(lsn)) => Ok(Some(AsOf::Lsn(Lsn(lsn)))),
        Some(v1::as_of::Moment::Time(time)) => Ok(Some(AsOf::Time(micros("as_of", time)?))),
        None => Err(Refusal::invalid("as_of", "say an LSN or a time")),
    }
}

/// A vector space; `None` if unset.
pub fn space(text: &str) -> Result<Option<Uuid>> {
    if text.is_empty() {
        return Ok(None);
    }
    let parsed = Uuid::try_parse(text).map(Some);
    parsed.map_err(|e| Refusal::invalid("space", format!("{text:?} is no UUID: {e}")))
}

/// The moment in answers from a view.
pub fn moment(view: &View) -> v1::Moment {
    v1::Moment {
        instance: view.instance().to_string(),
        lsn: view.lsn().0,
        time: Some(timestamp(view.time())),
        as_of_lsn: view.moment().0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_both_ways_before_1970_as_well() {
        for time in [0, 1, -1, 1_700_000_000_123_456, -62_135_596_800_000_001] {
            let time = Micros(time);
            let stamp = timestamp(time);
            assert!((0..1_000_000_000).contains(&stamp.nanos), "{time}");
            assert_eq!(micros("time", stamp).unwrap(), time);
        }
        let far = Timestamp {
            seconds: i64::MAX,
            nanos: 0,
        };
        assert!(micros("time", far).is_err());
        let odd = Timestamp {
            seconds: 0,
            nanos: -1,
        };
        assert!(micros("time", odd).is_err());
    }

    #[test]
    fn type_numbers_reach_the_opaque_types_and_nothing_else() {
        assert_eq!(event_type(0).unwrap(), None);
        assert_eq!(event_type(1).unwrap(), Some(EventType::FACT));
        assert_eq!(event_type(256).unwrap(), Some(EventType(255)));
        assert_eq!(type_number(255), 256);
        for value in [257, -1, i32::MIN] {
            assert!(event_type(value).is_err(), "{value}");
        }
        assert!(edge_type(0).is_err());
        assert_eq!(edge_type(4).unwrap(), EdgeType::SUPERSEDES);
    }
}
