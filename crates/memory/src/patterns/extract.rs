//! From the text of a turn to facts.

use crate::text::sentences::sentences;
use crate::text::tokens::{Token, join};

use super::clauses::{clauses, is_correcting, without_openers};
use super::content::{has_content, is_content};
use super::families::{self, Family, elided, family_of};
use super::guards::{points_elsewhere, quoted, refuses_clause, refuses_negation, refuses_sentence};
use super::person::{rewritten, with_subject};
use super::reasons::{
    Statement, conclusion, corrected_use, inference, is_reasoned, observation, procedure,
    reason_of, reasoned,
};
use crate::text::predicate::{Mood, predicate};
use crate::text::verbs::{is_plain_verb, singular};

/// The confidence of a fact that a pattern found; the paper's.
pub(crate) const PATTERN_CONFIDENCE: f32 = 0.7;

/// A fact that a pattern found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PatternFact {
    /// The sentence, in the third person.
    pub(crate) text: String,
    pub(crate) family: Family,
    /// The clause as it was written, contractions written out: what dates refer to.
    pub(crate) source: String,
    /// True if the sentence begins with words that correct: "no, …", "actually, …".
    pub(crate) is_correcting: bool,
    /// Positions of earlier facts of the turn that it follows from.
    pub(crate) because: Vec<usize>,
}

impl PatternFact {
    pub(crate) fn of(text: String, family: Family, source: String) -> Self {
        Self {
            text,
            family,
            source,
            is_correcting: false,
            because: Vec::new(),
        }
    }
}

impl From<Statement> for PatternFact {
    fn from(statement: Statement) -> Self {
        Self::of(statement.text, statement.family, statement.source)
    }
}

/// The facts of a turn. `speaker` is the name for "I"; `names` are those of other speakers, lower case.
pub(crate) fn facts_in(text: &str, speaker: &str, names: &[String]) -> Vec<PatternFact> {
    let mut found = TurnFacts::default();
    let all = sentences(text);
    for (number, sentence) in all.iter().enumerate() {
        let is_correcting = is_correcting(sentence);
        let body = without_openers(sentence);
        if body.is_empty() || body.iter().all(|token| token.text.is_empty()) {
            continue;
        }
        let before = number.checked_sub(1).map(|before| all[before].as_slice());
        if let Some(fact) = standing_request(body, speaker) {
            found.add(fact);
        } else if let Some(said) = procedure(body) {
            found.add(said.into());
        } else if let Some(said) = corrected_use(body, speaker).filter(|_| is_correcting) {
            found.add(PatternFact {
                is_correcting,
                ..said.into()
            });
        } else if let Some((premise, concluded)) = conclusion(body) {
            found.concluded((premise, before), concluded, (speaker, names));
        } else {
            let body = without_reminder(body);
            if refuses_sentence(body) {
                continue;
            }
            found.sentence(body, is_correcting, (speaker, names));
        }
    }
    found.facts
}

/// The facts of a turn so far; each text once.
#[derive(Default)]
struct TurnFacts {
    facts: Vec<PatternFact>,
}

impl TurnFacts {
    /// The position of a fact, which is added unless it is there.
    fn add(&mut self, fact: PatternFact) -> Option<usize> {
        if fact.text.is_empty() {
            return None;
        }
        let known = self.facts.iter().position(|known| known.text == fact.text);
        if known.is_none() {
            self.facts.push(fact);
        }
        known.or(self.facts.len().checked_sub(1))
    }

    /// The facts of a sentence, and the reason of those that have one.
    fn sentence(
        &mut self,
        body: &[Token],
        is_correcting: bool,
        (speaker, names): (&str, &[String]),
    ) {
        let mut found = clause_facts(body, speaker, names);
        let split = reasoned(body);
        if let Some(split) = &split
            && found.is_empty()
        {
            // What is not understood as a whole may be without its reason.
            found = clause_facts(without_openers(split.main), speaker, names);
            found.retain(|fact| is_reasoned(fact.family));
        }
        let has_reason = found.iter().any(|fact| is_reasoned(fact.family));
        let reason = split.filter(|_| has_reason);
        let reason = reason.and_then(|split| reason_of(&split, speaker));
        let because = reason.and_then(|reason| self.add(reason.into()));
        for fact in found {
            let is_own = is_reasoned(fact.family);
            let because = because.filter(|_| is_own).into_iter().collect();
            self.add(PatternFact {
                is_correcting,
                because,
                ..fact
            });
        }
    }

