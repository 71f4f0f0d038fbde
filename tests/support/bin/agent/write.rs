//! What an agent writes: each request is noted, sent, and noted as answered; some are sent again, some twice at once.

use std::sync::Arc;

use amem_client::{Brain, v1};
use amem_tests::agents::{self, Act, MEET, Verb};
use v1::link_end::End;

use crate::Failure;
use crate::follow::OtherEvents;
use crate::notes::NoteFile;

pub(crate) struct Writer {
    brain: Brain,
    number: usize,
    notes: NoteFile,
    pending: Option<Act>,
    /// How much was begun.
    count: u64,
    known: Arc<OtherEvents>,
    session: u32,
    /// The event that was last corrected together with others.
    met: Option<u64>,
}

impl Writer {
    pub(crate) fn new(
        brain: Brain,
        number: usize,
        notes: NoteFile,
        pending: Option<Act>,
        count: u64,
        known: Arc<OtherEvents>,
    ) -> Self {
        Self {
            brain,
            number,
            notes,
            pending,
            count,
            known,
            session: 0,
            met: None,
        }
    }

    fn options(&self, request_id: &str) -> v1::WriteOptions {
        v1::WriteOptions {
            agent: agents::name(self.number),
            request_id: request_id.to_owned(),
            ..Default::default()
        }
    }

    /// The key of the session. An agent that returns has another, and leaves its earlier session as it is.
    fn key(&self) -> String {
        match self.count {
            0 => agents::name(self.number),
            count => format!("{}-{count}", agents::name(self.number)),
        }
    }

    /// Opens a session, and does what it was about to do when it was killed.
    pub(crate) async fn begin(&mut self) -> Result<(), Failure> {
        let open = v1::OpenSessionRequest {
            key: self.key(),
            options: Some(self.options("")),
            ..Default::default()
        };
        self.session = self.brain.write(open).await?.session_id;
        match self.pending.take() {
            Some(act) => self.send(act).await,
            None => Ok(()),
        }
    }

    /// Closes the session.
    pub(crate) async fn end(&mut self) -> Result<(), Failure> {
        let close = v1::CloseSessionRequest {
            session_id: self.session,
            outcome: "done".into(),
            options: Some(self.options("")),
            ..Default::default()
        };
        self.brain.write(close).await?;
        Ok(())
    }

    /// Writes something.
    pub(crate) async fn next(&mut self) -> Result<(), Failure> {
        let verb = self.choose().await?;
        let mut text = match verb {
            Verb::Link(..) => String::new(),
            _ => format!("{} says {}", agents::name(self.number), self.count),
        };
        if verb == Verb::Add && self.count.is_multiple_of(16) {
            text += MEET;
        }
        let act = Act {
            id: uuid::Uuid::now_v7().to_string(),
            session: self.session,
            verb,
            text,
        };
        self.notes.write(act.begun())?;
        self.count += 1;
        self.send(act).await
    }

    /// What is next: events to be met come first, then it goes around.
    async fn choose(&mut self) -> Result<Verb, Failure> {
        let (meet, recent) = {
            let mut events = self.known.events();
            let recent: Vec<u64> = events.recent.iter().copied().collect();
            (events.to_meet.pop_front(), recent)
        };
        if let Some(event) = meet {
            self.met = Some(event);
            return Ok(Verb::Correct(event));
        }
        let any = |salt: u64| {
            recent
                .get((self.count * 7 + salt * 31) as usize % recent.len().max(1))
                .copied()
        };
        let (Some(one), Some(other)) = (any(self.number as u64), any(5)) else {
            return Ok(Verb::Add);
        };
        Ok(match self.count % 8 {
            1 => Verb::Correct(one),
            3 if one != other && self.count % 16 == 3 => {
                Verb::Link(one, v1::EdgeType::Contradicts, other)
            }
            3 if one != other => Verb::Link(one, v1::EdgeType::Supports, other),
            5 => {
                let resolved = self.brain.resolve(one).await?;
                Verb::Careful(resolved.head.ok_or("no head")?.id)
            }
            7 => match self.met.take().filter(|met| met % 3 == 0) {
                Some(met) => {
                    let resolved = self.brain.resolve(met).await?;
                    if resolved.contested {
                        Verb::Settle(resolved.heads.iter().map(|head| head.id).collect())
                    } else {
                        Verb::Add
                    }
                }
                None => Verb::Add,
            },
            _ => Verb::Add,
        })
    }

