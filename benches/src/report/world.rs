//! The systems under test: brains, the reference and the peers with the same data, each created at its first use.

use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use agentic_memory::{MemoryGraph, MmapReader};
use amem_format::NodeId;
use amem_format::reader::Reader;
use amem_store::disk::os::OsDisk;
use amem_store::{Folder, Mutation, NewBrain, Request, Store, create, import};
use uuid::Uuid;

use super::calibrate::Calibration;
use super::corpus::{Corpus, DIMENSION, Vectors};
use super::measure::Outcome;
use super::reference;
use super::sqlite::Sqlite;

/// The distance of two forgotten events, in the brain that has some.
pub(super) const FORGOTTEN_EVERY: u64 = 100;

/// A brain open for writing, with a reader that follows it like another process.
pub(super) struct BenchBrain {
    pub(super) corpus: Corpus,
    pub(super) path: PathBuf,
    pub(super) store: RefCell<Store>,
    pub(super) reader: Reader,
}

/// All systems of a size.
pub(super) struct World {
    pub(super) nodes: u64,
    pub(super) calibration: Calibration,
    folder: tempfile::TempDir,
    brains: Folder,
    clustered: OnceCell<BenchBrain>,
    uniform: OnceCell<BenchBrain>,
    forgetful: OnceCell<BenchBrain>,
    written: OnceCell<BenchBrain>,
    graph: OnceCell<MemoryGraph>,
    file: OnceCell<(MmapReader, Option<f64>)>,
    /// The path at which the reference's file stays, if any.
    kept: Option<PathBuf>,
    sqlite: OnceCell<Sqlite>,
}

impl World {
    pub(super) fn new(
        nodes: u64,
        folder: tempfile::TempDir,
        calibration: Calibration,
        kept: Option<PathBuf>,
    ) -> Outcome<Self> {
        let brains = open_folder(&folder.path().join("brains"))?;
        Ok(Self {
            nodes,
            calibration,
            brains,
            folder,
            clustered: OnceCell::new(),
            uniform: OnceCell::new(),
            forgetful: OnceCell::new(),
            written: OnceCell::new(),
            graph: OnceCell::new(),
            file: OnceCell::new(),
            kept,
            sqlite: OnceCell::new(),
        })
    }

    /// The folder of all files.
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The data.
    pub(super) fn corpus(&self, vectors: Vectors) -> Corpus {
        let nodes = self.nodes;
        Corpus { nodes, vectors }
    }

    /// The brain of most rows.
    pub(super) fn clustered(&self) -> Outcome<&BenchBrain> {
        made(&self.clustered, || {
            self.hold("clustered", Vectors::Clustered)
        })
    }

    /// The same with other vectors.
    pub(super) fn uniform(&self) -> Outcome<&BenchBrain> {
        made(&self.uniform, || self.hold("uniform", Vectors::Uniform))
    }

    /// The first brain with some events forgotten.
    pub(super) fn forgetful(&self) -> Outcome<&BenchBrain> {
        made(&self.forgetful, || {
            let held = self.hold("forgetful", Vectors::Clustered)?;
            let ids = (0..self.nodes).step_by(FORGOTTEN_EVERY as usize);
            let requests: Vec<_> = ids
                .map(|id| Request::new(Mutation::Forget(NodeId(id))))
                .collect();
            for group in requests.chunks(1_000) {
                for answer in held.store.borrow_mut().commit(group) {
                    answer?;
                }
            }
            Ok(held)
        })
    }

    /// A copy of the first brain, for rows that write.
    pub(super) fn written(&self) -> Outcome<&BenchBrain> {
        made(&self.written, || self.hold("written", Vectors::Clustered))
    }

    /// The reference in memory.
    pub(super) fn graph(&self) -> Outcome<&MemoryGraph> {
        made(&self.graph, || {
            reference::graph(&self.corpus(Vectors::Clustered))
        })
    }

    /// Its file, as its mapped reader sees it.
    pub(super) fn file(&self) -> Outcome<&MmapReader> {
        Ok(&self.written_file()?.0)
    }

    /// Seconds to write that file, unsynced: measured once, because they grow with the square of the events; none if
    /// the file existed.
    pub(super) fn file_writing(&self) -> Outcome<Option<f64>> {
        Ok(self.written_file()?.1)
    }

    fn written_file(&self) -> Outcome<&(MmapReader, Option<f64>)> {
        made(&self.file, || {
            let path = self.reference_path();
            if path.exists() {
                let file = MmapReader::open(&path)?;
                let found = file.header().node_count;
                if found != self.nodes {
                    let (path, nodes) = (path.display(), self.nodes);
                    return Err(format!("{path} has {found} events, not {nodes}").into());
                }
                return Ok((file, None));
            }
            let graph = self.graph()?;
            let began = Instant::now();
            reference::write(graph, &path)?;
            let took = began.elapsed().as_secs_f64();
            Ok((MmapReader::open(&path)?, Some(took)))
        })
    }

    /// The path of that file, once it exists.
    pub(super) fn reference_path(&self) -> PathBuf {
        let own = || self.path().join("reference.amem");
        self.kept.clone().unwrap_or_else(own)
    }

    /// SQLite.
    pub(super) fn sqlite(&self) -> Outcome<&Sqlite> {
        made(&self.sqlite, || {
            let sqlite = Sqlite::create(&self.path().join("peer.sqlite"))?;
            sqlite.fill(&self.corpus(Vectors::Clustered))?;
            Ok(sqlite)
        })
    }

    /// A separate database for a row that writes, with as many events as the others.
    pub(super) fn fresh(&self, name: &str) -> Outcome<BenchBrain> {
        self.hold(name, Vectors::Clustered)
    }

    fn hold(&self, name: &str, vectors: Vectors) -> Outcome<BenchBrain> {
        let corpus = self.corpus(vectors);
        import(&self.brains, name, &options(), &corpus)?;
        let store = RefCell::new(Store::open(&self.brains, name)?);
        let path = self.brain_path(name);
        let reader = Reader::open(&path)?;
        Ok(BenchBrain {
            corpus,
            path,
            store,
            reader,
        })
    }

    /// An empty brain, opened.
    pub(super) fn empty(&self, name: &str) -> Outcome<Store> {
        create(&self.brains, name, &options())?;
        Ok(Store::open(&self.brains, name)?)
    }

    /// The file of a brain.
    pub(super) fn brain_path(&self, name: &str) -> PathBuf {
        self.path().join("brains").join(format!("{name}.amem"))
    }
}

/// A folder of brains.
pub(super) fn open_folder(path: &Path) -> Outcome<Folder> {
    std::fs::create_dir_all(path)?;
    Ok(Folder::open(Arc::new(OsDisk::new(path)?), "a report")?)
}

/// A brain whose vectors come with the events.
pub(super) fn options() -> NewBrain {
    let mut options = NewBrain {
        dimension: DIMENSION,
        space: Uuid::from_u128(1),
        ..NewBrain::default()
    };
    options.settings.embed = false;
    options
}

fn made<T>(cell: &OnceCell<T>, make: impl FnOnce() -> Outcome<T>) -> Outcome<&T> {
    if cell.get().is_none() {
        let made = make()?;
        // No other code can have filled it: all of this runs on one thread.
        drop(cell.set(made));
    }
    Ok(cell.get().ok_or("what was made is gone")?)
}
