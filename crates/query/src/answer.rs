//! What every answer states about its origin, and the limit that every request has.

use uuid::Uuid;

use crate::limits::PAGE_MAX;
use amem_format::error::{Error, Result};
use amem_format::types::Lsn;
use amem_format::view::View;

/// The brain that answered, and the moment it answered about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerStamp {
    /// The owned file.
    pub instance: Uuid,
    /// The newest commit that the view has.
    pub lsn: Lsn,
    /// The last commit at or before the moment asked about; equal to `lsn` unless the view is an `as_of` view.
    pub moment: Lsn,
}

impl AnswerStamp {
    /// The stamp of answers from a view.
    pub fn by(view: &View) -> Self {
        Self {
            instance: view.instance(),
            lsn: view.lsn(),
            moment: view.moment().0,
        }
    }
}

/// Checks a share that a request gives: 0 to 1.
pub(crate) fn check_share(what: &'static str, share: f32) -> Result<()> {
    if (0.0..=1.0).contains(&share) {
        return Ok(());
    }
    Err(Error::invalid(
        what,
        format!("{share} is not between 0 and 1"),
    ))
}

/// Checks the number of results that a request asks for: 1 to `limits::PAGE_MAX`.
pub(crate) fn check_limit(limit: usize) -> Result<()> {
    if limit == 0 {
        let why = format!("it is 0: give a number from 1 to {PAGE_MAX}");
        return Err(Error::invalid("limit", why));
    }
    Error::check_limit("the limit of results", limit as u64, PAGE_MAX as u64)
}
