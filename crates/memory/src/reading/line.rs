//! The lines of a turn, and which of them are foreign.

use std::ops::Range;

use super::foreign::{ForeignKind, ForeignSpan};

/// A line.
#[derive(Debug)]
pub(super) struct Line<'t> {
    /// Where it stands, with its end.
    pub(super) range: Range<usize>,
    /// What it says, without blanks around it.
    pub(super) text: &'t str,
    /// Columns before it.
    pub(super) indent: usize,
    /// What it is, if it is not the speaker's.
    pub(super) kind: Option<ForeignKind>,
}

impl Line<'_> {
    pub(super) fn is_blank(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_own(&self) -> bool {
        self.kind.is_none()
    }
}

/// Columns of a tab.
const TAB: usize = 4;

pub(super) fn lines_of(text: &str) -> Vec<Line<'_>> {
    let mut at = 0;
    text.split_inclusive('\n')
        .map(|whole| {
            let range = at..at + whole.len();
            at = range.end;
            let indent = whole
                .chars()
                .take_while(|c| matches!(c, ' ' | '\t'))
                .map(|c| if c == '\t' { TAB } else { 1 })
                .sum();
            Line {
                range,
                text: whole.trim(),
                indent,
                kind: None,
            }
        })
        .collect()
}

/// Marks lines that are the speaker's until now.
pub(super) fn mark(lines: &mut [Line<'_>], kind: ForeignKind) {
    for line in lines.iter_mut().filter(|line| line.is_own()) {
        line.kind = Some(kind);
    }
}

/// Marks the lines that a span covers whole.
pub(super) fn mark_span(lines: &mut [Line<'_>], span: &Range<usize>, kind: ForeignKind) {
    let first = lines.partition_point(|line| line.range.start < span.start);
    let behind = lines.partition_point(|line| line.range.end <= span.end);
    if first < behind {
        mark(&mut lines[first..behind], kind);
    }
}

/// The spans of foreign lines; those of one kind that follow each other are one. Blank lines between them belong to it.
pub(super) fn spans_of(lines: &[Line<'_>]) -> Vec<ForeignSpan> {
    let mut out: Vec<ForeignSpan> = Vec::new();
    for line in lines {
        let Some(kind) = line.kind else { continue };
        match out.last_mut() {
            Some(last) if last.kind == kind && last.range.end == line.range.start => {
                last.range.end = line.range.end;
            }
            _ => out.push(ForeignSpan {
                range: line.range.clone(),
                kind,
            }),
        }
    }
    out
}
