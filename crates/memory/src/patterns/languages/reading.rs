//! Where the subject and the verb of a clause stand.

use std::ops::Range;

use crate::text::tokens::Token;

use super::lookup::FRONT_WORDS_MAX;
use super::pairs::{has, pair};
use super::table::{LanguageTable, WordOrder};
use super::verbs::{VerbPerson, VerbTense};

/// Words of the longest subject: "the new colleague of User".
const SUBJECT_WORDS_MAX: usize = 8;

/// Who a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SubjectKind {
    /// "I", or the speaker.
    One,
    /// "We", or the speaker and others.
    Several,
    /// Something of the speaker: "my sister".
    Owned,
}

/// A clause whose subject and verb are known.
#[derive(Clone)]
pub(super) struct ClauseReading<'t> {
    pub(super) table: &'static LanguageTable,
    pub(super) tokens: &'t [Token],
    pub(super) kind: SubjectKind,
    /// The words of the subject; empty where the verb alone says it.
    pub(super) subject: Range<usize>,
    /// Where the verb with its pronouns and negation begins.
    pub(super) group: usize,
    pub(super) verb: usize,
    /// The part of the verb that stands last.
    pub(super) prefix: Option<usize>,
    /// Words before subject and verb.
    pub(super) front: usize,
    /// The English verb and its past.
    pub(super) base: &'static str,
    pub(super) past: &'static str,
    pub(super) tense: VerbTense,
    /// The verb in the third person, in the number of the subject.
    pub(super) third: String,
    /// True if the subject is what is liked: "me gusta".
    pub(super) is_dative: bool,
    /// True if the clause is a fact already: its subject is the speaker's name.
    pub(super) is_fact: bool,
}

/// Reads a clause of the speaker.
pub(super) fn read<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
) -> Option<ClauseReading<'t>> {
    let first = tokens.first()?;
    if let Some(reading) = read_dative(table, tokens) {
        return Some(reading);
    }
    if pair(table.possessives, &first.lower).is_some() {
        return read_owned(table, tokens, 0..1);
    }
    let subject = tokens
        .iter()
        .take(FRONT_WORDS_MAX + 2)
        .position(|t| table.is_first_person(&t.lower));
    match (table.order, subject) {
        (WordOrder::VerbSecond, Some(at)) => {
            let person = person_of(table, &tokens[at]);
            let verb = if at == 0 { 1 } else { at - 1 };
            let front = if at == 0 { 0 } else { verb };
            let is_well = at == 0 || table.is_front(tokens, front);
            is_well.then(|| found(table, tokens, person, at..at + 1, verb, verb, front))?
        }
        (WordOrder::SubjectFirst, Some(at)) => {
            let person = person_of(table, &tokens[at]);
            let verb = at + 1 + table.small_words(tokens, at + 1);
            let is_pointing = tokens
                .get(verb)
                .is_none_or(|t| has(table.pointers, &t.lower));
            let is_well = table.is_front(tokens, at) && !is_pointing;
            is_well.then(|| found(table, tokens, person, at..at + 1, at + 1, verb, at))?
        }
        (WordOrder::Dropped, _) => read_dropped(table, tokens),
        _ => None,
    }
}

fn person_of(table: &LanguageTable, token: &Token) -> VerbPerson {
    match () {
        () if has(table.first_singular, &token.lower) => VerbPerson::I,
        () if has(table.impersonal, &token.lower) => VerbPerson::He,
        () => VerbPerson::We,
    }
}

