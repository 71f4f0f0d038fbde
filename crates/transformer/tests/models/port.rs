//! The model behind the port of fact memory.

use std::sync::Arc;

use amem_memory::Calibration;
use amem_memory::store::Embedder;
use amem_transformer::{SentenceModel, TextRole, TransformerEmbedder};

use crate::written::TinyModel;

fn open(tiny: &TinyModel) -> TransformerEmbedder {
    let folder = tiny.folder();
    let model = SentenceModel::open(folder.path()).expect("a model");
    TransformerEmbedder::new(Arc::new(model))
}

#[test]
fn the_port_embeds_passages_and_questions() {
    let embedder = open(&TinyModel::new());
    let texts = ["the cat", "", "a dog", " \n\0", "the cat"];
    let vectors = embedder.embed(&texts);
    let found: Vec<_> = vectors
        .into_iter()
        .map(|v| v.expect("no failure"))
        .collect();
    let model = embedder.model();
    let passages = model.embed(TextRole::Passage, &["the cat", "a dog"]);
    assert_eq!(found[0].as_ref(), Some(&passages[0]));
    assert_eq!(
        (&found[1], &found[3]),
        (&None, &None),
        "no tokens, no vector"
    );
    assert_eq!(found[2].as_ref(), Some(&passages[1]));
    assert_eq!(found[4], found[0]);
    let query = embedder.embed_query("the cat").expect("no failure");
    assert_eq!(query, model.embed(TextRole::Query, &["the cat"]).pop());
    assert_ne!(query, found[0], "a question has a prefix");
    assert_eq!(embedder.embed_query(" "), Ok(None));
    assert_eq!(embedder.space(), model.space());
    assert_eq!(embedder.calibration(), Calibration::SENTENCES);
    assert_eq!(model.dimension(), 32);
}

#[test]
fn vectors_without_finite_numbers_are_refused() {
    let mut tiny = TinyModel::new();
    let name = "encoder.layer.0.output.dense.bias";
    let tensor = tiny.tensors.get_mut(name).expect("a tensor");
    tensor.numbers[3] = f32::NAN;
    let embedder = open(&tiny);
    let found = embedder.embed(&["the cat", ""]);
    let error = found[0].as_ref().expect_err("no vector");
    assert!(error.contains("no finite numbers"), "{error}");
    assert_eq!(found[1], Ok(None));
    assert!(embedder.embed_query("the cat").is_err());
}
