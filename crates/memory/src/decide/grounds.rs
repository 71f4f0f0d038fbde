//! What a new fact needs to end a memory, or to take its place. Where it has none of these, it is added.
//!
//! It needs one of: (a) both fill a slot of one value with values of one type, which a shape or a list names; (b) its
//! clause has a mark of change and the same head noun; (c) it is the same statement with the other polarity; (d) it
//! says the same and more.

use std::collections::BTreeSet;

use crate::slots::slot::{Cardinality, Slot};
use crate::slots::values::{EXCLUSIVE, contrast};

use super::reading::FactReading;
use super::value_type::{names_employer, value_type};

/// Attributes whose values are things: "sold the red bike" is about the bike that one has.
const THINGS: [&str; 3] = ["possess", "vehicle", "ride"];

/// True if the new slot may end what the old one says: rules (a) to (c).
pub(super) fn may_replace(
    new: &Slot,
    old: &Slot,
    fresh: &FactReading,
    stored: &FactReading,
) -> bool {
    match (new.holds, old.holds) {
        (true, true) => meets(new, old, fresh, stored),
        (false, true) => ends(new, old, fresh, stored),
        (true, false) => begins(new, old, fresh, stored),
        (false, false) => false,
    }
}

/// (d): true if the new fact says all that the memory says, and more of the same thing.
pub(super) fn may_extend(
    new: &Slot,
    old: &Slot,
    fresh: &FactReading,
    stored: &FactReading,
) -> bool {
    let is_event = |slot: &Slot| slot.cardinality == Cardinality::Event;
    let (mine, theirs) = (fresh.phrases(), stored.phrases());
    let is_otherwise = mine.is_past != theirs.is_past || new.holds != old.holds;
    if is_event(new) != is_event(old) || is_otherwise {
        return false;
    }
    let is_listed =
        new.value == old.value || mine.is_joined(&new.value) && mine.joins_any(&old.value);
    // "Likes dogs" is not said by "likes hot dogs".
    let is_narrower =
        new.attribute == "like" && !is_listed && mine.share_head(&new.value, theirs, &old.value);
    // "York" is no part of "New York".
    let is_other_name =
        theirs.is_name(&old.value) && new.is_one() && !mine.begins_with(&new.value, &old.value);
    let is_said = theirs.is_said_by(mine) || old.is_one() && is_same_value(new, old, fresh, stored);
    is_said
        && !is_narrower
        && !is_other_name
        && (is_listed
            || new.is_one()
            || mine.first_head(&new.value) == theirs.first_head(&old.value))
}

