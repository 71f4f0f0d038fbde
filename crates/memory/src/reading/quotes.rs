//! Quotations within lines of one's own: sentences of another in quotation marks. Titles, names and single words stay.

use std::ops::Range;

use super::foreign::{ForeignKind, ForeignSpan};
use super::line::Line;

/// Bytes of a quotation.
const QUOTATION_BYTES_MAX: usize = 4_096;
/// Words that make a quotation of another: behind a verb of saying, with a person that speaks, and otherwise.
const REPORTED_WORDS_MIN: usize = 2;
const SPOKEN_WORDS_MIN: usize = 3;
const PLAIN_WORDS_MIN: usize = 6;
/// Letters of scripts without blanks that count as a word.
const LETTERS_A_WORD: usize = 2;
/// Words around a quotation that are looked at.
const WORDS_BEFORE: usize = 4;
const WORDS_BEHIND: usize = 3;
/// Bytes in which they stand.
const AROUND_BYTES: usize = 96;

/// Verbs of saying.
const SAYING: [&str; 62] = [
    "said",
    "says",
    "say",
    "told",
    "tells",
    "wrote",
    "writes",
    "asked",
    "asks",
    "replied",
    "answered",
    "shouted",
    "yelled",
    "whispered",
    "claims",
    "claimed",
    "goes",
    "went",
    "reads",
    "states",
    "stated",
    "texted",
    "tweeted",
    "posted",
    "announced",
    "quoted",
    "quote",
    "insists",
    "insisted",
    "explained",
    "translate",
    "summarize",
    "sign",
    "slogan",
    "motto",
    "sagte",
    "sagt",
    "schrieb",
    "schreibt",
    "meinte",
    "meint",
    "fragte",
    "antwortete",
    "rief",
    "steht",
    "hei\u{df}t",
    "lautet",
    "lautete",
    "dit",
    "disait",
    "\u{e9}crit",
    "r\u{e9}pondu",
    "demand\u{e9}",
    "dijo",
    "dice",
    "escribi\u{f3}",
    "pregunt\u{f3}",
    "respondi\u{f3}",
    "сказал",
    "сказала",
    "пишет",
    "написал",
];
/// Words behind which a title or a name stands.
const TITLED: [&str; 64] = [
    "book",
    "books",
    "film",
    "movie",
    "movies",
    "song",
    "album",
    "show",
    "series",
    "game",
    "paper",
    "article",
    "podcast",
    "episode",
    "play",
    "novel",
    "novels",
    "poem",
    "read",
    "reading",
    "watched",
    "watch",
    "watching",
    "saw",
    "seen",
    "listening",
    "called",
    "named",
    "titled",
    "entitled",
    "nicknamed",
    "word",
    "words",
    "term",
    "channel",
    "band",
    "title",
    "project",
    "team",
    "course",
    "like",
    "loved",
    "love",
    "enjoyed",
    "buch",
    "film",
    "lied",
    "serie",
    "namens",
    "gelesen",
    "gesehen",
    "lese",
    "lesen",
    "genannt",
    "livre",
    "chanson",
    "appel\u{e9}",
    "lu",
    "vu",
    "libro",
    "pel\u{ed}cula",
    "llamado",
    "le\u{ed}do",
    "visto",
];
/// What a program is quoted for.
const ERRORS: [&str; 8] = [
    "error",
    "errors",
    "warning",
    "exception",
    "failure",
    "log",
    "fehler",
    "erreur",
];
/// Persons that speak.
const PERSONS: [&str; 45] = [
    "i", "i'm", "i've", "i'll", "i'd", "me", "my", "mine", "we", "we're", "we've", "we'll", "our",
    "us", "you", "your", "you're", "ich", "mein", "meine", "mich", "mir", "wir", "unser", "unsere",
    "du", "dein", "je", "j'ai", "j'habite", "mon", "ma", "mes", "nous", "notre", "tu", "vous",
    "yo", "mi", "mis", "nosotros", "nuestro", "vivo", "tengo", "soy",
];
/// The first person in scripts without blanks.
const WIDE_PERSONS: [&str; 6] = ["私", "僕", "俺", "我", "저는", "나는"];
/// The first person, which quotes itself.
const SELVES: [&str; 8] = ["i", "we", "ich", "wir", "je", "nous", "yo", "nosotros"];

/// Adds the quotations of all runs of own lines.
pub(super) fn find(text: &str, lines: &[Line<'_>], out: &mut Vec<ForeignSpan>) {
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].is_own() || lines[at].is_blank() {
            at += 1;
            continue;
        }
        let start = lines[at].range.start;
        while at < lines.len() && lines[at].is_own() && !lines[at].is_blank() {
            at += 1;
        }
        let paragraph = start..lines[at - 1].range.end;
        for range in quotations(&text[paragraph.clone()]) {
            let range = paragraph.start + range.start..paragraph.start + range.end;
            if is_of_another(text, &paragraph, &range) {
                out.push(ForeignSpan {
                    range,
                    kind: ForeignKind::Quotation,
                });
            }
        }
    }
}

