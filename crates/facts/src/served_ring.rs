//! The memories that were served lately as context, by the hashes of their texts: they are not learnt again.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use amem_memory::FactScope;

use crate::limits::{SERVED_MAX, SERVED_SCOPES_MAX};

#[derive(Debug, Default)]
struct ServedScopes {
    /// The newest last.
    by_scope: HashMap<FactScope, (u64, VecDeque<String>)>,
    uses: u64,
}

/// Rings of hashes by scope, in memory.
#[derive(Debug, Default)]
pub(crate) struct ServedRing(Mutex<ServedScopes>);

impl ServedRing {
    /// Notes memories that a scope was shown.
    pub(crate) fn add(&self, scope: &FactScope, hashes: impl Iterator<Item = String>) {
        let mut scopes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scopes.uses += 1;
        let uses = scopes.uses;
        if scopes.by_scope.len() >= SERVED_SCOPES_MAX && !scopes.by_scope.contains_key(scope) {
            let oldest = scopes.by_scope.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(scope, _)| scope.clone()) {
                scopes.by_scope.remove(&oldest);
            }
        }
        let (used, ring) = scopes.by_scope.entry(scope.clone()).or_default();
        *used = uses;
        for hash in hashes {
            if !ring.contains(&hash) {
                ring.push_back(hash);
            }
        }
        while ring.len() > SERVED_MAX {
            ring.pop_front();
        }
    }

    /// Where each text was shown: scopes of memories that are this scope, a wider one or a narrower one.
    pub(crate) fn scopes_of(&self, scope: &FactScope, hashes: &[String]) -> Vec<Vec<FactScope>> {
        let scopes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let near: Vec<_> = scopes
            .by_scope
            .iter()
            .filter(|(of, _)| of.covers(scope) || scope.covers(of))
            .collect();
        let shown = |hash: &String| {
            let having = near.iter().filter(|(_, (_, ring))| ring.contains(hash));
            having.map(|(of, _)| (*of).clone()).collect()
        };
        hashes.iter().map(shown).collect()
    }

    /// Forgets everything: texts were erased.
    pub(crate) fn clear(&self) {
        let mut scopes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scopes.by_scope.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_each_scope_are_remembered() {
        let ring = ServedRing::default();
        let (alice, bob) = (FactScope::user("alice"), FactScope::user("bob"));
        ring.add(&alice, (0..=SERVED_MAX).map(|n| n.to_string()));
        let asked = ["0".to_owned(), SERVED_MAX.to_string()];
        assert_eq!(
            ring.scopes_of(&alice, &asked),
            [vec![], vec![alice.clone()]]
        );
        assert!(ring.scopes_of(&bob, &asked).iter().all(Vec::is_empty));
        ring.clear();
        assert!(ring.scopes_of(&alice, &asked).iter().all(Vec::is_empty));
    }
}
