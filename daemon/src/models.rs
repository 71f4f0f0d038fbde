//! Models: what the binary hands in, in builds with the feature `models`, if `models.file` names a file of them.
//!
//! The language model finds and decides for fact memory; the embedder makes vectors of the brains of its space.
//! Promises: without `models.file` nobody is called; a question whose embedder is away is answered by words; an event
//! whose embedder is away is stored without a vector.
//! Not here: how models are called, and where (`amem_models`).

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use amem_format::NodeId;
use amem_format::event::Attributes;
use amem_format::view::{Node, View};
use amem_host::files::{FileKind, read_text};
use amem_host::trust::OthersMay;
use amem_locks::LockResultExt;
use amem_memory::model::{Model, ModelSource};
use amem_memory::store::{BuiltinEmbedder, Embedder};
use amem_store::disk::os::OsDisk;
use amem_store::disk::{Disk, atomic_file};
use amem_store::folder::OWN;
use amem_store::mutation::{Mutation, NewEvent, Request};
use amem_store::{EventEmbedder, NewBrain};
use uuid::Uuid;

use crate::config::{Config, MODELS_FILE};
use crate::error::Result;

/// Opens the models of a file; an error says why it cannot.
pub type Starter = fn(&Path) -> std::result::Result<Arc<dyn ModelSource>, String>;

pub(crate) type SharedEmbedder = Arc<dyn Embedder + Send + Sync>;

/// The file of what was used of the budgets of a day.
const USAGE: &str = "models.json";
/// Its bytes.
const USAGE_BYTES_MAX: u64 = 1 << 20;

/// The models that are set up, none by default; and what was kept last of their budgets.
#[derive(Clone, Default)]
pub(crate) struct Models(Option<Arc<dyn ModelSource>>, Arc<Mutex<Option<String>>>);

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
        let models = Self(Some(opened), Arc::default());
        models.restore(&config.folder);
        Ok(models)
    }

    /// Goes on with the budgets of today, as an earlier process left them. If the file cannot be read, the log says
    /// so, and the budgets begin again.
    fn restore(&self, folder: &Path) {
        let Some(models) = &self.0 else { return };
        let path = folder.join(OWN).join(USAGE);
        let kind = FileKind::Settings(OthersMay::Write);
        let restored = match read_text(&path, kind, USAGE_BYTES_MAX) {
            Ok(Some(usage)) => models.restore(&usage),
            Ok(None) => Ok(()),
            Err(fault) => Err(fault.why()),
        };
        if let Err(why) = restored {
            let path = path.display();
            tracing::warn!(%path, why, "the budgets of models begin again");
        }
    }

    /// Keeps what was used of the budgets of today, if it is not what was kept before.
    pub(crate) fn keep(&self, folder: &Path) {
        let usage = self.0.as_ref().and_then(|models| models.usage());
        let mut kept = self.1.lock().unpoisoned();
        if usage.is_none() || usage == *kept {
            return;
        }
        let bytes = usage.as_deref().unwrap_or_default().as_bytes();
        let (tmp, name) = (format!("{OWN}/{USAGE}.new"), format!("{OWN}/{USAGE}"));
        let written = OsDisk::new(folder)
            .map_err(|e| e.to_string())
            .and_then(|disk| {
                let disk: Arc<dyn Disk> = Arc::new(disk);
                let done = atomic_file::write(&disk, OWN, &tmp, &name, bytes);
                done.map_err(|e| e.to_string())
            });
        match written {
            Ok(()) => *kept = usage,
            Err(why) => tracing::warn!(why, "what models used today is not kept"),
        }
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
        Ok(NewBrain {
            dimension: dimension(embedder.as_ref())?,
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
fn embedded_text(text: &str, attributes: Option<&Attributes>) -> String {
    let speaker = attributes.and_then(|attributes| attributes.get("speaker"));
    match speaker.and_then(|speaker| speaker.as_str()) {
        Some(speaker) => format!("{speaker}: {text}"),
        None => text.to_owned(),
    }
}

/// Gives events vectors, as far as the embedder does; the rest is stored without.
pub(crate) fn embed_events(request: &mut Request, embedder: &dyn Embedder) {
    let mut bare: Vec<&mut NewEvent> = new_events(&mut request.mutation)
        .iter_mut()
        .filter(|event| event.vector.is_none() && !event.text.is_empty())
        .collect();
    let texts: Vec<String> = bare
        .iter()
        .map(|event| embedded_text(&event.text, event.attributes.as_ref()))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts);
    let mut failure = None;
    for (event, vector) in bare.iter_mut().zip(vectors) {
        match vector {
            Ok(vector) => {
                event.derive(vector);
                event.space = Some(embedder.space());
            }
            Err(why) => failure = Some(why),
        }
    }
    if let Some(why) = failure {
        tracing::warn!(why, "events were stored without vectors");
    }
}

/// Embeds the events of a brain again. One whose vector is of the space already keeps it.
pub(crate) struct Reembedder {
    embedder: SharedEmbedder,
    dimension: u32,
    /// True unless it is the built-in one, which takes no time and embeds texts without their speakers.
    is_model: bool,
}

impl fmt::Debug for Reembedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reembedder")
            .field("space", &self.embedder.space())
            .finish_non_exhaustive()
    }
}

