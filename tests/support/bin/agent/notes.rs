//! The notes of an agent, and what those say that it made before it was killed.
//!
//! Promises: a line is noted when `write` has returned, whatever becomes of the process. A last line without an end was
//! not noted, and is cut off.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use amem_tests::agents::{self, Act};

use crate::Failure;

/// A file of notes.
pub(crate) struct NoteFile(File);

/// The notes of an agent.
pub(crate) struct Notes {
    /// What it did.
    pub(crate) acts: NoteFile,
    /// What it saw.
    pub(crate) seen: NoteFile,
    /// What it was about to do, and was not answered.
    pub(crate) pending: Option<Act>,
    /// How much it began.
    pub(crate) count: u64,
    /// The last commit that it saw.
    pub(crate) after_lsn: u64,
}

impl NoteFile {
    fn open(path: &Path) -> Result<(Self, String), Failure> {
        let mut options = File::options();
        let mut file = options.read(true).append(true).create(true).open(path)?;
        let mut text = String::new();
        std::io::Read::read_to_string(&mut file, &mut text)?;
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        text.truncate(whole);
        file.set_len(whole as u64)?;
        Ok((Self(file), text))
    }

    pub(crate) fn write(&mut self, mut line: String) -> Result<(), Failure> {
        line.push('\n');
        Ok(self.0.write_all(line.as_bytes())?)
    }
}

impl Notes {
    pub(crate) fn open(folder: &Path, number: usize) -> Result<Self, Failure> {
        let (acts, did) = NoteFile::open(&agents::file(folder, "acts", number))?;
        let (seen, saw) = NoteFile::open(&agents::file(folder, "seen", number))?;
        let did = agents::acts(&did)?;
        let after_lsn = match saw.lines().last().map(|line| line.split('\t').nth(1)) {
            None => 0,
            Some(lsn) => lsn.ok_or("a line without an LSN")?.parse()?,
        };
        let last = did
            .last()
            .filter(|(_, fate)| fate.answer.is_none() && fate.refused.is_none());
        Ok(Self {
            acts,
            seen,
            pending: last.map(|(act, _)| act.clone()),
            count: did.len() as u64,
            after_lsn,
        })
    }
}
