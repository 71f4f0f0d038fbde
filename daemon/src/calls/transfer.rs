//! Brains as files, sent and received in parts.
//!
//! Promises: a file that is sent is a whole brain, of one moment, while writes go on; memory is bounded by a few parts
//! (files of other layouts are made in a temporary file first).

use std::io::{BufWriter, Read, Seek};
use std::path::Path;
use std::sync::{Arc, Mutex};

use amem_doctor::verify;
use amem_engine::JobKind;
use amem_engine::tasks::spawn_part;
use amem_format::event::Graph;
use amem_format::journal::head::PAGE;
use amem_format::view::View;
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_locks::LockResultExt;
use amem_proto::answer::{Code, moment};
use amem_proto::v1;
use amem_proto::v1::import_brain_request::Part;
use amem_store::{ImportReport, IncomingFile};
use tokio::time::timeout;
use tokio_stream::{Stream, StreamExt};

use super::answers::{AnswerSender, AnswerStream};
use super::brain::info;
use super::gateway::Gateway;
use super::validate::Validate;
use crate::auth::{Caller, Role};
use crate::brains::{blocking, to_its_end};
use crate::call_pool::CallPoolOf;
use crate::limits::{EXPORTS_MAX, PART_AFTER, PART_BYTES_MAX, PARTS_WAITING_MAX};
use crate::refusal::{Refusal, Result};
use amem_engine::OpenBrain;
use amem_engine::plural;
use amem_engine::tasks::{TaskPanic, caught};

type ExportSender = AnswerSender<v1::ExportBrainResponse>;

/// A message of a stream that carries a file: the options first, then its bytes.
pub enum FilePart<O> {
    Options(O),
    /// The next bytes of the file.
    Data(Vec<u8>),
}

impl<O> FilePart<O> {
    /// Bytes of a file, at most `PART_BYTES_MAX`.
    pub(super) fn data(data: Vec<u8>) -> Result<Self> {
        if data.len() > PART_BYTES_MAX {
            let why = format!(
                "{} bytes, more than the limit of {PART_BYTES_MAX}",
                data.len()
            );
            return Err(Refusal::invalid("data", why));
        }
        Ok(Self::Data(data))
    }
}

/// The refusal of a message without a part.
pub(super) fn no_part() -> Refusal {
    Refusal::invalid("part", "a message has neither options nor data")
}

impl Validate for v1::ImportBrainRequest {
    type Valid = FilePart<v1::ImportOptions>;

    fn validate(self) -> Result<Self::Valid> {
        match self.part {
            Some(Part::Options(options)) => Ok(FilePart::Options(options)),
            Some(Part::Data(data)) => FilePart::data(data),
            None => Err(no_part()),
        }
    }
}

impl Validate for v1::ExportBrainRequest {
    /// The brain's name, and the form of the file.
    type Valid = (String, v1::ExportForm);

    fn validate(self) -> Result<Self::Valid> {
        let form = v1::ExportForm::try_from(self.form).map_err(|_| {
            let why = format!("{} is unknown: set NATIVE or COMPATIBLE", self.form);
            Refusal::invalid("form", why)
        })?;
        Ok((self.brain, form))
    }
}

/// ImportBrain: makes a brain of a file that arrives in parts.
pub(crate) async fn import(
    gateway: Arc<Gateway>,
    caller: Caller,
    parts: impl Stream<Item = Result<v1::ImportBrainRequest>> + Unpin,
) -> Result<v1::ImportBrainResponse> {
    let (brain, imported, kept_file) = receive_brain(gateway, caller, parts).await?;
    let view = brain.view();
    Ok(v1::ImportBrainResponse {
        moment: Some(moment(&view)),
        info: Some(info(&brain.name, &view)),
        events: view.nodes(),
        edges: view.edges(),
        renumbered: imported.renumbered,
        dropped_edges: imported.lossy.dropped_edges,
        changed: imported.lossy.changed,
        kept_file: kept_file.unwrap_or_default(),
    })
}

/// A brain that was received, and the quarantined file that has what had its name before.
type ReceivedBrain = (Arc<OpenBrain>, ImportReport, Option<String>);

