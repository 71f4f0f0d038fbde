//! The verb of a clause in English: with its participle or infinitive, wherever the language has it.

use crate::text::predicate::is_adverb;
use crate::text::tokens::Token;

use super::glosser::Glosser;
use super::pairs::has;
use super::table::WordOrder;
use super::verbs::{VerbTense, WordForm};
use super::words::is_ordinal;

/// States: a past without "since" or "always" says that they are over.
const STATES: &str = "live work like love hate prefer speak smoke";
/// Verbs that one "can": a skill.
const SKILLS: &str = "speak play swim drive cook code program sing dance";

impl Glosser<'_, '_> {
    /// Where a participle or an infinitive of the verb stands.
    fn partner_at(&self) -> Option<usize> {
        let reading = self.reading;
        let tokens = reading.tokens;
        let from = reading.verb + 1;
        if reading.table.order == WordOrder::VerbSecond {
            // "am 5. Juni" ends nothing.
            let breaks = |at: usize| tokens[at].breaks() && !is_ordinal(&tokens[at]);
            let is_end =
                |at: &usize| breaks(*at) || has(reading.table.subordinators, &tokens[*at].lower);
            let end = (from..tokens.len()).find(is_end);
            let last = match end {
                Some(at) if breaks(at) => at,
                Some(at) => at.checked_sub(1)?,
                None => tokens.len().checked_sub(1)?,
            };
            return (last >= from && !tokens[last].text.is_empty()).then_some(last);
        }
        (from..tokens.len().min(from + 4)).find(|at| {
            let word = &tokens[*at].lower;
            let gloss = reading.table.compiled().dictionary.word(word);
            let is_small = gloss.is_some_and(|gloss| {
                gloss.is_empty()
                    || has("not never no longer", gloss)
                    || is_adverb(&Token::new(gloss))
            });
            !is_small && !has(reading.table.no_longer, word)
        })
    }

    /// The English verb and past of the partner in a form, which the verb then takes.
    fn partner(&mut self, form: &WordForm) -> Option<(&'static str, &'static str)> {
        let at = self.partner_at()?;
        let found = self.reading.table.nonfinite(&self.token(at)?.lower, form)?;
        self.consumed.insert(at);
        // "zu" before an infinitive.
        if self.token(at - 1).is_some_and(|token| token.is("zu")) {
            self.consumed.insert(at - 1);
        }
        self.known += 1;
        Some(found)
    }

    /// An infinitive behind a word such as "de", or an unknown one as it is.
    fn infinitive(&mut self) -> Option<String> {
        let mut at = self.partner_at()?;
        if self.reading.table.order != WordOrder::VerbSecond
            && self.token(at)?.is_any(&["de", "d'", "a"])
        {
            self.consumed.insert(at);
            at += 1;
        }
        // "me mudar": the pronoun of the infinitive.
        while self
            .token(at)
            .is_some_and(|t| t.is_any(&["m'", "me", "nous"]))
        {
            self.consumed.insert(at);
            at += 1;
        }
        let token = self.token(at)?;
        let known = self
            .reading
            .table
            .nonfinite(&token.lower, &WordForm::Infinitive);
        let ends: &[&str] = match self.reading.table.order {
            WordOrder::VerbSecond => &["en", "ern", "eln"],
            WordOrder::SubjectFirst => &["er", "ir", "re"],
            WordOrder::Dropped => &["ar", "er", "ir", "arme", "erme", "irme", "arnos"],
        };
        let is_unknown = !token.is_capital() && ends.iter().any(|end| token.lower.ends_with(end));
        let english = match known {
            Some((base, _)) => base.to_owned(),
            None if is_unknown
                && self
                    .reading
                    .table
                    .compiled()
                    .dictionary
                    .word(&token.lower)
                    .is_none() =>
            {
                token.lower.clone()
            }
            None => return None,
        };
        let is_alone = self.reading.tokens[at + 1..]
            .iter()
            .all(|token| token.text.is_empty())
            && (self.reading.table.order != WordOrder::VerbSecond || at == self.reading.verb + 1);
        if known.is_none() && is_alone {
            return None;
        }
        self.consumed.insert(at);
        if at > 0 && self.token(at - 1).is_some_and(|token| token.is("zu")) {
            self.consumed.insert(at - 1);
        }
        self.known += usize::from(known.is_some());
        Some(english)
    }

    /// The past of a verb: a state that is not said to last is over.
    fn past(&self, (base, past): (&'static str, &'static str)) -> String {
        match has(STATES, base) {
            true if self.lasts || self.is_negated => format!("have {past}"),
            true => format!("used to {base}"),
            false => past.to_owned(),
        }
    }

    /// "Decided to use", "stopped smoking": what a choice or an end names.
    fn decided(&mut self, (base, past): (&'static str, &'static str)) -> String {
        if !has("choose decide stop start", base) {
            return self.past((base, past));
        }
        let ends = has("stop start", base);
        let tokens = self.reading.tokens;
        let is_last = self.reading.table.order == WordOrder::VerbSecond && !ends;
        let from = self.reading.verb + 1;
        let mut range = match is_last {
            true => tokens.len().saturating_sub(1).max(from)..tokens.len(),
            false => from..tokens.len().min(from + 8),
        };
        let found = range.find_map(|at| {
            let verb = self
                .reading
                .table
                .nonfinite(&tokens[at].lower, &WordForm::Infinitive)?;
            Some((at, verb.0))
        });
        let Some((at, verb)) = found else {
            return past.split(' ').next().unwrap_or(past).to_owned();
        };
        self.consumed.insert(at);
        if tokens[at - 1].is_any(&["zu", "de", "d'"]) {
            self.consumed.insert(at - 1);
        }
        match ends {
            true => format!("{past} {}ing", verb.strip_suffix('e').unwrap_or(verb)),
            false => format!("decided to {verb}"),
        }
    }

