//! From a text to tokens, as BERT's reference tokenizer makes them.
//!
//! `words` splits a text into words, `vocabulary` splits a word into pieces, `files` reads both from a model's folder.

mod encode;
mod files;
mod ranges;
mod vocabulary;
mod words;

pub(crate) use encode::Tokenizer;
pub(crate) use files::TokenizerParts;