    /// Sends it, and some again: the answer must be the same.
    async fn send(&mut self, act: Act) -> Result<(), Failure> {
        let at_once = self.count.is_multiple_of(7);
        let (first, second) = if at_once {
            let (first, second) = tokio::join!(self.once(&act), self.once(&act));
            (first, Some(second))
        } else {
            (self.once(&act).await, None)
        };
        let answer = match first {
            Ok(answer) => answer,
            Err(refusal) if is_expected(&act, &refusal) => {
                return self
                    .notes
                    .write(format!("refused\t{}\t{}", act.id, refusal.reason));
            }
            Err(refusal) => return Err(format!("{act:?}: {refusal}").into()),
        };
        self.notes.write(format!("done\t{}\t{answer}", act.id))?;
        let again = match second {
            Some(second) => second,
            None if self.count.is_multiple_of(5) => self.once(&act).await,
            None => return Ok(()),
        };
        self.notes.write(format!("again\t{}\t{}", act.id, again?))
    }

    async fn once(&self, act: &Act) -> amem_client::Result<u64> {
        let options = Some(self.options(&act.id));
        let event = v1::NewEvent {
            session_id: Some(act.session),
            text: act.text.clone(),
            ..Default::default()
        };
        match &act.verb {
            Verb::Add => self.ingest(options, event, Vec::new()).await,
            Verb::Settle(heads) => {
                let links = heads.iter().map(|&head| replaces(head)).collect();
                self.ingest(options, event, links).await
            }
            Verb::Correct(target) | Verb::Careful(target) => {
                let mut options = options;
                if let (Some(options), Verb::Careful(head_id)) = (&mut options, &act.verb) {
                    options.expected_head = Some(v1::ExpectedHead {
                        event_id: *target,
                        head_id: *head_id,
                    });
                }
                let correct = v1::CorrectRequest {
                    options,
                    target_id: *target,
                    event: Some(event),
                    ..Default::default()
                };
                Ok(self.brain.write(correct).await?.event_id)
            }
            Verb::Link(source, edge_type, target) => {
                let link = v1::LinkRequest {
                    options,
                    source_id: *source,
                    target_id: *target,
                    r#type: (*edge_type).into(),
                    ..Default::default()
                };
                self.brain.write(link).await.map(|_| 0)
            }
        }
    }

    async fn ingest(
        &self,
        options: Option<v1::WriteOptions>,
        event: v1::NewEvent,
        links: Vec<v1::NewLink>,
    ) -> amem_client::Result<u64> {
        let ingest = v1::IngestRequest {
            options,
            events: vec![event],
            links,
            ..Default::default()
        };
        let answer = self.brain.write(ingest).await?;
        Ok(answer.event_ids.first().copied().unwrap_or(u64::MAX))
    }
}

/// What an agent has to reckon with: that others were faster, or have closed its session when it was gone.
fn is_expected(act: &Act, refusal: &amem_client::Refusal) -> bool {
    match &*refusal.reason {
        "SESSION_CLOSED" => true,
        "CONDITION" => matches!(act.verb, Verb::Careful(_)),
        _ => false,
    }
}

/// The edge from the first event of a batch to what it replaces.
fn replaces(head: u64) -> v1::NewLink {
    v1::NewLink {
        source: Some(v1::LinkEnd {
            end: Some(End::BatchIndex(0)),
        }),
        target: Some(v1::LinkEnd {
            end: Some(End::EventId(head)),
        }),
        r#type: v1::EdgeType::Supersedes.into(),
        ..Default::default()
    }
}
