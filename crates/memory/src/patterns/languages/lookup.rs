//! Questions to a table: forms of verbs, and what stands before a subject.

use crate::text::tokens::Token;

use super::pairs::has;
use super::table::{LanguageTable, WordOrder};
use super::verbs::{VerbPerson, VerbTense, WordForm};

/// Words of the longest adverbial before a subject.
pub(super) const FRONT_WORDS_MAX: usize = 9;

/// A finite verb: English verb, its past, tense, and the third person of the number.
type FiniteForm = (&'static str, &'static str, VerbTense, String);

impl LanguageTable {
    pub(super) fn finite(&self, word: &str, person: VerbPerson) -> Option<FiniteForm> {
        let hits = self.compiled().verbs.get(word)?;
        hits.iter().find_map(|hit| match &hit.form {
            WordForm::Finite(tense, of, forms) if *of == person => {
                let third = forms[person.in_facts() as usize].clone();
                (third != "-").then_some((hit.base, hit.past, *tense, third))
            }
            _ => None,
        })
    }

    /// The English verb and its past of a word that is a participle, an infinitive or a gerund.
    pub(super) fn nonfinite(
        &self,
        word: &str,
        form: &WordForm,
    ) -> Option<(&'static str, &'static str)> {
        let hits = self.compiled().verbs.get(word)?;
        let hit = hits.iter().find(|hit| hit.form == *form)?;
        Some((hit.base, hit.past))
    }

    pub(super) fn is_first_person(&self, word: &str) -> bool {
        has(self.first_singular, word) || has(self.first_plural, word) || has(self.impersonal, word)
    }

    /// The length of the verb group's small words from `at` on.
    pub(super) fn small_words(&self, tokens: &[Token], at: usize) -> usize {
        tokens[at.min(tokens.len())..]
            .iter()
            .take_while(|token| has(self.before_verb, &token.lower) && !token.breaks())
            .count()
    }

    /// A front that ends before `end`: an adverbial, no clause.
    pub(super) fn is_front(&self, tokens: &[Token], end: usize) -> bool {
        let is_inverted = self.order == WordOrder::VerbSecond;
        if end == 0 {
            return !is_inverted;
        }
        if end > FRONT_WORDS_MAX || !is_inverted && !has(self.fronted, &tokens[0].lower) {
            return false;
        }
        let mut at = 0;
        while at < end {
            if let Some((count, _)) = self.compiled().dictionary.phrase(&tokens[at..end]) {
                at += count;
                continue;
            }
            let breaks = tokens[at].breaks() && (is_inverted || at + 1 < end);
            if breaks || has(self.subordinators, &tokens[at].lower) {
                return false;
            }
            at += 1;
        }
        true
    }

    /// The plural of a verb in the third person.
    pub(super) fn plural_of(&self, word: &str, base: &str) -> Option<String> {
        let hits = self.compiled().verbs.get(word)?;
        hits.iter().find_map(|hit| match &hit.form {
            WordForm::Finite(_, VerbPerson::He, forms) if hit.base == base => {
                let plural = forms[VerbPerson::They as usize].clone();
                (plural != "-").then_some(plural)
            }
            _ => None,
        })
    }
}
