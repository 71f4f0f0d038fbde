//! From a turn in one of the languages to facts.

use crate::patterns::extract::{PatternFact, first_person, is_origin, name_of, possessive};
use crate::patterns::families::{self, Family};
use crate::patterns::guards::refuses_clause as refuses_glossed;
use crate::patterns::content::has_content;
use crate::text::sentences::plain_sentences;
use crate::text::tokens::{Token, join};

use super::gloss::{Gloss, gloss};
use super::reading::{Reading, SubjectKind, read, with_elisions_apart};
use super::rewrite::rewritten;
use super::table::{LanguageTable, WordOrder, has, pair};
use super::verbs::Person;

/// Words of a quotation that is a name or a title, not what somebody says.
const QUOTED_WORDS_MAX: usize = 2;

/// The facts of a turn. `speaker` is the name for "I".
pub(crate) fn facts_in(table: &'static LanguageTable, text: &str, speaker: &str) -> Vec<PatternFact> {
    let mut out: Vec<PatternFact> = Vec::new();
    for sentence in plain_sentences(&without_quotations(text)) {
        let sentence = with_elisions_apart(sentence, table);
        let (body, is_correcting) = opened(table, &sentence);
        if body.is_empty() {
            continue;
        }
        let (body, family) = match named(table, body) {
            Some((named, is_forgotten)) => (named, is_forgotten.then_some(families::RETRACTION)),
            None => (body.to_vec(), None),
        };
        if refuses_sentence(table, &body) {
            continue;
        }
        let is_greeting = sentence.iter().take(3).any(|token| has(table.greetings, &token.lower));
        for clause in clauses(table, &body) {
            let fact = introduction(table, &clause, speaker).filter(|_| is_greeting);
            let Some(fact) = fact.or_else(|| fact_of(table, &clause, speaker)) else {
                continue;
            };
            let is_new = out.iter().all(|known| known.text != fact.text);
            if is_new {
                out.push(PatternFact {
                    family: family.unwrap_or(fact.family),
                    is_correcting,
                    ..fact
                });
            }
        }
    }
    out
}

/// The text with a question mark for each quotation: what others say, or what is to be translated, is no fact, and
/// neither is the sentence around it.
fn without_quotations(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find(['"', '\u{201e}', '\u{201c}', '\u{00ab}']) {
        let mark = rest[open..].chars().next().unwrap_or('"');
        let inner = &rest[open + mark.len_utf8()..];
        let Some(close) = inner.find(['"', '\u{201c}', '\u{201d}', '\u{00bb}']) else {
            break;
        };
        let end = open + mark.len_utf8() + close;
        let closing = rest[end..].chars().next().map_or(0, char::len_utf8);
        let is_said = inner[..close].split_whitespace().count() > QUOTED_WORDS_MAX;
        out.push_str(&rest[..open]);
        match is_said {
            true => out.push_str(" ? "),
            false => out.push_str(&rest[open..end + closing]),
        }
        rest = &rest[end + closing..];
    }
    out.push_str(rest);
    out
}

/// The sentence without what opens it, and true if that corrects something.
fn opened<'t>(table: &'static LanguageTable, mut tokens: &'t [Token]) -> (&'t [Token], bool) {
    let mut is_correcting = false;
    while let Some((first, rest)) = tokens.split_first() {
        if first.text.is_empty() {
            tokens = rest;
        } else if rest.len() > 1
            && has(table.opening_phrases, &format!("{}_{}", first.lower, rest[0].lower))
        {
            tokens = &rest[1..];
        } else if has(table.corrections, &first.lower) && first.breaks() {
            is_correcting = true;
            tokens = rest;
        } else if has(table.openers, &first.lower) && !rest.is_empty() {
            tokens = rest;
            // "Hallo Mia, …".
            let names = rest.iter().take(2).take_while(|t| t.is_capital()).count();
            if names > 0 && rest[names - 1].tail.contains([',', '!', '.']) && !first.breaks() {
                tokens = &rest[names..];
            }
        } else {
            break;
        }
    }
    (tokens, is_correcting)
}

