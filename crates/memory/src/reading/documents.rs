//! Documents and pages that a person pasted without a word about it.

use std::collections::BTreeSet;

use super::foreign::ForeignKind;
use super::line::{Line, mark as mark_lines};

/// Headings that make a document.
const HEADINGS_MIN: usize = 2;
/// Lines below a heading at the beginning that make a document.
const BODY_LINES_MIN: usize = 4;
/// What pages have around their texts, and how many different ones make a page.
const PAGE_SIGNS_MIN: usize = 2;
const PAGE_SIGNS: [&str; 22] = [
    "skip to content",
    "skip to main content",
    "accept cookies",
    "accept all cookies",
    "cookie policy",
    "all rights reserved",
    "privacy policy",
    "terms of service",
    "terms of use",
    "sign in",
    "sign up",
    "subscribe to",
    "min read",
    "share this",
    "related articles",
    "table of contents",
    "alle rechte vorbehalten",
    "impressum",
    "datenschutz",
    "mentions l\u{e9}gales",
    "todos los derechos reservados",
    "pol\u{ed}tica de privacidad",
];
const ACCOUNT_SIGNS: [&str; 2] = ["sign in", "sign up"];
/// How a line about rights begins.
const COPYRIGHT: &str = "\u{a9}";
/// Bytes of a line that is a sign of a page: "Sign in", not a sentence about signing in.
const PAGE_SIGN_BYTES_MAX: usize = 80;
/// Bytes of the words of one's own above a page.
const OWN_BYTES_MAX: usize = 300;

/// Marks a document or a page of a person's turn.
pub(super) fn mark(lines: &mut [Line<'_>]) {
    let is_heading = |line: &Line<'_>| {
        let rest = line.text.trim_start_matches('#');
        let depth = line.text.len() - rest.len();
        line.is_own() && (1..=6).contains(&depth) && rest.starts_with(' ')
    };
    let first = lines.iter().position(is_heading);
    if let Some(first) = first {
        let headings = lines.iter().filter(|line| is_heading(line)).count();
        let below = lines[first + 1..]
            .iter()
            .filter(|line| !line.is_blank())
            .count();
        let is_whole = lines[..first].iter().all(Line::is_blank);
        if headings >= HEADINGS_MIN || is_whole && below >= BODY_LINES_MIN {
            mark_lines(&mut lines[first..], ForeignKind::Paste);
        }
    }
    if lines
        .first()
        .is_some_and(|line| line.is_own() && line.text == "---")
        && lines[1..].iter().any(|line| line.text == "---")
    {
        mark_lines(lines, ForeignKind::Paste);
    }
    if is_page(lines) {
        let start = own_beginning(lines);
        mark_lines(&mut lines[start..], ForeignKind::Paste);
    }
}

fn is_page(lines: &[Line<'_>]) -> bool {
    let signs = lines.iter().filter_map(|line| {
        let is_short = line.is_own() && line.text.len() <= PAGE_SIGN_BYTES_MAX;
        let lower = is_short.then(|| line.text.to_lowercase())?;
        let sign = PAGE_SIGNS
            .iter()
            .find(|sign| lower.contains(**sign))
            .copied();
        let sign = sign.or(lower.starts_with(COPYRIGHT).then_some(COPYRIGHT))?;
        // People write lists about accounts: both together are one sign.
        let is_account = ACCOUNT_SIGNS.contains(&sign);
        Some(if is_account { ACCOUNT_SIGNS[0] } else { sign })
    });
    signs.collect::<BTreeSet<_>>().len() >= PAGE_SIGNS_MIN
}

/// Behind the first paragraph, if it is short and more follows.
fn own_beginning(lines: &[Line<'_>]) -> usize {
    let blank = lines.iter().position(Line::is_blank);
    let Some(blank) = blank else { return 0 };
    let bytes: usize = lines[..blank].iter().map(|line| line.text.len()).sum();
    let is_sign = lines[..blank].iter().any(|line| {
        let lower = line.text.to_lowercase();
        PAGE_SIGNS.iter().any(|sign| lower.contains(sign))
    });
    if bytes <= OWN_BYTES_MAX && !is_sign {
        blank
    } else {
        0
    }
}
