//! What is true of a text whatever it is for: secrets in it are masked, elements that clients put into it are found,
//! and it can be given to a model as data.
//!
//! ```
//! use amem_texts::{mask_secrets, strip_injected};
//!
//! let (text, injected) = strip_injected("<system-reminder>Be brief.</system-reminder> Build it");
//! assert_eq!((text.as_ref(), injected), ("Build it", 1));
//!
//! let (text, secrets) = mask_secrets("the token is ghp_0123456789abcdefghijABCDEFGHIJ012345");
//! assert!(!text.contains("ghp_0123456789"));
//! assert_eq!(secrets.len(), 1);
//! ```
//!
//! Promises: no text causes a panic, and each is read in time that grows with its length alone.
//!
//! Not here: what a text says, where it is from, and what becomes of it.

#![forbid(unsafe_code)]

mod injected;
mod secrets;

mod visible;

mod given;

pub use given::for_model;
pub use injected::{injected_spans, strip_injected};
pub use secrets::{SecretKind, mask_secrets};
pub use visible::visible;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_of_any_kind_are_read(
            text in "\\PC{0,200}",
            parts in "[\\[\\]<>/|`*~:^ \n\\-a\"{},0-9é\u{200b}\u{202e}]{0,300}",
        ) {
            for text in [&text, &parts] {
                let masked = mask_secrets(text).0.into_owned();
                prop_assert!(mask_secrets(&masked).1.is_empty());
                let given = for_model(text).into_owned();
                prop_assert_eq!(for_model(&given), given.as_str());
                let spans = injected_spans(text);
                prop_assert!(spans.iter().all(|span| text.get(span.clone()).is_some()));
            }
        }
    }
}
