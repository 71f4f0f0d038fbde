//! An import of a conversation through the daemon: checked whole, then streamed in batches.
//!
//! Promises: nothing is written before every line has been read and found good; each step has a request id that
//! follows from the run's id, so that a run that broke off is repeated under the same id and nothing is there
//! twice. Not here: the lines (`conversation`), flags and what is printed (`command::import_conversation`).

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};

use amem_client::{Timestamp, v1};
use amem_core::Error;
use tonic::Code;
use uuid::{Builder, Uuid};

use crate::conversation::{Turn, Turns};
use crate::remote::{Remote, RemoteError};

/// Events of a batch.
pub(crate) const BATCH_EVENTS_MAX: usize = 512;
/// Bytes of text after which a batch takes no further turn; the daemon takes 16 MiB.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// Why an import ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ImportError {
    /// The file can't be imported; nothing was written.
    #[error(transparent)]
    File(#[from] Error),
    /// The daemon can't be reached, or said no.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A part of the file was refused.
    #[error(
        "lines {first} to {last} were refused: {source}; when that is mended, repeat the import with --run-id {run} and nothing is there twice"
    )]
    Refused {
        /// The first line of the batch.
        first: u64,
        /// Its last line.
        last: u64,
        /// The run.
        run: Uuid,
        /// What the daemon said.
        source: RemoteError,
    },
}

/// The id of a run, from which those of its requests follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run(Uuid);

impl Run {
    /// A new run.
    pub(crate) fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// A run that is repeated.
    pub(crate) fn repeated(id: Uuid) -> Result<Self, Error> {
        if id.get_version_num() != 7 {
            let why = format!("{id} is no UUIDv7: give the one that the first import told");
            return Err(Error::invalid("run id", why));
        }
        Ok(Self(id))
    }

    /// Its id.
    pub(crate) fn id(self) -> Uuid {
        self.0
    }

    /// The request id of a step: of the run's time, and otherwise made from the step's name.
    fn request(self, step: &str) -> Uuid {
        let mut bytes = *Uuid::new_v5(&self.0, step.as_bytes()).as_bytes();
        bytes[..6].copy_from_slice(&self.0.as_bytes()[..6]);
        Builder::from_bytes(bytes)
            .with_version(uuid::Version::SortRand)
            .into_uuid()
    }
}

/// An import to do.
pub(crate) struct Import<'a> {
    /// The brain; made if there is none.
    pub(crate) brain: &'a str,
    /// The file of turns.
    pub(crate) file: &'a Path,
    /// Under which id.
    pub(crate) run: Run,
    /// The agent that the commits name.
    pub(crate) agent: &'a str,
}

/// What was imported.
#[derive(Debug, Default, Clone, PartialEq, serde::Serialize)]
pub(crate) struct Imported {
    /// The brain.
    pub(crate) brain: String,
    /// True if it was made for this.
    pub(crate) made: bool,
    /// Events, one for each turn.
    pub(crate) events: u64,
    /// Sessions they belong to.
    pub(crate) sessions: u64,
    /// Temporal-next edges between turns of a session.
    pub(crate) edges: u64,
    /// Events that an earlier try of the same run had written.
    pub(crate) already_there: u64,
    /// The last commit.
    pub(crate) lsn: u64,
    /// The run's id.
    pub(crate) run: String,
}

/// What the file holds: lines, and the keys of its sessions in order.
struct Contents {
    turns: u64,
    sessions: Vec<String>,
}

/// What became of the file while it was read for sending.
enum Read {
    /// A batch of these lines, the first and the last.
    Batch { first: u64, last: u64 },
    /// It has changed for the worse since it was checked.
    Fault(Error),
}

impl Import<'_> {
    /// Imports; `progress` is told events that are durable, and all events.
    pub(crate) fn run(
        &self,
        remote: &Remote,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Imported, ImportError> {
        let contents = contents(self.file)?;
        let mut done = Imported {
            brain: self.brain.into(),
            made: self.make_brain(remote)?,
            sessions: contents.sessions.len() as u64,
            run: self.run.id().to_string(),
            ..Imported::default()
        };
        let sessions = self.open_sessions(remote, contents.sessions)?;
        let (reads, read) = channel();
        let batches = Batches {
            turns: Turns::open(self.file)?,
            held: None,
            sessions,
            brain: self.brain.into(),
            agent: self.agent.into(),
            run: self.run,
            index: 0,
            reads,
        };
        let mut memory = remote.client.memory();
        let sent = memory.ingest_stream(tokio_stream::iter(batches));
        let mut answers = remote.call(sent)?;
        while let Some(answer) = remote.next(&mut answers)? {
            self.count(&mut done, answer, &read)?;
            progress(done.events, contents.turns);
        }
        match read.try_recv() {
            Ok(Read::Fault(error)) => Err(error.into()),
            _ => Ok(done),
        }
    }

    fn make_brain(&self, remote: &Remote) -> Result<bool, RemoteError> {
        let open = v1::OpenBrainRequest {
            brain: self.brain.into(),
        };
        match remote.call(remote.client.brains().open_brain(open)) {
            Ok(_) => return Ok(false),
            Err(error) if error.code() == Code::NotFound => {}
            Err(error) => return Err(error),
        }
        let create = v1::CreateBrainRequest {
            brain: self.brain.into(),
            ..Default::default()
        };
        remote.call(remote.client.brains().create_brain(create))?;
        Ok(true)
    }

    fn open_sessions(
        &self,
        remote: &Remote,
        keys: Vec<String>,
    ) -> Result<HashMap<String, u32>, RemoteError> {
        let mut sessions = HashMap::with_capacity(keys.len());
        for key in keys {
            let request = v1::OpenSessionRequest {
                brain: self.brain.into(),
                options: Some(options(self.agent, self.run, &format!("session {key}"))),
                key: key.clone(),
            };
            let opened = remote.call(remote.client.memory().open_session(request))?;
            sessions.insert(key, opened.session_id);
        }
        Ok(sessions)
    }

    fn count(
        &self,
        done: &mut Imported,
        answer: v1::IngestStreamResponse,
        read: &Receiver<Read>,
    ) -> Result<(), ImportError> {
        // A batch is told here before it is sent, so that its answer always finds it.
        let (first, last) = match read.recv() {
            Ok(Read::Batch { first, last }) => (first, last),
            Ok(Read::Fault(error)) => return Err(error.into()),
            Err(_) => (0, 0),
        };
        let ingested = match answer.result {
            Some(v1::ingest_stream_response::Result::Done(ingested)) => ingested,
            Some(v1::ingest_stream_response::Result::Failure(failure)) => {
                return Err(ImportError::Refused {
                    first,
                    last,
                    run: self.run.id(),
                    source: RemoteError::Failure(failure),
                });
            }
            None => return Ok(()),
        };
        let commit = ingested.commit.unwrap_or_default();
        let events = ingested.event_ids.len() as u64;
        done.events += events;
        done.edges += ingested.edges;
        done.already_there += if commit.replayed { events } else { 0 };
        done.lsn = done.lsn.max(commit.lsn);
        Ok(())
    }
}

