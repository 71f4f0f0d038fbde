//! A file from elsewhere that is received in parts and becomes a brain.
//!
//! Promises: no file has the brain's name before all of it was received and verified; after an error, what was received
//! is removed. A brain of amemd becomes a sibling, of the same lineage, with an instance of its own; files of other
//! layouts become new brains.
//! Not here: files under a brain's name in the folder (`adoption`).

use std::sync::Arc;

use amem_doctor::verify;
use amem_format::base::settings::Settings;
use amem_format::brain::Brain;
use amem_format::event::Graph;
use amem_format::mapping::Map;
use amem_format::view::View;
use amem_interop::foreign::{Foreign, to_dense};
use amem_interop::spec1::Spec1;
use amem_interop::{Layout, detect, foreign};
use amem_query::embed;
use amem_query::embed::Embedder;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use crate::disk::File;
use crate::error::{Error, Result};
use crate::limits::{
    FOREIGN_BYTES_MAX, INCOMING_BYTES_MAX, INCOMING_JOURNAL_BYTES_MAX, MERGE_MEMORY_BYTES_MAX,
};
use crate::merge::budget;
use crate::names::create::{self, NewBrain};
use crate::names::folder::{Folder, QuarantineReason, RECOVERED, SUFFIX, file_name};
use crate::names::ownership::{SourcePart, check_journal};
use crate::names::quarantine;
use crate::names::temporary::READ_ONLY;
use crate::names::untracked::{OriginalFile, UntrackedFile};

/// A file that is being received.
#[derive(Debug)]
pub struct IncomingFile {
    folder: Folder,
    name: String,
    tmp: String,
    file: Arc<dyn File>,
    received: u64,
    expected: u64,
    /// The file that has the name and is displaced.
    untracked: Option<UntrackedFile>,
    /// This is a copy of that file, and will be all that is left of it.
    is_copy: bool,
}

/// The lossy conversions of a file in another layout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LossyConversions {
    /// Edges that were dropped: to themselves, to missing events, or repeated.
    pub dropped_edges: u64,
    /// Events and edges with a changed value: an outlier set to the nearest bound, a time before 1970, an old id for
    /// which there was no room.
    pub changed: u64,
}

impl LossyConversions {
    fn of(report: &foreign::AdoptionReport) -> Self {
        Self {
            dropped_edges: report.dropped(),
            changed: report.changed(),
        }
    }

    /// True if the brain has all of the file.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What an import or adoption did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// The layout it had.
    pub layout: Layout,
    /// Events that got a new id.
    pub renumbered: u64,
    /// Lossy conversions.
    pub lossy: LossyConversions,
    /// The file in quarantine that the brain does not have all of, relative to the folder.
    pub original: Option<String>,
}

impl IncomingFile {
    /// Begins to receive a file of `bytes` for a brain under a free name.
    pub fn begin(folder: &Folder, name: &str, bytes: u64) -> Result<Self> {
        let to = file_name(name)?;
        if folder.disk().identity(&to).is_ok() {
            return Err(Error::Exists { name: name.into() });
        }
        Self::new(folder, name, bytes, None)
    }

    /// Begins to receive a file of `bytes` for a brain that replaces a file, if there is one.
    pub(crate) fn replacing(
        folder: &Folder,
        name: &str,
        bytes: u64,
        untracked: Option<UntrackedFile>,
    ) -> Result<Self> {
        Self::new(folder, name, bytes, untracked)
    }

    /// Begins to receive a file of `bytes` that is only read (`into_view`).
    pub fn read_only(folder: &Folder, bytes: u64) -> Result<Self> {
        Self::new(folder, READ_ONLY, bytes, None)
    }

    /// Begins to copy the untracked file under a brain's name.
    pub(crate) fn of_untracked(
        folder: &Folder,
        name: &str,
        untracked: UntrackedFile,
    ) -> Result<Self> {
        let bytes = untracked.bytes();
        let mut incoming = Self::new(folder, name, bytes, Some(untracked))?;
        incoming.is_copy = true;
        Ok(incoming)
    }

