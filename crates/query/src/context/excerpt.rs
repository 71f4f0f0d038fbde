//! Excerpts: the sentences of a long text that match a question.
//!
//! A text is split into pieces, sentences of at most `PIECE_BYTES`. First comes the piece whose terms of the question
//! weigh most, then the one that adds most to it, and so on; a term weighs more the fewer of the pieces have it. An
//! excerpt is a number of the first pieces of that order, shown in the order of the text with `…` for what lies
//! between.
//!
//! Promises: no character is cut; more room shows all that less room does.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::sentences::sentence_ranges;
use crate::text::TextQuery;
use amem_format::analyzer::{Analyzer, TermCounts};

/// Bytes of a text that is shown whole, and of an excerpt.
pub(super) const EXCERPT_BYTES: usize = 900;
/// Bytes of a piece.
const PIECE_BYTES: usize = 300;
/// Bytes that a text must have room for, or all of it: less says nothing.
const ROOM_BYTES_MIN: usize = 60;
/// What a further piece of an excerpt adds, at least, as a share of what the first one has.
const WORTH_SHARE_MIN: f32 = 0.5;

/// Parts of a text, in the order of the text.
pub(super) type Parts = Vec<Range<usize>>;

/// Chooses excerpts for one question.
pub(super) struct Excerpts {
    analyzer: Analyzer,
    counts: TermCounts,
    /// The question's terms, each with its index.
    terms: HashMap<Box<str>, usize>,
}

impl Excerpts {
    pub(super) fn new(question: &str) -> Self {
        // As in a search: stop words tell nothing, and a word is found in each of its spellings.
        let query = TextQuery::new(question);
        let words = query.terms().filter(|term| !term.is_support);
        let terms = words.zip(0..).flat_map(|(term, at)| {
            let spellings = std::iter::once(&term.term).chain(&term.spellings);
            spellings.map(move |spelling| (spelling.clone(), at))
        });
        Self {
            analyzer: Analyzer::new(),
            counts: TermCounts::new(),
            terms: terms.collect(),
        }
    }

    /// The parts of a text that a context shows: all of it, or an excerpt if it is long.
    pub(super) fn of(&mut self, text: &str) -> Parts {
        if text.len() <= EXCERPT_BYTES {
            return std::iter::once(0..text.len()).collect();
        }
        in_order(&self.chosen(text))
    }

    /// As much of these parts as `fits`, by words; none if that is next to nothing.
    pub(super) fn fitting(&mut self, text: &str, fits: impl Fn(&Parts) -> bool) -> Option<Parts> {
        let mut shown = Parts::new();
        let mut fitting = None;
        'growing: for piece in self.chosen(text) {
            shown.push(piece.start..piece.start);
            for end in word_ends(text, piece.clone()) {
                if let Some(last) = shown.last_mut() {
                    last.end = end;
                }
                let parts = in_order(&shown);
                if !fits(&parts) {
                    break 'growing;
                }
                fitting = Some(parts);
            }
        }
        let bytes = |parts: &Parts| parts.iter().map(Range::len).sum::<usize>();
        fitting.filter(|parts| bytes(parts) >= ROOM_BYTES_MIN.min(text.trim().len()))
    }

    /// The pieces of a text that it may be shown by, the best first: all of a short text, those of the excerpt of a
    /// long one.
    fn chosen(&mut self, text: &str) -> Vec<Range<usize>> {
        let pieces = pieces(text);
        let (terms, mut weights) = self.matches(text, &pieces);
        let is_long = text.len() > EXCERPT_BYTES;
        let (mut chosen, mut bytes, mut best) = (Vec::new(), 0, 0.0);
        let mut left: Vec<usize> = (0..pieces.len()).collect();
        loop {
            let worth = |&at: &usize| terms[at].iter().map(|&term| weights[term]).sum::<f32>();
            // Of equals the first.
            let by_worth =
                |a: &(usize, f32), b: &(usize, f32)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
            let worths = left.iter().map(worth).enumerate();
            let Some((place, worth)) = worths.max_by(by_worth) else {
                break;
            };
            if worth == 0.0 {
                break;
            }
            let at = left[place];
            best = f32::max(best, worth);
            bytes += pieces[at].len();
            if is_long && (worth < WORTH_SHARE_MIN * best || bytes > EXCERPT_BYTES) {
                return chosen;
            }
            for &term in &terms[at] {
                weights[term] = 0.0;
            }
            left.remove(place);
            chosen.push(pieces[at].clone());
        }
        if is_long && best > 0.0 {
            return chosen;
        }
        // The beginning of a long text is as good as any if it has none of the question's words, as an answer may.
        left.truncate(if is_long { 1 } else { left.len() });
        chosen.extend(left.into_iter().map(|at| pieces[at].clone()));
        chosen
    }

    /// How many of the question's terms some pieces of a text have.
    pub(super) fn covered(&mut self, text: &str, pieces: &[Range<usize>]) -> usize {
        let (terms, _) = self.matches(text, pieces);
        terms.into_iter().flatten().collect::<HashSet<_>>().len()
    }

    /// The places of the pieces of a passage, ascending, and how many of the question's terms they have: the piece that
    /// matches most, then, while there is room, the one that adds most, or else the one behind the last.
    pub(super) fn within(
        &mut self,
        text: &str,
        pieces: &[Range<usize>],
        bytes_max: usize,
    ) -> (Vec<usize>, usize) {
        let (terms, mut weights) = self.matches(text, pieces);
        let mut chosen: Vec<usize> = Vec::new();
        let mut covered = HashSet::new();
        let (mut bytes, mut best) = (0, 0.0);
        let fits = |bytes: usize, at: usize| bytes == 0 || bytes + pieces[at].len() <= bytes_max;
        loop {
            let worth = |at: usize| terms[at].iter().map(|&term| weights[term]).sum::<f32>();
            let left = (0..pieces.len()).filter(|at| !chosen.contains(at) && fits(bytes, *at));
            // Of equals the first.
            let next = left
                .map(|at| (at, worth(at)))
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((at, worth)) =
                next.filter(|(_, worth)| *worth > 0.0 && *worth >= WORTH_SHARE_MIN * best)
            else {
                break;
            };
            best = f32::max(best, worth);
            bytes += pieces[at].len() + 1;
            for &term in &terms[at] {
                weights[term] = 0.0;
                covered.insert(term);
            }
            chosen.push(at);
        }
        let first = chosen.first().copied().unwrap_or_default();
        let behind = (first..pieces.len()).chain((0..first).rev());
        for at in behind {
            if chosen.contains(&at) {
                continue;
            }
            if !fits(bytes, at) {
                break;
            }
            bytes += pieces[at].len() + 1;
            covered.extend(terms[at].iter().copied());
            chosen.push(at);
        }
        chosen.sort_unstable();
        (chosen, covered.len())
    }

    /// The question's terms in each piece, and the weight of each term.
    fn matches(&mut self, text: &str, pieces: &[Range<usize>]) -> (Vec<Vec<usize>>, Vec<f32>) {
        let mut having = vec![0_u32; self.terms.len()];
        let mut matches = Vec::with_capacity(pieces.len());
        for piece in pieces {
            self.counts.count(&self.analyzer, &text[piece.clone()]);
            let terms = self.counts.iter();
            let found = terms.filter_map(|(term, _)| self.terms.get(term).copied());
            let found: Vec<usize> = found.collect();
            found.iter().for_each(|&term| having[term] += 1);
            matches.push(found);
        }
        let weight = |having: u32| (1.0 + pieces.len() as f32 / having.max(1) as f32).ln();
        (matches, having.into_iter().map(weight).collect())
    }
}