/// The texts between quotation marks, marks included, in order; those within others are parts of them.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut open: Option<(usize, &[char])> = None;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let behind = at + c.len_utf8();
        let next = text[behind..].chars().next().unwrap_or(' ');
        if let Some((start, closing)) = open {
            let is_end = closing.contains(&c)
                && (c != '"' && c != '\u{2019}'
                    || !before.is_whitespace() && !next.is_alphanumeric());
            if is_end {
                out.push(start..behind);
                open = None;
            } else if behind - start > QUOTATION_BYTES_MAX {
                open = None;
            }
        } else if let Some(closing) = closing_of(c)
            && (c != '"' && c != '\u{2018}' && c != '\u{bb}'
                || !before.is_alphanumeric() && !next.is_whitespace())
        {
            open = Some((at, closing));
        }
        before = c;
    }
    out
}

fn closing_of(opening: char) -> Option<&'static [char]> {
    Some(match opening {
        '"' => &['"'],
        '\u{201c}' => &['\u{201d}', '"'],
        '\u{201e}' => &['\u{201c}', '\u{201d}', '"'],
        '\u{ab}' => &['\u{bb}'],
        '\u{bb}' => &['\u{ab}'],
        '\u{2018}' => &['\u{2019}'],
        '\u{300c}' => &['\u{300d}'],
        '\u{300e}' => &['\u{300f}'],
        _ => return None,
    })
}

/// True if a quotation is a sentence of another.
fn is_of_another(text: &str, paragraph: &Range<usize>, range: &Range<usize>) -> bool {
    let quoted = text[range.clone()].trim_matches(|c: char| {
        closing_of(c).is_some()
            || "\"\u{201d}\u{2019}\u{bb}\u{ab}\u{300d}\u{300f}\u{201c}".contains(c)
    });
    let words = words_of(quoted);
    let count = word_count(quoted);
    let before = words_of(tail(&text[paragraph.start..range.start]));
    let before: Vec<&str> = before
        .iter()
        .rev()
        .take(WORDS_BEFORE)
        .map(String::as_str)
        .collect();
    let behind = words_of(head(&text[range.end..paragraph.end]));
    let is_said = |words: &[&str]| words.iter().any(|word| SAYING.contains(word));
    let behind: Vec<&str> = behind
        .iter()
        .take(WORDS_BEHIND)
        .map(String::as_str)
        .collect();
    let says_before = before.iter().position(|word| SAYING.contains(word));
    // "I said: …" is one's own word.
    let by_self = says_before.is_some_and(|at| {
        before[at + 1..]
            .first()
            .is_some_and(|word| SELVES.contains(word))
    }) || is_said(&behind) && behind.iter().any(|word| SELVES.contains(word));
    if by_self {
        return false;
    }
    let speaks = words.iter().any(|word| PERSONS.contains(&word.as_str()))
        || WIDE_PERSONS.iter().any(|word| quoted.contains(word));
    // What a program says is a name of what is wrong.
    let is_error = before
        .iter()
        .chain(&behind)
        .any(|word| ERRORS.contains(word));
    if is_error && !speaks {
        return false;
    }
    if (says_before.is_some() || is_said(&behind)) && count >= REPORTED_WORDS_MIN {
        return true;
    }
    let is_sentence = quoted.ends_with(['.', '!', '?', '\u{3002}']) || speaks;
    if before.iter().any(|word| TITLED.contains(word)) && !(is_sentence && count >= PLAIN_WORDS_MIN)
    {
        return false;
    }
    speaks && count >= SPOKEN_WORDS_MIN
        || is_sentence && count >= PLAIN_WORDS_MIN && !is_title(quoted)
}

fn words_of(text: &str) -> Vec<String> {
    text.replace('\u{2019}', "'")
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The words of a text; two letters of a script without blanks are one.
fn word_count(text: &str) -> usize {
    let count = |word: &str| {
        let wide = word
            .chars()
            .filter(|c| ('\u{3040}'..='\u{9fff}').contains(c))
            .count();
        if wide == 0 {
            1
        } else {
            wide.div_ceil(LETTERS_A_WORD)
        }
    };
    text.split_whitespace().map(count).sum()
}

/// True if all words but small ones begin with capitals.
fn is_title(text: &str) -> bool {
    let mut words = text
        .split_whitespace()
        .filter(|word| word.chars().count() > 3 || word.starts_with(char::is_uppercase));
    words.all(|word| word.starts_with(|c: char| c.is_uppercase() || !c.is_alphabetic()))
}

fn tail(text: &str) -> &str {
    let mut from = text.len().saturating_sub(AROUND_BYTES);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let text = &text[from..];
    // Another sentence says nothing of this one.
    text.rfind(['.', '!', '?'])
        .map_or(text, |at| &text[at + 1..])
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(AROUND_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = &text[..end];
    text.find(['.', '!', '?']).map_or(text, |at| &text[..at])
}
