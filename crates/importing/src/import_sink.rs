//! Hands the items of a source to an import, and keeps what goes wrong.

use std::ops::ControlFlow;

use amem_sources::{SkippedEntry, SourceItem, SourceSink};

use crate::outcome::ReadNotes;

/// Takes the items of a source one by one.
pub(crate) trait ItemImport {
    /// Why an import ends.
    type Failure;

    /// Takes an item; a failure ends the reading.
    fn take(&mut self, item: &SourceItem) -> Result<(), Self::Failure>;
}

/// An import as a sink.
pub(crate) struct ImportSink<I: ItemImport> {
    pub(crate) import: I,
    pub(crate) notes: ReadNotes,
    failure: Option<I::Failure>,
}

impl<I: ItemImport> ImportSink<I> {
    pub(crate) fn new(import: I) -> Self {
        Self {
            import,
            notes: ReadNotes::default(),
            failure: None,
        }
    }

    /// The failure that ended the reading.
    pub(crate) fn failure(&mut self) -> Option<I::Failure> {
        self.failure.take()
    }
}

impl<I: ItemImport> SourceSink for ImportSink<I> {
    fn item(&mut self, item: SourceItem) -> ControlFlow<()> {
        match self.import.take(&item) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                self.failure = Some(failure);
                ControlFlow::Break(())
            }
        }
    }

    fn skip(&mut self, entry: SkippedEntry) -> ControlFlow<()> {
        self.notes.take(&entry);
        ControlFlow::Continue(())
    }
}
