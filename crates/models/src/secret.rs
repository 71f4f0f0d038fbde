//! A text that appears in no log and no error.

use std::fmt;

/// What stands for a secret.
const MASK: &str = "[key]";
/// Secrets that are shorter are no secrets; to mask them would mask words.
const MASKED_BYTES_MIN: usize = 6;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Secret {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// For the header of a request, and nothing else.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// A text of a server without the secret: some servers repeat it in their errors.
    pub(crate) fn masked_in(&self, text: &str) -> String {
        if self.0.len() < MASKED_BYTES_MIN {
            return text.to_owned();
        }
        text.replace(&self.0, MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_wherever_it_appears() {
        let secret = Secret::new("sk-0123456789");
        assert_eq!(format!("{secret:?}"), "[key]");
        let text = "Incorrect API key provided: sk-0123456789.";
        assert_eq!(secret.masked_in(text), "Incorrect API key provided: [key].");
        assert_eq!(Secret::new("a").masked_in("a cat"), "a cat");
    }
}
