//! A clause in the words that the rules of English read.
//!
//! "Seit 2016 arbeite ich bei Kranz" becomes "I work at Kranz since 2016". The gloss decides; nobody reads it.

use std::collections::HashSet;
use std::ops::Range;

use crate::text::predicate::is_adverb;
use crate::text::tokens::{Token, plain_tokens};
use crate::text::verbs::third_person;

use super::reading::{Reading, SubjectKind, read_fact, with_elisions_apart};
use super::table::{TABLES, WordOrder, has};
use super::verbs::{Form, VerbTense};
use super::words::{is_ordinal, is_unit};

/// States: a past without "since" or "always" says that they are over.
const STATES: &str = "live work like love hate prefer speak smoke";
/// Verbs that one "can": a skill.
const SKILLS: &str = "speak play swim drive cook code program sing dance";
/// Words that say that a verb in the present is ahead.
const AHEAD: &str = "next tomorrow";
/// Forms of verbs that are English words as well.
const ENGLISH_WORDS: &str = "will come use a code";
/// Small words that none of the languages has: a fact with one of them is English. Titles have capitals.
const ENGLISH_ALONE: &str = "the with to for of and is are were their from that this be have been not";
/// Words behind which a noun is a profession.
const BEFORE_PROFESSION: &str = "as";

/// The gloss of a fact's text, if it is in one of the languages.
pub(crate) fn gloss_of_fact(text: &str) -> Option<Vec<Token>> {
    let plain = plain_tokens(text);
    if plain.iter().any(|token| has(ENGLISH_ALONE, &token.text)) {
        return None;
    }
    let glosses = TABLES.into_iter().filter_map(|table| {
        let tokens = with_elisions_apart(plain.clone(), table);
        let reading = read_fact(table, &tokens)?;
        gloss(&reading)
    });
    // "User will visit Rome": the verb is an English word, too, and nothing else is of the language. "User va a Roma" may
    // be French or Spanish: the language that knows most of the words has it.
    let known = glosses.filter(|gloss| gloss.known > 0).max_by_key(|gloss| gloss.known);
    known.map(|gloss| gloss.tokens)
}

/// A glossed clause.
pub(super) struct Gloss {
    pub(super) tokens: Vec<Token>,
    /// True if a word of the list of professions is among them.
    pub(super) has_profession: bool,
    /// How many words are of the language and of no other.
    known: usize,
}

/// Glosses a clause; `None` if its verb is not understood.
pub(super) fn gloss(reading: &Reading<'_>) -> Option<Gloss> {
    let mut glosser = Glosser::of(reading);
    let verb = glosser.verb_phrase()?;
    let is_called = reading.base == "be called" && reading.kind == SubjectKind::One;
    let mut behind = glosser.words(reading.verb + 1..reading.tokens.len());
    let small = glosser.words(reading.group..reading.verb);
    let mut front = glosser.words(0..reading.front);
    behind.splice(0..0, small);
    let mut time = times(&mut behind);
    time.extend(times(&mut front));
    if !front.is_empty() {
        for token in behind.last_mut().into_iter().chain(&mut front) {
            token.tail.clear();
        }
        behind.append(&mut front);
    }
    if !time.is_empty() {
        for token in &mut behind {
            token.tail = token.tail.replace(['.', '!'], "");
        }
        // A preposition keeps the time out of the value of a slot.
        if behind.is_empty() {
            behind.push(Token::new("then"));
        }
        if !has("since for", &time[0].lower) {
            behind.push(Token::new("during"));
        }
        behind.extend(time);
    }
    let negation = glosser.negation(&mut behind);
    directed(&verb, &mut behind);
    working_on(reading, &mut behind);
    let verb = coming_from(verb, reading, &mut behind)?;
    let mut out = glosser.subject(is_called)?;
    if is_called {
        out.extend(["name", "is"].map(Token::new));
    }
    out.extend(negation.iter().map(|word| Token::new(word)));
    if !is_called {
        out.extend(glosser.inflected(verb).iter().map(|word| Token::new(word)));
    }
    // Nothing may end the clause before its object.
    out.extend(behind);
    Some(Gloss {
        tokens: out,
        has_profession: glosser.has_profession,
        known: glosser.known,
    })
}

