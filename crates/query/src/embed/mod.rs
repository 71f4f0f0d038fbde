//! Vectors of texts: the built-in embedder, and names of vector spaces.
//!
//! Not here: other embedders; a client or the daemon provides their vectors and names their space.

mod builtin;
mod groups;
mod space;

pub use builtin::{DIMENSION, Embedder, SPACE_NAME};
pub use space::vector_space;
