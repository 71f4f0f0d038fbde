//! A model as the embedder of fact memory.

use std::sync::Arc;

use amem_memory::Calibration;
use amem_memory::store::Embedder;
use uuid::Uuid;

use crate::model::{SentenceModel, TextRole};

/// A sentence-transformer behind the port of fact memory. Clones share the model.
#[derive(Debug, Clone)]
pub struct TransformerEmbedder {
    model: Arc<SentenceModel>,
    calibration: Calibration,
}

impl TransformerEmbedder {
    /// An embedder whose cosines are those of MiniLM.
    pub fn new(model: Arc<SentenceModel>) -> Self {
        Self::with_calibration(model, Calibration::SENTENCES)
    }

    /// An embedder for a model with other cosines.
    pub fn with_calibration(model: Arc<SentenceModel>, calibration: Calibration) -> Self {
        Self { model, calibration }
    }

    /// The model.
    pub fn model(&self) -> &SentenceModel {
        &self.model
    }

    fn embed_as(&self, role: TextRole, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        let is_embedded = |text: &&&str| self.model.has_tokens(text);
        let embedded: Vec<&str> = texts.iter().filter(is_embedded).copied().collect();
        let mut vectors = self.model.embed(role, &embedded).into_iter();
        let vector = |text: &&str| {
            if !self.model.has_tokens(text) {
                return Ok(None);
            }
            let vector = vectors.next().unwrap_or_default();
            if vector.iter().all(|x| x.is_finite()) {
                Ok(Some(vector))
            } else {
                Err("the model gives no finite numbers: its weights are damaged".to_owned())
            }
        };
        texts.iter().map(vector).collect()
    }
}

impl Embedder for TransformerEmbedder {
    fn space(&self) -> Uuid {
        self.model.space()
    }

    fn calibration(&self) -> Calibration {
        self.calibration
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        self.embed_as(TextRole::Passage, texts)
    }

    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, String> {
        let vector = self.embed_as(TextRole::Query, &[text]).pop();
        vector.unwrap_or(Ok(None))
    }
}