/// Appends parts of a text, with `…` for each gap; `line` appends what is of one part.
pub(super) fn write(out: &mut String, text: &str, parts: &Parts, line: impl Fn(&mut String, &str)) {
    let is_blank = |range: Range<usize>| text[range].trim().is_empty();
    let mut from = 0;
    let mut parts = parts.iter().cloned().peekable();
    while let Some(mut part) = parts.next() {
        while let Some(next) = parts.next_if(|next| is_blank(part.end..next.start)) {
            part.end = next.end;
        }
        if from > 0 {
            out.push(' ');
        }
        if !is_blank(from..part.start) {
            out.push_str("… ");
        }
        from = part.end;
        line(out, &text[part]);
    }
    if !is_blank(from..text.len()) {
        out.push_str(" …");
    }
}

/// True if the parts leave out anything of a text but white space.
pub(super) fn is_cut(text: &str, parts: &Parts) -> bool {
    let mut from = 0;
    let mut gaps = parts.iter().map(|part| {
        let gap = from..part.start;
        from = part.end;
        gap
    });
    let is_said = |gap: Range<usize>| !text[gap].trim().is_empty();
    gaps.any(is_said) || is_said(parts.last().map_or(0, |part| part.end)..text.len())
}

fn in_order(parts: &[Range<usize>]) -> Parts {
    let mut parts = parts.to_vec();
    parts.sort_by_key(|part| part.start);
    parts
}

/// The sentences of a text, cut at white space where they are long.
pub(super) fn pieces(text: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for mut sentence in sentence_ranges(text) {
        while sentence.len() > PIECE_BYTES {
            let mut cut = sentence.start + PIECE_BYTES;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            let head = &text[sentence.start..cut];
            let blank = head.char_indices().rfind(|(_, c)| c.is_whitespace());
            let end = match blank {
                Some((at, _)) if at > 0 => sentence.start + at,
                _ => cut,
            };
            pieces
                .push(sentence.start..sentence.start + text[sentence.start..end].trim_end().len());
            let rest = &text[end..sentence.end];
            sentence.start = end + rest.len() - rest.trim_start().len();
        }
        if !sentence.is_empty() {
            pieces.push(sentence);
        }
    }
    pieces
}

/// Where a piece may be cut: after words and after characters of scripts without spaces; last its end.
fn word_ends(text: &str, piece: Range<usize>) -> impl Iterator<Item = usize> {
    // From the radicals on, Unicode has the scripts of China, Japan and Korea.
    let is_whole = |c: char| c >= '\u{2e80}';
    let mut chars = text[piece.clone()].char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let is_end = next.is_none_or(|next| next.is_whitespace() || is_whole(next));
            if !c.is_whitespace() && (is_end || is_whole(c)) {
                return Some(piece.start + at + c.len_utf8());
            }
        }
        None
    })
}
