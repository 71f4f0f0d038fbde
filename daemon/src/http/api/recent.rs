//! What the daemon remembers of requests by HTTP until it ends: adds and deletions, exports that were created.
//!
//! Promises: bounded; the oldest goes first. A caller finds its own only. There is no content of a brain in them, so
//! that an erase need not look here.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::SystemTime;

use amem_format::Micros;
use amem_locks::LockResultExt;
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

    /// Adds an entry in the place of the one that `is_same` finds, if there is one.
    fn put(&self, principal: &str, brain: &str, entry: T, is_same: impl Fn(&T) -> bool) {
        let mut entries = self.entries.lock().unpoisoned();
        if let Some(before) = entries.iter_mut().find(|before| is_same(&before.2)) {
            before.2 = entry;
            return;
        }
        if entries.len() == self.max {
            entries.pop_front();
        }
        entries.push_back((principal.to_owned(), brain.to_owned(), entry));
    }

    /// Those of a caller in a brain, the newest first.
    fn of(&self, principal: &str, brain: &str) -> Vec<T> {
        let entries = self.entries.lock().unpoisoned();
        let own = entries
            .iter()
            .rev()
            .filter(|entry| entry.0 == principal && entry.1 == brain);
        own.map(|entry| entry.2.clone()).collect()
    }
}

/// An add or a deletion, while it runs and afterwards.
#[derive(Debug, Clone)]
pub(super) struct RecentEvent {
    pub(super) id: String,
    /// ADD or DELETE.
    pub(super) kind: &'static str,
    pub(super) began: Micros,
    /// `None` while it runs.
    pub(super) ended: Option<Micros>,
    /// SUCCEEDED, FAILED, or PENDING while it runs, and while facts of it wait for another try.
    pub(super) status: &'static str,
    /// The reason of a failure.
    pub(super) failed: Option<String>,
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
            ended: None,
            status: "PENDING",
            failed: None,
            results: Vec::new(),
        }
    }

    /// The same at its end.
    pub(super) fn end(mut self, status: &'static str) -> Self {
        (self.ended, self.status) = (Some(now()), status);
        self
    }

    /// The same after a failure.
    pub(super) fn fail(self, reason: &str) -> Self {
        Self {
            failed: Some(reason.to_owned()),
            ..self.end("FAILED")
        }
    }
}

fn now() -> Micros {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

/// Adds and deletions.
#[derive(Debug)]
pub(super) struct RecentEvents(RecentEntries<RecentEvent>);

impl Default for RecentEvents {
    fn default() -> Self {
        Self(RecentEntries::new(HTTP_EVENTS_MAX))
    }
}

impl RecentEvents {
    /// Adds an event, or what became of it since.
    pub(super) fn put(&self, principal: &str, brain: &str, event: RecentEvent) {
        let id = event.id.clone();
        self.0
            .put(principal, brain, event, |before| before.id == id);
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
        self.0.put(principal, brain, export, |_| false);
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
            entries.put(principal, brain, entry, |_| false);
        }
        assert_eq!(entries.of("b", "x"), [3]);
        assert_eq!(entries.of("a", "y"), [4]);
        assert_eq!(entries.of("a", "x"), [0; 0]);
        entries.put("b", "x", 5, |before| *before == 3);
        assert_eq!(entries.of("b", "x"), [5]);
        assert_eq!(entries.of("a", "y"), [4]);
    }
}
