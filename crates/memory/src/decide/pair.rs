//! What one new fact does to one memory, by the table of slots.

use std::collections::BTreeSet;

use crate::slots::slot::{Cardinality, Slot};

use super::grounds::{is_exclusive, is_one_type, may_extend, may_replace};
use super::reading::FactReading;

/// What a new fact does to a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The memory says the same, or more.
    Same(String),
    /// The memory is no longer so.
    Replaces(String),
    /// The new fact says the same and more.
    Extends(String),
    /// They may be in conflict; the rules do not know.
    Unsure(String),
    /// They have nothing to do with each other.
    Unrelated,
}

/// What `new` does to the memory `old`.
pub(crate) fn verdict(new: &FactReading, old: &FactReading) -> Verdict {
    if new.normal == old.normal {
        return Verdict::Same("same words".into());
    }
    let mut best = Verdict::Unrelated;
    for fresh in &new.slots {
        for stored in &old.slots {
            let found = slot_verdict(fresh, stored, new, old);
            if rank(&found) > rank(&best) {
                best = found;
            }
        }
    }
    if best != Verdict::Unrelated {
        return best;
    }
    same_words(new, old)
}

/// How much a verdict says: the strongest of several slots counts.
fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Unrelated => 0,
        Verdict::Unsure(_) => 1,
        Verdict::Same(_) => 2,
        Verdict::Extends(_) => 3,
        Verdict::Replaces(_) => 4,
    }
}

