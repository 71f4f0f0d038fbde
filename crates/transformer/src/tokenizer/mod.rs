//! From a text to tokens, as BERT's reference tokenizer makes them.
//!
//! `words` splits a text into words, `vocabulary` splits a word into pieces, `files` reads both from a model's folder.

mod files;
mod ranges;
mod tokenizer;
mod vocabulary;
mod words;

pub(crate) use files::TokenizerParts;
pub(crate) use tokenizer::Tokenizer;
