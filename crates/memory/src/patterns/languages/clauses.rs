//! The clauses of a sentence: what opens it is left out, and a subject that two clauses share is written out.

use crate::text::tokens::Token;

use super::pairs::{has, pair};
use super::reading::{ClauseReading, SubjectKind, read};
use super::table::{LanguageTable, WordOrder};
use super::verbs::VerbPerson;

/// The sentence without what opens it, and true if that corrects something.
pub(super) fn opened<'t>(
    table: &'static LanguageTable,
    mut tokens: &'t [Token],
) -> (&'t [Token], bool) {
    let mut is_correcting = false;
    while let Some((first, rest)) = tokens.split_first() {
        if first.text.is_empty() {
            tokens = rest;
        } else if rest.len() > 1
            && has(
                table.opening_phrases,
                &format!("{}_{}", first.lower, rest[0].lower),
            )
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
pub(super) fn named(table: &'static LanguageTable, tokens: &[Token]) -> Option<(Vec<Token>, bool)> {
    let (first, rest) = tokens.split_first()?;
    let is_forgotten = has(table.forget, &first.lower);
    if !is_forgotten && !has(table.remember, &first.lower) {
        return None;
    }
    let skipped = rest
        .iter()
        .take(5)
        .position(|token| has(table.that, &token.lower))?;
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

/// The clauses of a sentence; a subject that two share is written out.
pub(super) fn clauses(table: &'static LanguageTable, tokens: &[Token]) -> Vec<Vec<Token>> {
    let mut out = Vec::new();
    let mut current: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let token = &tokens[at];
        let joins = has(table.joiners, &token.lower) || token.is_dash();
        let breaks = at > 0 && tokens[at - 1].tail.contains([',', ':', ';', ')']);
        let next = at + usize::from(joins);
        let splits =
            (joins || breaks) && current.len() > 1 && begins_clause(table, &tokens[next..]);
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
    let is_shared = reading.kind == SubjectKind::Owned
        && clause
            .get(end)
            .is_some_and(|t| has(table.joiners, &t.lower));
    let small = clause.get(end + 1)?;
    let is_finite = |token: &Token| table.finite(&token.lower, VerbPerson::He).is_some();
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
        false => {
            is_own() || !table.is_front(words, words.len()) || table.order == WordOrder::VerbSecond
        }
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
    let is_own = table.finite(&verb.lower, VerbPerson::I).is_some();
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
        WordOrder::Dropped => {
            has(table.before_verb, &first.lower) || has("lo le les", &first.lower)
        }
        // "und verstehe es nicht", but "und kalte Milch".
        WordOrder::VerbSecond => {
            let mut behind = tokens
                .iter()
                .skip_while(|token| !token.is_capital() && token.lower.ends_with('e'));
            !first.is_capital()
                && first.lower.ends_with('e')
                && first.lower.len() > 4
                && !behind.next().is_some_and(Token::is_capital)
        }
    };
    is_small || has(table.other_verbs, &first.lower)
}

/// Where a clause below the main one begins, or one of a person else; `None` if that is the object of the verb.
fn end_of_main(
    table: &'static LanguageTable,
    reading: &ClauseReading<'_>,
    tokens: &[Token],
) -> Option<usize> {
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
            verb.is_some_and(|verb| {
                !verb.is_capital() && table.finite(&verb.lower, VerbPerson::He).is_some()
            })
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
pub(super) fn main_part<'t>(
    table: &'static LanguageTable,
    reading: &ClauseReading<'_>,
    tokens: &'t [Token],
) -> Option<&'t [Token]> {
    let behind = reading.verb + 1;
    let end = end_of_main(table, reading, tokens)?;
    let again = (behind..end).find(|at| {
        !reading.subject.contains(at)
            && (has(table.first_singular, &tokens[*at].lower)
                || has(table.impersonal, &tokens[*at].lower))
    });
    let Some(again) = again else {
        return Some(&tokens[..end]);
    };
    let cut = (behind..again).rev().find(|at| tokens[*at].breaks())?;
    Some(&tokens[..=cut])
}
