//! Why an import ends.

use std::path::PathBuf;

use amem_sources::{SourceError, SourceKind};

use crate::outcome::SkippedPlace;

/// Why an import ends. `F` is what the target fails with.
#[derive(Debug)]
pub enum ImportError<F> {
    /// A source cannot be read.
    Source(SourceError),
    /// A path has nothing that can be imported.
    UnknownKind {
        /// The path.
        path: PathBuf,
        /// What it looks like.
        looks_like: String,
    },
    /// A path has nothing of the kind that is meant.
    OtherKind {
        /// The path.
        path: PathBuf,
        /// The kind.
        wanted: SourceKind,
        /// The kinds that it has.
        found: Vec<SourceKind>,
    },
    /// The usual places have nothing of a kind.
    NothingFound(SourceKind),
    /// Everything was skipped; this is the first.
    NothingRead(SkippedPlace),
    /// The target failed.
    Target(F),
}

impl<F> From<SourceError> for ImportError<F> {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}
