//! What every answer says of itself, and the limit that every request has.

use uuid::Uuid;

use crate::limits::PAGE_MAX;
use amem_format::error::{Error, Result};
use amem_format::types::Lsn;
use amem_format::view::View;

/// Which brain answered, and from which of its moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnswerStamp {
    /// The owned file.
    pub instance: Uuid,
    /// The newest commit that the answer knows of.
    pub lsn: Lsn,
    /// The moment asked about: the last commit not past it. `lsn` unless the view is an `as_of` view.
    pub moment: Lsn,
}

impl AnswerStamp {
    /// What answers from a view say.
    pub fn by(view: &View) -> Self {
        Self {
            instance: view.instance(),
            lsn: view.lsn(),
            moment: view.moment().0,
        }
    }
}

/// Results that a request asks for, checked: 1 to `limits::PAGE_MAX`.
pub(crate) fn check_limit(limit: usize) -> Result<()> {
    if limit == 0 {
        let why = format!("no result is asked for: give a number from 1 to {PAGE_MAX}");
        return Err(Error::invalid("limit", why));
    }
    Error::check_limit("the limit of results", limit as u64, PAGE_MAX as u64)
}
