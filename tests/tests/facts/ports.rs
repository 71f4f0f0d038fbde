//! Scripted models and embedders.

use std::cell::RefCell;
use std::time::Duration;

use amem_memory::Calibration;
use amem_memory::model::{Model, ModelFailure, ModelReply, ModelRequest};
use amem_memory::store::{BuiltinEmbedder, Embedder};
use uuid::Uuid;

/// A model that gives answers from a list, and remembers what it was asked.
pub(crate) struct ScriptedModel {
    answers: RefCell<Vec<Result<ModelReply, ModelFailure>>>,
    pub(crate) asked: RefCell<Vec<ModelRequest>>,
}

impl ScriptedModel {
    pub(crate) fn new(answers: Vec<Result<ModelReply, ModelFailure>>) -> Self {
        Self {
            answers: RefCell::new(answers.into_iter().rev().collect()),
            asked: RefCell::default(),
        }
    }

    pub(crate) fn saying(texts: &[&str]) -> Self {
        let reply = |text: &&str| {
            Ok(ModelReply {
                text: (*text).to_owned(),
                is_cut: false,
                tokens_in: 10,
                tokens_out: 5,
                millis: 1,
            })
        };
        Self::new(texts.iter().map(reply).collect())
    }
}

impl Model for ScriptedModel {
    fn key(&self) -> String {
        "scripted".into()
    }

    fn call(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        self.asked.borrow_mut().push(request.clone());
        let answer = self.answers.borrow_mut().pop();
        answer.expect("a call that the script does not know")
    }

    fn wait(&self, _: Duration) -> bool {
        true
    }
}

/// The built-in embedder, which fails for texts with a word.
pub(crate) struct FailingEmbedder(pub(crate) &'static str);

impl Embedder for FailingEmbedder {
    fn space(&self) -> Uuid {
        BuiltinEmbedder.space()
    }

    fn calibration(&self) -> Calibration {
        BuiltinEmbedder.calibration()
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        let vectors = BuiltinEmbedder.embed(texts);
        let fails = |(text, vector): (&&str, _)| {
            if text.contains(self.0) {
                Err("no vector today".to_owned())
            } else {
                vector
            }
        };
        texts.iter().zip(vectors).map(fails).collect()
    }
}

/// The space of `TopicEmbedder`.
pub(crate) const TOPICS: Uuid = Uuid::from_u128(0x0707);

/// Three topics, of which a text is about some: what a sentence model knows about words that share no letter.
pub(crate) struct TopicEmbedder;

impl Embedder for TopicEmbedder {
    fn space(&self) -> Uuid {
        TOPICS
    }

    fn calibration(&self) -> Calibration {
        Calibration::SENTENCES
    }

    fn embed(&self, texts: &[&str]) -> Vec<Result<Option<Vec<f32>>, String>> {
        const WORDS: [&[&str]; 3] = [
            &["python", "programming", "rust"],
            &["tea", "food", "coffee"],
            &["porto", "city", "lives"],
        ];
        let of = |text: &&str| {
            let text = text.to_lowercase();
            let axis =
                |words: &&[&str]| f32::from(u8::from(words.iter().any(|word| text.contains(word))));
            // A common part, as vectors of sentences have one.
            let mut vector = vec![0.1_f32];
            vector.extend(WORDS.iter().map(axis));
            Ok(Some(vector))
        };
        texts.iter().map(of).collect()
    }
}
