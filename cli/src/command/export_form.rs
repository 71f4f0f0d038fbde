//! Exports for other programs: tables, the graph of the MCP memory server, notes.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use amem_sources::export::{
    CsvWriter, ExportLoss, ExportedEvent, SqliteWriter, chains, note_file, write_server_memory,
};

use crate::brain::subset::Subset;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::loss::LossCount;
use crate::jsonl;
use crate::output::progress::Progress;

/// A row an event, with everything that a JSON line says.
pub(super) fn csv(
    selected: &Subset<'_>,
    vectors: bool,
    out: &mut impl Write,
    failed: impl Fn(&io::Error) -> Failure,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let all = selected.ids().len() as u64;
    let mut table = CsvWriter::new(out).map_err(|e| failed(&e))?;
    jsonl::each(
        selected,
        vectors,
        |n| progress.show(n, all),
        |line| table.row(&line).map_err(|e| failed(&e)),
    )
}

/// The same in a database. SQLite writes to a file of its own, whose bytes are the export.
pub(super) fn sqlite(
    selected: &Subset<'_>,
    vectors: bool,
    out: &mut impl Write,
    failed: impl Fn(&io::Error) -> Failure,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let folder = tempfile::tempdir()
        .map_err(|e| Failure::io("make a folder in", &std::env::temp_dir(), &e))?;
    let path = folder.path().join("export.sqlite");
    let database = |e: amem_sources::SourceError| {
        Failure::new(
            Exit::Io,
            "io",
            e.to_string(),
            "free space in the folder of temporary files",
        )
    };
    let all = selected.ids().len() as u64;
    let mut table = SqliteWriter::create(&path).map_err(database)?;
    jsonl::each(
        selected,
        vectors,
        |n| progress.show(n, all),
        |line| table.row(&line).map_err(database),
    )?;
    table.finish().map_err(database)?;
    let mut file = File::open(&path).map_err(|e| Failure::io("open", &path, &e))?;
    io::copy(&mut file, out).map_err(|e| failed(&e))?;
    Ok(())
}

pub(super) fn server_memory(
    selected: &Subset<'_>,
    out: &mut impl Write,
    failed: impl Fn(&io::Error) -> Failure,
    progress: &mut Progress,
) -> Result<Vec<LossCount>, Failure> {
    let (events, mut loss) = events(selected, progress)?;
    write_server_memory(&events, out, &mut loss).map_err(|e| failed(&e))?;
    Ok(counts(loss))
}

/// A folder with a note for each chain; its files' count and bytes.
pub(super) fn notes(
    selected: &Subset<'_>,
    folder: &Path,
    progress: &mut Progress,
) -> Result<(u64, u64, Vec<LossCount>), Failure> {
    let (events, mut loss) = events(selected, progress)?;
    let all = chains(&events);
    let mut heads = HashMap::new();
    for chain in &all {
        for event in std::iter::once(&chain.head).chain(&chain.before) {
            heads.insert(event.id, chain.head.id);
        }
    }
    // The folder has its name once all notes are in it.
    let above = folder
        .parent()
        .filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    let made = tempfile::Builder::new()
        .prefix(".amemctl-export-")
        .tempdir_in(above)
        .map_err(|e| Failure::io("make a folder in", above, &e))?;
    let (mut files, mut bytes) = (0, 0);
    for chain in &all {
        let Some(note) = note_file(chain, &heads, &mut loss) else {
            continue;
        };
        let path = made.path().join(&note.path);
        let written = match path.parent() {
            Some(folder) => fs::create_dir_all(folder).and_then(|()| fs::write(&path, &note.text)),
            None => Ok(()),
        };
        written.map_err(|e| Failure::io("write", &path, &e))?;
        files += 1;
        bytes += note.text.len() as u64;
        progress.show(files, all.len() as u64);
    }
    open_to_umask(made.path());
    fs::rename(made.path(), folder).map_err(|e| Failure::io("rename to", folder, &e))?;
    let _moved = made.keep();
    Ok((files, bytes, counts(loss)))
}

/// A temporary folder is its user's alone; an export is as open as other new folders.
fn open_to_umask(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let inner = fs::read_dir(folder).into_iter().flatten().flatten().next();
    if let Some(meta) = inner.and_then(|inner| inner.metadata().ok()) {
        let mode = meta.permissions().mode() & 0o777;
        // Who may read a file may enter its folder.
        let mode = mode | (mode & 0o444) >> 2;
        let _as_it_is = fs::set_permissions(folder, fs::Permissions::from_mode(mode));
    }
}

fn events(
    selected: &Subset<'_>,
    progress: &mut Progress,
) -> Result<(Vec<ExportedEvent>, ExportLoss), Failure> {
    let (mut events, mut loss) = (Vec::new(), ExportLoss::default());
    let all = selected.ids().len() as u64;
    jsonl::each(
        selected,
        false,
        |n| progress.show(n, all),
        |line| {
            events.push(ExportedEvent::of_line(line, &mut loss));
            Ok(())
        },
    )?;
    Ok((events, loss))
}

fn counts(loss: ExportLoss) -> Vec<LossCount> {
    let all = loss.0.into_iter();
    all.map(|(what, count)| LossCount { what, count }).collect()
}