    fn new(
        folder: &Folder,
        name: &str,
        bytes: u64,
        untracked: Option<UntrackedFile>,
    ) -> Result<Self> {
        amem_format::Error::check_limit("the file's size (bytes)", bytes, INCOMING_BYTES_MAX)?;
        let tmp = folder.tmp_name(name);
        let created = folder.disk().create(&tmp);
        Ok(Self {
            folder: folder.clone(),
            name: name.into(),
            file: created.map_err(|e| Error::disk("create", &tmp, e))?,
            tmp,
            received: 0,
            expected: bytes,
            untracked,
            is_copy: false,
        })
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The brain will take the name of this file.
    pub(crate) fn displace(&mut self, untracked: UntrackedFile) {
        self.untracked = Some(untracked);
    }

    /// The file that has lost its name to the brain.
    pub(crate) fn take_original(&mut self) -> Option<OriginalFile> {
        self.untracked.take().and_then(UntrackedFile::into_original)
    }

    /// Refuses a file of which no brain can be made.
    ///
    /// # Errors
    /// What `finish` would say.
    pub fn verify(&self) -> Result<()> {
        let map = self.map()?;
        let bytes = map.slice(0, map.len()).unwrap_or_default();
        match detect(bytes)? {
            Layout::Native => {
                check_journal(journal_bytes(&map), INCOMING_JOURNAL_BYTES_MAX)?;
                self.open(&map).map(drop)
            }
            layout => {
                check_foreign(&map)?;
                match layout {
                    Layout::Reference => drop(Foreign::open(bytes)?),
                    _ => drop(Spec1::open(bytes)?),
                }
                Ok(())
            }
        }
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

    /// The next part of a file that is copied. Holes stay holes.
    pub(crate) fn push_part(&mut self, part: SourcePart<'_>) -> Result<()> {
        match part {
            SourcePart::Bytes(bytes) => self.push(bytes),
            SourcePart::Hole(bytes) => {
                let end = self.received.saturating_add(bytes);
                if end > self.expected {
                    return Err(self.other_size(end, "or more"));
                }
                if end == self.expected {
                    // Nothing is written behind it that would give the file its length.
                    self.received = end - 1;
                    return self.push(&[0]);
                }
                self.received = end;
                Ok(())
            }
        }
    }

    /// Copies the file that has the name.
    pub(crate) fn copy(&mut self) -> Result<()> {
        let Some(untracked) = self.untracked.take() else {
            return Ok(());
        };
        let copied = untracked.copy(|part| self.push_part(part));
        self.untracked = Some(untracked);
        copied
    }

    /// Makes the brain. `embed`: texts of a file without vectors get those of the built-in embedder.
    pub fn finish(self, embed: bool) -> Result<ImportReport> {
        self.finish_within(embed, INCOMING_JOURNAL_BYTES_MAX)
    }

    /// The same, with another limit for its journal.
    pub fn finish_within(mut self, embed: bool, journal_bytes_max: u64) -> Result<ImportReport> {
        self.make(embed, journal_bytes_max)
    }

    /// Makes the brain, which takes the name of the file that has it. Returns that file.
    pub(crate) fn finish_replacing(
        mut self,
        embed: bool,
    ) -> Result<(ImportReport, Option<OriginalFile>)> {
        let imported = self.finish_now(embed)?;
        Ok((imported, self.take_original()))
    }

    /// The same for a caller that goes on with this file.
    pub(crate) fn finish_now(&mut self, embed: bool) -> Result<ImportReport> {
        self.make(embed, INCOMING_JOURNAL_BYTES_MAX)
    }

    /// Converts the file; returns a view of it and what could not be converted. Removes the file.
    pub fn into_view(self) -> Result<(View, LossyConversions)> {
        self.into_view_within(MERGE_MEMORY_BYTES_MAX)
    }

    /// The same within `bytes_max` of memory.
    pub fn into_view_within(self, bytes_max: u64) -> Result<(View, LossyConversions)> {
        let map = self.map()?;
        let bytes = map.slice(0, map.len()).unwrap_or_default();
        match detect(bytes)? {
            Layout::Native => {
                budget::check_journal(journal_bytes(&map), bytes_max)?;
                Ok((self.open(&map)?.view(), LossyConversions::default()))
            }
            layout => {
                check_foreign(&map)?;
                match layout {
                    Layout::Reference => {
                        let file = Foreign::open(bytes)?;
                        view_of(&file.as_written(), file.edge_count(), bytes, bytes_max)
                    }
                    _ => {
                        let file = Spec1::open(bytes)?;
                        view_of(&file, file.edge_count(), bytes, bytes_max)
                    }
                }
            }
        }
    }

    /// Maps the file, which must have been received in full.
    fn map(&self) -> Result<Arc<Map>> {
        if self.received != self.expected {
            return Err(self.other_size(self.received, "came"));
        }
        if self.expected == 0 {
            return Err(Error::invalid("file", "it is empty"));
        }
        let map = self.file.map(self.expected);
        Ok(Arc::new(map.map_err(|e| Error::disk("map", &self.tmp, e))?))
    }

    fn make(&mut self, embed: bool, journal_bytes_max: u64) -> Result<ImportReport> {
        let map = self.map()?;
        let bytes = map.slice(0, map.len()).unwrap_or_default();
        match detect(bytes)? {
            Layout::Native => {
                check_journal(journal_bytes(&map), journal_bytes_max)?;
                self.adopt(&map)
            }
            layout => {
                check_foreign(&map)?;
                match layout {
                    Layout::Reference => {
                        self.convert(layout, &Foreign::open(bytes)?.as_written(), embed)
                    }
                    _ => self.convert(layout, &Spec1::open(bytes)?, embed),
                }
            }
        }
    }

    /// Opens a brain of amemd, verified in full.
    fn open(&self, map: &Arc<Map>) -> Result<Arc<Brain>> {
        let report = verify::native(map.clone(), None)?;
        if let Some(finding) = report.findings.first() {
            let more = report.findings.len() as u64 - 1 + report.more;
            return Err(amem_format::Error::corrupt(
                "file",
                finding.offset.unwrap_or(0),
                format!("{finding} (and {more} more)"),
            )
            .into());
        }
        let brain = Arc::new(Brain::open(map.clone())?);
        let Some(start) = brain.start() else {
            let why = "its journal is missing: the file was cut off there";
            return Err(amem_format::Error::corrupt("file", map.len(), why).into());
        };
        let end = brain.replay(start, u64::MAX)?.position.at;
        if let Some(what) = brain.newer() {
            // A brain made of it would be without that.
            return Err(amem_format::Error::NewerWrites { what }.into());
        }
        // Frames up to `durable` are in every copy of an intact file.
        let durable = brain.durable();
        if durable > end {
            return Err(Error::Damaged {
                name: format!("{}{SUFFIX}", self.name),
                position: end,
                durable,
            });
        }
        Ok(brain)
    }

    fn adopt(&self, map: &Arc<Map>) -> Result<ImportReport> {
        let view = self.open(map)?.view();
        create::adopt(&self.folder, &self.name, self.untracked.as_ref(), &view)?;
        Ok(ImportReport {
            layout: Layout::Native,
            renumbered: 0,
            lossy: LossyConversions::default(),
            original: None,
        })
    }

    /// A file of another layout.
    fn convert(&self, layout: Layout, graph: &dyn Graph, embed: bool) -> Result<ImportReport> {
        let (mut graph, report) = to_dense(graph)?;
        let mut options = NewBrain {
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
        let lossy = LossyConversions::of(&report);
        // A sender still has its file; of this one, only the brain would be left.
        let original = if self.is_copy && !lossy.is_empty() {
            Some(self.quarantine()?)
        } else {
            None
        };
        create::import_as(
            &self.folder,
            &self.name,
            self.untracked.as_ref(),
            &options,
            &graph,
        )?;
        Ok(ImportReport {
            layout,
            renumbered: report.renumbered,
            lossy,
            original,
        })
    }

    /// Puts the copy into quarantine; returns its path.
    fn quarantine(&self) -> Result<String> {
        let disk = self.folder.disk();
        let path = quarantine::new_path(&self.folder, &self.name, QuarantineReason::Original)
            .map_err(|e| Error::disk("look at", RECOVERED, e))?;
        self.file
            .sync()
            .map_err(|e| Error::disk("sync", &self.tmp, e))?;
        let done = disk.publish(&self.tmp, &path);
        done.and_then(|()| disk.sync_folder(RECOVERED))
            .map_err(|e| Error::disk("put into quarantine", &path, e))?;
        Ok(path)
    }

    fn other_size(&self, found: u64, came: &str) -> Error {
        let expected = self.expected;
        Error::invalid(
            "file",
            format!("{expected} bytes were announced, {found} {came}"),
        )
    }
}

/// Refuses a file of another layout that is too large.
fn check_foreign(map: &Map) -> Result<()> {
    Ok(amem_format::Error::check_limit(
        "a file of another layout (bytes)",
        map.len(),
        FOREIGN_BYTES_MAX,
    )?)
}

/// Bytes of a brain's journal, not replayed yet; 0 if none is found: verifying the file says why.
fn journal_bytes(map: &Arc<Map>) -> u64 {
    let start = Brain::open(map.clone())
        .ok()
        .and_then(|brain| brain.start());
    start.map_or(0, |start| map.len().saturating_sub(start.at))
}

/// Converts a file of another layout, whose content may be many times its size. The instance follows from the bytes, so
/// the same file is always the same instance.
fn view_of(
    graph: &dyn Graph,
    edges: u64,
    bytes: &[u8],
    max: u64,
) -> Result<(View, LossyConversions)> {
    budget::check_graph(graph, edges, max)?;
    let (graph, report) = to_dense(graph)?;
    let id = uuid::Builder::from_random_bytes(xxh3_128(bytes).to_le_bytes()).into_uuid();
    Ok((create::view_of(id, &graph)?, LossyConversions::of(&report)))
}

impl Drop for IncomingFile {
    fn drop(&mut self) {
        self.folder.discard(&self.tmp, self.file.id());
    }
}
