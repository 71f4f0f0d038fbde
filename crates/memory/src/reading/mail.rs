//! Mails in a turn: the words of another below a line that says who wrote, and forwarded ones with their headers.

use super::foreign::ForeignKind;
use super::line::{Line, mark as mark_lines};

/// Lines of headers that make a mail.
const HEADERS_MIN: usize = 2;
/// Lines of headers that are looked at.
const HEADERS_MAX: usize = 12;
/// Bytes of a line that says who wrote.
const ATTRIBUTION_BYTES_MAX: usize = 300;

/// Names of headers, in lower case.
const HEADERS: [&str; 26] = [
    "from",
    "to",
    "cc",
    "bcc",
    "subject",
    "date",
    "sent",
    "reply-to",
    "von",
    "an",
    "betreff",
    "gesendet",
    "datum",
    "de",
    "\u{e0}",
    "objet",
    "envoy\u{e9}",
    "date ",
    "para",
    "asunto",
    "enviado",
    "fecha",
    "da",
    "oggetto",
    "inviato",
    "onderwerp",
];
/// Lines above a mail, in lower case.
const SEPARATORS: [&str; 9] = [
    "original message",
    "forwarded message",
    "begin forwarded message",
    "urspr\u{fc}ngliche nachricht",
    "weitergeleitete nachricht",
    "message d'origine",
    "message transf\u{e9}r\u{e9}",
    "mensaje original",
    "mensaje reenviado",
];
/// How a line begins that says who wrote, and what it has.
const ATTRIBUTIONS: [(&str, &str); 7] = [
    ("on ", " wrote"),
    ("am ", " schrieb"),
    ("le ", " a \u{e9}crit"),
    ("el ", " escribi\u{f3}"),
    ("il ", " ha scritto"),
    ("em ", " escreveu"),
    ("op ", " schreef"),
];

/// Marks mails. Below "On … wrote:" quoted lines are marked as such, so that an answer between them stays; without them
/// all of the rest is the mail.
pub(super) fn mark(lines: &mut [Line<'_>]) {
    let mut at = 0;
    while at < lines.len() {
        if !lines[at].is_own() {
            at += 1;
            continue;
        }
        let is_forwarded = is_separator(lines[at].text) || headers_at(lines, at) >= HEADERS_MIN;
        if is_forwarded {
            mark_lines(&mut lines[at..], ForeignKind::Mail);
            return;
        }
        if let Some(count) = attribution_at(lines, at) {
            let body = (at + count..lines.len()).find(|at| !lines[*at].is_blank());
            let is_quoted = body.is_some_and(|at| lines[at].text.starts_with('>'));
            let end = if is_quoted { at + count } else { lines.len() };
            mark_lines(&mut lines[at..end], ForeignKind::Mail);
            at = end;
            continue;
        }
        at += 1;
    }
}

fn is_separator(text: &str) -> bool {
    if text.len() > ATTRIBUTION_BYTES_MAX {
        return false;
    }
    let bare = text
        .trim_matches(|c: char| matches!(c, '-' | '_' | ' ' | ':' | '*' | '>'))
        .to_lowercase();
    text.starts_with(['-', '_', 'B', 'b']) && SEPARATORS.contains(&bare.as_str())
}

/// How many lines from here on are headers.
fn headers_at(lines: &[Line<'_>], at: usize) -> usize {
    let is_header = |line: &&Line<'_>| {
        let name = line.text.trim_start_matches('*').split_once(':');
        name.is_some_and(|(name, value)| {
            HEADERS.contains(&name.trim_matches(['*', ' ']).to_lowercase().as_str())
                && !value.trim().is_empty()
        })
    };
    let near = lines[at..].iter().take(HEADERS_MAX);
    let count = near.take_while(is_header).count();
    // "From: Rome" and "To: Oslo" are no mail; its sender has an address, or it has a subject.
    let is_mail = lines[at..at + count].iter().any(|line| {
        let lower = line.text.to_lowercase();
        line.text.contains('@')
            || [
                "subject",
                "betreff",
                "objet",
                "asunto",
                "oggetto",
                "onderwerp",
            ]
            .iter()
            .any(|name| lower.trim_start_matches('*').starts_with(name))
    });
    if is_mail { count } else { 0 }
}

/// How many lines say who wrote: "On Mon, 3 Nov 2025 at 10:12, Ada <ada@example.org> wrote:", also in two lines.
fn attribution_at(lines: &[Line<'_>], at: usize) -> Option<usize> {
    let first = lines[at].text;
    if first.len() > ATTRIBUTION_BYTES_MAX {
        return None;
    }
    let begins = first.to_lowercase();
    let (_, wrote) = ATTRIBUTIONS
        .iter()
        .find(|(head, _)| begins.starts_with(head))?;
    let is_whole = |text: &str| {
        text.contains(wrote) && text.ends_with(':') && text.contains(|c: char| c.is_ascii_digit())
    };
    if is_whole(&begins) {
        return Some(1);
    }
    let second = lines
        .get(at + 1)
        .filter(|line| line.text.len() <= ATTRIBUTION_BYTES_MAX)?;
    is_whole(&format!("{begins} {}", second.text.to_lowercase())).then_some(2)
}
