//! Brains as files, sent and received in parts.
//!
//! Promises: a file that is sent is a whole brain, of one moment, while writes go on; memory is that of a few
//! parts, but for files of other layouts, which are made in a file of their own first.

use std::io::{BufWriter, Read, Seek};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use amem_format::event::Graph;
use amem_format::foreign::{CompatOptions, write_compatible};
use amem_format::journal::head::PAGE;
use amem_format::verify;
use amem_format::view::View;
use amem_proto::v1;
use amem_proto::v1::JobKind;
use amem_proto::v1::import_brain_request::Part;
use amem_store::{Imported, Incoming};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use tracing::Instrument;

use super::Daemon;
use super::sending::Outgoing;
use crate::access::Caller;
use crate::brains::{blocking, to_its_end};
use crate::convert::moment;
use crate::heavy::HeavyOf;
use crate::limits::{EXPORTS_MAX, PART_AFTER, PART_BYTES_MAX, PARTS_WAITING_MAX};
use crate::open_brain::OpenBrain;
use crate::panics::{Panicked, caught};
use crate::refusal::{Refusal, Result};
use crate::words::plural;

type Sending = Outgoing<v1::ExportBrainResponse>;

/// A message of a stream in which a file comes: what is to be made of it, and then its bytes.
pub(super) trait Parts: Send + 'static {
    /// What the first message has.
    type Options;

    /// The options, or bytes.
    fn part(self) -> Option<Result<Self::Options, Vec<u8>>>;
}

impl Parts for v1::ImportBrainRequest {
    type Options = v1::ImportOptions;

    fn part(self) -> Option<Result<Self::Options, Vec<u8>>> {
        Some(match self.part? {
            Part::Options(options) => Ok(options),
            Part::Data(data) => Err(data),
        })
    }
}

/// A brain that came as a file.
pub(super) async fn import(
    daemon: Arc<Daemon>,
    caller: Caller,
    mut parts: Streaming<v1::ImportBrainRequest>,
) -> Result<(Arc<OpenBrain>, Imported), Status> {
    let options = options(&mut parts).await?;
    let name = options.brain.clone();
    let embed = !options.no_embed;
    let job = daemon.brains.jobs().begin(JobKind::Import, &name);
    let received = match daemon.brains.receive(&name, options.file_bytes).await {
        Ok(incoming) => receive(incoming, parts).await,
        Err(refusal) => Err(refusal.into()),
    };
    let incoming = match received {
        Ok(incoming) => incoming,
        Err(status) => {
            job.failed(status.message());
            return Err(status);
        }
    };
    // From here on it is done whether or not the caller waits.
    let done = to_its_end(async move {
        let scans = daemon.scans.of(&caller.principal);
        let imported = scans.run(move || Ok(incoming.finish(embed)?)).await;
        let done = match imported {
            Ok(imported) => daemon
                .brains
                .get(&caller, &name)
                .await
                .map(|brain| (brain, imported)),
            Err(refusal) => Err(refusal),
        };
        match &done {
            Ok((brain, _)) => job.done(plural(brain.view().nodes(), "event")),
            Err(refusal) => job.failed(&refusal.message),
        }
        done
    });
    Ok(done.await?)
}

/// What the first message says.
pub(super) async fn options<P: Parts>(parts: &mut Streaming<P>) -> Result<P::Options, Status> {
    match next_part(parts).await? {
        Some(Ok(options)) => Ok(options),
        _ => Err(Refusal::invalid("options", "the first message has them").into()),
    }
}

/// The bytes of a file, to its end.
pub(super) async fn receive<P: Parts>(
    mut incoming: Incoming,
    mut parts: Streaming<P>,
) -> Result<Incoming, Status> {
    while let Some(part) = next_part(&mut parts).await? {
        let Err(data) = part else {
            return Err(Refusal::invalid("part", "options stand in the first message only").into());
        };
        if data.len() > PART_BYTES_MAX {
            let why = format!("{} bytes, at most {PART_BYTES_MAX} may be", data.len());
            return Err(Refusal::invalid("data", why).into());
        }
        incoming = push(incoming, data).await?;
    }
    Ok(incoming)
}