/// What "forget that …" or "remember that …" names, as a main clause; true for "forget".
fn named(table: &'static LanguageTable, tokens: &[Token]) -> Option<(Vec<Token>, bool)> {
    let (first, rest) = tokens.split_first()?;
    let is_forgotten = has(table.forget, &first.lower);
    if !is_forgotten && !has(table.remember, &first.lower) {
        return None;
    }
    let skipped = rest.iter().take(5).position(|token| has(table.that, &token.lower))?;
    let rest = &rest[skipped + 1..];
    if table.order != WordOrder::VerbSecond {
        return Some((rest.to_vec(), is_forgotten));
    }
    // The verb stands last below "dass".
    let (last, front) = rest.split_last()?;
    let subject = front.first()?;
    let is_owned = pair(table.possessives, &subject.lower).is_some();
    let at = match is_owned {
        true => front.iter().position(Token::is_capital)? + 1,
        false => 1,
    };
    let mut out = front.to_vec();
    let mut verb = last.clone();
    verb.tail.clear();
    if let Some(end) = out.last_mut() {
        end.tail.clone_from(&last.tail);
    }
    out.insert(at.min(front.len()), verb);
    Some((out, is_forgotten))
}

fn refuses_sentence(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let asks = |token: &Token| token.tail.contains('?') || token.lead.contains('\u{bf}');
    tokens.iter().any(asks)
        || tokens.iter().any(|token| has(table.refused_in_sentence, &token.lower))
        || tokens.first().is_some_and(|first| has(table.refused_first, &first.lower))
}

/// True if the clause speaks to the reader; a polite "Sie" has a capital inside the sentence.
fn refuses_clause(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let polite = tokens.iter().skip(1).any(|token| {
        table.order == WordOrder::VerbSecond && matches!(&*token.text, "Sie" | "Ihr" | "Ihnen" | "Ihre" | "Ihren")
    });
    polite || tokens.iter().any(|token| has(table.refused_in_clause, &token.lower))
}

/// The clauses of a sentence; a subject that two share is written out.
fn clauses(table: &'static LanguageTable, tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut out = Vec::new();
    let mut current: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let joins = has(table.joiners, &token.lower) || token.is_dash();
        let breaks = at > 0 && tokens[at - 1].tail.contains([',', ':', ';', ')']);
        let next = at + usize::from(joins);
        let splits = (joins || breaks) && current.len() > 1 && begins_clause(table, &tokens[next..]);
        let is_bare = splits && !is_subject(table, &tokens[next]);
        if splits && ends_clause(table, &current, is_bare) {
            out.push(std::mem::take(&mut current));
            let subject = table.first_singular.split_ascii_whitespace().next();
            if is_bare && table.order != WordOrder::Dropped {
                current.extend(subject.map(Token::new));
            }
            at = next;
        }
        if let Some(token) = tokens.get(at) {
            current.push(token.clone());
        }
        at += 1;
    }
    out.push(current);
    out.into_iter()
        .flat_map(|clause| {
            let shared = with_owner(table, &clause);
            [Some(clause), shared].into_iter().flatten()
        })
        .collect()
}

/// "Mein Mann heißt Henrik und arbeitet als Schreiner": the second clause, with the subject that it shares.
fn with_owner(table: &'static LanguageTable, clause: &[Token]) -> Option<Vec<Token>> {
    let (clause, _) = opened(table, clause);
    let reading = read(table, clause)?;
    let end = end_of_main(table, &reading, clause)?;
    let is_shared = reading.kind == SubjectKind::Owned && clause.get(end).is_some_and(|t| has(table.joiners, &t.lower));
    let small = clause.get(end + 1)?;
    let is_finite = |token: &Token| table.finite(&token.lower, Person::He).is_some();
    let from = match is_finite(small) {
        true => end + 1,
        false => end + 2,
    };
    let verb = clause.get(from).filter(|verb| is_finite(verb))?;
    let mut out = clause[reading.subject.clone()].to_vec();
    out.extend(clause[from..].iter().cloned());
    (is_shared && !verb.is_capital()).then_some(out)
}

