//! Builds the base of a new generation, with a second thread, into a file.
//!
//! The second thread lives as long as the call and only computes: all writes come from the caller's thread, in the same
//! order with one thread or two.

use std::sync::Mutex;

use amem_format::base::image::Sink;
use amem_format::base_builder::{BuildMode, Inline, Options, Workers, write_base_with};
use amem_format::view::View;
use amem_locks::LockResultExt;

use crate::disk::{Disk, File};
use crate::error::Error;
use crate::limits::{PARALLEL_BUILD_EVENTS_MIN, WRITE_OUT_BYTES};

/// Writes the base of a view; returns where the base ends.
pub(crate) fn build(
    view: &View,
    options: &Options,
    sink: &mut dyn Sink,
) -> amem_format::Result<u64> {
    let new = view.nodes() - view.brain().base().nodes();
    let workers: &dyn Workers = if new < PARALLEL_BUILD_EVENTS_MIN {
        &Inline
    } else {
        &ScopedThreads
    };
    let how = BuildMode {
        workers,
        from_scratch: false,
    };
    write_base_with(view, options, how, sink)
}

/// A random number that identifies a journal.
pub(crate) fn epoch(disk: &dyn Disk) -> u64 {
    let random = u128::from_le_bytes(disk.random());
    (random >> 64) as u64 ^ random as u64
}

/// Runs two tasks in parallel, one on a scoped thread.
#[derive(Debug, Clone, Copy)]
pub struct ScopedThreads;

impl Workers for ScopedThreads {
    fn join<'w>(&self, beside: Box<dyn FnOnce() + Send + 'w>, here: Box<dyn FnOnce() + 'w>) {
        let waiting = Mutex::new(Some(beside));
        let run = || {
            let work = waiting.lock().unpoisoned().take();
            if let Some(work) = work {
                work();
            }
        };
        std::thread::scope(|scope| {
            let spawned = std::thread::Builder::new()
                .name("base builder".into())
                .spawn_scoped(scope, run);
            here();
            if spawned.is_err() {
                // No thread is available: run both here.
                run();
            }
        });
    }
}

/// A file that a base is written to; keeps the disk's own error.
pub(crate) struct FileSink<'f> {
    file: &'f dyn File,
    /// Bytes written since the last `write_out`.
    waiting: usize,
    error: Option<std::io::Error>,
}

impl<'f> FileSink<'f> {
    pub(crate) fn new(file: &'f dyn File) -> Self {
        Self {
            file,
            waiting: 0,
            error: None,
        }
    }

    /// The disk's error if there was one, else the builder's.
    pub(crate) fn failed(&mut self, name: &str, error: amem_format::Error) -> Error {
        match self.error.take() {
            Some(e) => Error::disk("write", name, e),
            None => error.into(),
        }
    }

    fn write(&mut self, mut position: u64, mut bytes: &[u8]) -> std::io::Result<()> {
        while !bytes.is_empty() {
            let (part, rest) = bytes.split_at(bytes.len().min(WRITE_OUT_BYTES - self.waiting));
            self.file.write_at(position, part)?;
            position += part.len() as u64;
            bytes = rest;
            self.waiting += part.len();
            if self.waiting == WRITE_OUT_BYTES {
                self.file.write_out()?;
                self.waiting = 0;
            }
        }
        Ok(())
    }
}

impl Sink for FileSink<'_> {
    fn write_at(&mut self, position: u64, bytes: &[u8]) -> amem_format::Result<()> {
        self.write(position, bytes).map_err(|e| {
            let kind = e.kind();
            self.error = Some(e);
            amem_format::Error::io("write", "a new file", kind.into())
        })
    }
}
