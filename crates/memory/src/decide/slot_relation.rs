//! How two statements meet in a slot of one value: what a caller of `infer = false` is warned of.

use crate::slots::slot::Slot;

use super::pair::{Verdict, verdict};
use super::reading::FactReading;

/// The slot that says that a thing is something. Two things that it says need not be about one property.
const IS: &str = "is";

/// How a new statement meets a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotRelation {
    /// They fill no slot of one value of the same subject together.
    None,
    /// They fill one, with values that may both hold.
    Close,
    /// They fill one with values that exclude each other, or say the same with another polarity.
    Conflict,
}

/// How the statement `new` meets the memory `old`.
pub fn slot_relation(new: &str, old: &str) -> SlotRelation {
    let (new, old) = (FactReading::of(new), FactReading::of(old));
    let found = verdict(&new, &old);
    let is_one = |slot: &&Slot| slot.is_one() && !slot.is_secondary;
    let shares = new.slots.iter().filter(is_one).any(|fresh| {
        let mut stored = old.slots.iter().filter(is_one);
        stored.any(|stored| {
            fresh.subject == stored.subject
                && fresh.attribute == stored.attribute
                && (fresh.attribute != IS || found != Verdict::Unrelated)
        })
    });
    // Without slots a verdict compares words only.
    match found {
        Verdict::Replaces(_) => SlotRelation::Conflict,
        Verdict::Unsure(_) if shares => SlotRelation::Conflict,
        _ if shares => SlotRelation::Close,
        _ => SlotRelation::None,
    }
}

#[cfg(test)]
mod tests {
    use super::{SlotRelation, slot_relation};

    #[test]
    fn only_another_value_of_the_same_slot_of_one_value_is_a_conflict() {
        let check = |new: &str, old: &str, expected| {
            assert_eq!(slot_relation(new, old), expected, "{new} | {old}");
        };
        for (new, old) in [
            (
                "The staging database listens on port 5434",
                "The staging database listens on port 5433",
            ),
            ("User lives in Porto", "User lives in Lisbon"),
            ("The deadline is 3 May", "The deadline is 5 May"),
        ] {
            check(new, old, SlotRelation::Conflict);
        }
        check(
            "User lives in Porto, near the river",
            "User lives in Porto",
            SlotRelation::Close,
        );
        for (new, old) in [
            // Near words, another subject.
            (
                "The live database listens on port 5434",
                "The staging database listens on port 5433",
            ),
            // The same subject, another slot.
            (
                "The staging database is called blue",
                "The staging database listens on port 5433",
            ),
            // A slot of many values.
            (
                "User is allergic to peanuts",
                "User is allergic to penicillin",
            ),
            ("User likes jazz", "User likes tea"),
            // One word for two properties.
            ("The API is written in Rust", "The API is fast"),
        ] {
            check(new, old, SlotRelation::None);
        }
    }
}
