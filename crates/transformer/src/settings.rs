//! What a caller may set beside the model's own files.

/// How the vectors of a text's tokens become the text's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The vector of the first token, `[CLS]`.
    Cls,
}

/// Settings of the caller. What is `None` is as the model's files say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// Text in front of every query, such as "query: ".
    pub query_prefix: Option<String>,
    /// Text in front of every passage, such as "passage: ".
    pub passage_prefix: Option<String>,
    /// How the vectors of tokens become a text's; a folder without `modules.json` needs it.
    pub pooling: Option<Pooling>,
    /// Whether vectors are scaled to length 1.
    pub normalise: Option<bool>,
    /// Tokens of a text, with `[CLS]` and `[SEP]`; the rest of a text is cut off. At least 3, and at most what the
    /// model can take.
    pub tokens_max: Option<usize>,
    /// Threads of a batch; `None`: as many as the machine has processors. It changes no vector.
    pub threads: Option<usize>,
}
