//! The words of a clause in English, one after the other.

use std::collections::HashSet;
use std::ops::Range;

use crate::text::predicate::is_adverb;
use crate::text::tokens::Token;
use crate::text::verbs::third_person;

use super::pairs::has;
use super::reading::{ClauseReading, SubjectKind};

/// Words that say that a verb in the present is ahead.
const AHEAD: &str = "next tomorrow soon";
/// Forms of verbs that are English words as well.
const ENGLISH_WORDS: &str = "will come use a code";
/// Words behind which a noun is a profession.
const BEFORE_PROFESSION: &str = "as";

/// Glosses a clause word by word.
pub(super) struct Glosser<'r, 't> {
    pub(super) reading: &'r ClauseReading<'t>,
    /// Tokens that the verb has taken.
    pub(super) consumed: HashSet<usize>,
    pub(super) known: usize,
    pub(super) is_ahead: bool,
    pub(super) is_soon: bool,
    pub(super) has_every: bool,
    pub(super) lasts: bool,
    pub(super) is_negated: bool,
    pub(super) has_profession: bool,
}

impl<'r, 't> Glosser<'r, 't> {
    pub(super) fn of(reading: &'r ClauseReading<'t>) -> Self {
        let mut glosser = Self {
            reading,
            consumed: HashSet::from_iter(reading.prefix),
            known: usize::from(!has(ENGLISH_WORDS, &reading.tokens[reading.verb].lower)),
            is_ahead: false,
            is_soon: false,
            has_every: false,
            lasts: false,
            is_negated: false,
            has_profession: false,
        };
        glosser.consumed.extend(reading.subject.clone());
        let rest = glosser.words(reading.verb + 1..reading.tokens.len());
        let front = glosser.words(0..reading.front);
        let small = glosser.words(reading.group..reading.verb);
        let all = || rest.iter().chain(&front).chain(&small);
        let any = |words: &str| all().any(|token| has(words, &token.lower));
        (glosser.is_ahead, glosser.has_every) = (any(AHEAD), any("every"));
        glosser.is_soon = any("soon");
        (glosser.lasts, glosser.is_negated) = (any("since always for"), any("not never"));
        glosser.known = usize::from(!has(ENGLISH_WORDS, &reading.tokens[reading.verb].lower));
        glosser
    }

