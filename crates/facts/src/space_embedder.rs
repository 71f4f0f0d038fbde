//! The embedder of a brain's vector space.

use std::fmt;
use std::sync::Arc;

use amem_format::view::View;
use amem_memory::Calibration;
use amem_memory::store::{BuiltinEmbedder, Embedder};
use uuid::Uuid;

/// The embedder of a brain's space: the built-in one, or a model's. For another space none: its facts have no vectors,
/// and words find them.
#[derive(Clone)]
pub enum SpaceEmbedder {
    /// The built-in one.
    Builtin,
    /// That of a model.
    Model(Arc<dyn Embedder + Send + Sync>),
    /// None.
    WordsOnly,
}

impl fmt::Debug for SpaceEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Builtin => "Builtin",
            Self::Model(_) => "Model",
            Self::WordsOnly => "WordsOnly",
        })
    }
}

impl SpaceEmbedder {
    /// The embedder for a brain; `model` is the one that is set up.
    pub fn of(view: &View, model: Option<&Arc<dyn Embedder + Send + Sync>>) -> Self {
        let own = view.identity().space;
        if view.vector_dimension() == 0 {
            return Self::WordsOnly;
        }
        if own == BuiltinEmbedder.space() {
            return Self::Builtin;
        }
        let model = model.filter(|model| model.space() == own);
        model.map_or(Self::WordsOnly, |model| Self::Model(model.clone()))
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        match self {
            Self::Builtin => Some(&BuiltinEmbedder),
            Self::Model(model) => Some(model.as_ref()),
            Self::WordsOnly => None,
        }
    }
}

impl Embedder for SpaceEmbedder {
    fn space(&self) -> Uuid {
        self.embedder().map_or(Uuid::nil(), Embedder::space)
    }

    fn calibration(&self) -> Calibration {
        let own = self.embedder().map(Embedder::calibration);
        own.unwrap_or(BuiltinEmbedder.calibration())
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        match self.embedder() {
            Some(embedder) => embedder.embed(texts),
            None => texts.iter().map(|_| Ok(None)).collect(),
        }
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, String> {
        self.embedder()
            .map_or(Ok(None), |embedder| embedder.embed_query(text))
    }
}