/// Takes relative dates out of the words: in English they stand behind the object.
fn times(words: &mut Vec<Token>) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let next = words.get(at + 1);
        let count = match () {
            () if has("yesterday today tomorrow", &words[at].lower) => 1,
            () if words[at].is("since")
                && next.is_some_and(|next| next.has_digit() || next.is("yesterday")) =>
            {
                2
            }
            () if words[at].is("for")
                && words.get(at + 2).is_some_and(|unit| is_unit(&unit.lower)) =>
            {
                3
            }
            () if words[at].is("last") || words[at].is("next") => 2,
            () if next.is_some_and(|next| is_unit(&next.lower))
                && words.get(at + 2).is_some_and(|ago| ago.is("ago")) =>
            {
                3
            }
            () => 0,
        };
        if count == 0 || at + count > words.len() {
            at += 1;
            continue;
        }
        out.extend(words.drain(at..at + count).map(|mut token| {
            token.tail.clear();
            token
        }));
    }
    out
}

/// Makes the first prepositions those that the English verb has: "habite à" is "live in", "déménagé en" is "moved to".
fn directed(verb: &str, words: &mut Vec<Token>) {
    let is = |verbs: &str| verb.split(' ').any(|word| has(verbs, word));
    let (from, to) = match () {
        () if is("live born work study grew grow") => ("to", "in"),
        () if is("switch switched move moved travel traveled fly flew go went") => ("in", "to"),
        () if is("suffer suffered") => ("of", "from"),
        () if is("play played") => {
            if words.first().is_some_and(|word| has("to of in", &word.lower)) {
                words.remove(0);
            }
            return;
        }
        () => return,
    };
    if let Some(word) = words.iter_mut().find(|word| word.is(from)) {
        word.set(to);
    }
    let origin = words.iter_mut().find(|word| to == "to" && word.is("of"));
    if let Some(word) = origin {
        word.set("from");
    }
}

/// "Trabajo en un script": the language has one word for "at" and "on", and the noun decides.
fn working_on(reading: &Reading<'_>, words: &mut [Token]) {
    let places = reading.table.workplaces;
    if places.is_empty() || reading.base != "work" {
        return;
    }
    let Some(at) = words.iter().position(|word| word.is("in")) else {
        return;
    };
    let noun = words[at + 1..].iter().find(|word| !has("a the this their my", &word.lower));
    if noun.is_some_and(|noun| !noun.is_capital() && !has(places, &noun.lower)) {
        words[at].set("on");
    }
}

/// "Ich komme aus Bayern", "soy de Sevilla": where one is from. What one drives is an object: "fahre nach Rom" has none.
fn coming_from(verb: String, reading: &Reading<'_>, words: &mut [Token]) -> Option<String> {
    let is_place = words.get(1).is_some_and(|word| word.is_capital() || word.is("the"));
    let is_present = reading.tense == VerbTense::Present;
    let Some(first) = words.first_mut() else {
        return Some(verb);
    };
    match verb.as_str() {
        "come" if first.is("from") && is_present => Some("am".into()),
        "come" if first.is("of") && is_place && is_present => {
            first.set("from");
            Some("am".into())
        }
        "come" => None,
        "am" if first.is("of") && is_place => {
            first.set("from");
            Some(verb)
        }
        "drive" if !has("a an the my", &first.lower) => None,
        "speak" | "speaks" if has("of about with to in at", &first.lower) => None,
        _ => Some(verb),
    }
}

struct Glosser<'r, 't> {
    reading: &'r Reading<'t>,
    /// Tokens that the verb has taken.
    consumed: HashSet<usize>,
    known: usize,
    is_ahead: bool,
    has_every: bool,
    lasts: bool,
    is_negated: bool,
    has_profession: bool,
}

