//! A file as a new brain of amemd: sent in parts.
//!
//! Promises: memory is that of a part, however large the file is; a live brain is sent as `cp` would copy it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use amem_client::v1;
use amem_client::v1::import_brain_request::Part;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::{Progress, Unit};
use crate::render::{bytes, count, plural, printable};
use crate::source::Named;

/// Bytes of a part.
const PART_BYTES: u64 = 1 << 20;
/// How often progress is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);

#[derive(Serialize)]
struct Told {
    brain: String,
    format: &'static str,
    bytes: u64,
    events: u64,
    edges: u64,
    renumbered: u64,
    dropped_edges: u64,
}

/// A file to be sent.
pub(super) struct Send<'a> {
    pub(super) file: &'a Path,
    /// How it was read.
    pub(super) format: &'static str,
    /// The new brain.
    pub(super) brain: &'a str,
    /// Leave texts without vectors.
    pub(super) no_embed: bool,
}

impl Send<'_> {
    /// Makes the brain of it.
    pub(super) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let failed = |e: &std::io::Error| Failure::io("read", self.file, e);
        let file = File::open(self.file).map_err(|e| failed(&e))?;
        let file_bytes = file.metadata().map_err(|e| failed(&e))?.len();
        let made = self.send(cx, file, file_bytes)?;
        let told = Told {
            brain: self.brain.to_owned(),
            format: self.format,
            bytes: file_bytes,
            events: made.events,
            edges: made.edges,
            renumbered: made.renumbered,
            dropped_edges: made.dropped_edges,
        };
        let opened = v1::OpenBrainResponse {
            moment: made.moment,
            info: made.info,
            ..Default::default()
        };
        let named = Named::served(&opened);
        cx.answer(Some(&named), &told, |page| {
            page.title(printable(&told.brain));
            page.field("read as", told.format);
            let holds = [plural(told.events, "event"), plural(told.edges, "edge")].join(", ");
            page.field("holds", format!("{holds}, of {}", bytes(told.bytes)));
            if told.renumbered > 0 {
                let n = count(told.renumbered);
                page.field(
                    "renumbered",
                    format!("{n} events; amem.origin_id has the id before"),
                );
            }
            if told.dropped_edges > 0 {
                let n = count(told.dropped_edges);
                let why = "that repeat another, or end at themselves or at nothing";
                page.field("left out", format!("{n} edges {why}"));
            }
        })?;
        Ok(Exit::Ok)
    }

    fn send(
        &self,
        cx: &mut Context,
        file: File,
        file_bytes: u64,
    ) -> Result<v1::ImportBrainResponse, Failure> {
        let mut progress = Progress::new(cx, Unit::Bytes);
        let (sent, fault) = (Arc::new(AtomicU64::new(0)), Fault::default());
        let parts = Parts {
            options: Some(v1::ImportOptions {
                brain: self.brain.to_owned(),
                file_bytes,
                no_embed: self.no_embed,
            }),
            path: self.file.to_owned(),
            left: file.take(file_bytes),
            sent: sent.clone(),
            fault: fault.clone(),
        };
        let remote = cx.daemon()?;
        let mut brains = remote.client.brains();
        let answer = remote.watched(
            brains.import_brain(tokio_stream::iter(parts)),
            LOOK_EVERY,
            || match sent.load(Ordering::Relaxed) {
                all if all == file_bytes => progress.say("the brain is being made and checked …"),
                part => progress.show(part, file_bytes),
            },
        );
        // What stopped the reading says more than what the daemon made of a file that ended early.
        if let Some(failure) = fault.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(failure);
        }
        Ok(answer?)
    }
}

/// Why no further part was read.
type Fault = Arc<Mutex<Option<Failure>>>;

/// The options, then the file in parts.
struct Parts {
    options: Option<v1::ImportOptions>,
    path: PathBuf,
    left: std::io::Take<File>,
    sent: Arc<AtomicU64>,
    fault: Fault,
}

impl Iterator for Parts {
    type Item = v1::ImportBrainRequest;

    fn next(&mut self) -> Option<Self::Item> {
        let part = match self.options.take() {
            Some(options) => Part::Options(options),
            None => Part::Data(self.data()?),
        };
        Some(v1::ImportBrainRequest { part: Some(part) })
    }
}

impl Parts {
    fn data(&mut self) -> Option<Vec<u8>> {
        let mut data = Vec::with_capacity(PART_BYTES as usize);
        match self.left.by_ref().take(PART_BYTES).read_to_end(&mut data) {
            Ok(0) => None,
            Ok(read) => {
                self.sent.fetch_add(read as u64, Ordering::Relaxed);
                Some(data)
            }
            Err(error) => {
                let failure = Failure::io("read", &self.path, &error);
                *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
                None
            }
        }
    }
}
