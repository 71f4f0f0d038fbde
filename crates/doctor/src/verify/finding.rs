//! Findings: damage of a file.

use std::fmt;

use amem_format::base::section::Section;
use amem_format::error::{Error, Result};

/// Stored findings; further ones are only counted.
pub const FINDINGS_MAX: usize = 1_000;

/// The part of findings about values out of their range, which are whole otherwise.
pub const RANGE: &str = "range";

/// A damaged part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The part of the file.
    pub part: String,
    /// Offset in the file, if known.
    pub offset: Option<u64>,
    /// What is damaged.
    pub why: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(f, "{} at byte {offset}: {}", self.part, self.why),
            None => write!(f, "{}: {}", self.part, self.why),
        }
    }
}

impl From<Error> for Finding {
    fn from(error: Error) -> Self {
        match error {
            Error::Corrupt { what, offset, why } => Self {
                part: what.to_owned(),
                offset: Some(offset),
                why,
            },
            Error::Truncated { what, needed, len } => Self {
                part: what.to_owned(),
                offset: Some(len),
                why: format!("the file ends here; {needed} bytes are needed"),
            },
            other => Self {
                part: "file".to_owned(),
                offset: None,
                why: other.to_string(),
            },
        }
    }
}

/// Collects findings.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    more: u64,
}

impl Findings {
    pub(super) fn add(&mut self, part: &str, offset: u64, why: impl Into<String>) {
        self.push(Finding {
            part: part.to_owned(),
            offset: Some(offset),
            why: why.into(),
        });
    }

    /// Returns the value, or adds the error as a finding.
    pub(super) fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.push(error.into());
                None
            }
        }
    }

    fn push(&mut self, finding: Finding) {
        if self.kept.len() < FINDINGS_MAX {
            self.kept.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// The stored findings, and the number of further ones.
    pub(super) fn into_parts(self) -> (Vec<Finding>, u64) {
        (self.kept, self.more)
    }
}

/// An error at the start of a section.
pub(super) fn bad<T>(section: Section<'_>, why: impl Into<String>) -> Result<T> {
    Err(section.bad(0, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_past_the_bound_are_counted() {
        let mut findings = Findings::default();
        for offset in 0..FINDINGS_MAX as u64 + 5 {
            findings.add("text", offset, "odd");
        }
        let (kept, more) = findings.into_parts();
        assert_eq!((kept.len(), more), (FINDINGS_MAX, 5));
        assert_eq!(kept[7].to_string(), "text at byte 7: odd");
    }
}