    /// What is concluded, from the beginning of its sentence or from the sentence before.
    fn concluded(
        &mut self,
        (premise, before): (&[Token], Option<&[Token]>),
        concluded: &[Token],
        (speaker, names): (&str, &[String]),
    ) {
        let Some(said) = inference(concluded, speaker) else {
            return;
        };
        let premise = match (premise.is_empty(), before) {
            (true, Some(before)) => without_openers(before),
            _ => premise,
        };
        let mut facts = clause_facts(premise, speaker, names);
        if facts.is_empty() {
            facts.extend(observation(premise, speaker).map(PatternFact::from));
        }
        let because: Vec<usize> = facts
            .into_iter()
            .filter_map(|fact| self.add(fact))
            .collect();
        self.add(PatternFact {
            because,
            ..said.into()
        });
    }
}

/// The facts of the clauses of a sentence.
fn clause_facts(body: &[Token], speaker: &str, names: &[String]) -> Vec<PatternFact> {
    let mut out = Vec::new();
    if body.is_empty() || refuses_sentence(body) {
        return out;
    }
    let quoted = quoted(body);
    let mut at = 0;
    for clause in clauses(body) {
        // A clause is a part of the body; where it begins says which of its words are quoted.
        let start = body[at..]
            .iter()
            .position(|token| std::ptr::eq(token, &raw const clause[0]))
            .unwrap_or(0)
            + at;
        at = start;
        let is_quoted = &quoted[start..start + clause.len()];
        let clause_only = without_openers(clause);
        let is_quoted = &is_quoted[clause.len() - clause_only.len()..];
        out.extend(facts_of(clause_only, is_quoted, speaker, names));
    }
    out
}

/// Without "remember that", "note that", "just so you know".
fn without_reminder(tokens: &[Token]) -> &[Token] {
    const REMINDERS: [&[&str]; 10] = [
        &["remember", "that"],
        &["please", "remember", "that"],
        &["please", "remember"],
        &["remember"],
        &["note", "that"],
        &["please", "note", "that"],
        &["keep", "in", "mind", "that"],
        &["do", "not", "forget", "that"],
        &["just", "so", "you", "know"],
        &["i", "mean"],
    ];
    for reminder in REMINDERS {
        let is_it = tokens.len() > reminder.len()
            && reminder
                .iter()
                .zip(tokens)
                .all(|(word, token)| token.is(word));
        if is_it {
            return without_openers(&tokens[reminder.len()..]);
        }
    }
    tokens
}

/// What stands before a standing instruction in a memory of one.
const ASKS: &str = " asks: ";

/// True for the memory of a standing instruction: "User asks: always reply in German".
pub fn is_standing(memory: &str) -> bool {
    memory.contains(ASKS)
}

/// "Please always reply in German", "call me Bob", "forget that I live in Rome".
fn standing_request(tokens: &[Token], speaker: &str) -> Option<PatternFact> {
    let source = join(tokens);
    if source.contains('?') {
        return None;
    }
    let fact = |text: String, family| Some(PatternFact::of(text, family, source.clone()));
    let polite = tokens
        .iter()
        .take_while(|token| token.is_any(&["please", "just", "can", "you"]))
        .count();
    let rest = &tokens[polite..];
    let [first, others @ ..] = rest else {
        return None;
    };
    // "Forget what I said about my salary", "forget everything about me": which memory is meant is not known.
    let is_open = others
        .iter()
        .take(3)
        .any(|token| token.is_any(&["what", "everything", "anything", "all", "whatever", "said"]));
    if first.is_any(&["forget", "delete", "remove"]) && others.len() > 1 && !is_open {
        let skipped = others
            .iter()
            .take_while(|token| {
                token.is_any(&["that", "about", "the", "memory", "fact", "what", "said"])
            })
            .count();
        let named = &others[skipped..];
        let is_about_speaker = named
            .first()
            .is_some_and(|token| token.is_any(&["i", "my", "we", "our"]));
        return (is_about_speaker && has_content(named))
            .then(|| fact(rewritten(named, speaker), families::RETRACTION))?;
    }
    if first.is("call") && others.len() >= 2 && others[0].is("me") && others[1].is_capital() {
        return fact(
            format!("{speaker} wants to be called {}", name_of(&others[1..])),
            families::NAME,
        );
    }
    let from_now = rest.len() > 4 && rest[0].is("from") && rest[1].is("now") && rest[2].is("on");
    let rest = if from_now {
        without_openers(&rest[3..])
    } else {
        rest
    };
    let (first, others) = rest.split_first()?;
    let is_standing = first.is_any(&["always", "never"])
        || from_now
        || first.is("do") && others.first().is_some_and(|t| t.is("not")) && polite > 0;
    #[rustfmt::skip]
    const ORDERS: &[&str] = &[
        "add", "address", "answer", "ask", "avoid", "call", "check", "cite", "commit", "confirm", "consider", "deploy",
        "describe", "document", "explain", "follow", "format", "give", "highlight", "include", "keep", "lint", "list",
        "log", "mention", "merge", "name", "note", "prefix", "provide", "push", "put", "quote", "recommend", "remind",
        "reply", "respond", "return", "round", "run", "send", "show", "sign", "speak", "specify", "squash", "start",
        "state", "suggest", "summarise", "summarize", "tell", "test", "translate", "update", "use", "validate", "verify",
        "warn", "wrap", "write",
    ];
    let has_order = rest.iter().take(3).any(|token| token.is_any(ORDERS));
    let is_about_answers = first.is_any(&["reply", "answer", "respond"])
        && others.iter().take(3).any(|t| t.is("in") || t.is("with"));
    if (is_standing && has_order || is_about_answers) && has_content(others) {
        let order = rewritten(rest, speaker);
        let mut chars = order.chars();
        let lower: String = chars
            .next()
            .into_iter()
            .flat_map(char::to_lowercase)
            .chain(chars)
            .collect();
        return fact(format!("{speaker}{ASKS}{lower}"), families::REQUEST);
    }
    None
}

