//! The built-in embedder.
