//! One slot of a fact.

use std::collections::BTreeSet;

/// How many values a slot has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cardinality {
    /// Another value replaces the one before: where one lives.
    One,
    /// Values add up: what one likes.
    Many,
    /// Something that happened: it never conflicts.
    Event,
}

/// What a fact says of a subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    /// In lower case: `user`, `user's son jonas`, `the deadline`.
    pub(crate) subject: String,
    /// Such as `home`, `like`, `favorite color`.
    pub(crate) attribute: String,
    /// The words of the value, in their base forms.
    pub(crate) value: BTreeSet<String>,
    /// The words that say more: with whom, since when, as what.
    pub(crate) detail: BTreeSet<String>,
    pub(crate) cardinality: Cardinality,
    /// False if the fact says that it is not so, or no longer.
    pub(crate) holds: bool,
    /// True for what follows from the fact beside its point: the old value of "from A to B".
    pub(crate) is_secondary: bool,
}

impl Slot {
    pub(crate) fn is_one(&self) -> bool {
        self.cardinality == Cardinality::One
    }
}