/// The facts of one clause: one, or none; two for "I'm Bob from Rome".
fn facts_of(
    clause: &[Token],
    is_quoted: &[bool],
    speaker: &str,
    names: &[String],
) -> Vec<PatternFact> {
    if clause.len() < 2 || refuses_sentence(clause) || refuses_clause(clause) {
        return Vec::new();
    }
    let one = |text: String, family: Family| vec![PatternFact::of(text, family, join(clause))];
    if let Some(at) = subject(clause, is_quoted) {
        if clause[at].is("i")
            && let Some(facts) = introduction(clause, at, speaker)
        {
            return facts;
        }
        let found = match clause[at].lower.as_str() {
            "i" | "we" => first_person(clause, at),
            _ => possessive(clause, at),
        };
        return found
            .map(|family| one(rewritten(clause, speaker), family))
            .unwrap_or_default();
    }
    if let Some(family) = third_person_statement(clause, names) {
        return one(rewritten(clause, speaker), family);
    }
    let has_other_subject = clause
        .iter()
        .any(|token| token.is_any(&["he", "she", "they"]));
    if !has_other_subject
        && let Some((verb, family)) = elided(clause)
        && !points_elsewhere(&clause[verb + 1..])
    {
        return one(with_subject(clause, verb, speaker), family);
    }
    Vec::new()
}

/// Words that begin an adverbial before the subject: "Last week I …".
const FRONTED: [&str; 46] = [
    "yesterday",
    "today",
    "tonight",
    "last",
    "this",
    "next",
    "in",
    "on",
    "at",
    "after",
    "before",
    "during",
    "recently",
    "currently",
    "now",
    "these",
    "lately",
    "once",
    "for",
    "since",
    "every",
    "as",
    "by",
    "growing",
    "also",
    "then",
    "still",
    "normally",
    "usually",
    "sometimes",
    "actually",
    "basically",
    "honestly",
    "personally",
    "finally",
    "first",
    "when",
    "back",
    "over",
    "from",
    "until",
    "nowadays",
    "besides",
    "even",
    "because",
    "although",
];
/// Words of such an adverbial.
const FRONTED_WORDS_MAX: usize = 10;

/// Where the subject of the first person stands, if it begins the clause.
fn subject(clause: &[Token], is_quoted: &[bool]) -> Option<usize> {
    let limit = clause.len().min(FRONTED_WORDS_MAX + 1);
    for at in 0..limit {
        let token = &clause[at];
        if is_quoted[at] || token.is_any(&["he", "she", "they"]) {
            return None;
        }
        if !token.is_any(&["i", "we", "my", "our"]) {
            continue;
        }
        if at == 0 {
            return Some(0);
        }
        let is_first_person = token.is("i") || token.is("we");
        let is_fronted = clause[0].is_any(&FRONTED)
            || clause[..at].iter().all(crate::text::predicate::is_adverb);
        let breaks = clause[at - 1].breaks();
        // "This photo is from a day when we …": the clause has another subject.
        if clause[..at]
            .iter()
            .any(|token| token.is_any(&["is", "are", "was", "were"]))
            && !clause[at - 1].breaks()
        {
            return None;
        }
        // "in my office I …": the possessive is part of the adverbial.
        if is_first_person && (is_fronted || breaks) {
            let is_inner = clause[0].is_any(&[
                "when", "since", "before", "after", "because", "as", "although",
            ]) && !breaks;
            if is_inner && at < clause.len() {
                continue;
            }
            return Some(at);
        }
        if !is_first_person && breaks && is_fronted {
            return Some(at);
        }
    }
    None
}

