//! How the tokens of a text are counted.

/// Counts the tokens of a text. The text of a context is counted whole, so nothing is asked of how counts add up.
pub trait Counter {
    /// The tokens of a text.
    fn tokens(&self, text: &str) -> usize;
}

impl<F: Fn(&str) -> usize> Counter for F {
    fn tokens(&self, text: &str) -> usize {
        self(text)
    }
}

/// Bytes divided by 3, rounded up: more than most models count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Thirds;

impl Counter for Thirds {
    fn tokens(&self, text: &str) -> usize {
        text.len().div_ceil(3)
    }
}
