//! What of a turn is the speaker's own word: the one filter of turns under every door.
//!
//! What is quoted, pasted, code, a mail, an element of a client, or text that this memory served forms nothing and is
//! no instruction. The turn is stored as it was said; only what is formed of it is from its own words. A title or a
//! name in quotation marks within a sentence of one's own stays.
//!
//! Each pass looks at each line once. Not here: what own words say, and orders to a model in them (`check`).

mod foreign;

mod line;

mod records;

mod mail;

mod documents;

mod paste;

mod quotes;

mod served;

pub(crate) use foreign::{ForeignKind, apart, own_words};
pub(crate) use served::served_spans;

use foreign::ForeignSpan;
use line::{lines_of, spans_of};

/// What of a text is not its speaker's own word, in order and apart. `is_agents` is true for a turn of an agent, whose
/// answers are documents.
pub(crate) fn foreign_spans(text: &str, is_agents: bool) -> Vec<ForeignSpan> {
    let mut lines = lines_of(text);
    for span in amem_texts::injected_spans(text) {
        line::mark_span(&mut lines, &span, ForeignKind::Element);
    }
    records::mark_fences(&mut lines);
    mail::mark(&mut lines);
    records::mark(&mut lines);
    if !is_agents {
        documents::mark(&mut lines);
    }
    let mut spans = paste::mark(text, &mut lines);
    quotes::find(text, &lines, &mut spans);
    spans.extend(
        amem_texts::injected_spans(text)
            .into_iter()
            .map(|range| ForeignSpan {
                range,
                kind: ForeignKind::Element,
            }),
    );
    spans.extend(spans_of(&lines));
    apart(spans)
}

#[cfg(test)]
mod tests;
