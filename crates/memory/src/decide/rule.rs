//! The decision on a new fact among its candidates, by rule.

use crate::kind::FactKind;

use super::pair::{Verdict, verdict};
use super::reading::FactReading;

/// What is to be done with a new fact; indexes are those of the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Decision {
    /// A new memory.
    Add,
    /// A new memory that may be in conflict with others.
    AddBeside {
        /// With which candidates.
        conflicts: Vec<usize>,
        why: String,
    },
    /// The memory gets the new text; others that it contradicts end.
    Update {
        target: usize,
        also: Vec<usize>,
        why: String,
    },
    /// The memory ends.
    Delete { targets: Vec<usize>, why: String },
    /// A memory says so already.
    Known { target: usize, why: String },
    /// "Forget that …", of what is not remembered.
    Nothing,
    /// "Forget that …", of a part of a memory: the rest of it is to stay.
    Part,
}

/// Decides on a fact. `candidates` are readings of memories in the fact's scope, the nearest first.
pub(crate) fn decide(new: &FactReading, kind: FactKind, candidates: &[FactReading]) -> Decision {
    if kind == FactKind::Retraction {
        return retract(new, candidates);
    }
    let verdicts: Vec<_> = candidates.iter().map(|old| verdict(new, old)).collect();
    let find = |is: &dyn Fn(&Verdict) -> Option<String>| {
        let mut found = verdicts.iter().enumerate();
        found.find_map(|(at, verdict)| Some((at, is(verdict)?)))
    };
    // A duplicate is a duplicate whatever else is near.
    if let Some((target, why)) = find(&|v| match v {
        Verdict::Same(why) => Some(why.clone()),
        _ => None,
    }) {
        return Decision::Known { target, why };
    }
    if let Some((target, why)) = find(&|v| match v {
        Verdict::Replaces(why) => Some(why.clone()),
        _ => None,
    }) {
        let others = verdicts
            .iter()
            .enumerate()
            .filter(|(at, verdict)| *at != target && matches!(verdict, Verdict::Replaces(_)));
        let also = others.map(|(at, _)| at).collect();
        return Decision::Update { target, also, why };
    }
    if let Some((target, why)) = find(&|v| match v {
        Verdict::Extends(why) => Some(why.clone()),
        _ => None,
    }) {
        return Decision::Update {
            target,
            also: Vec::new(),
            why,
        };
    }
    let unsure: Vec<usize> = verdicts
        .iter()
        .enumerate()
        .filter(|(_, v)| matches!(v, Verdict::Unsure(_)))
        .map(|(at, _)| at)
        .collect();
    match find(&|v| match v {
        Verdict::Unsure(why) => Some(why.clone()),
        _ => None,
    }) {
        Some((_, why)) => Decision::AddBeside {
            conflicts: unsure,
            why,
        },
        None => Decision::Add,
    }
}

/// The memories that a retraction names: those that say the same, or more.
fn retract(new: &FactReading, candidates: &[FactReading]) -> Decision {
    let is_named = |old: &&FactReading| match verdict(new, old) {
        Verdict::Same(_) => true,
        // "forget my address": the slot alone is named.
        Verdict::Extends(_) | Verdict::Replaces(_) | Verdict::Unsure(_) | Verdict::Unrelated => {
            false
        }
    };
    let named = candidates
        .iter()
        .enumerate()
        .filter(|(_, old)| is_named(old) || covers(new, old));
    let (parts, targets): (Vec<usize>, Vec<usize>) = named
        .map(|(at, _)| at)
        .partition(|at| candidates[*at].says_more_than(new));
    if targets.is_empty() {
        return match parts.is_empty() {
            true => Decision::Nothing,
            false => Decision::Part,
        };
    }
    Decision::Delete {
        targets,
        why: "rule:retraction".into(),
    }
}

/// True if the memory has every content word of the retraction.
fn covers(new: &FactReading, old: &FactReading) -> bool {
    new.is_within(old)
}