/// True if the words before a clause are one of their own: of the speaker, if the next one shares its subject, and no
/// mere adverbial.
fn ends_clause(table: &'static LanguageTable, words: &[Token], is_shared: bool) -> bool {
    let (words, _) = opened(table, words);
    let is_own = || read(table, words).is_some_and(|reading| reading.kind == SubjectKind::One);
    match is_shared {
        true => is_own(),
        false => is_own() || !table.is_front(words, words.len()) || table.order == WordOrder::VerbSecond,
    }
}

fn is_subject(table: &'static LanguageTable, token: &Token) -> bool {
    let word = &token.lower;
    has(table.first_singular, word)
        || has(table.first_plural, word)
        || has(table.impersonal, word)
        || pair(table.possessives, word).is_some()
}

/// True if a clause of the speaker begins: a subject and its verb, or a verb that only the speaker has.
fn begins_clause(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let Some(first) = tokens.first() else {
        return false;
    };
    if is_subject(table, first) {
        return read(table, tokens).is_some_and(|reading| reading.verb < 5);
    }
    let small = tokens
        .iter()
        .take_while(|token| has(table.before_verb, &token.lower))
        .count();
    let Some(verb) = tokens.get(small).filter(|verb| !verb.is_capital()) else {
        return false;
    };
    let is_own = table.finite(&verb.lower, Person::I).is_some();
    let is_dative = small > 0 && pair(table.dative_verbs, &verb.lower).is_some();
    is_own && tokens.len() > small + 1 || is_dative
}

/// True if the words behind a joiner look like another clause of the speaker, with a verb that no table knows: the fact
/// could not have it in the third person.
fn is_unknown_clause(table: &'static LanguageTable, tokens: &[Token]) -> bool {
    let Some(first) = tokens.first() else {
        return false;
    };
    let is_small = match table.order {
        WordOrder::SubjectFirst => has("ne n' m'", &first.lower),
        WordOrder::Dropped => has(table.before_verb, &first.lower) || has("lo le les", &first.lower),
        // "und verstehe es nicht", but "und kalte Milch".
        WordOrder::VerbSecond => {
            let mut behind = tokens.iter().skip_while(|token| !token.is_capital() && token.lower.ends_with('e'));
            !first.is_capital()
                && first.lower.ends_with('e')
                && first.lower.len() > 4
                && !behind.next().is_some_and(Token::is_capital)
        }
    };
    is_small || has(table.other_verbs, &first.lower)
}

/// Where a clause below the main one begins, or one of somebody else; `None` if that is the object of the verb.
fn end_of_main(table: &'static LanguageTable, reading: &Reading<'_>, tokens: &[Token]) -> Option<usize> {
    let behind = reading.verb + 1;
    let mut at = behind;
    while at < tokens.len() {
        // "The year that comes" is no clause.
        if let Some((count, _)) = table.compiled().dictionary.phrase(&tokens[at..]) {
            at += count;
            continue;
        }
        // "In Bonn, nicht in Köln": the negation is not that of the verb.
        let is_contrast = tokens[at - 1].breaks()
            && table.compiled().dictionary.word(&tokens[at].lower) == Some("not");
        if is_contrast || has(table.subordinators, &tokens[at].lower) {
            return (at > behind).then_some(at);
        }
        let is_other = |next: usize| {
            let verb = tokens.get(next);
            verb.is_some_and(|verb| !verb.is_capital() && table.finite(&verb.lower, Person::He).is_some())
        };
        let joins = has(table.joiners, &tokens[at].lower);
        let goes_on = match reading.kind {
            SubjectKind::Owned => is_other(at + 1) || is_other(at + 2),
            _ => is_unknown_clause(table, tokens.get(at + 1..).unwrap_or_default()),
        };
        if joins && goes_on {
            return Some(at);
        }
        at += 1;
    }
    Some(tokens.len())
}

