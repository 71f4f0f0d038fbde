//! Parameters that servers refuse: a 400 names one, the call is repeated without, and it is never sent again.

use std::collections::BTreeSet;

/// A part of a request that some models do not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Parameter {
    Temperature,
    /// `max_tokens`; OpenAI's newer models want `max_completion_tokens` instead.
    MaxTokens,
    MaxCompletionTokens,
    StreamOptions,
    /// A message of the system; its text goes into the first message of the user.
    System,
    Dimensions,
    EncodingFormat,
}

/// What a server refused so far.
pub(crate) type DroppedParameters = BTreeSet<Parameter>;

impl Parameter {
    /// The words of errors that mean it, in lower case.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Temperature => &["temperature"],
            Self::MaxTokens | Self::MaxCompletionTokens => &[
                "max_tokens",
                "max_completion_tokens",
                "maxoutputtokens",
                "max_output_tokens",
                "num_predict",
            ],
            Self::StreamOptions => &["stream_options", "include_usage"],
            Self::System => &["system role", "developer instruction", "system message"],
            Self::Dimensions => &[
                "dimensions",
                "outputdimensionality",
                "output_dimensionality",
                "matryoshka",
            ],
            Self::EncodingFormat => &["encoding_format"],
        }
    }

    /// The first of the sent ones that an error in lower case names.
    pub(super) fn named_in(words: &str, sent: &[Self]) -> Option<Self> {
        let is_named = |one: &Self| one.words().iter().any(|word| words.contains(word));
        sent.iter().copied().find(is_named)
    }
}
