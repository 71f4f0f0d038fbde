//! Brains as files, sent and received in parts.
//!
//! Promises: a file that is sent is a whole brain, of one moment, while writes go on; memory is that of a few
//! parts, but for files of other layouts, which are made in a file of their own first.

use std::path::Path;
use std::sync::Arc;

use amem_core::event::Graph;
use amem_core::foreign::{CompatOptions, write_compatible};
use amem_core::journal::head::PAGE;
use amem_core::view::View;
use amem_proto::v1;
use amem_proto::v1::JobKind;
use amem_proto::v1::import_brain_request::Part;
use amem_store::{Imported, Incoming};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::Daemon;
use crate::brains::blocking;
use crate::convert::moment;
use crate::limits::{PART_AFTER, PART_BYTES_MAX, PARTS_WAITING_MAX, SEND_AFTER};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

type Parts = mpsc::Sender<Result<v1::ExportBrainResponse, Status>>;

/// A brain that came as a file.
pub(super) async fn import(
    daemon: &Daemon,
    mut parts: Streaming<v1::ImportBrainRequest>,
) -> Result<(Arc<OpenBrain>, Imported), Status> {
    let Some(Part::Options(options)) = next_part(&mut parts).await? else {
        return Err(Refusal::invalid("options", "the first message has them").into());
    };
    let name = options.brain.clone();
    let job = daemon.brains.jobs().begin(JobKind::Import, &name);
    let received = receive(daemon, options, parts).await;
    let done = match received {
        Ok(imported) => daemon
            .brains
            .get(&name)
            .await
            .map(|brain| (brain, imported)),
        Err(status) => {
            job.failed(status.message());
            return Err(status);
        }
    };
    match &done {
        Ok((brain, _)) => job.done(format_args!("{} events", brain.view().nodes())),
        Err(refusal) => job.failed(&refusal.message),
    }
    Ok(done?)
}

async fn receive(
    daemon: &Daemon,
    options: v1::ImportOptions,
    mut parts: Streaming<v1::ImportBrainRequest>,
) -> Result<Imported, Status> {
    let mut incoming = daemon
        .brains
        .receive(&options.brain, options.file_bytes)
        .await?;
    while let Some(part) = next_part(&mut parts).await? {
        let Part::Data(data) = part else {
            return Err(Refusal::invalid("part", "options stand in the first message only").into());
        };
        if data.len() > PART_BYTES_MAX {
            let why = format!("{} bytes, at most {PART_BYTES_MAX} may be", data.len());
            return Err(Refusal::invalid("data", why).into());
        }
        incoming = push(incoming, data).await?;
    }
    let imported = blocking(move || incoming.finish(!options.no_embed)).await?;
    Ok(imported.map_err(Refusal::from)?)
}

async fn push(mut incoming: Incoming, data: Vec<u8>) -> Result<Incoming> {
    blocking(move || {
        incoming.push(&data)?;
        Ok(incoming)
    })
    .await?
}

async fn next_part(parts: &mut Streaming<v1::ImportBrainRequest>) -> Result<Option<Part>, Status> {
    match timeout(PART_AFTER, parts.message()).await {
        Ok(Ok(None)) => Ok(None),
        Ok(Ok(Some(message))) => match message.part {
            Some(part) => Ok(Some(part)),
            None => Err(Refusal::invalid("part", "a message has none").into()),
        },
        Ok(Err(status)) => Err(status),
        Err(_) => {
            let message = format!(
                "no part came for {} s: send the file again",
                PART_AFTER.as_secs()
            );
            Err(Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message).into())
        }
    }
}

