//! What was served lately as context, by the hashes of its text and of its words: it is not learnt again.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Mutex;

use amem_locks::LockResultExt;
use amem_memory::store::words_hash;
use amem_memory::{FactScope, text_hash};

use crate::limits::{SERVED_MAX, SERVED_SCOPES_MAX};

/// A text that was served.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServedText {
    /// The hash of the whole text.
    hash: String,
    /// That of its words.
    words: String,
}

impl ServedText {
    pub(crate) fn of(text: &str) -> Self {
        Self {
            hash: text_hash(text),
            words: words_hash(text),
        }
    }
}

#[derive(Debug, Default)]
struct ServedScopes {
    /// The newest last.
    by_scope: HashMap<FactScope, (u64, VecDeque<ServedText>)>,
    uses: u64,
}

/// Rings of hashes by scope, in memory.
#[derive(Debug, Default)]
pub(crate) struct ServedRing(Mutex<ServedScopes>);

impl ServedRing {
    /// Notes memories that a scope was shown.
    pub(crate) fn add(&self, scope: &FactScope, texts: impl Iterator<Item = ServedText>) {
        let mut scopes = self.0.lock().unpoisoned();
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
        for text in texts {
            if !ring.contains(&text) {
                ring.push_back(text);
            }
        }
        while ring.len() > SERVED_MAX {
            ring.pop_front();
        }
    }

    /// Where each text was shown: scopes of memories that are this scope, a wider one or a narrower one.
    pub(crate) fn scopes_of(&self, scope: &FactScope, hashes: &[String]) -> Vec<Vec<FactScope>> {
        let scopes = self.0.lock().unpoisoned();
        let near: Vec<_> = scopes
            .by_scope
            .iter()
            .filter(|(of, _)| of.covers(scope) || scope.covers(of))
            .collect();
        let shown = |hash: &String| {
            let has = |ring: &VecDeque<ServedText>| ring.iter().any(|text| text.hash == *hash);
            let having = near.iter().filter(|(_, (_, ring))| has(ring));
            having.map(|(of, _)| (*of).clone()).collect()
        };
        hashes.iter().map(shown).collect()
    }

    /// Which words a scope, a wider one or a narrower one was shown.
    pub(crate) fn has_words(&self, scope: &FactScope, hashes: &[String]) -> Vec<bool> {
        let scopes = self.0.lock().unpoisoned();
        let near = scopes
            .by_scope
            .iter()
            .filter(|(of, _)| of.covers(scope) || scope.covers(of));
        let shown: HashSet<&str> = near
            .flat_map(|(_, (_, ring))| ring.iter().map(|text| text.words.as_str()))
            .collect();
        let is_shown = |hash: &String| shown.contains(hash.as_str());
        hashes.iter().map(is_shown).collect()
    }

    /// Forgets everything: texts were erased.
    pub(crate) fn clear(&self) {
        let mut scopes = self.0.lock().unpoisoned();
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
        let texts = (0..=SERVED_MAX).map(|n| ServedText::of(&format!("Text {n}.")));
        ring.add(&alice, texts);
        let asked = [0, SERVED_MAX].map(|n| text_hash(&format!("Text {n}.")));
        let words = [0, SERVED_MAX].map(|n| words_hash(&format!("- text {n}")));
        assert_eq!(ring.has_words(&alice, &words), [false, true]);
        assert_eq!(ring.has_words(&bob, &words), [false, false]);
        assert_eq!(
            ring.scopes_of(&alice, &asked),
            [vec![], vec![alice.clone()]]
        );
        assert!(ring.scopes_of(&bob, &asked).iter().all(Vec::is_empty));
        ring.clear();
        assert!(ring.scopes_of(&alice, &asked).iter().all(Vec::is_empty));
    }
}