async fn receive_brain(
    gateway: Arc<Gateway>,
    caller: Caller,
    mut parts: impl Stream<Item = Result<v1::ImportBrainRequest>> + Unpin,
) -> Result<ReceivedBrain> {
    let options = options(&mut parts).await?;
    let name = options.brain.clone();
    let (embed, replaces) = (!options.no_embed, options.replace);
    if replaces {
        caller.check(&name, Role::Admin)?;
    }
    let job = gateway.brains.jobs().begin(JobKind::Import, &name);
    let brains = &gateway.brains;
    let received = match replaces {
        true => brains.receive_in_place(&name, options.file_bytes).await,
        false => brains.receive(&name, options.file_bytes).await,
    };
    let received = match received {
        Ok(incoming) => receive(incoming, parts).await,
        Err(refusal) => Err(refusal),
    };
    let incoming = match received {
        Ok(incoming) => incoming,
        Err(refusal) => {
            job.failed(&refusal.message);
            return Err(refusal);
        }
    };
    // From here on the import completes even if the caller leaves.
    to_its_end(async move {
        let brains = &gateway.brains;
        let imported = if replaces {
            brains.replace_with_received(&name, incoming, embed).await
        } else {
            let scans = gateway.scans.of(&caller.principal);
            let finished = scans.run(move || Ok(incoming.finish(embed)?)).await;
            finished.map(|imported| (imported, None))
        };
        let done = match imported {
            Ok((imported, before)) => {
                let opened = brains.get(&caller, &name).await;
                opened.map(|brain| (brain, imported, before))
            }
            Err(refusal) => Err(refusal),
        };
        match &done {
            Ok((brain, ..)) => job.done(plural(brain.view().nodes(), "event")),
            Err(refusal) => job.failed(&refusal.message),
        }
        done
    })
    .await
}

/// The options in the first message.
pub(super) async fn options<M, O>(parts: &mut (impl Stream<Item = Result<M>> + Unpin)) -> Result<O>
where
    M: Validate<Valid = FilePart<O>>,
{
    match next_part(parts).await? {
        Some(FilePart::Options(options)) => Ok(options),
        _ => Err(Refusal::invalid(
            "options",
            "the first message must carry them",
        )),
    }
}

/// The bytes of a file, to its end.
pub(super) async fn receive<M, O>(
    mut incoming: IncomingFile,
    mut parts: impl Stream<Item = Result<M>> + Unpin,
) -> Result<IncomingFile>
where
    M: Validate<Valid = FilePart<O>>,
{
    while let Some(part) = next_part(&mut parts).await? {
        let FilePart::Data(data) = part else {
            return Err(Refusal::invalid(
                "part",
                "only the first message may carry options",
            ));
        };
        incoming = push(incoming, data).await?;
    }
    Ok(incoming)
}

async fn push(mut incoming: IncomingFile, data: Vec<u8>) -> Result<IncomingFile> {
    blocking(move || {
        incoming.push(&data)?;
        Ok(incoming)
    })
    .await?
}

/// The next part; SLOW_SENDER if it does not come in time.
async fn next_part<M: Validate>(
    parts: &mut (impl Stream<Item = Result<M>> + Unpin),
) -> Result<Option<M::Valid>> {
    match timeout(PART_AFTER, parts.try_next()).await {
        Ok(next) => next?.map(Validate::validate).transpose(),
        Err(_) => {
            let seconds = PART_AFTER.as_secs();
            let message = format!("no part arrived for {seconds} s: send the file again");
            Err(Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message))
        }
    }
}

/// ExportBrain: sends a brain as a file.
pub(crate) async fn export(
    gateway: &Gateway,
    caller: &Caller,
    request: v1::ExportBrainRequest,
) -> Result<AnswerStream<v1::ExportBrainResponse>> {
    let (name, form) = request.validate()?;
    let brain = gateway.brains.get(caller, &name).await?;
    let turn = gateway.exports.take(caller, 1, EXPORTS_MAX as u64);
    let turn = turn.map_err(|why| {
        let message = format!("too many exports are in progress ({why}): retry later");
        Refusal::new(Code::ResourceExhausted, "LOAD", message)
    })?;
    let job = gateway.brains.jobs().begin(JobKind::Export, &brain.name);
    let (parts, out) = AnswerSender::new(gateway.answers_to(caller), PARTS_WAITING_MAX);
    let (scans, principal) = (gateway.scans.clone(), caller.principal.clone());
    let send = async move {
        let _turn = turn;
        let sent = async {
            // An erase is not answered while content is being sent.
            let _sending = brain.sending.clone().read_owned().await;
            let view = brain.view();
            match form {
                v1::ExportForm::Compatible => {
                    send_compatible(view, &brain.path, scans.of(&principal), &parts).await
                }
                _ => send_native(view, &parts).await,
            }
        };
        match whole_or_refused(sent).await {
            Ok(bytes) => job.done(format_args!("{bytes} bytes")),
            Err(refusal) => {
                job.failed(&refusal.message);
                parts.fail(refusal);
            }
        }
    };
    spawn_part(send);
    Ok(out)
}

