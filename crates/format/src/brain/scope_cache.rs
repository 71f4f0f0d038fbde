//! Cached lists of the events of a scope.
//!
//! Promises: a bounded number of ids is held, however many scopes ask. Not here: when a list is valid (`view`), what a
//! scope is, and which events belong to it (`amem_query`).

use std::sync::Arc;

use amem_locks::LockResultExt;

use crate::sync::{Mutex, OnceLock};
use crate::types::{Lsn, NodeId};

/// Lists held at once; the one not used for longest goes first.
const LISTS_MAX: usize = 1_024;
/// Ids held at once, 16 MiB. One longer list is held alone.
const IDS_MAX: usize = 4 << 20;

/// The events of one scope at one moment.
#[derive(Debug)]
pub struct ScopeList {
    /// Ids, ascending.
    pub ids: Vec<u32>,
    /// The lengths of these events' texts, counted by the first question in words: their sum, and the length that a
    /// quarter of them do not exceed.
    pub lengths: OnceLock<(u64, u32)>,
    /// The newest commit of the moment.
    pub(crate) lsn: Lsn,
    /// Every event of the moment is below this.
    pub(crate) end: u64,
    /// State versions of the delta that the list has seen.
    pub(crate) states: u32,
}

impl ScopeList {
    /// A list of some events of a scope, ascending: it is of no moment, and no cache holds it.
    #[must_use]
    pub fn of(ids: Vec<u32>) -> Self {
        Self {
            ids,
            lengths: OnceLock::new(),
            lsn: Lsn(0),
            end: 0,
            states: 0,
        }
    }

    /// True if an event is in the list.
    pub fn contains(&self, id: NodeId) -> bool {
        u32::try_from(id.0).is_ok_and(|id| self.ids.binary_search(&id).is_ok())
    }
}

/// The lists of one generation, the one used last at the end.
#[derive(Debug, Default)]
pub(crate) struct ScopeCache {
    lists: Mutex<Vec<(Box<str>, Arc<ScopeList>)>>,
}

impl ScopeCache {
    /// The longest valid list of a scope.
    pub(crate) fn newest(
        &self,
        scope: &str,
        is_valid: impl Fn(&ScopeList) -> bool,
    ) -> Option<Arc<ScopeList>> {
        let mut lists = self.lists.lock().unpoisoned();
        let all = lists.iter().enumerate();
        let valid = all.filter(|(_, (of, list))| **of == *scope && is_valid(list));
        let (at, _) = valid.max_by_key(|(_, (_, list))| (list.lsn, list.end))?;
        let used = lists.remove(at);
        let list = used.1.clone();
        lists.push(used);
        Some(list)
    }

    /// Holds a list. Of one scope that of the newest moment serves most questions; later ones are for held views.
    pub(crate) fn put(&self, scope: &str, list: Arc<ScopeList>) {
        let mut lists = self.lists.lock().unpoisoned();
        lists.retain(|(of, known)| **of != *scope || known.lsn > list.lsn);
        lists.push((scope.into(), list));
        let mut ids: usize = lists.iter().map(|(_, list)| list.ids.len()).sum();
        while lists.len() > 1 && (lists.len() > LISTS_MAX || ids > IDS_MAX) {
            ids -= lists.remove(0).1.ids.len();
        }
    }
}
