//! Uploads a file in parts, after a first message that says what to do with it.
//!
//! Promises: memory is bounded by a part; if reading fails, that failure is reported, not the daemon's answer to a
//! truncated file.

use std::fs::File;
use std::io::{Read, Take};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use amem_locks::LockResultExt;
use tonic::{Response, Status};

use crate::connection::remote::RemoteError;
use crate::failure::Failure;
use crate::named_file;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};

const PART_BYTES: u64 = 1 << 20;
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Why the upload stopped.
type ReadFault = Arc<Mutex<Option<Failure>>>;

pub(crate) struct Upload {
    path: PathBuf,
    file: File,
    pub(crate) bytes: u64,
}

impl Upload {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |e: &std::io::Error| Failure::io("read", path, e);
        let file = named_file::open(path)?;
        let bytes = file.metadata().map_err(|e| failed(&e))?.len();
        Ok(Self {
            path: path.to_owned(),
            file,
            bytes,
        })
    }

    /// Sends the file and waits for the answer; `then` is shown once everything is sent.
    pub(crate) fn send<M, T, F>(
        self,
        cx: &mut CommandContext,
        (first, data): (M, fn(Vec<u8>) -> M),
        then: &str,
        call: impl FnOnce(amem_client::Client, tokio_stream::Iter<UploadParts<M>>) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let mut progress = Progress::new(cx, Unit::Bytes);
        let (all, sent, fault) = (
            self.bytes,
            Arc::new(AtomicU64::new(0)),
            ReadFault::default(),
        );
        let parts = UploadParts {
            first: Some(first),
            data,
            path: self.path,
            left: self.file.take(all),
            sent: sent.clone(),
            fault: fault.clone(),
        };
        let remote = cx.daemon()?;
        let answer = call(remote.client.clone(), tokio_stream::iter(parts));
        let answer: Result<T, RemoteError> =
            remote.watched(answer, LOOK_EVERY, || match sent.load(Ordering::Relaxed) {
                part if part < all => progress.show(part, all),
                _ => progress.say(then),
            });
        if let Some(failure) = fault.lock().unpoisoned().take() {
            return Err(failure);
        }
        Ok(answer?)
    }
}

pub(crate) struct UploadParts<M> {
    first: Option<M>,
    data: fn(Vec<u8>) -> M,
    path: PathBuf,
    left: Take<File>,
    sent: Arc<AtomicU64>,
    fault: ReadFault,
}

impl<M> Iterator for UploadParts<M> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let mut data = Vec::with_capacity(PART_BYTES as usize);
        match self.left.by_ref().take(PART_BYTES).read_to_end(&mut data) {
            Ok(0) => None,
            Ok(read) => {
                self.sent.fetch_add(read as u64, Ordering::Relaxed);
                Some((self.data)(data))
            }
            Err(error) => {
                let failure = Failure::io("read", &self.path, &error);
                *self.fault.lock().unpoisoned() = Some(failure);
                None
            }
        }
    }
}
