//! Names in a fact: runs of words with a capital.

use crate::text::tokens::{Token, capital};

/// Words of a name at most.
const NAME_WORDS_MAX: usize = 6;

/// Words with a capital that name nothing.
const NO_NAMES: [&str; 54] = [
    "i",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "mondays",
    "tuesdays",
    "wednesdays",
    "thursdays",
    "fridays",
    "saturdays",
    "sundays",
    "today",
    "tomorrow",
    "yesterday",
    "the",
    "a",
    "an",
    "this",
    "that",
    "these",
    "those",
    "he",
    "she",
    "it",
    "they",
    "we",
    "ok",
    "no",
    "cto",
    "ceo",
    "cfo",
    "coo",
    "vp",
    "hr",
    "phd",
    "msc",
    "mba",
    "qa",
];

/// Words within a name: "Bank of England", "Rio de Janeiro".
const WITHIN: [&str; 12] = [
    "of", "the", "de", "la", "le", "del", "der", "van", "von", "da", "dos", "&",
];

/// A name in the tokens of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// As it is written, without a possessive.
    pub(super) text: String,
    /// Where it begins.
    pub(super) start: usize,
    /// Behind its last word.
    pub(super) end: usize,
    /// True for "Anna's".
    pub(super) is_possessive: bool,
}

/// True for "PostgreSQL", "iPhone", "GPT-4": what people are not called.
pub(crate) fn looks_technical(name: &str) -> bool {
    let inner = name.split_whitespace().any(|word| {
        let mut chars = word.chars();
        let first = chars.next();
        let mixed = first.is_some_and(char::is_lowercase) && word.contains(char::is_uppercase);
        let is_name = word.starts_with("Mc") || word.starts_with("Mac") || word.contains('\'');
        mixed
            || !is_name
                && word.len() > 2
                && word.contains(char::is_lowercase)
                && chars.any(char::is_uppercase)
    });
    let has_sign = name.contains(|c: char| c.is_ascii_digit() || matches!(c, '#' | '+'));
    inner || has_sign || name.contains(".js") || name.contains(".NET")
}

fn bare(token: &Token) -> &str {
    let text = token.text.as_str();
    let cut = text.strip_suffix("'s").or(text.strip_suffix("\u{2019}s"));
    cut.unwrap_or(text)
}

fn is_possessive(token: &Token) -> bool {
    token.lower.ends_with("'s")
}

/// True if the token may stand in a name.
fn is_name_word(token: &Token) -> bool {
    let word = token.lower.strip_suffix("'s").unwrap_or(&token.lower);
    let has_letters = token.text.contains(char::is_alphabetic);
    has_letters && token.text.contains(char::is_uppercase) && !NO_NAMES.contains(&word)
}

/// The name that begins at a token, if one does.
pub(super) fn name_at(tokens: &[Token], start: usize) -> Option<Name> {
    if !is_name_word(tokens.get(start)?) {
        return None;
    }
    let mut end = start + 1;
    while end - start < NAME_WORDS_MAX && !is_closed(tokens, start, end - 1) {
        let Some(next) = tokens.get(end) else { break };
        if is_name_word(next) && next.lead.is_empty() {
            end += 1;
            continue;
        }
        // "VS Code 2", "Formula 1".
        let is_number = next.has_digit() && !next.text.contains([':', '/', '%']);
        if is_number && next.text.chars().all(|c| c.is_ascii_digit()) && next.text.len() < 3 {
            end += 1;
            continue;
        }
        let mut behind = end;
        while behind < end + 2
            && tokens
                .get(behind)
                .is_some_and(|token| token.is_any(&WITHIN))
        {
            behind += 1;
        }
        let goes_on = behind > end
            && tokens.get(behind).is_some_and(is_name_word)
            && !tokens[end..behind].iter().any(Token::breaks);
        if !goes_on {
            break;
        }
        end = behind + 1;
    }
    let mut words: Vec<&str> = tokens[start..end]
        .iter()
        .map(|token| token.text.as_str())
        .collect();
    let last = &tokens[end - 1];
    if let Some(word) = words.last_mut() {
        *word = bare(last);
    }
    Some(Name {
        text: words.join(" "),
        start,
        end,
        is_possessive: is_possessive(last),
    })
}

fn is_closed(tokens: &[Token], start: usize, at: usize) -> bool {
    let token = &tokens[at];
    // "Mr. Stein": the full stop ends nothing.
    let is_title = at == start && token.is_any(&["mr", "mrs", "ms", "dr", "prof", "st"]);
    // "St Mary's Hospital".
    let is_saint = tokens[start].is_any(&["st", "saint", "sankt"]);
    is_possessive(token) && !is_saint
        || token.breaks() && !is_title
        || token.tail.contains(['"', '\u{201d}', ')'])
}

/// All names of a fact, in order. The first word of a text has a capital anyway: it counts only if it is a speaker, or
/// more than its place gives it a capital.
pub(super) fn names_of(tokens: &[Token], people: &[&str]) -> Vec<Name> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match name_at(tokens, at) {
            Some(name) => {
                at = name.end;
                if name.start > 0 || is_named(tokens, &name, people) {
                    out.push(name);
                }
            }
            None => at += 1,
        }
    }
    out
}

fn is_named(tokens: &[Token], name: &Name, people: &[&str]) -> bool {
    let first = &tokens[name.start];
    let is_person = people.iter().any(|person| {
        let first_name = person.split_whitespace().next().unwrap_or(person);
        bare(first).eq_ignore_ascii_case(first_name)
    });
    is_person
        || name.is_possessive
        || name.end - name.start > 1
        || looks_technical(bare(first))
        || capital(&first.lower) != first.text
}