fn slot_verdict(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> Verdict {
    if !same_subject(&new.subject, &old.subject) || !is_related(new, old) {
        return Verdict::Unrelated;
    }
    let why = format!("rule:{}", old.attribute);
    let found = match (new.holds, old.holds) {
        (false, true) => ends(new, old, stored, why),
        (true, false) => begins(new, old, stored, why),
        (true, true) => meets(new, old, fresh, stored, why),
        (false, false) if new.is_secondary || old.is_secondary => Verdict::Unrelated,
        (false, false) => meets(new, old, fresh, stored, why),
    };
    // A fact ends no memory that it does not contradict.
    let is_grounded = match &found {
        Verdict::Replaces(_) => {
            may_replace(new, old, fresh, stored) || may_extend(new, old, fresh, stored)
        }
        // It ends nothing by itself: a model may know, or a person.
        Verdict::Unsure(_) => {
            is_one_type(new, old, fresh, stored)
                || may_replace(new, old, fresh, stored)
                || may_extend(new, old, fresh, stored)
        }
        Verdict::Extends(_) => may_extend(new, old, fresh, stored),
        Verdict::Same(_) => new.value == old.value || says_same(new, old, fresh, stored),
        Verdict::Unrelated => true,
    };
    if is_grounded {
        found
    } else {
        Verdict::Unrelated
    }
}

/// True if what the new fact says is a part of what the memory says, and not of another thing with the same word.
fn says_same(new: &Slot, old: &Slot, fresh: &FactReading, stored: &FactReading) -> bool {
    let phrases = fresh.phrases();
    phrases.share_head(&new.value, stored.phrases(), &old.value)
        || stored.phrases().begins_with(&old.value, &new.value)
}

fn same_subject(new: &str, old: &str) -> bool {
    // "User's son" and "User's son Jonas" may be one; two names are two.
    new == old
}

/// Attributes that speak of the same thing in other words.
fn is_related(new: &Slot, old: &Slot) -> bool {
    let pair = |a: &str, b: &str| {
        new.attribute == a && old.attribute == b || new.attribute == b && old.attribute == a
    };
    if new.attribute == old.attribute {
        return true;
    }
    // What is sold, lost or given up was owned, driven, ridden or used.
    let parts = pair("possess", "vehicle")
        || pair("possess", "ride")
        || pair("possess", "use")
        || pair("like", "do")
        || new.attribute == "plan" && old.attribute == "possess";
    parts && new.holds != old.holds
}

/// The new fact says that something is no longer so.
fn ends(new: &Slot, old: &Slot, stored: &FactReading, why: String) -> Verdict {
    if old.is_secondary {
        return Verdict::Unrelated;
    }
    let core = |slot: &Slot| slot.value.clone();
    let (mut ended, mut held) = (core(new), core(old));
    if new.attribute == "plan" {
        // "Cancelled the trip to Peru", "plans a trip to Peru".
        held = union(old);
    }
    let is_empty = ended.is_empty();
    if new.attribute != old.attribute {
        // "gave up coffee" ends "drinks coffee": the verb of the old value does not count.
        ended.retain(|word| held.contains(word));
    }
    let is_same = is_empty && new.is_one()
        || !ended.is_empty() && (ended.is_subset(&held) || held.is_subset(&ended));
    if !is_same {
        return Verdict::Unrelated;
    }
    // Only a part of what the memory says ends: "sold the bike" of "has a bike and a car".
    // What is used for one purpose may stay where another tool comes into use.
    let is_bound = new.is_secondary
        && old.attribute == "use"
        && new.detail.is_empty()
        && !old.detail.is_empty();
    let is_part = stored.is_list && ended.len() < held.len() && ended.is_subset(&held);
    let says_more = stored.points().count() > 1 || is_bound || is_part && !is_empty;
    if says_more {
        Verdict::Unsure(why)
    } else {
        Verdict::Replaces(why)
    }
}

/// The new fact says that something is so that was not.
fn begins(new: &Slot, old: &Slot, stored: &FactReading, why: String) -> Verdict {
    if old.is_secondary {
        return Verdict::Unrelated;
    }
    let is_same = !new.value.is_empty()
        && (new.value.is_subset(&old.value) || old.value.is_subset(&new.value))
        || old.value.is_empty() && new.is_one() && !new.value.is_empty();
    let is_event = new.cardinality == Cardinality::Event;
    if !is_same || is_event {
        return Verdict::Unrelated;
    }
    if stored.points().count() > 1 {
        Verdict::Unsure(why)
    } else {
        Verdict::Replaces(why)
    }
}

/// Both facts say that something is so, or both that it is not.
fn meets(
    new: &Slot,
    old: &Slot,
    fresh: &FactReading,
    stored: &FactReading,
    why: String,
) -> Verdict {
    if new.is_secondary && old.is_secondary {
        return Verdict::Unrelated;
    }
    let is_one = new.is_one() || old.is_one() || is_exclusive(new, old, fresh.is_correcting);
    let is_several = stored.points().count() > 1;
    if new.value == old.value {
        return same_value(new, old, fresh, stored, why);
    }
    let grows = !old.value.is_empty() && old.value.is_subset(&new.value);
    let shrinks = !new.value.is_empty() && new.value.is_subset(&old.value);
    if new.attribute == "diet" && new.is_secondary && !grows && !shrinks {
        // What one eats decides how one eats.
        return if is_several {
            Verdict::Unsure(why)
        } else {
            Verdict::Replaces(why)
        };
    }
    if new.is_secondary || old.is_secondary {
        // Another role at the same place; what else the memory says would be lost.
        return match (is_one && !grows && !shrinks, new.is_secondary) {
            (true, true) => Verdict::Unrelated,
            (true, false) => Verdict::Unsure(why),
            (false, _) => Verdict::Unrelated,
        };
    }
    if grows || shrinks {
        if new.cardinality == Cardinality::Event && !same_verb_event(new, old) {
            return Verdict::Unrelated;
        }
        if grows && is_several {
            return Verdict::Unsure(why);
        }
        // "two kids" says less than "two kids and a dog" only if no number or name differs.
        let is_covered =
            fresh.anchors.is_subset(&stored.anchors) && fresh.is_negated == stored.is_negated;
        return match (grows, is_covered) {
            (true, _) => Verdict::Extends(why),
            (false, true) if new.detail.is_subset(&union(old)) => Verdict::Same(why),
            (false, _) if is_one => Verdict::Replaces(why),
            (false, _) => Verdict::Unrelated,
        };
    }
    if !is_one {
        return Verdict::Unrelated;
    }
    if new.value.is_empty() || old.value.is_empty() {
        return Verdict::Unsure(why);
    }
    if is_several {
        Verdict::Unsure(why)
    } else {
        Verdict::Replaces(why)
    }
}

fn union(slot: &Slot) -> BTreeSet<String> {
    slot.value.union(&slot.detail).cloned().collect()
}

/// Both have the same value: the one with more detail stays.
fn same_value(
    new: &Slot,
    old: &Slot,
    fresh: &FactReading,
    stored: &FactReading,
    why: String,
) -> Verdict {
    if new.is_secondary || old.is_secondary {
        return Verdict::Unrelated;
    }
    let is_several = stored.points().count() > 1;
    // "with John every Friday" and "with Ann every Friday" are not the same.
    if new.detail == old.detail {
        let is_same = fresh.anchors == stored.anchors || fresh.anchors.is_subset(&stored.anchors);
        return if is_same {
            Verdict::Same(why)
        } else {
            Verdict::Unsure(why)
        };
    }
    if old.detail.is_subset(&new.detail) {
        return if is_several {
            Verdict::Unsure(why)
        } else {
            Verdict::Extends(why)
        };
    }
    if new.detail.is_subset(&old.detail) {
        return Verdict::Same(why);
    }
    match new.cardinality {
        // Another title at the same employer, another rank of the same preference.
        Cardinality::One if new.attribute == "work" && !is_several => Verdict::Replaces(why),
        Cardinality::One => Verdict::Unsure(why),
        Cardinality::Many | Cardinality::Event => Verdict::Unrelated,
    }
}

fn same_verb_event(new: &Slot, old: &Slot) -> bool {
    // The same event in more words: both name the same verb and something of it.
    new.value.intersection(&old.value).count() >= 2
}

/// Texts that no slot relates: the same stems say the same, unless a number, a name or a negation differs.
fn same_words(new: &FactReading, old: &FactReading) -> Verdict {
    // Facts with slots that do not meet are of different things, whatever words they share.
    if !new.slots.is_empty() && !old.slots.is_empty() {
        return Verdict::Unrelated;
    }
    let is_same = new.stems() == old.stems() && !new.stems().is_empty();
    let agrees = new.anchors == old.anchors && new.is_negated == old.is_negated;
    if is_same && agrees && new.slots.is_empty() && old.slots.is_empty() {
        return Verdict::Same("same stems".into());
    }
    if new.slots.is_empty() && old.slots.is_empty() && agrees {
        let both = new.stems().intersection(old.stems()).count();
        if both >= 3 && new.stems().is_superset(old.stems()) {
            return Verdict::Extends("more words".into());
        }
        if both >= 3 && old.stems().is_superset(new.stems()) {
            return Verdict::Same("fewer words".into());
        }
    }
    let is_near = !is_same && new.slots.is_empty() && old.slots.is_empty();
    let share = crate::text::forms::overlap(new.stems(), old.stems());
    let both = new.stems().intersection(old.stems()).count();
    if is_same && !agrees || is_near && share >= 0.75 && both >= 3 {
        return Verdict::Unsure("near words".into());
    }
    Verdict::Unrelated
}
