//! How a source is read, and what was read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use amem_texts::SecretKind;
use jiff::tz::TimeZone;

use crate::event_time::TimeReading;
use crate::item::{ItemType, SkipReason};

/// What happens to an item with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretPolicy {
    /// The secret is replaced by its kind.
    #[default]
    Mask,
    /// The item is skipped.
    Skip,
    /// Nothing is looked for.
    Keep,
}

/// How a source is read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The zone of times without an offset.
    pub zone: TimeZone,
    /// True if 02/03 is the second of March.
    pub is_day_first: bool,
    /// The home folder, which is `~` in source ids.
    pub home: Option<PathBuf>,
    /// What happens to secrets.
    pub secrets: SecretPolicy,
}

impl Default for ReadOptions {
    /// UTC, days first, no home folder, secrets masked.
    fn default() -> Self {
        Self {
            zone: TimeZone::UTC,
            is_day_first: true,
            home: None,
            secrets: SecretPolicy::Mask,
        }
    }
}

impl ReadOptions {
    pub(crate) fn times(&self) -> TimeReading {
        TimeReading {
            zone: self.zone.clone(),
            is_day_first: self.is_day_first,
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Items given to the sink, by type.
    pub items: BTreeMap<&'static str, u64>,
    /// Entries skipped, by reason.
    pub skipped: BTreeMap<SkipReason, u64>,
    /// Secrets masked or refused, by kind.
    pub secrets: BTreeMap<SecretKind, u64>,
    /// Elements of injected context taken out of texts.
    pub injected: u64,
    /// Files read, at least in part.
    pub files: u64,
}

impl ReadCounts {
    /// All items.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.items.values().sum()
    }

    /// Skipped entries that may be wrong, rather than left out by design.
    #[must_use]
    pub fn faults(&self) -> u64 {
        let faults = self.skipped.iter().filter(|(reason, _)| reason.is_fault());
        faults.map(|(_, count)| count).sum()
    }

    pub(crate) fn count(&mut self, item_type: ItemType) {
        *self.items.entry(item_type.name()).or_default() += 1;
    }
}