async fn push(mut incoming: Incoming, data: Vec<u8>) -> Result<Incoming> {
    blocking(move || {
        incoming.push(&data)?;
        Ok(incoming)
    })
    .await?
}

async fn next_part<P: Parts>(
    parts: &mut Streaming<P>,
) -> Result<Option<Result<P::Options, Vec<u8>>>, Status> {
    part_of(parts.message()).await
}

/// What a message has, if it comes in time.
async fn part_of<P: Parts>(
    next: impl Future<Output = Result<Option<P>, Status>>,
) -> Result<Option<Result<P::Options, Vec<u8>>>, Status> {
    match timeout(PART_AFTER, next).await {
        Ok(Ok(None)) => Ok(None),
        Ok(Ok(Some(message))) => match message.part() {
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
    caller: &Caller,
    brain: Arc<OpenBrain>,
    form: v1::ExportForm,
) -> Result<ReceiverStream<Result<v1::ExportBrainResponse, Status>>> {
    let turn = daemon.exports.take(caller, 1, EXPORTS_MAX as u64);
    let turn = turn.map_err(|why| {
        let message = format!("too many exports are under way ({why}): wait and retry");
        Refusal::new(Code::ResourceExhausted, "LOAD", message)
    })?;
    let job = daemon.brains.jobs().begin(JobKind::Export, &brain.name);
    let (parts, out) = Outgoing::new(&daemon.control, PARTS_WAITING_MAX);
    let (scans, principal) = (daemon.scans.clone(), caller.principal.clone());
    let send = async move {
        let _turn = turn;
        let sent = async {
            // While content is being sent, an erase is not answered.
            let _sending = brain.sending.clone().read_owned().await;
            let view = brain.view();
            match form {
                v1::ExportForm::Compatible => {
                    send_compatible(view, &brain.path, scans.of(&principal), &parts).await
                }
                _ => send_native(view, &parts).await,
            }
        };
        match whole_or_told(sent).await {
            Ok(bytes) => job.done(format_args!("{bytes} bytes")),
            Err(refusal) => {
                job.failed(&refusal.message);
                parts.fail(refusal);
            }
        }
    };
    tokio::spawn(send.in_current_span());
    Ok(out)
}

/// What came of a file that was sent; of one that a defect stopped, too: a stream that just ended would pass for a
/// whole one.
async fn whole_or_told(sending: impl Future<Output = Result<u64>>) -> Result<u64> {
    let stopped = |Panicked| Err(Refusal::internal("a defect stopped the export"));
    caught(sending).await.unwrap_or_else(stopped)
}

/// Base and journal up to the view's last commit, as `cp` would copy them.
async fn send_native(view: View, to: &Sending) -> Result<u64> {
    let foreign = || Refusal::from(amem_format::Error::Foreign);
    let start = view.brain().start().ok_or_else(foreign)?;
    let live = view.brain().live_page().ok_or_else(foreign)?;
    let log = &view.brain().delta().log;
    let newest = view
        .delta_commits()
        .checked_sub(1)
        .and_then(|at| log.get(at));
    let len = newest.map_or(start.at, |entry| entry.end);
    let mut sender = Sender::new(&view, len, to);
    // The live page is between a daemon and its readers: a copy has none.
    for (from, until) in [(0, live), (live + PAGE, len)] {
        let mut at = from;
        while at < until {
            let part = (until - at).min(PART_BYTES_MAX as u64);
            let view = view.clone();
            let read = blocking(move || Ok::<_, Refusal>(view.brain().bytes(at, part)?.to_vec()));
            sender.send(read.await??).await?;
            at += part;
        }
        if until == live {
            sender.send(vec![0; PAGE as usize]).await?;
        }
    }
    Ok(len)
}

/// A file that the reference implementation opens; made in an unnamed file first, because its tables come before what
/// they count.
async fn send_compatible(
    view: View,
    beside: &Path,
    scans: HeavyOf<'_>,
    to: &Sending,
) -> Result<u64> {
    let path = beside.to_owned();
    let failed = move |e| Refusal::from(amem_format::Error::io("write a copy beside", &path, e));
    let folder = beside
        .parent()
        .unwrap_or(beside)
        .join(amem_store::folder::TMP);
    let (of, wrong) = (view.clone(), failed.clone());
    let (copy, bytes) = scans
        .run(move || {
            verify::source(&of)?;
            let mut copy = tempfile::tempfile_in(folder).map_err(&wrong)?;
            let mut out = BufWriter::new(&mut copy);
            let report = write_compatible(&of as &dyn Graph, CompatOptions::default(), &mut out)?;
            drop(out);
            copy.rewind().map_err(&wrong)?;
            Ok((copy, report.bytes))
        })
        .await?;
    let copy = Arc::new(Mutex::new(copy));
    let mut sender = Sender::new(&view, bytes, to);
    loop {
        let (copy, wrong) = (copy.clone(), failed.clone());
        let part = blocking(move || {
            let mut part = Vec::with_capacity(PART_BYTES_MAX);
            let mut copy = copy.lock().unwrap_or_else(PoisonError::into_inner);
            let read = copy
                .by_ref()
                .take(PART_BYTES_MAX as u64)
                .read_to_end(&mut part);
            read.map(|_| part).map_err(wrong)
        });
        let part = part.await??;
        if part.is_empty() {
            return Ok(bytes);
        }
        sender.send(part).await?;
    }
}

/// Sends parts, one after the other.
struct Sender<'a> {
    view: View,
    moment: v1::Moment,
    file_bytes: u64,
    offset: u64,
    to: &'a Sending,
}

impl<'a> Sender<'a> {
    fn new(view: &View, file_bytes: u64, to: &'a Sending) -> Self {
        Self {
            view: view.clone(),
            moment: moment(view),
            file_bytes,
            offset: 0,
            to,
        }
    }

    /// Waits while the caller does not read, but not for ever; ends if something in the file was erased meanwhile.
    async fn send(&mut self, data: Vec<u8>) -> Result<()> {
        if self.view.brain().live().is_some_and(|live| live.must_drop) {
            let generation = self.view.identity().generation;
            return Err(amem_format::Error::MustDrop { generation }.into());
        }
        let bytes = data.len() as u64;
        let part = v1::ExportBrainResponse {
            moment: Some(self.moment.clone()),
            file_bytes: self.file_bytes,
            offset: self.offset,
            data,
        };
        self.offset += bytes;
        let sent = self.to.send(part).await;
        sent.map_err(|gone| gone.refusal("SLOW_READER", "export again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    #[tokio::test]
    async fn an_export_that_a_defect_stops_is_no_whole_file() {
        assert_eq!(whole_or_told(async { Ok(7) }).await.ok(), Some(7));
        let defective = async {
            sleep(Duration::from_millis(1)).await;
            panic!("a defect")
        };
        let refusal = whole_or_told(defective).await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal);
        assert!(refusal.message.contains("export"), "{}", refusal.message);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_part_of_a_file_ends_its_call_and_a_late_one_does_not() {
        let after = |time| async move {
            sleep(time).await;
            let part = Some(Part::Data(vec![7]));
            Ok(Some(v1::ImportBrainRequest { part }))
        };
        let second = Duration::from_secs(1);
        let came = part_of(after(PART_AFTER - second)).await.unwrap();
        assert_eq!(came.unwrap().unwrap_err(), [7]);
        let begun = Instant::now();
        let status = part_of(after(PART_AFTER + second)).await.err().unwrap();
        assert_eq!(begun.elapsed().as_secs(), PART_AFTER.as_secs());
        assert_eq!(status.code(), Code::DeadlineExceeded);
        let message = status.message();
        assert!(message.contains("60 s: send the file again"), "{message}");
    }
}
