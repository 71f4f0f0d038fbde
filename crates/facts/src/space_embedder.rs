//! The embedder of a brain's vector space.

use amem_format::view::View;
use amem_memory::Calibration;
use amem_memory::store::{BuiltinEmbedder, Embedder};
use uuid::Uuid;

/// The built-in embedder for a brain of its space; for others none: their facts have no vectors, and words find them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpaceEmbedder {
    /// The built-in one.
    Builtin,
    /// None.
    WordsOnly,
}

impl SpaceEmbedder {
    /// The embedder for a brain.
    pub fn of(view: &View) -> Self {
        let own = view.identity().space;
        if view.vector_dimension() > 0 && own == BuiltinEmbedder.space() {
            Self::Builtin
        } else {
            Self::WordsOnly
        }
    }
}

impl Embedder for SpaceEmbedder {
    fn space(&self) -> Uuid {
        match self {
            Self::Builtin => BuiltinEmbedder.space(),
            Self::WordsOnly => Uuid::nil(),
        }
    }

    fn calibration(&self) -> Calibration {
        BuiltinEmbedder.calibration()
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        match self {
            Self::Builtin => BuiltinEmbedder.embed(texts),
            Self::WordsOnly => texts.iter().map(|_| Ok(None)).collect(),
        }
    }
}
