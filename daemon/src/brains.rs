//! The folder's brains: which are open, and opening them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use amem_store::create::{self, Create};
use amem_store::{Folder, Store, folder};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

type Cell = Arc<OnceCell<Arc<OpenBrain>>>;

/// The brains of one folder.
#[derive(Debug)]
pub(crate) struct Brains {
    folder: Folder,
    path: PathBuf,
    /// By name; a cell is empty while its brain is being opened.
    open: Mutex<HashMap<String, Cell>>,
}

impl Brains {
    pub(crate) fn new(folder: Folder, path: PathBuf) -> Self {
        Self {
            folder,
            path,
            open: Mutex::default(),
        }
    }

    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Makes an empty brain and opens it.
    pub(crate) async fn create(&self, name: &str, options: Create) -> Result<Arc<OpenBrain>> {
        let (folder, of) = (self.folder.clone(), name.to_owned());
        blocking(move || create::create(&folder, &of, &options)).await??;
        self.get(name).await
    }

    /// An open brain; opens it if it is not.
    pub(crate) async fn get(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let cell = self.cell(name)?;
        let opened = cell.get_or_try_init(|| self.start(name)).await;
        match opened {
            Ok(brain) => Ok(brain.clone()),
            Err(refusal) => {
                self.forget(name, &cell);
                Err(refusal)
            }
        }
    }

    fn cell(&self, name: &str) -> Result<Cell> {
        // Whatever the name, it is one before anything is kept of it.
        folder::file_name(name)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = |cell: &Cell| cell.get().is_some_and(|brain| brain.is_closed());
        if open.get(name).is_some_and(closed) {
            open.remove(name);
        }
        Ok(open.entry(name.to_owned()).or_default().clone())
    }

    /// Takes the cell of a brain that could not be opened away.
    fn forget(&self, name: &str, cell: &Cell) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |found: &Cell| Arc::ptr_eq(found, cell) && found.get().is_none();
        if open.get(name).is_some_and(same) {
            open.remove(name);
        }
    }

    async fn start(&self, name: &str) -> Result<Arc<OpenBrain>> {
        let (folder, of) = (self.folder.clone(), name.to_owned());
        let store = blocking(move || Store::open(&folder, &of)).await??;
        tracing::info!(brain = name, lsn = store.view().lsn().0, "open");
        let path = self.path.join(folder::file_name(name)?);
        let brain = OpenBrain::start(store, path).map_err(|e| {
            let message = format!("no thread for the writer of {name:?}: {e}");
            Refusal::new(tonic::Code::ResourceExhausted, "THREAD", message)
        })?;
        Ok(Arc::new(brain))
    }

    /// The names of all brains of the folder, open or not, in order.
    pub(crate) async fn names(&self) -> Result<Vec<String>> {
        let folder = self.folder.clone();
        let mut names = blocking(move || folder.names()).await??;
        names.retain(|name| folder::file_name(name).is_ok());
        names.sort_unstable();
        Ok(names)
    }

    /// The open brains, by name.
    pub(crate) fn open(&self) -> Vec<Arc<OpenBrain>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut brains: Vec<_> = open.values().filter_map(|c| c.get().cloned()).collect();
        brains.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        brains
    }

    /// Closes every open brain in order, beside each other.
    pub(crate) async fn close(&self) {
        let closing: Vec<_> = self
            .open()
            .into_iter()
            .map(|brain| tokio::spawn(async move { brain.close().await }))
            .collect();
        for task in closing {
            drop(task.await);
        }
    }
}

/// Runs what takes its time beside the calls; a panic there is a defect of ours and nobody else's trouble.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    spawn_blocking(work)
        .await
        .map_err(|_| Refusal::internal("a defect stopped this call; the daemon's log tells more"))
}
