//! A text that only grows: insertions, and where they stand in the result.
//!
//! Promises: taking the insertions out of the result gives the first text, byte for byte.

/// Where inserted bytes stand: offset and length in bytes, ascending, disjoint.
pub(crate) type Spans = Vec<(usize, usize)>;

#[derive(Debug, Clone)]
pub(crate) struct GrowingText {
    text: String,
    spans: Spans,
}

impl GrowingText {
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            spans: Spans::new(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn spans(&self) -> &Spans {
        &self.spans
    }

    /// Inserts at a byte offset, a boundary of characters.
    pub(crate) fn insert(&mut self, at: usize, more: &str) {
        self.text.insert_str(at, more);
        let len = more.len();
        let mut is_inside = false;
        for (start, span_len) in &mut self.spans {
            if *start >= at {
                *start += len;
            } else if at < *start + *span_len {
                *span_len += len;
                is_inside = true;
            }
        }
        if !is_inside {
            let place = self.spans.partition_point(|span| span.0 < at);
            self.spans.insert(place, (at, len));
        }
    }
}

/// The text without the spans; `None` if they do not fit it.
pub(crate) fn without(text: &str, spans: &[(usize, usize)]) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for &(start, len) in spans {
        out.push_str(text.get(at..start)?);
        at = start.checked_add(len)?;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_inserted_is_taken_out_again() {
        let mut text = GrowingText::new("abc");
        text.insert(1, "123");
        text.insert(2, "xy");
        text.insert(0, "-");
        text.insert(text.text().len(), "!");
        assert_eq!(text.text(), "-a1xy23bc!");
        assert_eq!(without(text.text(), text.spans()).unwrap(), "abc");
        assert_eq!(without("ab", &[(1, 7)]), None);
    }
}
