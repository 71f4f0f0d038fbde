//! What one new fact does to one memory, by the table of slots.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::patterns::languages::gloss_of_fact;
use crate::slots::parse::slots_of_tokens;
use crate::slots::slot::{Cardinality, Slot};
use crate::slots::values::{EXCLUSIVE, anchors, contrast};
use crate::text::forms::{normal_form_of, stems};
use crate::text::tokens::{Token, tokens};

use super::grounds::{is_one_type, may_extend, may_replace};
use super::phrases::Phrases;

/// A text with what decisions read of it.
#[derive(Debug, Clone)]
pub(crate) struct FactReading {
    pub(crate) normal: String,
    pub(crate) slots: Vec<Slot>,
    text: String,
    /// The tokens of the text, and of its gloss if it is in another language.
    written: Vec<Token>,
    glossed: Option<Vec<Token>>,
    phrases: OnceCell<Phrases>,
    /// Computed on demand: most pairs are decided by slots.
    stems: OnceCell<BTreeSet<String>>,
    anchors: BTreeSet<String>,
    is_negated: bool,
    /// True if it may speak of several things: "a bike and a car".
    is_list: bool,
    /// True if its sentence says that something else is wrong: "no, we use pnpm".
    pub(super) is_correcting: bool,
    /// True for "Porto, Portugal".
    pub(super) has_comma: bool,
}

impl FactReading {
    pub(crate) fn of(text: &str) -> Self {
        let all = tokens(text);
        let glossed = gloss_of_fact(text);
        let said = glossed.as_ref().unwrap_or(&all);
        let is_negated = said
            .iter()
            .any(|token| token.is_any(&["not", "never", "no", "cannot", "without"]));
        Self {
            normal: normal_form_of(&all),
            slots: slots_of_tokens(said),
            phrases: OnceCell::new(),
            text: text.to_owned(),
            stems: OnceCell::new(),
            anchors: anchors(&all),
            is_negated,
            is_list: all
                .iter()
                .any(|token| token.is("and") || token.tail.contains(',')),
            is_correcting: false,
            has_comma: all.iter().any(|token| token.tail.contains(',')),
            written: all,
            glossed,
        }
    }

    /// The roles of its words.
    pub(super) fn phrases(&self) -> &Phrases {
        let said = self.glossed.as_ref().unwrap_or(&self.written);
        self.phrases
            .get_or_init(|| Phrases::of(said, &self.written))
    }

    /// The same, as the words of a sentence that corrects or does not.
    pub(crate) fn correcting(self, is_correcting: bool) -> Self {
        Self {
            is_correcting,
            ..self
        }
    }

    fn stems(&self) -> &BTreeSet<String> {
        self.stems.get_or_init(|| stems(&self.text))
    }

    /// True if the other text has every content word of this one.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        !self.stems().is_empty()
            && self.stems().is_subset(other.stems())
            && self.is_negated == other.is_negated
    }

    /// The slot of an attribute.
    pub(super) fn slot(&self, attribute: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.attribute == attribute)
    }

    /// True if the text lists things of which the other names only some: "two cats and a dog", "two cats".
    pub(crate) fn says_more_than(&self, other: &Self) -> bool {
        self.phrases().joins_beside(other.phrases())
    }

    /// Slots that are the point of the fact.
    fn points(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.is_secondary)
    }
}

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