pub(super) fn first_person(clause: &[Token], at: usize) -> Option<Family> {
    let p = predicate(clause, at + 1)?;
    let family = family_of(clause, &p)?;
    let rest = &clause[p.at + 1..];
    // "We need to show support": an appeal, no plan.
    if clause[at].is("we") && p.base == "need" {
        return None;
    }
    let points = (p.base != "be" || family.name == "preference") && points_elsewhere(rest);
    if points || refuses_negation(&p, family.name) {
        return None;
    }
    // A plan says what is planned.
    if p.mood == Mood::Ahead && rest.iter().filter(|token| is_content(token)).count() == 0 {
        return None;
    }
    Some(family)
}

/// Nouns of "my X is …" that say nothing of the speaker.
const POSSESSIONS_REFUSED: [&str; 30] = [
    "point",
    "guess",
    "question",
    "bad",
    "pleasure",
    "mind",
    "fault",
    "day",
    "turn",
    "apologies",
    "understanding",
    "thoughts",
    "thought",
    "mistake",
    "honor",
    "honour",
    "god",
    "goodness",
    "word",
    "bet",
    "impression",
    "advice",
    "answer",
    "response",
    "message",
    "feeling",
    "feelings",
    "luck",
    "week",
    "weekend",
];

/// Beings that one has.
const RELATIVES: &str = " wife husband partner spouse girlfriend boyfriend fiance fiancee son daughter child kid kids children \
    mother father mom mum dad parents brother sister sibling siblings grandmother grandfather grandma grandpa aunt uncle \
    cousin niece nephew friend friends boss manager colleague colleagues coworker roommate neighbor neighbour neighbors \
    dog dogs cat cats puppy kitten pet pets horse teacher mentor therapist doctor team family girl boy twin twins ex ";

/// The family of "my X is …".
pub(super) fn possessive(clause: &[Token], at: usize) -> Option<Family> {
    let verb =
        (at + 2..clause.len().min(at + 9)).find(|verb| is_plain_verb(&clause[*verb].lower))?;
    let noun = &clause[verb - 1];
    let nouns = &clause[at + 1..verb];
    if nouns.iter().any(|token| token.is_any(&POSSESSIONS_REFUSED))
        || nouns.iter().any(|t| t.breaks() && !std::ptr::eq(t, noun))
    {
        return None;
    }
    let p = predicate(clause, verb)?;
    let rest = &clause[p.at + 1..];
    let is_possible = p.base == "can" || rest.first().is_some_and(|token| token.is("when"));
    if p.mood == Mood::Unreal || is_possible || !has_content(rest) || points_elsewhere(rest) {
        return None;
    }
    let has = |words: &[&str]| nouns.iter().any(|token| token.is_any(words));
    let is_relative = nouns.iter().any(|token| {
        let word = token.lower.strip_suffix("'s").unwrap_or(&token.lower);
        RELATIVES
            .split_ascii_whitespace()
            .any(|relative| relative == word)
    });
    Some(match () {
        () if has(&["name"]) => families::NAME,
        () if has(&["favorite", "favourite"]) => families::FAVOURITE,
        () if has(&["goal", "goals", "dream", "aim", "plan", "ambition"]) => families::PLAN,
        () if is_relative => families::RELATION,
        () if p.base == "be" || p.base == "have" => families::STATEMENT,
        () => families::EVENT,
    })
}

