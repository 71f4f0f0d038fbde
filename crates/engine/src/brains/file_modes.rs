//! Detects brain files whose mode another program changed: a user who can write a file can destroy the brain, and one
//! who can read it can read everything.
//!
//! They are logged, not changed.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use amem_store::Ownership;
use amem_store::folder::SUFFIX;
use amem_store::{Error, Folder};

use super::engine::Engine;
use crate::tasks::blocking;

/// About how long a file is writable while its brain is opened.
const OPENED_WITHIN: Duration = Duration::from_millis(20);

/// A brain's file, and the mode that it should have.
struct ExpectedMode {
    name: String,
    path: PathBuf,
    right: u32,
}

impl ExpectedMode {
    /// Its mode, if that allows what the right one does not.
    fn wrong_mode(&self) -> Option<u32> {
        let mode = self.path.symlink_metadata().ok()?.mode() & 0o7777;
        (mode & !self.right != 0).then_some(mode)
    }

    /// The same of each file. Our own writer changes the mode for a moment while it opens a file, and the file of
    /// another program has the mode that it gave it: what seems wrong is checked a second time.
    fn wrong_modes(files: &[Self], folder: &Folder) -> Vec<Option<u32>> {
        let mut modes: Vec<_> = files.iter().map(Self::wrong_mode).collect();
        if modes.iter().any(Option::is_some) {
            thread::sleep(OPENED_WITHIN);
            for (mode, file) in modes.iter_mut().zip(files) {
                // A file that can't be read now is what it was.
                let is_ours = || match amem_store::ownership(folder, &file.name) {
                    Ok(standing) => standing == Ownership::Own,
                    Err(e) => matches!(e, Error::Disk { .. }),
                };
                *mode = mode.filter(|_| is_ours()).and_then(|_| file.wrong_mode());
            }
        }
        modes
    }
}

impl Engine {
    /// Logs those of these brains' files that have a wrong mode, once for each mode; without names, of all brains. The
    /// files are left as they are: the next generation has the right mode, and there may be a reason until then.
    pub(crate) async fn log_wrong_modes(&self, names: Option<Vec<String>>) {
        let file = |name: String| ExpectedMode {
            path: self.0.path.join(format!("{name}{SUFFIX}")),
            right: match self.0.folder.readers_of(&name) {
                Some(_) => 0o440,
                None => 0o400,
            },
            name,
        };
        let names = names.unwrap_or_else(|| self.0.known.names().into_iter().collect());
        let ours = names.into_iter().filter(|name| self.0.known.contains(name));
        let (files, folder) = (ours.map(file).collect::<Vec<_>>(), self.0.folder.clone());
        if files.is_empty() {
            return;
        }
        let checked = blocking(move || (ExpectedMode::wrong_modes(&files, &folder), files)).await;
        let Ok((modes, files)) = checked else { return };
        for (file, wrong) in files.iter().zip(modes) {
            if self.0.known.note_mode(&file.name, wrong)
                && let Some(mode) = wrong
            {
                tracing::warn!(
                    brain = file.name,
                    mode = format_args!("{mode:04o}"),
                    right = format_args!("{:04o}", file.right),
                    "another program changed the mode of the brain's file: a user that may write it can destroy it, a user \
                     that may read it reads all; the next checkpoint makes a file with the right mode"
                );
            }
        }
    }
}