    /// The words of the verb in English, as "I" has them.
    pub(super) fn verb_phrase(&mut self) -> Option<String> {
        let reading = self.reading;
        let is_present = reading.tense == VerbTense::Present;
        match reading.base {
            "be" => self.being(is_present),
            "have" | "aux" => self.having(is_present),
            "will" => match self.infinitive() {
                Some(base) => Some(format!("will {base}")),
                None if self.has_every && reading.table.order != WordOrder::VerbSecond => {
                    Some("go".into())
                }
                None => None,
            },
            "want" => match self.infinitive() {
                Some(base) => Some(format!("want to {base}")),
                // "Quiero dormir" is a mood, not a plan.
                None => {
                    let is_thing = self.partner_at().and_then(|at| self.token(at));
                    let word = is_thing.map_or("", |token| token.lower.as_str());
                    let is_verb = ["en", "er", "ar", "ir", "re"]
                        .iter()
                        .any(|end| word.ends_with(end));
                    let is_noun = is_thing.is_some_and(Token::is_capital);
                    (is_noun || !is_verb).then(|| "want".into())
                }
            },
            "wish" => {
                let base = self.infinitive()?;
                Some(format!("would like to {base}"))
            }
            "would" => {
                let at = self.word_at("gern gerne")?;
                self.consumed.insert(at);
                let base = self.infinitive()?;
                Some(format!("would like to {base}"))
            }
            "can" => {
                let (base, _) = self.partner(&WordForm::Infinitive)?;
                has(SKILLS, base).then(|| format!("know how to {base}"))
            }
            "just" => {
                let at = self.partner_at()?;
                let verb = self.token(at + 1)?.lower.clone();
                let verb = verb.strip_suffix("me").unwrap_or(&verb).to_owned();
                let Some(found) = reading.table.nonfinite(&verb, &WordForm::Infinitive) else {
                    return (reading.table.order == WordOrder::SubjectFirst).then(|| "come".into());
                };
                self.consumed.extend([at, at + 1]);
                self.known += 1;
                Some(format!("just {}", found.1))
            }
            base => self.lexical(base, is_present),
        }
    }

    fn word_at(&self, words: &str) -> Option<usize> {
        let tokens = self.reading.tokens;
        (self.reading.verb + 1..tokens.len()).find(|at| has(words, &tokens[*at].lower))
    }

    fn being(&mut self, is_present: bool) -> Option<String> {
        if let Some(done) = self.partner(&WordForm::Participle) {
            return Some(self.past(done));
        }
        if let Some((base, _)) = self.partner(&WordForm::Gerund) {
            return Some(base.to_owned());
        }
        let tokens = self.reading.tokens;
        let from = self.reading.verb + 1;
        let is_under_way = ["en", "train"]
            .iter()
            .zip(tokens.get(from..).unwrap_or_default())
            .all(|(word, token)| token.is(word));
        if is_under_way && tokens.len() > from + 3 {
            let (base, _) = self
                .reading
                .table
                .nonfinite(&tokens[from + 3].lower, &WordForm::Infinitive)?;
            self.consumed.extend(from..from + 4);
            return Some(base.to_owned());
        }
        Some(if is_present { "am" } else { "was" }.to_owned())
    }

    fn having(&mut self, is_present: bool) -> Option<String> {
        if let Some(done) = self.partner(&WordForm::Participle) {
            return Some(self.decided(done));
        }
        if self.reading.base == "aux" {
            return None;
        }
        let is_german = self.reading.table.order == WordOrder::VerbSecond;
        let last = self.partner_at().and_then(|at| self.token(at));
        // A participle that the table does not know: who knows what was done.
        let is_unknown = last.is_some_and(|token| {
            is_german
                && !token.is_capital()
                && (token.lower.ends_with('t') || token.lower.ends_with("en"))
        });
        if is_unknown
            && last.is_some_and(|t| {
                self.reading
                    .table
                    .compiled()
                    .dictionary
                    .word(&t.lower)
                    .is_none()
            })
        {
            return None;
        }
        let from = self.reading.verb + 1;
        let is_age = self.token(from).is_some_and(Token::has_digit)
            && self
                .token(from + 1)
                .is_some_and(|t| t.is_any(&["ans", "años"]));
        if is_age {
            return is_present.then(|| "am".to_owned());
        }
        Some(if is_present { "have" } else { "used to have" }.to_owned())
    }

    fn lexical(&mut self, base: &'static str, is_present: bool) -> Option<String> {
        let reading = self.reading;
        if reading.tense == VerbTense::Future {
            return Some(format!("will {base}"));
        }
        if !is_present {
            let is_habit = reading.tense == VerbTense::Habit && base.split(' ').count() == 1;
            return Some(match is_habit {
                true => format!("used to {base}"),
                false => self.decided((base, reading.past)),
            });
        }
        if reading.table.order == WordOrder::VerbSecond {
            if let Some(at) = self.word_at("gern gerne") {
                self.consumed.insert(at);
                return Some(format!("like to {base}"));
            }
            if let Some(at) = self.word_at("lieber") {
                self.consumed.insert(at);
                return Some("prefer".into());
            }
        }
        Some(if self.is_ahead && (self.is_soon || !has(STATES, base)) {
            format!("will {base}")
        } else {
            base.to_owned()
        })
    }
}
