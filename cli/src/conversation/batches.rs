//! A file of turns as the batches that are sent.

use std::collections::HashMap;
use std::sync::mpsc::Sender;

use amem_client::{Timestamp, v1};
use amem_core::{Error, Result};

use super::run::Run;
use super::turns::{Turn, Turns};

/// Events of a batch.
const BATCH_EVENTS_MAX: usize = 512;
/// Bytes of text after which a batch takes no further turn; the daemon takes 16 MiB.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// What became of the file while it was read for sending.
pub(super) enum Read {
    /// A batch of these lines is about to be sent.
    Batch {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// It has changed for the worse since it was checked.
    Fault(Error),
}

/// The file as batches to send.
pub(super) struct Batches {
    /// What is left of it.
    pub(super) turns: Turns,
    /// The turn that the last batch had no room for.
    pub(super) held: Option<Turn>,
    /// The ids of its sessions, by key.
    pub(super) sessions: HashMap<String, u32>,
    /// Where it goes.
    pub(super) brain: String,
    /// Who brings it.
    pub(super) agent: String,
    /// In which run.
    pub(super) run: Run,
    /// The next batch, from 0.
    pub(super) index: u64,
    /// Each batch is told here before it is sent.
    pub(super) reads: Sender<Read>,
}

impl Batches {
    fn batch(&mut self) -> Result<Option<v1::IngestStreamRequest>> {
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
            options: Some(self.run.options(&self.agent, &step)),
            events,
            links: Vec::new(),
            follow: true,
            relate: None,
        };
        Ok(Some(v1::IngestStreamRequest { batch: Some(batch) }))
    }

    fn event(&self, turn: Turn) -> Result<v1::NewEvent> {
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