    pub(super) fn token(&self, at: usize) -> Option<&'t Token> {
        self.reading.tokens.get(at)
    }

    /// The words of the verb for the subject.
    pub(super) fn inflected(&self, verb: String) -> Vec<String> {
        let reading = self.reading;
        let is_plural = reading.kind == SubjectKind::Several;
        let is_third = reading.kind == SubjectKind::Owned || reading.is_fact && !is_plural;
        let mut words: Vec<String> = verb.split(' ').map(str::to_owned).collect();
        let at = usize::from(words[0] == "just");
        let is_base = words[at] == reading.base.split(' ').next().unwrap_or_default()
            || matches!(
                &*words[at],
                "am" | "have" | "want" | "know" | "like" | "prefer" | "go"
            );
        if is_third && is_base && at == 0 {
            words[0] = third_person(&words[0]);
        }
        words
    }

    pub(super) fn subject(&mut self, is_called: bool) -> Option<Vec<Token>> {
        let reading = self.reading;
        if reading.kind == SubjectKind::Owned {
            return self.owned();
        }
        let name = match reading.is_fact {
            true => reading.tokens[reading.subject.clone()]
                .iter()
                .find(|token| token.is_capital() && !token.is("a"))
                .map_or("User", |token| token.text.as_str()),
            false => "I",
        };
        let text = match (reading.kind, reading.is_fact, is_called) {
            (SubjectKind::One, true, true) => format!("{name}'s"),
            (SubjectKind::One, false, true) => "My".into(),
            (SubjectKind::Several, true, _) => format!("{name} and others"),
            (SubjectKind::Several, false, _) => "we".into(),
            _ => name.to_owned(),
        };
        Some(text.split(' ').map(Token::new).collect())
    }

    /// "My sister", "User's sister Wiebke".
    fn owned(&mut self) -> Option<Vec<Token>> {
        let reading = self.reading;
        let range = reading.subject.clone();
        self.consumed.retain(|at| !range.contains(at));
        let tokens = reading.tokens;
        let user = range
            .clone()
            .find(|at| tokens[*at].is("user") || tokens[*at].is("user's"));
        let (owner, skipped) = match user.filter(|_| reading.is_fact) {
            Some(at) => (
                "User's",
                if at > 0 {
                    vec![0, at - 1, at]
                } else {
                    vec![at]
                },
            ),
            None => ("my", vec![range.start]),
        };
        self.consumed.extend(skipped);
        let owner_word = tokens[range.start].lower.clone();
        let mut words = self.words(range);
        for word in &mut words {
            word.tail.clear();
        }
        // A German noun has a capital as a name has: "my address", but "my sister Wiebke".
        let is_owned =
            |token: &&Token| token.is_capital() && !token.is("user's") && !token.is(&owner_word);
        let first = tokens[reading.subject.clone()].iter().find(is_owned);
        let is_noun = first.is_some_and(|first| words.iter().any(|word| word.text == first.text));
        if let (true, true, Some(first)) = (is_noun, reading.table.has_compounds, first)
            && let Some(word) = words.iter_mut().find(|word| word.text == first.text)
        {
            word.text.clone_from(&word.lower);
        }
        // The adjective stands before its noun in English.
        if let Some(at) = words.iter().position(|token| token.is("favorite")) {
            let adjective = words.remove(at);
            words.insert(0, adjective);
        }
        words.insert(0, Token::new(owner));
        (words.len() > 1).then_some(words)
    }

    /// The glosses of a range, without what the verb has taken.
    pub(super) fn words(&mut self, range: Range<usize>) -> Vec<Token> {
        let reading = self.reading;
        let dictionary = &reading.table.compiled().dictionary;
        let mut out: Vec<Token> = Vec::new();
        let mut at = range.start;
        while at < range.end.min(reading.tokens.len()) {
            let token = &reading.tokens[at];
            if self.consumed.contains(&at) {
                if let Some(last) = out.last_mut() {
                    last.tail.push_str(&token.tail);
                }
                at += 1;
                continue;
            }
            let free = (at..range.end)
                .take_while(|at| !self.consumed.contains(at))
                .count();
            let (count, text) = match dictionary.phrase(&reading.tokens[at..at + free]) {
                Some((count, text)) => {
                    self.known += 1;
                    (count, text)
                }
                None => (1, self.word(token, out.last())),
            };
            let last = &reading.tokens[at + count - 1];
            let first = out.len();
            out.extend(
                text.split(' ')
                    .filter(|word| !word.is_empty())
                    .map(Token::new),
            );
            match out.get_mut(first) {
                Some(token_out) => token_out.lead.clone_from(&token.lead),
                None => {
                    if let Some(before) = out.last_mut() {
                        before.tail.push_str(&last.tail);
                    }
                }
            }
            if out.len() > first
                && let Some(token_out) = out.last_mut()
            {
                token_out.tail.clone_from(&last.tail);
            }
            at += count;
        }
        out
    }

    /// The gloss of one word behind another.
    fn word(&mut self, token: &Token, before: Option<&Token>) -> String {
        let dictionary = &self.reading.table.compiled().dictionary;
        let word = token.lower.as_str();
        let is_complement = self.reading.base == "be"
            && before.is_none_or(|before| {
                has("a an the not no longer also", &before.lower) || is_adverb(before)
            });
        let is_role = before.is_some_and(|before| {
            has(BEFORE_PROFESSION, &before.lower) || before.is("a") && self.reading.base == "work"
        });
        if (is_complement || is_role)
            && let Some((more, english)) = dictionary.profession(word)
        {
            self.known += 1;
            self.has_profession = true;
            let article = match before {
                Some(before) if before.is("a") || is_role => "",
                _ => "a",
            };
            // What follows a noun says which: "développeur web".
            let is_alone = self.reading.table.has_compounds || token.breaks();
            let of = if is_alone && !token.tail.contains(',') {
                ""
            } else {
                "of"
            };
            return format!("{article} {more} {english} {of}");
        }
        if let Some(gloss) = dictionary.word(word) {
            self.known += usize::from(gloss != word && !has(self.reading.table.shared_words, word));
            return gloss.to_owned();
        }
        if let Some(noun) = word
            .strip_prefix("lieblings")
            .filter(|_| self.reading.table.has_compounds)
        {
            self.known += 1;
            return format!("favorite {}", dictionary.word(noun).unwrap_or(noun));
        }
        token.text.clone()
    }

    /// Takes the negation out of the words.
    pub(super) fn negation(&self, words: &mut Vec<Token>) -> Vec<&'static str> {
        let is_ended = |words: &[Token]| {
            let mut pairs = words.windows(2);
            pairs.any(|pair| pair[0].is("no") && pair[1].is("longer"))
        };
        let has_no = words.iter().any(|token| token.is("not"));
        let raw = self.reading.tokens;
        let ends = raw[self.reading.verb..]
            .iter()
            .any(|token| has(self.reading.table.no_longer, &token.lower));
        let out = match () {
            () if is_ended(words) || has_no && ends => vec!["no", "longer"],
            () if words.iter().any(|token| token.is("never")) => vec!["never"],
            () if has_no => vec!["not"],
            () => return Vec::new(),
        };
        let ended = words
            .windows(2)
            .position(|pair| pair[0].is("no") && pair[1].is("longer"));
        if let Some(at) = ended {
            let tail = words[at + 1].tail.clone();
            words.drain(at..at + 2);
            if let Some(before) = at.checked_sub(1).and_then(|at| words.get_mut(at)) {
                before.tail.push_str(&tail);
            }
        }
        words.retain(|token| {
            let is_end = out.len() == 2 && has("more mehr plus", &token.lower);
            !(is_end || token.is("not") || token.is("never"))
        });
        out
    }
}
