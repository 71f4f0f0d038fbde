//! Texts that a turn announces: "Here's the email from my tenant: …", "Translate to German: …", "the page says: …".

use super::foreign::{ForeignKind, ForeignSpan};
use super::line::{Line, mark as mark_lines};

/// Bytes of what announces a text.
const HEAD_BYTES_MAX: usize = 160;
/// A block below "here is:" is a text of another from so many bytes or lines on.
const BLOCK_BYTES_MIN: usize = 200;
const BLOCK_LINES_MIN: usize = 3;
/// Bytes of a last paragraph that speaks to the reader again.
const OWN_BYTES_MAX: usize = 300;

/// What a text is called that others wrote.
const SOURCES: [&str; 75] = [
    "email",
    "e-mail",
    "mail",
    "message",
    "letter",
    "article",
    "page",
    "website",
    "webpage",
    "post",
    "tweet",
    "comment",
    "thread",
    "docs",
    "documentation",
    "readme",
    "wiki",
    "transcript",
    "log",
    "logs",
    "output",
    "error",
    "trace",
    "review",
    "text",
    "quote",
    "paragraph",
    "excerpt",
    "passage",
    "abstract",
    "story",
    "poem",
    "lyrics",
    "sms",
    "ticket",
    "issue",
    "report",
    "description",
    "reply",
    "response",
    "newsletter",
    "blog",
    "snippet",
    "nachricht",
    "brief",
    "artikel",
    "seite",
    "webseite",
    "beitrag",
    "kommentar",
    "ausgabe",
    "fehler",
    "protokoll",
    "zitat",
    "absatz",
    "courriel",
    "lettre",
    "texte",
    "commentaire",
    "sortie",
    "erreur",
    "citation",
    "extrait",
    "correo",
    "mensaje",
    "carta",
    "art\u{ed}culo",
    "p\u{e1}gina",
    "texto",
    "comentario",
    "salida",
    "cita",
    "extracto",
    "instructions",
    "prompt",
];
/// How a text is shown.
const SHOWS: [&str; 34] = [
    "here is",
    "here's",
    "here are",
    "this is",
    "look at",
    "see the",
    "see this",
    "check out",
    "read the",
    "read this",
    "below is",
    "the following",
    "pasted",
    "i got",
    "i received",
    "we got",
    "we received",
    "sent me",
    "check this",
    "get this",
    "hier ist",
    "hier sind",
    "hier die",
    "hier der",
    "schau",
    "siehe",
    "folgende",
    "ich bekam",
    "voici",
    "voil\u{e0}",
    "regarde",
    "aqu\u{ed} est\u{e1}",
    "aqu\u{ed} tienes",
    "mira",
];
/// Those behind which a long block is a text of another whatever it is called.
const BLOCK_SHOWS: [&str; 14] = [
    "here is",
    "here's",
    "here are",
    "look at",
    "see this",
    "check out",
    "check this",
    "read this",
    "below is",
    "the following",
    "schau",
    "voici",
    "regarde",
    "mira",
];
/// What is done with the text of another.
const TASKS: [&str; 17] = [
    "translate",
    "summarize",
    "summarise",
    "proofread",
    "paraphrase",
    "rephrase",
    "rewrite",
    "\u{fc}bersetze",
    "\u{fc}bersetz",
    "fasse",
    "korrigiere",
    "formuliere",
    "traduis",
    "traduisez",
    "traduce",
    "r\u{e9}sume",
    "resume",
];
/// Verbs of saying at the end of a head.
const SAYS: [&str; 32] = [
    "says",
    "said",
    "wrote",
    "writes",
    "reads",
    "states",
    "stated",
    "asked",
    "asks",
    "replied",
    "answered",
    "texted",
    "posted",
    "claims",
    "claimed",
    "goes",
    "told me",
    "told us",
    "put it",
    "schreibt",
    "schrieb",
    "sagt",
    "sagte",
    "steht",
    "meinte",
    "a \u{e9}crit",
    "a dit",
    "dit",
    "\u{e9}crit",
    "dice",
    "dijo",
    "escribi\u{f3}",
];
/// Who says it of themselves.
const SELVES: [&str; 8] = ["i", "we", "ich", "wir", "je", "nous", "yo", "nosotros"];
/// Words of what is one's own.
const OWN: [&str; 16] = [
    "my", "our", "mine", "mein", "meine", "meinen", "meiner", "unser", "unsere", "mon", "ma",
    "mes", "notre", "mi", "mis", "nuestro",
];
/// Words behind which the author of a text is named.
const FROM: [&str; 9] = ["from", "by", "von", "vom", "aus", "de", "du", "del", "di"];

