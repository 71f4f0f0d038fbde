//! Lines as objects, for forms that are made of them.

use std::io::{self, Write};

use serde_json::{Map, Value};

use crate::brain::subset::Subset;
use crate::failure::Failure;

/// Calls with the object of each line.
pub(crate) fn each(
    selected: &Subset<'_>,
    vectors: bool,
    written: impl FnMut(u64),
    take: impl FnMut(Map<String, Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut lines = LineObjects {
        line: Vec::new(),
        take,
        failure: None,
    };
    let failed = |e: &io::Error| {
        let remedy = "run `amemctl verify` on the brain";
        Failure::new(
            crate::exit::Exit::Damaged,
            "line",
            format!("a line of the output is not JSON: {e}"),
            remedy,
        )
    };
    let outcome = super::write::write(selected, vectors, &mut lines, failed, written);
    match lines.failure {
        Some(failure) => Err(failure),
        None => outcome,
    }
}

/// Takes bytes, and gives away whole lines.
struct LineObjects<F> {
    line: Vec<u8>,
    take: F,
    failure: Option<Failure>,
}

impl<F: FnMut(Map<String, Value>) -> Result<(), Failure>> Write for LineObjects<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        self.line.extend_from_slice(part);
        if end.is_some() {
            let object = serde_json::from_slice(&self.line)?;
            self.line.clear();
            if let Err(failure) = (self.take)(object) {
                self.failure = Some(failure);
                return Err(io::Error::other("stopped"));
            }
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
