//! Paths to be imported, and what is in them.

use std::path::{Path, PathBuf};

use amem_sources::{DetectedSource, SourceKind, detect, homes};

use crate::error::ImportError;

/// A path to read, and what in it.
#[derive(Debug)]
pub struct ImportPath {
    /// The path.
    pub path: PathBuf,
    only: Option<SourceKind>,
    pub(crate) found: Vec<DetectedSource>,
}

impl ImportPath {
    /// A path, of which a kind may be meant alone.
    ///
    /// # Errors
    /// A path that cannot be read, has nothing that can be imported, or has nothing of the kind.
    pub fn of<F>(path: &Path, only: Option<SourceKind>) -> Result<Self, ImportError<F>> {
        let detection = detect(path)?;
        if detection.sources.is_empty() {
            return Err(ImportError::UnknownKind {
                path: path.to_owned(),
                looks_like: detection.looks_like,
            });
        }
        let found = detection.sources;
        let is_meant = |wanted: SourceKind| found.iter().any(|found| wanted.covers(found.kind));
        match only.filter(|wanted| !is_meant(*wanted)) {
            Some(wanted) => Err(ImportError::OtherKind {
                path: path.to_owned(),
                wanted,
                found: found.iter().map(|found| found.kind).collect(),
            }),
            None => Ok(Self {
                path: path.to_owned(),
                only,
                found,
            }),
        }
    }

    /// The usual places of a kind. `variable` answers the environment variables that move them.
    ///
    /// # Errors
    /// A place that cannot be read; nothing of the kind in any of them.
    pub fn usual<F>(
        kind: SourceKind,
        home: &Path,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Vec<Self>, ImportError<F>> {
        let mut out = Vec::new();
        for place in homes(home, variable) {
            if !kind.covers(place.kind) {
                continue;
            }
            let found = detect(&place.path)?.sources;
            if found.iter().any(|found| kind.covers(found.kind)) {
                out.push(Self {
                    path: place.path,
                    only: Some(kind),
                    found,
                });
            }
        }
        match out.is_empty() {
            true => Err(ImportError::NothingFound(kind)),
            false => Ok(out),
        }
    }

    /// The kinds that are meant.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = SourceKind> {
        let kinds = self.found.iter().map(|found| found.kind);
        kinds.filter(|kind| self.only.is_none_or(|only| only.covers(*kind)))
    }
}
