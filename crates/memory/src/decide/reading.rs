//! A fact as decisions read it.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::patterns::languages::gloss_of_fact;
use crate::slots::parse::slots_of_tokens;
use crate::slots::slot::Slot;
use crate::slots::values::anchors;
use crate::text::forms::{normal_form_of, stems};
use crate::text::tokens::{Token, tokens};

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
    pub(super) anchors: BTreeSet<String>,
    pub(super) is_negated: bool,
    /// True if it may speak of several things: "a bike and a car".
    pub(super) is_list: bool,
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

    pub(super) fn stems(&self) -> &BTreeSet<String> {
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
    pub(super) fn points(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(|slot| !slot.is_secondary)
    }
}