/// A brain as a file.
pub(super) fn export(
    daemon: &Daemon,
    brain: Arc<OpenBrain>,
    form: v1::ExportForm,
) -> ReceiverStream<Result<v1::ExportBrainResponse, Status>> {
    let (parts, out) = mpsc::channel(PARTS_WAITING_MAX);
    let job = daemon.brains.jobs().begin(JobKind::Export, &brain.name);
    tokio::spawn(async move {
        let to = parts.clone();
        let sent = blocking(move || {
            let view = brain.view();
            match form {
                v1::ExportForm::Compatible => send_compatible(&view, &brain.path, &to),
                _ => send_native(&view, &to),
            }
        })
        .await;
        match sent.and_then(|sent| sent) {
            Ok(bytes) => job.done(format_args!("{bytes} bytes")),
            Err(refusal) => {
                job.failed(&refusal.message);
                drop(parts.send(Err(refusal.into())).await);
            }
        }
    });
    ReceiverStream::new(out)
}

/// Base and journal up to the view's last commit, as `cp` would copy them.
fn send_native(view: &View, to: &Parts) -> Result<u64> {
    let brain = view.brain();
    let foreign = || Refusal::from(amem_core::Error::Foreign);
    let start = brain.start().ok_or_else(foreign)?;
    let live = brain.live_page().ok_or_else(foreign)?;
    let log = &brain.delta().log;
    let newest = view
        .delta_commits()
        .checked_sub(1)
        .and_then(|at| log.get(at));
    let len = newest.map_or(start.at, |entry| entry.end);
    let mut sender = Sender::new(view, len, to);
    // The live page is between a daemon and its readers: a copy has none.
    let zeros = [0; PAGE as usize];
    for (from, until) in [(0, live), (live + PAGE, len)] {
        let mut at = from;
        while at < until {
            let part = (until - at).min(PART_BYTES_MAX as u64);
            sender.send(brain.bytes(at, part)?)?;
            at += part;
        }
        if until == live {
            sender.send(&zeros)?;
        }
    }
    Ok(len)
}

/// A file that the reference implementation opens.
fn send_compatible(view: &View, beside: &Path, to: &Parts) -> Result<u64> {
    let failed = |e| Refusal::from(amem_core::Error::io("write a copy beside", beside, e));
    let folder = beside
        .parent()
        .unwrap_or(beside)
        .join(amem_store::folder::TMP);
    let mut copy = tempfile::tempfile_in(folder).map_err(failed)?;
    let report = {
        let mut out = std::io::BufWriter::new(&mut copy);
        write_compatible(view as &dyn Graph, CompatOptions::default(), &mut out)?
    };
    std::io::Seek::rewind(&mut copy).map_err(failed)?;
    let mut sender = Sender::new(view, report.bytes, to);
    let mut part = vec![0; PART_BYTES_MAX];
    loop {
        let read = std::io::Read::read(&mut copy, &mut part).map_err(failed)?;
        if read == 0 {
            return Ok(report.bytes);
        }
        sender.send(&part[..read])?;
    }
}

/// Sends parts, one after the other.
struct Sender<'a> {
    moment: v1::Moment,
    file_bytes: u64,
    offset: u64,
    to: &'a Parts,
}

impl<'a> Sender<'a> {
    fn new(view: &View, file_bytes: u64, to: &'a Parts) -> Self {
        Self {
            moment: moment(view),
            file_bytes,
            offset: 0,
            to,
        }
    }

    /// Waits while the caller does not read, but not for ever.
    fn send(&mut self, data: &[u8]) -> Result<()> {
        let part = v1::ExportBrainResponse {
            moment: Some(self.moment.clone()),
            file_bytes: self.file_bytes,
            offset: self.offset,
            data: data.to_vec(),
        };
        self.offset += data.len() as u64;
        let sent = timeout(SEND_AFTER, self.to.send(Ok(part)));
        let runtime = tokio::runtime::Handle::current();
        match runtime.block_on(sent) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Refusal::new(Code::Cancelled, "CANCELLED", "nobody listens")),
            Err(_) => {
                let message = format!(
                    "nothing was read for {} s: export again",
                    SEND_AFTER.as_secs()
                );
                Err(Refusal::new(Code::Aborted, "SLOW_READER", message))
            }
        }
    }
}
