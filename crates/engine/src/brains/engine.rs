//! What the brains of a folder are worked on with.

use std::path::Path;
use std::sync::Arc;

use amem_store::Folder;

use super::Brains;
use crate::figures::Figures;
use crate::jobs::Jobs;
use crate::replaced::ReplacedFiles;

impl Brains {
    /// The folder's path.
    pub(crate) fn path(&self) -> &Path {
        &self.0.path
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Folder {
        &self.0.folder
    }

    /// The jobs of the daemon.
    pub(crate) fn jobs(&self) -> &Jobs {
        &self.0.jobs
    }

    /// What is counted of the daemon and its brains.
    pub(crate) fn figures(&self) -> &Figures {
        &self.0.figures
    }

    /// Files of brains that were replaced.
    pub(crate) fn replaced(&self) -> &Arc<ReplacedFiles> {
        &self.0.replaced
    }
}
