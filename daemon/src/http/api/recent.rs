//! What the daemon remembers of requests by HTTP until it ends: adds and deletions that ran, exports that were created.
//!
//! Promises: bounded; the oldest goes first. A caller finds its own only. There is no content of a brain in them, so
//! that an erase need not look here.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use amem_format::Micros;
use amem_proto::v1;
use uuid::Uuid;

use crate::limits::{HTTP_EVENTS_MAX, HTTP_EXPORTS_MAX};

/// The newest entries, each of one caller, in one brain.
#[derive(Debug)]
struct RecentEntries<T> {
    entries: Mutex<VecDeque<(String, String, T)>>,
    max: usize,
}

impl<T: Clone> RecentEntries<T> {
    fn new(max: usize) -> Self {
        Self {
            entries: Mutex::default(),
            max,
        }
    }

    fn add(&self, principal: &str, brain: &str, entry: T) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == self.max {
            entries.pop_front();
        }
        entries.push_back((principal.to_owned(), brain.to_owned(), entry));
    }

    /// Those of a caller in a brain, the newest first.
    fn of(&self, principal: &str, brain: &str) -> Vec<T> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let own = entries
            .iter()
            .rev()
            .filter(|entry| entry.0 == principal && entry.1 == brain);
        own.map(|entry| entry.2.clone()).collect()
    }
}

/// An add or a deletion that ran.
#[derive(Debug, Clone)]
pub(super) struct RecentEvent {
    pub(super) id: String,
    /// ADD or DELETE.
    pub(super) kind: &'static str,
    /// When it began and ended.
    pub(super) began: Micros,
    pub(super) ended: Micros,
    /// SUCCEEDED or PENDING.
    pub(super) status: &'static str,
    /// The memories of an add, and what happened to each.
    pub(super) results: Vec<(String, &'static str)>,
}

impl RecentEvent {
    /// An event that begins now.
    pub(super) fn begin(kind: &'static str) -> Self {
        Self {
            id: Uuid::new_v4().to_string(),
            kind,
            began: now(),
            ended: now(),
            status: "SUCCEEDED",
            results: Vec::new(),
        }
    }

    /// The same at its end.
    pub(super) fn end(mut self) -> Self {
        self.ended = now();
        self
    }
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// Adds and deletions that ran.
#[derive(Debug)]
pub(super) struct RecentEvents(RecentEntries<RecentEvent>);

impl Default for RecentEvents {
    fn default() -> Self {
        Self(RecentEntries::new(HTTP_EVENTS_MAX))
    }
}

impl RecentEvents {
    pub(super) fn add(&self, principal: &str, brain: &str, event: RecentEvent) {
        self.0.add(principal, brain, event);
    }

    pub(super) fn of(&self, principal: &str, brain: &str) -> Vec<RecentEvent> {
        self.0.of(principal, brain)
    }
}

/// An export that was created: whose memories it is of.
#[derive(Debug, Clone)]
pub(super) struct CreatedExport {
    pub(super) id: String,
    pub(super) scope: Option<v1::Scope>,
    pub(super) filters: String,
}

/// Exports that were created.
#[derive(Debug)]
pub(super) struct RecentExports(RecentEntries<CreatedExport>);

impl Default for RecentExports {
    fn default() -> Self {
        Self(RecentEntries::new(HTTP_EXPORTS_MAX))
    }
}

impl RecentExports {
    pub(super) fn add(&self, principal: &str, brain: &str, export: CreatedExport) {
        self.0.add(principal, brain, export);
    }

    pub(super) fn find(&self, principal: &str, brain: &str, id: &str) -> Option<CreatedExport> {
        let mut own = self.0.of(principal, brain).into_iter();
        own.find(|export| export.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_bounded_and_each_caller_finds_its_own() {
        let entries = RecentEntries::new(2);
        for (principal, brain, entry) in
            [("a", "x", 1), ("a", "x", 2), ("b", "x", 3), ("a", "y", 4)]
        {
            entries.add(principal, brain, entry);
        }
        assert_eq!(entries.of("b", "x"), [3]);
        assert_eq!(entries.of("a", "y"), [4]);
        assert_eq!(entries.of("a", "x"), [0; 0]);
    }
}