/// Marks the lines of announced texts, and returns the spans of those that begin within a line.
pub(super) fn mark(text: &str, lines: &mut [Line<'_>]) -> Vec<ForeignSpan> {
    let mut spans = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        if lines[at].is_own()
            && let Some(range) = cited(text, &lines[at])
        {
            spans.push(ForeignSpan {
                range,
                kind: ForeignKind::Quotation,
            });
        }
        let Some(announced) = lines[at]
            .is_own()
            .then(|| announcement(lines[at].text))
            .flatten()
        else {
            at += 1;
            continue;
        };
        let start = lines[at].range.start
            + (lines[at].text.as_ptr() as usize - text[lines[at].range.clone()].as_ptr() as usize);
        let rest = announced.rest;
        let behind = lines[at].text[rest..].trim().len();
        if !announced.is_sure && behind > 0 {
            at += 1;
            continue;
        }
        // What is announced is a block that is found already: own words may follow it.
        let next = lines[at + 1..].iter().find(|line| !line.is_blank());
        if behind == 0 && next.is_some_and(|next| !next.is_own()) {
            at += 1;
            continue;
        }
        let end = end_of(lines, at + 1);
        let is_long = || {
            let body = &lines[at + 1..end];
            let bytes: usize = body.iter().map(|line| line.text.len()).sum();
            let count = body.iter().filter(|line| !line.is_blank()).count();
            bytes >= BLOCK_BYTES_MIN || count >= BLOCK_LINES_MIN
        };
        if !announced.is_sure && !is_long() {
            at += 1;
            continue;
        }
        if behind > 0 {
            spans.push(ForeignSpan {
                range: start + rest..lines[at].range.end,
                kind: ForeignKind::Paste,
            });
        }
        mark_lines(&mut lines[at + 1..end], ForeignKind::Paste);
        at = end.max(at + 1);
    }
    spans
}

struct Announcement {
    /// Where the text begins in the line.
    rest: usize,
    /// True if the head says that the text is of another; false if its length must show it.
    is_sure: bool,
}

/// The announcement of a line: its last sentence before a colon.
fn announcement(line: &str) -> Option<Announcement> {
    for (colon, sign) in line
        .char_indices()
        .filter(|(_, c)| matches!(c, ':' | '\u{ff1a}'))
    {
        let rest = colon + sign.len_utf8();
        let is_end = line[rest..].is_empty()
            || line[rest..].starts_with([' ', '"', '\u{201c}', '\u{201e}', '\u{ab}'])
            || sign != ':';
        let from = line[..colon].rfind(['.', '!', '?']).map_or(0, |at| at + 1);
        let head = line[from..colon].trim();
        if head.len() > HEAD_BYTES_MAX {
            return None;
        }
        // What stands in quotation marks ends with them.
        let is_quoted = line[rest..]
            .trim_start()
            .starts_with(['"', '\u{201c}', '\u{201e}', '\u{ab}', '\u{bb}', '\u{300c}']);
        if !is_end || head.is_empty() || is_quoted {
            continue;
        }
        let head = head.to_lowercase().replace('\u{2019}', "'");
        if let Some(is_sure) = announces(&head) {
            return Some(Announcement { rest, is_sure });
        }
    }
    None
}