/// "I'm Bob", "I'm Bob Smith from Rome".
fn introduction(clause: &[Token], at: usize, speaker: &str) -> Option<Vec<PatternFact>> {
    if !clause.get(at + 1)?.is("am") {
        return None;
    }
    let called = clause.get(at + 2)?.is_any(&["called", "named"]);
    let rest = &clause[at + 2 + usize::from(called)..];
    let name = name_of(rest);
    let words = name.split(' ').filter(|word| !word.is_empty()).count();
    if words == 0 || words > 3 || !called && is_origin(&rest[0].lower) {
        return None;
    }
    let behind = rest.get(words);
    // "I'm Rex and Bella's owner", "I'm Ottilie's": the names are those of others.
    let is_owner = |token: &Token| token.is_capital() && token.lower.ends_with("'s");
    let joins = behind.is_some_and(|token| token.is("and"));
    let others = rest.iter().skip(words).take(if joins { 3 } else { 0 });
    if rest[..words].iter().chain(others).any(is_owner) {
        return None;
    }
    let ends = rest[words - 1].breaks()
        || behind.is_none_or(|token| token.is_any(&["and", "from", "by"]) || token.text.is_empty());
    if !ends {
        return None;
    }
    let fact = |text: String, family| PatternFact::of(text, family, join(clause));
    let mut out = vec![fact(format!("{speaker}'s name is {name}"), families::NAME)];
    if behind.is_some_and(|token| token.is("from")) {
        let mut place = vec![Token::new(speaker), Token::new("is")];
        place.extend_from_slice(&rest[words..]);
        out.push(fact(rewritten(&place, speaker), families::HOME));
    }
    Some(out)
}

/// The capitalised words at the start of tokens.
pub(super) fn name_of(tokens: &[Token]) -> String {
    let mut name: Vec<&str> = Vec::new();
    for token in tokens {
        let mut chars = token.text.chars();
        let is_name = chars.next().is_some_and(char::is_uppercase)
            && token.text.chars().count() > 1
            && chars.all(|c| {
                c.is_lowercase()
                    || matches!(c, '\'' | '-' | '.')
                    || c.is_uppercase() && token.text.contains(['-', '\''])
            });
        if !is_name {
            break;
        }
        name.push(&token.text);
        if token.breaks() {
            break;
        }
    }
    name.join(" ")
}

/// True for words with a capital that are no names: nationalities, beliefs.
pub(super) fn is_origin(word: &str) -> bool {
    let ends = [
        "ian", "ean", "ese", "ish", "can", "anish", "ench", "erman", "tholic", "uslim", "hrist",
        "ewish", "indu", "utch", "reek", "hai", "wiss",
    ];
    ends.iter().any(|end| word.ends_with(end))
        || matches!(
            word,
            "tired" | "happy" | "ok" | "okay" | "gen" | "ceo" | "cto" | "monday" | "not" | "so"
        )
}

/// Verbs that a person alone does.
const PERSONAL: &str = " works lives likes loves hates prefers studies speaks plays married moved joined graduated enjoys owns \
    drives wants dislikes uses started visited bought adopted teaches volunteers plans needs quit sold switched ";

/// Nouns of projects behind "the".
const PROJECT_NOUNS: &str = " deadline project app application api server database backend frontend repo repository release meeting \
    team company service build budget website codebase pipeline deployment cluster wifi office sprint ";

/// The family of a statement in the third person: about the user, another person by name, or a project.
fn third_person_statement(clause: &[Token], names: &[String]) -> Option<Family> {
    let [first, second, ..] = clause else {
        return None;
    };
    let possessive = first.lower.strip_suffix("'s");
    let bare = possessive.unwrap_or(&first.lower);
    let is_user =
        bare == "user" || first.is("the") && matches!(second.lower.as_str(), "user" | "user's");
    if is_user {
        return has_content(&clause[1..]).then_some(families::STATEMENT);
    }
    let has = |words: &str, word: &str| words.split_ascii_whitespace().any(|known| known == word);
    if first.is("the") && has(PROJECT_NOUNS, &singular(&second.lower)) {
        let verb = clause.iter().take(6).skip(2).position(|token| {
            is_plain_verb(&token.lower)
                || token.is_any(&["must", "should", "needs", "requires", "supports"])
        })?;
        return has_content(&clause[verb + 3..]).then_some(families::STATEMENT);
    }
    let is_name =
        first.is_capital() && !first.breaks() && is_content(first) && !first.lower.ends_with("ing");
    if !is_name {
        return None;
    }
    // A name, or two words with capitals; an ordinary word may have one at the start of a sentence.
    let last = if second.is_capital() && second.text.len() > 1 {
        second
    } else {
        first
    };
    let at = usize::from(!std::ptr::eq(last, first)) + 1;
    let verb = clause.get(at)?;
    let is_known = names.iter().any(|name| name == bare);
    let is_person = has(PERSONAL, &verb.lower)
        || is_known && is_plain_verb(&verb.lower)
        || possessive.is_some()
            && clause.iter().take(5).any(|token| token.is("is"))
            && clause.iter().take(3).any(|t| {
                has(RELATIVES, &t.lower)
                    || t.is_any(&["birthday", "favorite", "favourite", "email", "phone", "job"])
            });
    (is_person && has_content(&clause[at + 1..])).then_some(families::STATEMENT)
}

#[cfg(test)]
mod tests;
