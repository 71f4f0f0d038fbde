//! Sentence-transformers.
#![deny(unsafe_code)]
mod simd;
