//! A local sentence-transformer: texts to vectors by a BERT model in a folder.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use amem_memory::store::Embedder;
//! use amem_transformer::{SentenceModel, TransformerEmbedder};
//!
//! let model = SentenceModel::open("all-MiniLM-L6-v2")?;
//! assert_eq!(model.dimension(), 384);
//! let embedder = TransformerEmbedder::new(Arc::new(model));
//! for vector in embedder.embed(&["Ada runs the build", "Grace keeps the books"]) {
//!     println!("{:?}", vector?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It reads the files of a sentence-transformer (the MiniLM, bge and E5 families), makes tokens as BERT's reference
//! does, and runs the forward pass in 32 bits by kernels for AVX2, AVX-512 and NEON. The texts of a batch are packed
//! without padding and run on all processors.
//!
//! Promises: vectors equal those of the reference to 1e-4 (`.ci/models` compares them); a vector depends on its text
//! alone, not on the batch or the threads; a damaged or foreign folder is a typed error that says what to do, in memory
//! bounded by the length of its files; nothing is fetched.
//! Not here: which folder is used, downloads, other architectures, training.

#![forbid(unsafe_code)]

pub mod limits;

mod error;
mod files;
mod settings;

mod config;
mod modules;
mod tokenizer;

mod matrix;

mod safetensors;
mod weights;

mod batches;
mod encoder;
mod model;

mod embedder;

pub use embedder::TransformerEmbedder;
pub use error::{Error, Result};
pub use model::{SentenceModel, TextRole};
pub use settings::{ModelSettings, Pooling};
