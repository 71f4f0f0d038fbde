//! The port to an embedder, and the built-in one.

use uuid::Uuid;

use amem_query::embed;

use crate::score::Calibration;

/// Makes vectors of texts.
pub trait Embedder {
    /// The vector space; vectors of different spaces are not compared.
    fn space(&self) -> Uuid;

    /// How its cosines become scores.
    fn calibration(&self) -> Calibration;

    /// One result for each text, in order: a vector, nothing for a text without terms, or why this one failed.
    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>>;

    /// The same for a question. Some models embed a question otherwise than what it looks for; here it is the same.
    fn embed_query(&self, text: &str) -> Result<Option<Vec<f32>>, String> {
        self.embed(&[text]).pop().unwrap_or(Ok(None))
    }
}

/// The embedder that needs no model.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuiltinEmbedder;

impl Embedder for BuiltinEmbedder {
    fn space(&self) -> Uuid {
        embed::Embedder::builtin().space()
    }

    fn calibration(&self) -> Calibration {
        Calibration::BUILTIN
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        let embedder = embed::Embedder::builtin();
        texts.iter().map(|text| Ok(embedder.embed(text))).collect()
    }
}