/// A clause up to where another one of the speaker begins that the fact would have to rewrite.
fn main_part<'t>(table: &'static LanguageTable, reading: &Reading<'_>, tokens: &'t [Token]) -> Option<&'t [Token]> {
    let behind = reading.verb + 1;
    let end = end_of_main(table, reading, tokens)?;
    let again = (behind..end).find(|at| {
        !reading.subject.contains(at)
            && (has(table.first_singular, &tokens[*at].lower) || has(table.impersonal, &tokens[*at].lower))
    });
    let Some(again) = again else {
        return Some(&tokens[..end]);
    };
    let cut = (behind..again).rev().find(|at| tokens[*at].breaks())?;
    Some(&tokens[..=cut])
}

/// The fact of a clause, or none.
fn fact_of(table: &'static LanguageTable, clause: &[Token], speaker: &str) -> Option<PatternFact> {
    let (clause, _) = opened(table, clause);
    if clause.len() < 2 || refuses_clause(table, clause) {
        return None;
    }
    let clause = main_part(table, &read(table, clause)?, clause)?;
    let reading = read(table, clause)?;
    let glossed = gloss(&reading)?;
    let family = family_of(&reading, &glossed)?;
    Some(PatternFact {
        text: rewritten(&reading, speaker)?,
        family,
        source: join(&glossed.tokens),
        is_correcting: false,
    })
}

/// Endings of German nouns that say what somebody is: "Anfänger", "Studentin".
const NOUN_ENDS: [&str; 12] = [
    "er", "in", "ling", "ent", "ist", "ant", "or", "eur", "nde", "aie", "ege", "rte",
];

/// "Hallo, ich bin Jule": a name behind a greeting. Other nouns have a capital in German, so that an ending decides.
fn introduction(table: &'static LanguageTable, clause: &[Token], speaker: &str) -> Option<PatternFact> {
    let (clause, _) = opened(table, clause);
    let reading = read(table, clause)?;
    let rest = &clause[reading.verb + 1..];
    let is_plain = reading.base == "be" && reading.kind == SubjectKind::One && reading.front == 0;
    let name = name_of(rest);
    let words = name.split(' ').filter(|word| !word.is_empty()).count();
    if !is_plain || words == 0 || words > 2 {
        return None;
    }
    let first = rest[0].lower.as_str();
    let dictionary = &table.compiled().dictionary;
    let is_noun = table.has_compounds && words == 1 && NOUN_ENDS.iter().any(|end| first.ends_with(end));
    let is_known = dictionary.word(first).is_some() || dictionary.profession(first).is_some();
    let ends = rest.get(words).is_none_or(|next| next.text.is_empty() || has(table.joiners, &next.lower));
    let is_name = !is_noun && !is_known && !is_origin(first) && (ends || rest[words - 1].breaks());
    is_name.then(|| PatternFact {
        text: format!("{speaker} {} {name}", table.is_called),
        family: families::NAME,
        source: String::new(),
        is_correcting: false,
    })
}

/// What one does at the moment is gone with the moment.
const MOMENTARY: &str = "eat drink cook bake smoke play";

/// The family of a glossed clause, by the rules of English.
fn family_of(reading: &Reading<'_>, gloss: &Gloss) -> Option<Family> {
    let glossed = &gloss.tokens;
    if refuses_glossed(glossed) {
        return None;
    }
    let is_named = glossed.first().is_some_and(|first| first.is("my"));
    if reading.kind == SubjectKind::Owned || is_named {
        return possessive(glossed, 0);
    }
    let family = first_person(glossed, 0)?;
    let any = |words: &str| glossed.iter().any(|token| has(words, &token.lower));
    // "Ich bin ein Idiot": only known professions are some.
    let is_noun = any("a an the") && reading.base == "be" && family == families::PROFESSION;
    if is_noun && !gloss.has_profession {
        return None;
    }
    let is_moment = has(MOMENTARY, reading.base) && any("today currently now")
        || family == families::EVENT && any("ate drank cooked baked smoked");
    (!is_moment && has_content(&glossed[1..])).then_some(family)
}
