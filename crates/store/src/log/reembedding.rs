//! Re-embedding: the vectors of a brain in another space, made beside its writer, and a generation with them.
//!
//! `advance` embeds events into a file, as often as it takes; `Checkpoint::begin_reembedded` makes a generation with
//! these vectors. Until then the brain has its old ones, afterwards only the new ones: those of earlier moments are
//! replaced too, since vectors of two spaces cannot be compared.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard};

use amem_format::NodeId;
use amem_format::other_space::OtherSpace;
use amem_format::view::View;
use amem_locks::LockResultExt;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::limits::EMBEDDED_EVENTS_MAX;
use crate::log::vector_rows::{RowsOf, VectorRows};
use crate::names::folder::Folder;

/// Makes vectors of events.
pub trait EventEmbedder: Debug + Send + Sync {
    /// The vector space.
    fn space(&self) -> Uuid;

    /// Numbers in a vector.
    fn dimension(&self) -> u32;

    /// True if it may take long: then it is not asked while commits wait.
    fn may_wait(&self) -> bool;

    /// A vector for each of the first of these events, as many as it made, at least one; nothing for an event that has
    /// no text, or whose text it refuses for good.
    fn embed(
        &self,
        view: &View,
        ids: &[NodeId],
    ) -> std::result::Result<Vec<Option<Vec<f32>>>, String>;
}

/// The vectors of a brain in another space, as far as they are made.
#[derive(Debug)]
pub struct Reembedding {
    folder: Folder,
    embedder: Arc<dyn EventEmbedder>,
    rows: Mutex<VectorRows>,
}

impl Reembedding {
    /// Goes on with what was made before, if the brain and the space are the same.
    pub fn open(
        folder: &Folder,
        name: &str,
        view: &View,
        embedder: Arc<dyn EventEmbedder>,
    ) -> Result<Self> {
        let of = RowsOf {
            instance: view.instance(),
            space: embedder.space(),
            dimension: embedder.dimension(),
        };
        Ok(Self {
            rows: Mutex::new(VectorRows::open(folder, name, of, view)?),
            folder: folder.clone(),
            embedder,
        })
    }

    /// The space.
    pub fn space(&self) -> Uuid {
        self.rows().of().space
    }

    /// Events that are embedded.
    pub fn embedded(&self) -> u64 {
        self.rows().count()
    }

    /// True while the file of the vectors is there: an erase removes it, and everything is embedded again then.
    pub fn is_there(&self) -> Result<bool> {
        self.rows().is_there(&self.folder)
    }

    /// Embeds the next events of a view, at most `limits::EMBEDDED_EVENTS_MAX`; false if there are none.
    pub fn advance(&self, view: &View) -> Result<bool> {
        let (from, nodes) = (self.embedded(), view.nodes());
        if from >= nodes {
            return Ok(false);
        }
        let until = nodes.min(from + EMBEDDED_EVENTS_MAX);
        let ids: Vec<NodeId> = (from..until).map(NodeId).collect();
        // Nobody waits for the rows meanwhile.
        let vectors = self.embedder.embed(view, &ids);
        let vectors = vectors.map_err(|why| Error::Embedder { why })?;
        if vectors.is_empty() || vectors.len() > ids.len() {
            let why = format!("it gave {} vectors for {} events", vectors.len(), ids.len());
            return Err(Error::Embedder { why });
        }
        let mut rows = self.rows();
        if rows.count() == from {
            rows.append(view, &vectors)?;
        }
        Ok(true)
    }

    /// True if a model is asked, which may take long.
    pub(crate) fn may_wait(&self) -> bool {
        self.embedder.may_wait()
    }

    /// The space with the vectors that there are; `own` is that of the brain, whose vectors stay if it is the same.
    pub(crate) fn other_space(&self, own: Uuid) -> Result<OtherSpace> {
        let rows = self.rows();
        Ok(OtherSpace {
            space: rows.of().space,
            dimension: rows.of().dimension,
            vectors: Box::new(rows.mapped()?),
            keeps_own: own == rows.of().space,
        })
    }

    fn rows(&self) -> MutexGuard<'_, VectorRows> {
        // A row counts once it is written.
        self.rows.lock().unpoisoned()
    }
}