impl<'r, 't> Glosser<'r, 't> {
    fn of(reading: &'r Reading<'t>) -> Self {
        let mut glosser = Self {
            reading,
            consumed: HashSet::from_iter(reading.prefix),
            known: usize::from(!has(ENGLISH_WORDS, &reading.tokens[reading.verb].lower)),
            is_ahead: false,
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
        (glosser.lasts, glosser.is_negated) = (any("since always for"), any("not never"));
        glosser.known = usize::from(!has(ENGLISH_WORDS, &reading.tokens[reading.verb].lower));
        glosser
    }

    fn token(&self, at: usize) -> Option<&'t Token> {
        self.reading.tokens.get(at)
    }

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
                gloss.is_empty() || has("not never no longer", gloss) || is_adverb(&Token::new(gloss))
            });
            !is_small && !has(reading.table.no_longer, word)
        })
    }

    /// The English verb and past of the partner in a form, which the verb then takes.
    fn partner(&mut self, form: &Form) -> Option<(&'static str, &'static str)> {
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
        if self.reading.table.order != WordOrder::VerbSecond && self.token(at)?.is_any(&["de", "d'", "a"]) {
            self.consumed.insert(at);
            at += 1;
        }
        // "me mudar": the pronoun of the infinitive.
        while self.token(at).is_some_and(|t| t.is_any(&["m'", "me", "nous"])) {
            self.consumed.insert(at);
            at += 1;
        }
        let token = self.token(at)?;
        let known = self.reading.table.nonfinite(&token.lower, &Form::Infinitive);
        let ends: &[&str] = match self.reading.table.order {
            WordOrder::VerbSecond => &["en", "ern", "eln"],
            WordOrder::SubjectFirst => &["er", "ir", "re"],
            WordOrder::Dropped => &["ar", "er", "ir", "arme", "erme", "irme", "arnos"],
        };
        let is_unknown = !token.is_capital() && ends.iter().any(|end| token.lower.ends_with(end));
        let english = match known {
            Some((base, _)) => base.to_owned(),
            None if is_unknown && self.reading.table.compiled().dictionary.word(&token.lower).is_none() => {
                token.lower.clone()
            }
            None => return None,
        };
        let is_alone = self.reading.tokens[at + 1..].iter().all(|token| token.text.is_empty())
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
            let verb = self.reading.table.nonfinite(&tokens[at].lower, &Form::Infinitive)?;
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
    fn verb_phrase(&mut self) -> Option<String> {
        let reading = self.reading;
        let is_present = reading.tense == VerbTense::Present;
        match reading.base {
            "be" => self.being(is_present),
            "have" | "aux" => self.having(is_present),
            "will" => match self.infinitive() {
                Some(base) => Some(format!("will {base}")),
                None if self.has_every && reading.table.order != WordOrder::VerbSecond => Some("go".into()),
                None => None,
            },
            "want" => match self.infinitive() {
                Some(base) => Some(format!("want to {base}")),
                // "Quiero dormir" is a mood, not a plan.
                None => {
                    let is_thing = self.partner_at().and_then(|at| self.token(at));
                    let word = is_thing.map_or("", |token| token.lower.as_str());
                    let is_verb = ["en", "er", "ar", "ir", "re"].iter().any(|end| word.ends_with(end));
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
                let (base, _) = self.partner(&Form::Infinitive)?;
                has(SKILLS, base).then(|| format!("know how to {base}"))
            }
            "just" => {
                let at = self.partner_at()?;
                let verb = self.token(at + 1)?.lower.clone();
                let verb = verb.strip_suffix("me").unwrap_or(&verb).to_owned();
                let Some(found) = reading.table.nonfinite(&verb, &Form::Infinitive) else {
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
        if let Some(done) = self.partner(&Form::Participle) {
            return Some(self.past(done));
        }
        if let Some((base, _)) = self.partner(&Form::Gerund) {
            return Some(base.to_owned());
        }
        let tokens = self.reading.tokens;
        let from = self.reading.verb + 1;
        let is_under_way = ["en", "train"]
            .iter()
            .zip(tokens.get(from..).unwrap_or_default())
            .all(|(word, token)| token.is(word));
        if is_under_way && tokens.len() > from + 3 {
            let (base, _) = self.reading.table.nonfinite(&tokens[from + 3].lower, &Form::Infinitive)?;
            self.consumed.extend(from..from + 4);
            return Some(base.to_owned());
        }
        Some(if is_present { "am" } else { "was" }.to_owned())
    }

    fn having(&mut self, is_present: bool) -> Option<String> {
        if let Some(done) = self.partner(&Form::Participle) {
            return Some(self.decided(done));
        }
        if self.reading.base == "aux" {
            return None;
        }
        let is_german = self.reading.table.order == WordOrder::VerbSecond;
        let last = self.partner_at().and_then(|at| self.token(at));
        // A participle that the table does not know: who knows what was done.
        let is_unknown = last.is_some_and(|token| {
            is_german && !token.is_capital() && (token.lower.ends_with('t') || token.lower.ends_with("en"))
        });
        if is_unknown && last.is_some_and(|t| self.reading.table.compiled().dictionary.word(&t.lower).is_none()) {
            return None;
        }
        let from = self.reading.verb + 1;
        let is_age = self.token(from).is_some_and(Token::has_digit)
            && self.token(from + 1).is_some_and(|t| t.is_any(&["ans", "años"]));
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
        Some(if self.is_ahead && !has(STATES, base) {
            format!("will {base}")
        } else {
            base.to_owned()
        })
    }

    /// The words of the verb for the subject.
    fn inflected(&self, verb: String) -> Vec<String> {
        let reading = self.reading;
        let is_plural = reading.kind == SubjectKind::Several;
        let is_third = reading.kind == SubjectKind::Owned || reading.is_fact && !is_plural;
        let mut words: Vec<String> = verb.split(' ').map(str::to_owned).collect();
        let at = usize::from(words[0] == "just");
        let is_base = words[at] == reading.base.split(' ').next().unwrap_or_default()
            || matches!(&*words[at], "am" | "have" | "want" | "know" | "like" | "prefer" | "go");
        if is_third && is_base && at == 0 {
            words[0] = third_person(&words[0]);
        }
        words
    }

    fn subject(&mut self, is_called: bool) -> Option<Vec<Token>> {
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
        let user = range.clone().find(|at| tokens[*at].is("user") || tokens[*at].is("user's"));
        let (owner, skipped) = match user.filter(|_| reading.is_fact) {
            Some(at) => ("User's", if at > 0 { vec![0, at - 1, at] } else { vec![at] }),
            None => ("my", vec![range.start]),
        };
        self.consumed.extend(skipped);
        let owner_word = tokens[range.start].lower.clone();
        let mut words = self.words(range);
        for word in &mut words {
            word.tail.clear();
        }
        // A German noun has a capital as a name has: "my address", but "my sister Wiebke".
        let is_owned = |token: &&Token| token.is_capital() && !token.is("user's") && !token.is(&owner_word);
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
    fn words(&mut self, range: Range<usize>) -> Vec<Token> {
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
            let free = (at..range.end).take_while(|at| !self.consumed.contains(at)).count();
            let (count, text) = match dictionary.phrase(&reading.tokens[at..at + free]) {
                Some((count, text)) => {
                    self.known += 1;
                    (count, text)
                }
                None => (1, self.word(token, out.last())),
            };
            let last = &reading.tokens[at + count - 1];
            let first = out.len();
            out.extend(text.split(' ').filter(|word| !word.is_empty()).map(Token::new));
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
            && before.is_none_or(|before| has("a an the not no longer also", &before.lower) || is_adverb(before));
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
            let of = if is_alone && !token.tail.contains(',') { "" } else { "of" };
            return format!("{article} {more} {english} {of}");
        }
        if let Some(gloss) = dictionary.word(word) {
            self.known += usize::from(gloss != word && !has(self.reading.table.shared_words, word));
            return gloss.to_owned();
        }
        if let Some(noun) = word.strip_prefix("lieblings").filter(|_| self.reading.table.has_compounds) {
            self.known += 1;
            return format!("favorite {}", dictionary.word(noun).unwrap_or(noun));
        }
        token.text.clone()
    }

    /// Takes the negation out of the words.
    fn negation(&self, words: &mut Vec<Token>) -> Vec<&'static str> {
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
        let ended = words.windows(2).position(|pair| pair[0].is("no") && pair[1].is("longer"));
        if let Some(at) = ended {
            let tail = words[at + 1].tail.clone();
            words.drain(at..at + 2);
            if let Some(before) = at.checked_sub(1).and_then(|at| words.get_mut(at)) {
                before.tail.push_str(&tail);
            }
        }
        words.retain(|token| {
            !token.is("not") && !token.is("never") && !(out.len() == 2 && has("more mehr plus", &token.lower))
        });
        out
    }
}
