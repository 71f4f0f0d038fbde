//! The bytes of a text: a file, or stdin copied to a temporary file, so that they can be read twice.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::brain::source::check_file;
use crate::failure::Failure;
use crate::named_file;

/// Bytes read to detect the format.
const FRONT_BYTES_MAX: u64 = 64 << 10;

#[derive(Debug)]
pub(crate) struct ImportInput {
    path: PathBuf,
    file: File,
}

impl ImportInput {
    /// `-` is stdin.
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Self::stdin().map_err(|e| Failure::io("keep", Path::new("stdin"), &e));
        }
        check_file(path)?;
        let file = named_file::open(path)?;
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// The lines that were made of a file, under its name.
    pub(super) fn kept(path: &Path, file: File) -> Self {
        Self {
            path: path.to_owned(),
            file,
        }
    }

    fn stdin() -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(Self {
            path: "stdin".into(),
            file,
        })
    }

    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// "stdin" if there is none.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn bytes(&self) -> Result<u64, Failure> {
        let meta = self.file.metadata();
        Ok(meta.map_err(|e| self.failed(&e))?.len())
    }

    /// Reads from the beginning. Only one reader at a time: they share a file position.
    pub(crate) fn reader(&self) -> Result<BufReader<File>, Failure> {
        let again = || -> io::Result<File> {
            let mut file = self.file.try_clone()?;
            file.seek(SeekFrom::Start(0))?;
            Ok(file)
        };
        Ok(BufReader::new(again().map_err(|e| self.failed(&e))?))
    }

    pub(crate) fn front(&self) -> Result<Vec<u8>, Failure> {
        let mut front = Vec::new();
        let mut reader = self.reader()?.take(FRONT_BYTES_MAX);
        reader
            .read_to_end(&mut front)
            .map_err(|e| self.failed(&e))?;
        Ok(front)
    }

    pub(crate) fn hash(&self) -> Result<u128, Failure> {
        let mut hash = Xxh3::new();
        let (mut reader, mut part) = (self.reader()?.into_inner(), vec![0; 1 << 20]);
        loop {
            match reader.read(&mut part) {
                Ok(0) => return Ok(hash.digest128()),
                Ok(n) => hash.update(&part[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(self.failed(&e)),
            }
        }
    }

    pub(crate) fn failed(&self, error: &io::Error) -> Failure {
        Failure::io("read", &self.path, error)
    }

    pub(crate) fn bad_line(&self, line: u64, why: &str, remedy: &str) -> Failure {
        Failure::refused(
            "bad_line",
            format!("line {line} of {}: {why}", self.path.display()),
            format!("{remedy}; nothing was written"),
        )
    }
}