/// True if both have values of one type, of which the new one says more: "a senior engineer", "an engineer".
fn is_same_value(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> bool {
    old.value.is_subset(&new.value)
        && old.detail.is_subset(&new.detail)
        && value_type(new, fresh).is_some_and(|own| Some(own) == value_type(old, stored))
}

/// (a), and (b) for what is said of now: both facts say that something is so.
fn meets(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> bool {
    if fresh.phrases().is_beside || fresh.phrases().is_past {
        return false;
    }
    if is_exclusive(new, old, fresh.is_correcting) {
        return true;
    }
    if !new.is_one() || !old.is_one() || new.attribute != old.attribute {
        return false;
    }
    if new.value == old.value {
        // Another title at the same employer.
        let (own, theirs) = (fresh.slot("role"), stored.slot("role"));
        return own.zip(theirs).is_some_and(|(own, theirs)| {
            own.value != theirs.value && is_one_type(own, theirs, fresh, stored)
        });
    }
    if is_one_type(new, old, fresh, stored) || names_employer(new, old, fresh) {
        return true;
    }
    let is_change = fresh.phrases().is_change || fresh.is_correcting;
    is_change
        && fresh
            .phrases()
            .share_head(&new.value, stored.phrases(), &old.value)
}

/// True if both values have one type.
pub(super) fn is_one_type(
    new: &Slot,
    old: &Slot,
    fresh: &FactReading,
    stored: &FactReading,
) -> bool {
    let own = value_type(new, fresh);
    own.is_some() && own == value_type(old, stored)
}

/// (b) and (c): the new fact says that something is not so, or no longer.
fn ends(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> bool {
    let (mine, theirs) = (fresh.phrases(), stored.phrases());
    if mine.is_beside {
        return false;
    }
    let is_change = mine.is_change || fresh.is_correcting;
    if new.value.is_empty() {
        // "Quit their job": the one that they have.
        return is_change && new.attribute == "work" && new.detail.is_empty();
    }
    if new.attribute == "prefer" && new.is_secondary {
        // "Tea over coffee" is the contrary of "coffee over tea", not of "coffee over water".
        let own = fresh.slots.iter().find(|slot| !slot.is_secondary);
        return old.detail.is_empty() || own.is_some_and(|own| own.value.is_subset(&old.detail));
    }
    // What is switched to takes the place of the others of its kind, which the text does not name.
    if new.is_secondary && new.attribute == "use" && new.value == old.value {
        return is_change;
    }
    let words =
        |slot: &Slot| -> BTreeSet<String> { slot.value.union(&slot.detail).cloned().collect() };
    let held = match new.attribute.as_str() {
        "plan" => words(old),
        _ => old.value.clone(),
    };
    if !mine.share_head(&new.value, theirs, &held) {
        return false;
    }
    let mut said = mine.narrowing(&words(new));
    // What narrows the point of the fact narrows what follows from it.
    for point in fresh
        .slots
        .iter()
        .filter(|slot| new.is_secondary && !slot.is_secondary)
    {
        said.extend(mine.narrowing(&point.detail));
    }
    let is_whole = said
        .iter()
        .all(|word| words(old).contains(word) || theirs.has_word(word) || mine.has_verb(word));
    let is_thing =
        THINGS.contains(&old.attribute.as_str()) && THINGS.contains(&new.attribute.as_str());
    // (c) denies all of it; (b) may name a thing with other words.
    is_whole || is_change && (is_thing || new.is_one())
}

/// (b) and (c): the new fact says that something is so that was not.
fn begins(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> bool {
    if new.value.is_empty() || old.value.is_empty() {
        return false;
    }
    let (mine, theirs) = (fresh.phrases(), stored.phrases());
    // What was denied for one case stays denied for it: "after lunch".
    let denied = theirs.narrowing(&old.detail);
    let is_covered = denied.iter().all(|word| mine.has_word(word));
    let is_same = mine.narrowing(&new.value) == theirs.narrowing(&old.value);
    let is_change = mine.is_change && mine.share_head(&new.value, theirs, &old.value);
    is_covered && (is_same || is_change)
}

/// True if the values exclude each other: two editors for the same purpose, a preference and its opposite.
pub(super) fn is_exclusive(new: &Slot, old: &Slot, is_correcting: bool) -> bool {
    let (Some(a), Some(b)) = (contrast(&new.value), contrast(&old.value)) else {
        return false;
    };
    if a.0 != b.0 || a.1 == b.1 {
        return false;
    }
    match new.attribute.as_str() {
        "prefer" => is_for_one_purpose(new, old, a.1, b.1),
        // For one purpose, if both name it.
        // A correction is about what was said, also where one of the two names no purpose.
        "use" => {
            let one_is_open = new.detail.is_empty() || old.detail.is_empty();
            let is_for_one = match is_correcting && one_is_open {
                true => true,
                false => new.detail == old.detail && !new.detail.is_empty(),
            };
            is_for_one && EXCLUSIVE.contains(&a.0)
        }
        _ => false,
    }
}

/// True if two preferences are about one thing: not "morning meetings" and "evening runs".
fn is_for_one_purpose(new: &Slot, old: &Slot, a: &str, b: &str) -> bool {
    let rest = |words: &BTreeSet<String>| -> BTreeSet<String> {
        let others = words.iter().filter(|word| *word != a && *word != b);
        others.cloned().collect()
    };
    let agrees = |one: BTreeSet<String>, other: BTreeSet<String>| {
        one == other || one.is_empty() || other.is_empty()
    };
    // "Tea over coffee" is the contrary of "coffee over tea", not of "coffee over water".
    let is_chain = new.detail.contains(b) && !old.detail.is_empty() && !old.detail.contains(a);
    !is_chain
        && agrees(rest(&new.value), rest(&old.value))
        && agrees(rest(&new.detail), rest(&old.detail))
}
