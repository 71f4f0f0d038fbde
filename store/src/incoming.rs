//! A file that comes from elsewhere, in parts, and becomes a brain.
//!
//! Promises: nothing has the brain's name before the file was whole and everything in it held; whatever goes
//! wrong, what was received is taken away again. A brain of amemd becomes a sibling, of the same lineage, with an
//! instance of its own; files of other layouts become new brains.
//! Not here: watching the folder for files that others put there (`amemd`).

use std::sync::Arc;

use amem_core::base::settings::Settings;
use amem_core::brain::Brain;
use amem_core::embed::{self, Embedder};
use amem_core::event::Graph;
use amem_core::foreign::{Foreign, Layout, detect, to_dense};
use amem_core::mapping::Map;
use amem_core::spec1::Spec1;
use amem_core::verify;
use uuid::Uuid;

use crate::create::{self, Create};
use crate::disk::File;
use crate::error::{Error, Result};
use crate::folder::{Folder, file_name};

/// Bytes of a file that becomes a brain.
pub const INCOMING_BYTES_MAX: u64 = 64 << 30;
/// Bytes of a file of another layout, which is read into memory.
pub const FOREIGN_BYTES_MAX: u64 = 4 << 30;

/// A file that is being received.
#[derive(Debug)]
pub struct Incoming {
    folder: Folder,
    name: String,
    tmp: String,
    file: Arc<dyn File>,
    received: u64,
    expected: u64,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// The layout it had.
    pub layout: Layout,
    /// Events that got a new id.
    pub renumbered: u64,
    /// Edges that could not be kept: to themselves, to events that are not there, or repeated.
    pub dropped_edges: u64,
}

impl Incoming {
    /// Begins to receive a file of so many bytes for a brain of a name that is free.
    pub fn begin(folder: &Folder, name: &str, bytes: u64) -> Result<Self> {
        let to = file_name(name)?;
        amem_core::Error::check_limit("the file's size (bytes)", bytes, INCOMING_BYTES_MAX)?;
        if folder.disk().identity(&to).is_ok() {
            return Err(Error::Exists { name: name.into() });
        }
        let tmp = folder.tmp_name(name);
        let created = folder.disk().create(&tmp);
        Ok(Self {
            folder: folder.clone(),
            name: name.into(),
            file: created.map_err(|e| Error::disk("create", &tmp, e))?,
            tmp,
            received: 0,
            expected: bytes,
        })
    }

    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        let end = self.received + bytes.len() as u64;
        if end > self.expected {
            return Err(self.other_size(end, "or more"));
        }
        self.file
            .write_at(self.received, bytes)
            .map_err(|e| Error::disk("write", &self.tmp, e))?;
        self.received = end;
        Ok(())
    }

    /// Makes the brain. `embed`: texts of a file without vectors get those of the built-in embedder.
    pub fn finish(self, embed: bool) -> Result<Imported> {
        if self.received != self.expected {
            return Err(self.other_size(self.received, "came"));
        }
        if self.expected == 0 {
            return Err(Error::invalid("file", "it is empty"));
        }
        let map = self.file.map(self.expected);
        let map = Arc::new(map.map_err(|e| Error::disk("map", &self.tmp, e))?);
        let bytes = map.slice(0, map.len()).unwrap_or_default();
        match detect(bytes)? {
            Layout::Native => self.adopt(&map),
            layout => {
                let max = FOREIGN_BYTES_MAX;
                amem_core::Error::check_limit("a file of another layout (bytes)", map.len(), max)?;
                match layout {
                    Layout::Reference => {
                        self.convert(layout, &Foreign::open(bytes)?.as_written(), embed)
                    }
                    _ => self.convert(layout, &Spec1::open(bytes)?, embed),
                }
            }
        }
    }

    /// A brain of amemd.
    fn adopt(&self, map: &Arc<Map>) -> Result<Imported> {
        let report = verify::native(map.clone(), None)?;
        if let Some(finding) = report.findings.first() {
            let more = report.findings.len() as u64 - 1 + report.more;
            return Err(amem_core::Error::corrupt(
                "file",
                finding.offset.unwrap_or(0),
                format!("{finding} (and {more} more)"),
            )
            .into());
        }
        let brain = Arc::new(Brain::open(map.clone())?);
        if let Some(start) = brain.start() {
            brain.replay(start, u64::MAX)?;
        }
        create::adopt(&self.folder, &self.name, &brain.view())?;
        Ok(Imported {
            layout: Layout::Native,
            renumbered: 0,
            dropped_edges: 0,
        })
    }

    /// A file of another layout.
    fn convert(&self, layout: Layout, graph: &dyn Graph, embed: bool) -> Result<Imported> {
        let (mut graph, report) = to_dense(graph)?;
        let mut options = Create {
            dimension: graph.dimension,
            space: Uuid::nil(),
            settings: Settings::default(),
        };
        if !graph.events.iter().any(|event| event.vector.is_some()) {
            options.dimension = embed::DIMENSION;
            options.space = Embedder::builtin().space();
            graph.dimension = embed::DIMENSION;
            if embed {
                Embedder::builtin().embed_graph(&mut graph);
            }
        }
        create::import(&self.folder, &self.name, &options, &graph)?;
        let dropped = [&report.merged, &report.self_edges, &report.dangling];
        Ok(Imported {
            layout,
            renumbered: report.renumbered,
            dropped_edges: dropped.iter().map(|edges| edges.len() as u64).sum(),
        })
    }

    fn other_size(&self, found: u64, came: &str) -> Error {
        let expected = self.expected;
        Error::invalid(
            "file",
            format!("{expected} bytes were announced, {found} {came}"),
        )
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // What can't be removed is cleared when the folder is opened next.
        drop(self.folder.disk().remove(&self.tmp));
    }
}
