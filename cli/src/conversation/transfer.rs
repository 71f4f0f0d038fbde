//! An import of a conversation through the daemon: checked whole, then streamed in batches.
//!
//! Promises: nothing is written before every line has been read and found good; what was answered is durable, and
//! a repeated run does not write it again (`run`). Not here: the lines (`turns`), flags and what is printed
//! (`command::import_conversation`).

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};

use amem_client::{Refusal, v1};
use amem_core::Error;
use tonic::Code;
use uuid::Uuid;

use super::batches::{Batches, Read};
use super::run::Run;
use super::turns::Turns;
use crate::remote::{Remote, RemoteError};

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
    #[error("lines {first} to {last} were refused: {source}")]
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
                options: Some(self.run.options(self.agent, &format!("session {key}"))),
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
                    source: Refusal::from(failure).into(),
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
    let mut known = HashSet::new();
    for turn in Turns::open(file)? {
        let turn = turn?;
        contents.turns += 1;
        if known.insert(turn.session.clone()) {
            contents.sessions.push(turn.session);
        }
    }
    if contents.turns == 0 {
        let why = format!("{} has no turn in it", file.display());
        return Err(Error::invalid("conversation", why));
    }
    Ok(contents)
}
