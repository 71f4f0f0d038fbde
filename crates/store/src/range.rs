//! Values at the end of their range: a commit after which none could follow is refused before it is written.

use amem_format::limits::{GENERATION_MAX, LSN_MAX, TIME_MICROS_MAX};
use amem_format::view::View;
use amem_format::{Lsn, Micros};

use crate::error::{Error, Result};

/// Refuses a clock that no commit can have: its times would be invalid for clients, and the next one would have to
/// follow.
pub(crate) fn check_clock(now: Micros) -> Result<()> {
    if (0..=TIME_MICROS_MAX).contains(&now.0) {
        Ok(())
    } else {
        Err(Error::Clock { now })
    }
}

/// Refuses commits to a brain whose last one is at the end of a range, or beyond: an older version, or another program,
/// wrote it.
pub(crate) fn check_brain(view: &View) -> Result<()> {
    if let Some(why) = view.identity().out_of_range() {
        return Err(Error::RangeEnd { why });
    }
    check_next(
        Lsn(view.lsn().0.saturating_add(1)),
        Micros(view.time().0.saturating_add(1)),
    )
}

/// Refuses a commit outside of the ranges.
pub(crate) fn check_next(lsn: Lsn, time: Micros) -> Result<()> {
    let why = if lsn.0 > LSN_MAX {
        format!("its next LSN would be {lsn}, and the last one is {LSN_MAX}")
    } else if time.0 > TIME_MICROS_MAX {
        format!(
            "its next time would be {time}, and the last one is {TIME_MICROS_MAX} µs, in the year 9999"
        )
    } else {
        return Ok(());
    };
    Err(Error::RangeEnd { why })
}

/// Refuses a new base of a brain that has had the last one.
pub(crate) fn check_generation(view: &View) -> Result<()> {
    let generation = view.identity().generation.0;
    if generation < GENERATION_MAX {
        return Ok(());
    }
    let why = format!("its generation is {generation}, and the last one is {GENERATION_MAX}");
    Err(Error::RangeEnd { why })
}