impl Reembedder {
    /// Asks the embedder for a vector, which tells their length; the caller waits.
    pub(crate) fn of(embedder: SharedEmbedder) -> std::result::Result<Self, String> {
        let dimension = dimension(embedder.as_ref())?;
        Ok(Self {
            is_model: embedder.space() != BuiltinEmbedder.space(),
            embedder,
            dimension,
        })
    }

    fn text(&self, node: &Node<'_>) -> amem_format::Result<String> {
        let text = node.text()?;
        match self.is_model {
            true => Ok(embedded_text(&text, node.attributes()?.as_ref())),
            false => Ok(text.into_owned()),
        }
    }
}

impl EventEmbedder for Reembedder {
    fn space(&self) -> Uuid {
        self.embedder.space()
    }

    fn dimension(&self) -> u32 {
        self.dimension
    }

    fn may_wait(&self) -> bool {
        self.is_model
    }

    fn embed(
        &self,
        view: &View,
        ids: &[NodeId],
    ) -> std::result::Result<Vec<Option<Vec<f32>>>, String> {
        let is_own = view.identity().space == self.embedder.space();
        let mut out: Vec<Option<Vec<f32>>> = vec![None; ids.len()];
        let (mut places, mut texts) = (Vec::new(), Vec::new());
        for (at, id) in ids.iter().enumerate() {
            let node = view.node(*id).map_err(|e| e.to_string())?;
            let known = node.vector().map_err(|e| e.to_string())?;
            if let Some(known) = known.filter(|_| is_own) {
                out[at] = Some(known.to_vec());
                continue;
            }
            // It is never searched.
            if known.is_some_and(|known| known.iter().all(|x| *x == 0.0)) {
                out[at] = Some(vec![0.0; self.dimension as usize]);
                continue;
            }
            let text = self.text(&node).map_err(|e| e.to_string())?;
            if !node.is_erased() && !text.is_empty() {
                places.push(at);
                texts.push(text);
            }
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = self.embedder.embed(&texts);
        let is_alive = vectors.iter().any(std::result::Result::is_ok);
        for (at, vector) in places.into_iter().zip(vectors) {
            match vector {
                Ok(vector) => out[at] = vector,
                // The ones before it are made; it is tried again, as the first.
                Err(_) if at > 0 => {
                    out.truncate(at);
                    break;
                }
                Err(why) => {
                    // Either nothing is embedded now, or this text is refused for good.
                    if !is_alive && dimension(self.embedder.as_ref()).is_err() {
                        return Err(why);
                    }
                    tracing::warn!(event = ids[at].0, why, "an event stays without a vector");
                    out.truncate(1);
                    break;
                }
            }
        }
        Ok(out)
    }
}

/// How long an embedder's vectors are.
fn dimension(embedder: &dyn Embedder) -> std::result::Result<u32, String> {
    let vector = embedder.embed(&["length"]).pop().unwrap_or(Ok(None))?;
    let length = vector.ok_or("the embedder gives no vector")?.len();
    u32::try_from(length).map_err(|e| e.to_string())
}