/// A clause whose verb says who speaks.
fn read_dropped<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
) -> Option<ClauseReading<'t>> {
    let is_fronted = has(table.fronted, &tokens[0].lower);
    let limit = if is_fronted { FRONT_WORDS_MAX + 3 } else { 1 };
    for start in 0..limit.min(tokens.len()) {
        if !table.is_front(tokens, start) {
            continue;
        }
        let verb = start + table.small_words(tokens, start);
        let Some(token) = tokens.get(verb) else { break };
        let is_pointing = tokens[start..verb]
            .iter()
            .any(|t| has(table.pointers, &t.lower));
        // "Juego de mesa": the word is a noun.
        let is_bare = verb == start
            && tokens
                .get(verb + 1)
                .is_some_and(|next| next.is("de") || next.is("del"));
        let is_behind = verb > 0
            && has(
                "el la los las un una de del mi su este ese con en a",
                &tokens[verb - 1].lower,
            );
        for person in [VerbPerson::I, VerbPerson::We] {
            let Some((base, _, tense, _)) = table.finite(&token.lower, person) else {
                continue;
            };
            let is_bare =
                verb == start && tense == VerbTense::Present && (is_bare || token.is("como"));
            let has_pronoun = (start..verb).find(|at| table.is_first_person(&tokens[*at].lower));
            if is_pointing
                || (is_bare || is_behind) && !matches!(base, "just" | "be" | "suffer" | "graduate")
            {
                return None;
            }
            let subject = has_pronoun.map_or(start..start, |at| at..at + 1);
            return found(table, tokens, person, subject, start, verb, start);
        }
        // Another verb than the speaker's is the clause's.
        if start > 0 && table.finite(&token.lower, VerbPerson::He).is_some() {
            return None;
        }
    }
    None
}

/// "Me gusta el café", and as a fact "A User le gusta el café".
fn read_dative<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
) -> Option<ClauseReading<'t>> {
    let verb = tokens
        .iter()
        .take(FRONT_WORDS_MAX)
        .position(|token| pair(table.dative_verbs, &token.lower).is_some())?;
    let pronoun = verb.checked_sub(1)?;
    pair(table.dative_pronouns, &tokens[pronoun].lower)?;
    let mut group = pronoun;
    while group > 0 && has("no ya nunca también siempre", &tokens[group - 1].lower) {
        group -= 1;
    }
    // "A mí me gusta": the pronoun says the same.
    let subject = match group {
        2 if tokens[0].is("a") && tokens[1].is_any(&["mí", "mi", "nosotros"]) => 0..2,
        at => at..at,
    };
    let front = subject.start;
    let kind = if tokens[pronoun].is("nos") {
        SubjectKind::Several
    } else {
        SubjectKind::One
    };
    if !table.is_front(tokens, front) {
        return None;
    }
    let english = pair(table.dative_verbs, &tokens[verb].lower)?;
    Some(ClauseReading {
        table,
        tokens,
        kind,
        subject,
        group,
        verb,
        prefix: None,
        front,
        base: english,
        past: english,
        tense: VerbTense::Present,
        third: tokens[verb].lower.clone(),
        is_dative: true,
        is_fact: false,
    })
}

/// "My sister lives …"; the owner's words are `owner`.
fn read_owned<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
    owner: Range<usize>,
) -> Option<ClauseReading<'t>> {
    let from = owner.end.max(1);
    for at in from..tokens.len().min(from + SUBJECT_WORDS_MAX) {
        let token = &tokens[at];
        let noun_behind = at == from && owner.start == 0;
        if !noun_behind && !token.is_capital() {
            let group = at;
            let verb = at + table.small_words(tokens, at);
            let person = tokens.get(verb).and_then(|verb| {
                [VerbPerson::He, VerbPerson::They]
                    .into_iter()
                    .find(|person| table.finite(&verb.lower, *person).is_some())
            });
            if let Some(person) = person {
                let mut reading = found(table, tokens, person, 0..group, group, verb, 0)?;
                reading.kind = SubjectKind::Owned;
                return Some(reading);
            }
        }
        if has(table.subordinators, &token.lower) {
            return None;
        }
        // "Mon plat préféré, c'est …"; in a fact commas stand around a name.
        let is_name = owner.start > 0 && token.tail.contains(',');
        if token.breaks() && !is_name || token.is("c'") {
            return None;
        }
    }
    None
}

