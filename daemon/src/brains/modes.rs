//! Modes of brains' files that amemd did not give them: who may write one can destroy it, who may read it reads all.
//!
//! They are told, and left as they are.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use amem_store::Ownership;
use amem_store::folder::SUFFIX;
use amem_store::{Error, Folder};

use super::{Brains, blocking};

/// How long the file of a brain that is opened is writable at most, about.
const OPENED_WITHIN: Duration = Duration::from_millis(20);

/// A brain's file, and the mode that it should have.
struct Moded {
    name: String,
    path: PathBuf,
    right: u32,
}

impl Moded {
    /// Its mode, if it lets somebody do what the right one does not.
    fn wrong(&self) -> Option<u32> {
        let mode = self.path.symlink_metadata().ok()?.mode() & 0o7777;
        (mode & !self.right != 0).then_some(mode)
    }

    /// The same of all of these. Whoever opens a file to write it gives it another mode for a moment, and somebody
    /// else's has the mode that they gave it: what looks wrong is looked at again, all of it at once.
    fn all_wrong(files: &[Self], folder: &Folder) -> Vec<Option<u32>> {
        let mut modes: Vec<_> = files.iter().map(Self::wrong).collect();
        if modes.iter().any(Option::is_some) {
            thread::sleep(OPENED_WITHIN);
            for (mode, file) in modes.iter_mut().zip(files) {
                // What can't be looked at now is what it was.
                let is_ours = || match amem_store::ownership(folder, &file.name) {
                    Ok(standing) => standing == Ownership::Own,
                    Err(e) => matches!(e, Error::Disk { .. }),
                };
                *mode = mode.filter(|_| is_ours()).and_then(|_| file.wrong());
            }
        }
        modes
    }
}

impl Brains {
    /// Tells of those of these brains' files that others may read or somebody may write, once for each mode; without
    /// names of all brains'. They are left as they are: the next generation has the right mode, and whoever changed it
    /// may have a reason until then.
    pub(crate) async fn tell_modes(&self, names: Option<Vec<String>>) {
        let moded = |name: String| Moded {
            path: self.0.path.join(format!("{name}{SUFFIX}")),
            right: match self.0.folder.readers_of(&name) {
                Some(_) => 0o440,
                None => 0o400,
            },
            name,
        };
        let names = names.unwrap_or_else(|| self.0.known.names().into_iter().collect());
        let ours = names.into_iter().filter(|name| self.0.known.knows(name));
        let (files, folder) = (ours.map(moded).collect::<Vec<_>>(), self.0.folder.clone());
        if files.is_empty() {
            return;
        }
        let looked = blocking(move || (Moded::all_wrong(&files, &folder), files)).await;
        let Ok((modes, files)) = looked else { return };
        for (file, wrong) in files.iter().zip(modes) {
            if self.0.known.is_new_mode(&file.name, wrong)
                && let Some(mode) = wrong
            {
                tracing::warn!(
                    brain = file.name,
                    mode = format_args!("{mode:04o}"),
                    right = format_args!("{:04o}", file.right),
                    "amemd did not give the brain's file this mode: who may write it can destroy it, who may read it reads \
                     all; the next checkpoint makes a file with the right mode"
                );
            }
        }
    }
}
