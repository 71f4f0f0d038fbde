//! How the tokens of a text are counted.

/// Counts the tokens of a text. A context counts its whole text, so counts need not be additive.
pub trait TokenCounter {
    /// The number of tokens.
    fn tokens(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn tokens(&self, text: &str) -> usize {
        self(text)
    }
}

/// Bytes divided by 3, rounded up: more tokens than most models count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thirds;

impl TokenCounter for Thirds {
    fn tokens(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }
}
