//! Parts of a turn that are not the speaker's own word.

use std::borrow::Cow;
use std::ops::Range;

/// Where a part is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ForeignKind {
    /// What a client put in.
    Element,
    /// Code, commands, and what programs print.
    Code,
    /// The words of another.
    Quotation,
    /// A mail with its headers.
    Mail,
    /// A page, a document, or what was announced as a text.
    Paste,
    /// A memory that was served.
    Served,
}

impl ForeignKind {
    /// Its name in answers.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Element => "element",
            Self::Code => "code",
            Self::Quotation => "quotation",
            Self::Mail => "mail",
            Self::Paste => "paste",
            Self::Served => "memory",
        }
    }
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ForeignSpan {
    pub(crate) range: Range<usize>,
    pub(crate) kind: ForeignKind,
}

/// The spans in order, those that overlap as one of the first kind.
pub(crate) fn apart(mut spans: Vec<ForeignSpan>) -> Vec<ForeignSpan> {
    spans.sort_by_key(|span| (span.range.start, usize::MAX - span.range.end));
    let mut out: Vec<ForeignSpan> = Vec::new();
    for span in spans.into_iter().filter(|span| !span.range.is_empty()) {
        match out.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            _ => out.push(span),
        }
    }
    out
}

/// The text without its foreign parts. A part of whole lines leaves a line break, one within a line a blank.
pub(crate) fn own_words<'t>(text: &'t str, spans: &[ForeignSpan]) -> Cow<'t, str> {
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut out, mut from) = (String::new(), 0);
    for span in spans {
        out.push_str(&text[from..span.range.start]);
        let is_block = text[span.range.clone()].contains('\n') || out.is_empty();
        out.push(if is_block { '\n' } else { ' ' });
        from = span.range.end;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out.trim().to_owned())
}
