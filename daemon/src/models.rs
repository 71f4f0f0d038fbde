//! Models: what the binary hands in, in builds with the feature `models`, if `models.file` names a file of them.
//!
//! The language model finds and decides for fact memory; the embedder makes vectors of the brains of its space.
//! Promises: without `models.file` nobody is called; a question whose embedder is away is answered by words; an event
//! whose embedder is away is stored without a vector.
//! Not here: how models are called, and where (`amem_models`).

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use amem_format::view::View;
use amem_memory::model::{Model, ModelSource};
use amem_memory::store::Embedder;
use amem_store::NewBrain;
use amem_store::mutation::{Mutation, NewEvent, Request};

use crate::config::{Config, MODELS_FILE};
use crate::error::Result;

/// Opens the models of a file; an error says why it cannot.
pub type Starter = fn(&Path) -> std::result::Result<Arc<dyn ModelSource>, String>;

pub(crate) type SharedEmbedder = Arc<dyn Embedder + Send + Sync>;

/// The models that are set up; none by default.
#[derive(Clone, Default)]
pub(crate) struct Models(Option<Arc<dyn ModelSource>>);

impl fmt::Debug for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Models").field(&self.0).finish()
    }
}

/// Refuses a file of models that cannot be used, and every one in a build without them.
pub(crate) fn check(config: &Config, starter: Option<Starter>) -> Result<()> {
    Models::start(config, starter).map(|_| ())
}

impl Models {
    /// Opens the models that the configuration names.
    pub(crate) fn start(config: &Config, starter: Option<Starter>) -> Result<Self> {
        let Some(file) = &config.models_file else {
            return Ok(Self::default());
        };
        let Some(starter) = starter else {
            return Err(config.wrong(
                MODELS_FILE,
                "this amemd was built without models: build it with `cargo build --release -p amemd --features models`",
            ));
        };
        let opened = starter(file).map_err(|why| config.wrong(MODELS_FILE, &why))?;
        Ok(Self(Some(opened)))
    }

    /// The language model for one add.
    pub(crate) fn language(&self) -> Option<Box<dyn Model>> {
        self.0.as_ref()?.language()
    }

    /// The embedder.
    pub(crate) fn embedder(&self) -> Option<SharedEmbedder> {
        self.0.as_ref()?.embedder()
    }

    /// The embedder of a brain's space, if it is a model's.
    pub(crate) fn embedder_of(&self, view: &View) -> Option<SharedEmbedder> {
        let space = view.identity().space;
        let embedder = self.embedder().filter(|_| view.vector_dimension() > 0)?;
        (embedder.space() == space).then_some(embedder)
    }

    /// A new brain: of the embedder's space, if there is one. It is asked for a vector, which tells their length; the
    /// caller waits.
    pub(crate) fn new_brain(&self) -> std::result::Result<NewBrain, String> {
        let Some(embedder) = self.embedder() else {
            return Ok(NewBrain::default());
        };
        let vector = embedder.embed(&["length"]).pop().unwrap_or(Ok(None))?;
        let length = vector.ok_or("the embedder gives no vector")?.len();
        Ok(NewBrain {
            dimension: u32::try_from(length).map_err(|e| e.to_string())?,
            space: embedder.space(),
            ..NewBrain::default()
        })
    }
}

/// The new events of a change that may need vectors.
pub(crate) fn new_events(mutation: &mut Mutation) -> &mut [NewEvent] {
    match mutation {
        Mutation::Ingest(ingest) => &mut ingest.events,
        Mutation::Correct(correct) => std::slice::from_mut(&mut correct.event),
        _ => &mut [],
    }
}

/// What is embedded of an event: who spoke belongs to what was said (on LoCoMo, R@10 by vectors alone is 48.7 with the
/// speaker and 34.5 without).
fn embedded_text(event: &NewEvent) -> String {
    let speaker = event
        .attributes
        .as_ref()
        .and_then(|attributes| attributes.get("speaker"));
    match speaker.and_then(|speaker| speaker.as_str()) {
        Some(speaker) => format!("{speaker}: {}", event.text),
        None => event.text.clone(),
    }
}

/// Gives events vectors, as far as the embedder does; the rest is stored without.
pub(crate) fn embed_events(request: &mut Request, embedder: &dyn Embedder) {
    let mut bare: Vec<&mut NewEvent> = new_events(&mut request.mutation)
        .iter_mut()
        .filter(|event| event.vector.is_none() && !event.text.is_empty())
        .collect();
    let texts: Vec<String> = bare.iter().map(|event| embedded_text(event)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts);
    let mut failure = None;
    for (event, vector) in bare.iter_mut().zip(vectors) {
        match vector {
            Ok(vector) => event.vector = vector,
            Err(why) => failure = Some(why),
        }
    }
    if let Some(why) = failure {
        tracing::warn!(why, "events were stored without vectors");
    }
}
