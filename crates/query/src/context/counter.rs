//! How the tokens of a text are counted.

/// Counts the tokens of a text. The text of a context is counted whole, so nothing is asked of how counts add up.
pub trait TokenCounter {
    /// The tokens of a text.
    fn tokens(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> TokenCounter for F {
    fn tokens(&self, text: &str) -> usize {
        self(text)
    }
}

/// Bytes divided by 3, rounded up: more than most models count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thirds;

impl TokenCounter for Thirds {
    fn tokens(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }
}