/// Reads a fact: its subject is `User`, or another name at its start.
pub(super) fn read_fact<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
) -> Option<ClauseReading<'t>> {
    let first = tokens.first()?;
    let user = tokens
        .iter()
        .take(FRONT_WORDS_MAX + 2)
        .position(|t| t.is("user") || t.is("user's"));
    let at = user.or(first.is_capital().then_some(0))?;
    let owns = tokens[at].lower.ends_with("'s");
    let is_behind = at > 0 && !table.of.is_empty() && tokens[at - 1].is(table.of);
    if owns && at == 0 && table.of.is_empty() || is_behind {
        return as_fact(read_owned(table, tokens, at..at + 1)?);
    }
    let others: Vec<&str> = table.others.split_ascii_whitespace().collect();
    let count = others.len();
    let is_several = tokens[at + 1..].len() >= count
        && others
            .iter()
            .zip(&tokens[at + 1..])
            .all(|(word, token)| token.is(word));
    let end = at + 1 + if is_several { count } else { 0 };
    let person = if is_several {
        VerbPerson::They
    } else {
        VerbPerson::He
    };
    let kind = if is_several {
        SubjectKind::Several
    } else {
        SubjectKind::One
    };
    if tokens.get(at.wrapping_sub(1)).is_some_and(|t| t.is("a")) && !table.dative_verbs.is_empty() {
        let verb = (end..tokens.len().min(end + 5))
            .find(|verb| pair(table.dative_verbs, &tokens[*verb].lower).is_some())?;
        let english = pair(table.dative_verbs, &tokens[verb].lower)?;
        let mut reading = found_fact(table, tokens, at - 1..end, end, verb, (english, english));
        reading.is_dative = true;
        reading.kind = kind;
        return Some(reading);
    }
    let behind = end + table.small_words(tokens, end);
    let has_verb = |verb: usize| {
        tokens
            .get(verb)
            .is_some_and(|t| !t.is_capital() && table.finite(&t.lower, person).is_some())
    };
    let inverted = table.order == WordOrder::VerbSecond && at > 1 && has_verb(at - 1);
    let verb = if inverted { at - 1 } else { behind };
    if !has_verb(verb) || user.is_none() && has(SHORT_FORMS, &tokens[verb].lower) {
        return None;
    }
    let front = if inverted { verb } else { at };
    let group = if inverted { verb } else { end };
    let mut reading = found(table, tokens, person, at..end, group, verb, front)?;
    reading.kind = kind;
    as_fact(reading)
}

/// Forms of verbs that are English words as well: behind another name than `User` they say too little.
const SHORT_FORMS: &str = "a come use code plane will war hat mag va es est";

fn as_fact(reading: ClauseReading<'_>) -> Option<ClauseReading<'_>> {
    Some(ClauseReading {
        is_fact: true,
        ..reading
    })
}

fn found_fact<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
    subject: Range<usize>,
    group: usize,
    verb: usize,
    (base, past): (&'static str, &'static str),
) -> ClauseReading<'t> {
    ClauseReading {
        table,
        tokens,
        kind: SubjectKind::One,
        front: subject.start,
        subject,
        group,
        verb,
        prefix: None,
        base,
        past,
        tense: VerbTense::Present,
        third: tokens[verb].lower.clone(),
        is_dative: false,
        is_fact: true,
    }
}

fn found<'t>(
    table: &'static LanguageTable,
    tokens: &'t [Token],
    person: VerbPerson,
    subject: Range<usize>,
    group: usize,
    verb: usize,
    front: usize,
) -> Option<ClauseReading<'t>> {
    let word = &tokens.get(verb)?.lower;
    let last = tokens.iter().rposition(|token| !token.text.is_empty())?;
    let prefix = (last > verb && has(table.verb_prefixes, &tokens[last].lower)).then_some(last);
    let whole = prefix.and_then(|at| table.finite(&format!("{word}_{}", tokens[at].lower), person));
    let (base, past, tense, third) = match whole {
        Some(whole) => whole,
        // The prefix makes another verb, which the table does not know.
        None if prefix.is_some() => return None,
        None => table.finite(word, person)?,
    };
    let third = third.split('_').next().unwrap_or_default().to_owned();
    // "On utilise": the verb of one, for several.
    let is_impersonal = tokens
        .get(subject.start)
        .is_some_and(|t| has(table.impersonal, &t.lower));
    let is_several = is_impersonal || matches!(person, VerbPerson::We | VerbPerson::They);
    let third = if is_impersonal {
        table.plural_of(word, base)?
    } else {
        third
    };
    Some(ClauseReading {
        table,
        tokens,
        kind: if is_several {
            SubjectKind::Several
        } else {
            SubjectKind::One
        },
        subject,
        group,
        verb,
        prefix,
        front,
        base,
        past,
        tense,
        third,
        is_dative: false,
        is_fact: false,
    })
}