/// Whether a head announces the text of another, and whether that is sure without its length.
fn announces(head: &str) -> Option<bool> {
    let words: Vec<&str> = head
        .split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let has_phrase = |list: &[&str]| {
        list.iter().any(|phrase| {
            head.find(phrase).is_some_and(|at| {
                !head[..at].ends_with(char::is_alphanumeric)
                    && !head[at + phrase.len()..].starts_with(char::is_alphanumeric)
            })
        })
    };
    let first = words.first()?;
    let task = words.iter().take(4).position(|word| TASKS.contains(word));
    let is_asked = task.is_some_and(|at| {
        words[..at].iter().all(|word| {
            [
                "please", "can", "could", "you", "bitte", "kannst", "du", "now",
            ]
            .contains(word)
        })
    });
    if is_asked {
        return Some(true);
    }
    let says = SAYS.iter().any(|verb| {
        head.ends_with(verb) && !head[..head.len() - verb.len()].ends_with(char::is_alphanumeric)
    });
    if says && words.len() >= 2 {
        return (!SELVES.contains(first)
            && !words[..words.len() - 1]
                .iter()
                .rev()
                .take(2)
                .any(|word| SELVES.contains(word)))
        .then_some(true);
    }
    let is_from = has(&FROM);
    if has(&OWN) && !is_from
        || words
            .windows(2)
            .any(|pair| pair[0] == "what" && SELVES.contains(&pair[1]))
    {
        return None;
    }
    if has(&SOURCES) && (has_phrase(&SHOWS) || is_from && words.len() <= 8) {
        return Some(true);
    }
    has_phrase(&BLOCK_SHOWS).then_some(false)
}

/// Where an announced text ends: at the end of the turn, but for a last paragraph that speaks to the reader again.
fn end_of(lines: &[Line<'_>], start: usize) -> usize {
    let Some(last) = (start..lines.len()).rev().find(|at| !lines[*at].is_blank()) else {
        return lines.len();
    };
    let Some(blank) = (start..last).rev().find(|at| lines[*at].is_blank()) else {
        return lines.len();
    };
    let paragraph = &lines[blank + 1..=last];
    let bytes: usize = paragraph.iter().map(|line| line.text.len()).sum();
    let has_body = lines[start.saturating_sub(1)..blank]
        .iter()
        .any(|line| !line.is_blank());
    let speaks = paragraph.iter().all(Line::is_own)
        && (paragraph
            .iter()
            .any(|line| line.text.ends_with(['?', '\u{ff1f}']))
            || asks(paragraph[0].text));
    if has_body && bytes <= OWN_BYTES_MAX && speaks {
        blank
    } else {
        lines.len()
    }
}

fn asks(text: &str) -> bool {
    const FIRST: [&str; 25] = [
        "what", "can", "could", "please", "is", "do", "does", "how", "why", "should", "any",
        "thoughts", "would", "help", "was", "kannst", "bitte", "wie", "warum", "que", "peux",
        "pourquoi", "qu\u{e9}", "puedes", "por",
    ];
    let first = text
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or("");
    FIRST.contains(&first.to_lowercase().as_str())
}

/// "As Descartes put it, I think, therefore I am.": what stands behind the comma, up to the end of the sentence.
fn cited(text: &str, line: &Line<'_>) -> Option<std::ops::Range<usize>> {
    const HEADS: [&str; 5] = ["as ", "like ", "wie ", "comme ", "como "];
    let shown = text.get(line.range.clone())?;
    let offset = line.range.start + shown.len() - shown.trim_start().len();
    let lower = line.text.to_lowercase();
    // Offsets in a text whose length changed in lower case would be others.
    if lower.len() != line.text.len() || !HEADS.iter().any(|head| lower.starts_with(head)) {
        return None;
    }
    let comma = lower.find(", ").filter(|at| *at <= HEAD_BYTES_MAX)?;
    let head = &lower[..comma];
    let says = SAYS.iter().any(|verb| head.ends_with(verb));
    let is_own = head
        .split_whitespace()
        .nth(1)
        .is_some_and(|word| SELVES.contains(&word));
    if !says || is_own || head.split_whitespace().count() < 3 {
        return None;
    }
    let rest = &lower[comma + 2..];
    let end = rest.find(['.', '!', '?']).map_or(rest.len(), |at| at + 1);
    Some(offset + comma + 2..offset + comma + 2 + end)
}
