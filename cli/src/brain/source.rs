//! Opens a path as a view: a brain, live or a copy, or another layout converted in memory.

use std::path::Path;

use amem_doctor::verify;
use amem_format::base::settings::Settings;
use amem_format::base_builder::new_identity;
use amem_format::event::Graph;
use amem_format::reader::Reader;
use amem_format::view::View;
use amem_format::{Error, Micros};
use amem_interop::foreign::{AdoptionReport, Foreign, to_dense};
use amem_interop::spec1::Spec1;
use amem_interop::{Layout, detect};
use uuid::Uuid;

use crate::atomic_file::folder_of;
use crate::brain::convert;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::brain::{BrainName, layout_name};
use crate::named_file;
use crate::render::{TextPage, plural, printable};

#[derive(Debug)]
pub(crate) struct BrainSource {
    pub(crate) named: BrainName,
    pub(crate) view: View,
    pub(crate) layout: Layout,
    /// What follows the last complete commit of the journal.
    pub(crate) torn: Option<String>,
}

impl BrainSource {
    /// Opens any layout.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        check_file(path)?;
        match Reader::open(path) {
            Ok(reader) => Self::native(path, &reader),
            Err(Error::Io {
                action,
                path,
                source,
            }) => Err(Failure::io(action, &path, &source)),
            Err(native) => Self::converted(path, native),
        }
    }

    pub(crate) fn of_daemon(named: &BrainName) -> Result<Self, Failure> {
        let mut source = Self::open(Path::new(&named.path))?;
        source.named.name.clone_from(&named.name);
        Ok(source)
    }

    fn native(path: &Path, reader: &Reader) -> Result<Self, Failure> {
        let view = reader.view()?;
        let identity = view.identity();
        let torn = reader.torn();
        let mut notes = Vec::new();
        if let Some(why) = &torn {
            notes.push(format!(
                "the journal was read up to its last complete commit; after it: {why}"
            ));
        }
        let named = BrainName {
            lsn: view.lsn().0,
            live: reader.is_live(),
            notes,
            ..BrainName::made(path, identity)
        };
        Ok(Self {
            named,
            view,
            layout: Layout::Native,
            torn,
        })
    }

    /// `native` is the error of opening the file as a brain.
    fn converted(path: &Path, native: Error) -> Result<Self, Failure> {
        let bytes = read(path)?;
        let layout = match detect(&bytes) {
            Ok(layout) => layout,
            // The error of opening it is more exact than that of detecting the layout.
            Err(Error::Neither { spec1, .. }) => {
                let native = Box::new(native);
                return Err(Error::Neither { native, spec1 }.into());
            }
            Err(other) => return Err(other.into()),
        };
        let (view, report) = match layout {
            Layout::Native => return Err(native.into()),
            Layout::Reference => {
                check_not_cut(&bytes)?;
                let foreign = Foreign::open(&bytes).map_err(in_file)?;
                view_of(&foreign.as_written())?
            }
            Layout::Spec1 => view_of(&Spec1::open(&bytes).map_err(in_file)?)?,
        };
        let named = BrainName {
            notes: vec![conversion_note(layout, &report)],
            ..BrainName::path(path, layout)
        };
        Ok(Self {
            named,
            view,
            layout,
            torn: None,
        })
    }

    pub(crate) fn write_notes(&self, page: &mut TextPage) {
        for note in &self.named.notes {
            page.aside(format!("note: {}", printable(note)));
        }
    }
}

/// Identity and time are constant, so that the same file gives the same view.
fn view_of(graph: &dyn Graph) -> Result<(View, AdoptionReport), Failure> {
    let (dense, report) = to_dense(graph).map_err(in_file)?;
    let newest = dense.events.last().map_or(Micros(1), |e| e.created_at);
    let nil = Uuid::nil();
    let identity = new_identity(nil, nil, nil, newest);
    let made = convert::brain(&dense, &[], &identity, &Settings::default())?;
    Ok((made.view, report))
}

fn conversion_note(layout: Layout, report: &AdoptionReport) -> String {
    let mut text = format!("read through a conversion from {}: ", layout_name(layout));
    text.push_str(&match report.renumbered {
        0 => "ids as in the file".to_owned(),
        n => format!(
            "ids are positions in order of time, {} renumbered (amem.origin_id is the id in the file)",
            plural(n, "event")
        ),
    });
    let counts = [
        (report.merged.len(), "repeated edge"),
        (report.self_edges.len(), "edge to itself"),
        (report.dangling.len(), "edge to nothing"),
    ];
    for (count, what) in counts {
        if count > 0 {
            text.push_str(&format!("; {} left out", plural(count as u64, what)));
        }
    }
    text
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    check_file(path)?;
    named_file::read(path, u64::MAX)
}

/// Only regular files: opening a pipe could block for ever.
pub(crate) fn check_file(path: &Path) -> Result<(), Failure> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(e) => {
            if e.kind() == std::io::ErrorKind::NotFound {
                return Err(missing(path));
            }
            return Err(Failure::io("look at", path, &e));
        }
    };
    if meta.is_dir() {
        return Err(Failure::refused(
            "is_folder",
            format!("{} is a folder, not a brain", path.display()),
            "name a file in it",
        ));
    }
    if !meta.is_file() {
        return Err(Failure::refused(
            "not_a_file",
            format!("{} is not a regular file", path.display()),
            "copy its contents into a file first",
        ));
    }
    Ok(())
}

fn missing(path: &Path) -> Failure {
    match folder_of(path) {
        folder if !folder.exists() => Failure::new(
            Exit::NotFound,
            "no_folder",
            format!("the folder {} does not exist", folder.display()),
            "check the path",
        ),
        _ => Failure::new(
            Exit::NotFound,
            "not_found",
            format!("{} does not exist", path.display()),
            "check the path",
        ),
    }
}

/// Refuses a truncated brain, rather than showing what is left of it.
pub(crate) fn check_not_cut(bytes: &[u8]) -> Result<(), Failure> {
    if verify::is_cut(bytes) {
        return Err(Failure::new(
            Exit::Damaged,
            "cut",
            "nothing follows the tables: this is a truncated brain, without its journal",
            "copy it again; `amemctl import --format reference FILE NEW` reads it as it is",
        ));
    }
    Ok(())
}

/// Reports a foreign file that exceeds a limit as damaged.
pub(crate) fn in_file(error: Error) -> Failure {
    let passed = matches!(error, Error::Limit { .. });
    let failure = Failure::from(error);
    if !passed {
        return failure;
    }
    Failure {
        exit: Exit::Damaged,
        code: "damaged",
        remedy: "`amemctl verify FILE` shows where, `amemctl repair FILE NEW` saves the rest"
            .to_owned(),
        ..failure
    }
}