/// The bytes that were sent. A defect becomes a refusal: a stream that merely ends would pass for a whole file.
async fn whole_or_refused(sending: impl Future<Output = Result<u64>>) -> Result<u64> {
    let stopped = |TaskPanic| Err(Refusal::internal("a defect stopped the export"));
    caught(sending).await.unwrap_or_else(stopped)
}

/// Base and journal up to the view's last commit, as `cp` would copy them.
async fn send_native(view: View, to: &ExportSender) -> Result<u64> {
    let foreign = || Refusal::from(amem_format::Error::Foreign);
    let start = view.brain().start().ok_or_else(foreign)?;
    let live = view.brain().live_page().ok_or_else(foreign)?;
    let log = &view.brain().delta().log;
    let newest = view
        .delta_commits()
        .checked_sub(1)
        .and_then(|at| log.get(at));
    let len = newest.map_or(start.at, |entry| entry.end);
    let mut sender = PartSender::new(&view, len, to);
    // The live page is for direct readers: a copy has none.
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

/// A file for the reference implementation. It is written to a temporary file first, because its tables precede the
/// data that they count.
async fn send_compatible(
    view: View,
    beside: &Path,
    scans: CallPoolOf<'_>,
    to: &ExportSender,
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
    let mut sender = PartSender::new(&view, bytes, to);
    loop {
        let (copy, wrong) = (copy.clone(), failed.clone());
        let part = blocking(move || {
            let mut part = Vec::with_capacity(PART_BYTES_MAX);
            let mut copy = copy.lock().unpoisoned();
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
struct PartSender<'a> {
    view: View,
    moment: v1::Moment,
    file_bytes: u64,
    offset: u64,
    to: &'a ExportSender,
}

impl<'a> PartSender<'a> {
    fn new(view: &View, file_bytes: u64, to: &'a ExportSender) -> Self {
        Self {
            view: view.clone(),
            moment: moment(view),
            file_bytes,
            offset: 0,
            to,
        }
    }

    /// Waits until the caller reads, at most `limits.send_secs`; MUST_DROP if content of the file was erased meanwhile.
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

    /// A part that comes after some time.
    fn after(time: Duration) -> impl Stream<Item = Result<v1::ImportBrainRequest>> {
        let part = Some(Part::Data(vec![7]));
        let message = v1::ImportBrainRequest { part };
        tokio_stream::once(Ok(message)).then(move |message| async move {
            sleep(time).await;
            message
        })
    }

    #[tokio::test]
    async fn an_export_that_a_defect_stops_is_no_whole_file() {
        assert_eq!(whole_or_refused(async { Ok(7) }).await.ok(), Some(7));
        let defective = async {
            sleep(Duration::from_millis(1)).await;
            panic!("a defect")
        };
        let refusal = whole_or_refused(defective).await.unwrap_err();
        assert_eq!(refusal.code, Code::Internal);
        assert!(refusal.message.contains("export"), "{}", refusal.message);
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_part_of_a_file_ends_its_call_and_a_late_one_does_not() {
        let second = Duration::from_secs(1);
        let mut parts = Box::pin(after(PART_AFTER - second));
        let part = next_part(&mut parts).await.unwrap();
        assert!(matches!(part, Some(FilePart::Data(data)) if data == [7]));
        let begun = Instant::now();
        let mut parts = Box::pin(after(PART_AFTER + second));
        let refusal = next_part(&mut parts).await.err().unwrap();
        assert_eq!(begun.elapsed().as_secs(), PART_AFTER.as_secs());
        assert_eq!(refusal.code, Code::DeadlineExceeded);
        let message = &refusal.message;
        assert!(message.contains("60 s: send the file again"), "{message}");
    }
}