/// Reads the whole file, so that a bad line is found before anything is written.
fn contents(file: &Path) -> Result<Contents, Error> {
    let mut contents = Contents {
        turns: 0,
        sessions: Vec::new(),
    };
    let mut known = HashMap::new();
    for turn in Turns::open(file)? {
        let turn = turn?;
        contents.turns += 1;
        if known.insert(turn.session.clone(), ()).is_none() {
            contents.sessions.push(turn.session);
        }
    }
    if contents.turns == 0 {
        let why = format!("{} has no turn in it", file.display());
        return Err(Error::invalid("conversation", why));
    }
    Ok(contents)
}

fn options(agent: &str, run: Run, step: &str) -> v1::WriteOptions {
    v1::WriteOptions {
        agent: agent.into(),
        request_id: run.request(step).to_string(),
        ..Default::default()
    }
}

/// The file as batches to send.
struct Batches {
    turns: Turns,
    /// The turn that the last batch had no room for.
    held: Option<Turn>,
    sessions: HashMap<String, u32>,
    brain: String,
    agent: String,
    run: Run,
    index: u64,
    reads: Sender<Read>,
}

impl Batches {
    fn batch(&mut self) -> Result<Option<v1::IngestStreamRequest>, Error> {
        let (mut events, mut bytes, mut lines) = (Vec::new(), 0, None);
        while events.len() < BATCH_EVENTS_MAX {
            let Some(turn) = self.held.take().map(Ok).or_else(|| self.turns.next()) else {
                break;
            };
            let turn = turn?;
            bytes += turn.text.len() + turn.attributes.len();
            if bytes > BATCH_BYTES_MAX && !events.is_empty() {
                self.held = Some(turn);
                break;
            }
            let (first, _) = lines.unwrap_or((turn.line, turn.line));
            lines = Some((first, turn.line));
            events.push(self.event(turn)?);
        }
        let Some((first, last)) = lines else {
            return Ok(None);
        };
        // Nobody listens any more once the import has failed; the stream ends with it.
        drop(self.reads.send(Read::Batch { first, last }));
        let step = format!("batch {}", self.index);
        self.index += 1;
        let batch = v1::IngestRequest {
            brain: self.brain.clone(),
            options: Some(options(&self.agent, self.run, &step)),
            events,
            links: Vec::new(),
            follow: true,
            relate: None,
        };
        Ok(Some(v1::IngestStreamRequest { batch: Some(batch) }))
    }

    fn event(&self, turn: Turn) -> Result<v1::NewEvent, Error> {
        let Some(&session) = self.sessions.get(&turn.session) else {
            let why = format!("line {}: the file changed while it was read", turn.line);
            return Err(Error::invalid("conversation", why));
        };
        Ok(v1::NewEvent {
            r#type: v1::EventType::Fact.into(),
            text: turn.text,
            session_id: Some(session),
            event_time: turn.event_time.map(|at| Timestamp {
                seconds: at.0.div_euclid(1_000_000),
                nanos: (at.0.rem_euclid(1_000_000) * 1000) as i32,
            }),
            attributes_json: turn.attributes,
            ..Default::default()
        })
    }
}

impl Iterator for Batches {
    type Item = v1::IngestStreamRequest;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().unwrap_or_else(|error| {
            drop(self.reads.send(Read::Fault(error)));
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_ids_follow_from_the_run_and_the_step() {
        let run = Run::new();
        let id = run.request("batch 0");
        assert_eq!(id, run.request("batch 0"));
        assert_ne!(id, run.request("batch 1"));
        assert_ne!(id, Run::new().request("batch 0"));
        assert_eq!(
            (id.get_version_num(), id.get_variant()),
            (7, uuid::Variant::RFC4122)
        );
        assert_eq!(
            id.as_bytes()[..6],
            run.id().as_bytes()[..6],
            "the run's time"
        );
    }

    #[test]
    fn a_run_id_that_is_no_time_ordered_uuid_is_refused() {
        let error = Run::repeated(Uuid::new_v4()).unwrap_err();
        assert!(error.to_string().contains("UUIDv7"), "{error}");
    }
}
