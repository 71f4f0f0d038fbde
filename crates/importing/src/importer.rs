//! The machine: paths are read, and their items become events or memories of a brain.

use std::collections::BTreeSet;
use std::path::PathBuf;

use amem_sources::{ReadOptions, SourceKind, read};

use crate::error::ImportError;
use crate::event_import::EventImport;
use crate::fact_import::{FactImport, ImportScope};
use crate::import_path::ImportPath;
use crate::import_sink::{ImportSink, ItemImport};
use crate::report::ImportReport;
use crate::target::ImportTarget;

/// What becomes of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemForm {
    /// Memories: facts are found in what was said.
    Facts,
    /// Events, each as it is.
    Turns,
}

/// How paths are imported.
#[derive(Debug, Clone)]
pub struct Importer {
    /// What becomes of everything; of each kind its own form if `None`.
    pub form: Option<ItemForm>,
    /// How sources are read.
    pub read: ReadOptions,
    /// Whose memories they become.
    pub scope: ImportScope,
    /// True if nothing is to be written.
    pub is_dry: bool,
    /// False in a dry run into a brain that is not there.
    pub is_there: bool,
}

impl Importer {
    /// Imports paths.
    ///
    /// # Errors
    /// A source that cannot be read; what the target fails with; paths of which nothing could be read.
    pub fn run<T: ImportTarget>(
        &self,
        target: &mut T,
        paths: &[ImportPath],
    ) -> Result<ImportReport, ImportError<T::Failure>> {
        let mut report = ImportReport {
            brain: target.brain().to_owned(),
            dry_run: self.is_dry,
            ..ImportReport::default()
        };
        for path in paths {
            report.found(path);
        }
        for path in paths {
            for form in [ItemForm::Turns, ItemForm::Facts] {
                let kinds = path.kinds().filter(|kind| self.form_of(*kind) == form);
                let kinds: Vec<_> = kinds.collect();
                match form {
                    _ if kinds.is_empty() => {}
                    ItemForm::Turns => self.import_events(target, path, &kinds, &mut report)?,
                    ItemForm::Facts => self.import_facts(target, path, &kinds, &mut report)?,
                }
            }
        }
        match report.notes.skipped.first() {
            Some(first) if report.read.is_empty() => Err(ImportError::NothingRead(first.clone())),
            _ => Ok(report),
        }
    }

    /// Each kind has a form of its own, unless one is given for all.
    fn form_of(&self, kind: SourceKind) -> ItemForm {
        match self.form {
            Some(form) => form,
            None if kind.is_notes() => ItemForm::Turns,
            None => ItemForm::Facts,
        }
    }

    fn import_events<T: ImportTarget>(
        &self,
        target: &mut T,
        from: &ImportPath,
        kinds: &[SourceKind],
        report: &mut ImportReport,
    ) -> Result<(), ImportError<T::Failure>> {
        let names: BTreeSet<&str> = kinds.iter().map(|kind| kind.id_name()).collect();
        let names: Vec<&str> = names.into_iter().collect();
        let import = EventImport::new(target, &names, self.is_dry, self.is_there);
        let mut sink = ImportSink::new(import.map_err(ImportError::Target)?);
        self.read_into(from, kinds, &mut sink, report)?;
        // What is below a folder of notes and is no longer there is gone; a file or a ZIP says nothing of others.
        let is_notes = kinds.iter().all(|kind| kind.is_whole_state());
        let below = is_notes.then(|| from.path.canonicalize().ok()).flatten();
        let below: Vec<PathBuf> = below.into_iter().collect();
        let ImportSink { import, notes, .. } = &mut sink;
        let finished = import.finish(&below, self.read.home.as_deref(), notes);
        finished.map_err(ImportError::Target)?;
        report.took(&sink.import.counts, &sink.notes);
        Ok(())
    }

    fn import_facts<T: ImportTarget>(
        &self,
        target: &mut T,
        from: &ImportPath,
        kinds: &[SourceKind],
        report: &mut ImportReport,
    ) -> Result<(), ImportError<T::Failure>> {
        let import = FactImport::new(target, &self.scope, self.is_dry, self.is_there);
        let mut sink = ImportSink::new(import);
        self.read_into(from, kinds, &mut sink, report)?;
        let ImportSink { import, notes, .. } = &mut sink;
        import.finish(notes).map_err(ImportError::Target)?;
        report.took(&sink.import.counts, &sink.notes);
        Ok(())
    }

    fn read_into<I: ItemImport>(
        &self,
        from: &ImportPath,
        kinds: &[SourceKind],
        sink: &mut ImportSink<I>,
        report: &mut ImportReport,
    ) -> Result<(), ImportError<I::Failure>> {
        for kind in once_each(kinds) {
            let done = read(&from.path, Some(kind), &self.read, sink);
            if let Some(failure) = sink.failure() {
                return Err(ImportError::Target(failure));
            }
            report.read_of(&done?);
        }
        Ok(())
    }
}

/// The kinds without those that another one of them reads along.
fn once_each(kinds: &[SourceKind]) -> Vec<SourceKind> {
    let mut out: Vec<SourceKind> = Vec::new();
    for kind in kinds {
        if !out.iter().any(|other| other.covers(*kind)) {
            out.retain(|other| !kind.covers(*other));
            out.push(*kind);
        }
    }
    out
}
