//! A brain: read through its file where that may be, through the daemon where not; written through the daemon.
//!
//! Promises: a question has the same answer and the same refusal either way; what was answered to this client is in
//! every view taken after, whichever way; a change that is begun again is done once.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use amem_core::reader::Reader;
use amem_core::view::View;
use amem_proto::answer::{Answered, Question, Refusal, Result};
use amem_proto::change::Change;
use amem_proto::v1;
use tonic::Code;
use uuid::Uuid;

use super::client::Client;
use super::touches::Touches;
use crate::limits::SMALL_BRAIN_EVENTS;

/// An open brain. Cloning it is cheap. Uses of events that direct reads count are sent when the last clone is dropped,
/// if the runtime still runs; `flush` waits for them.
#[derive(Debug, Clone)]
pub struct Brain {
    pub(super) shared: Arc<Shared>,
    /// Questions go to the daemon even where the file could be read.
    by_call: bool,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) name: String,
    file: Option<Followed>,
    /// The newest LSN of any answer.
    seen: AtomicU64,
    touches: Touches,
}

/// The brain's file.
#[derive(Debug)]
struct Followed {
    path: PathBuf,
    reader: RwLock<Arc<Reader>>,
}

impl Followed {
    fn reader(&self) -> Arc<Reader> {
        let reader = self.reader.read().unwrap_or_else(PoisonError::into_inner);
        reader.clone()
    }

    /// A view that has everything up to an LSN, if the file has.
    fn view(&self, lsn: u64) -> Result<Option<View>> {
        let view = self.reader().view()?;
        if view.lsn().0 >= lsn {
            return Ok(Some(view));
        }
        // After a recovery the brain is in another file, which a reader finds within a second: look now.
        let newer = Reader::open(&self.path)?;
        let newest = newer.view()?;
        if newest.instance() != view.instance() || newest.lsn().0 < lsn {
            return Ok(None);
        }
        *self.reader.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(newer);
        Ok(Some(newest))
    }
}

impl Brain {
    pub(super) fn new(client: Client, name: String, reader: Option<Reader>, lsn: u64) -> Self {
        let file = reader.map(|reader| Followed {
            path: reader.path().to_owned(),
            reader: RwLock::new(Arc::new(reader)),
        });
        let touches = Touches::start(client.clone(), name.clone());
        let shared = Shared {
            client,
            name,
            file,
            seen: AtomicU64::new(lsn),
            touches,
        };
        Self {
            shared: Arc::new(shared),
            by_call: false,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// True if its file is read.
    pub fn is_direct(&self) -> bool {
        self.shared.file.is_some() && !self.by_call
    }

    /// The same brain, its questions answered by the daemon: for who has no thread to spare for heavy ones.
    #[must_use]
    pub fn by_call(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            by_call: true,
        }
    }

    /// What follows its file, for queries without messages (`core::query`); none if it is not read directly.
    pub fn reader(&self) -> Option<Arc<Reader>> {
        self.shared.file.as_ref().map(Followed::reader)
    }

    /// Answers a question; the brain's name is filled in. Read from the file, one that may look at all of a large brain
    /// is answered on a thread for what blocks.
    pub async fn ask<Q: Question>(&self, mut question: Q) -> Result<Q::Answer> {
        self.name_it(question.brain_mut())?;
        let shared = &self.shared;
        let Some(file) = shared.file.as_ref().filter(|_| !self.by_call) else {
            return shared.by_call(&question).await;
        };
        match file.view(shared.seen.load(Ordering::Acquire)) {
            Ok(Some(view)) => {
                let answered = answer(view, question).await?;
                shared.touches.add(&answered.touched);
                shared.saw(Q::moment(&answered.answer).map(|moment| moment.lsn));
                Ok(answered.answer)
            }
            // The file was taken away, or is not there yet: the daemon knows.
            Ok(None) => shared.by_call(&question).await,
            Err(refusal) if refusal.code == Code::Unavailable => shared.by_call(&question).await,
            Err(refusal) => Err(refusal),
        }
    }

    /// Makes a change; the brain's name is filled in, and a request id if it has none. It is begun again, with the same
    /// id, while the daemon says that it may help (`Retry`), and done once.
    pub async fn write<C: Change>(&self, mut change: C) -> Result<C::Answer> {
        self.name_it(change.brain_mut())?;
        let answer = self.shared.client.change(change).await?;
        self.shared.saw(C::commit(&answer).map(|commit| commit.lsn));
        Ok(answer)
    }

    /// Waits until the uses of events that direct reads counted are durable.
    pub async fn flush(&self) -> Result<()> {
        self.shared.touches.flush().await
    }

    /// Sends what is to be sent, and lets go.
    pub async fn close(self) -> Result<()> {
        self.flush().await
    }

    /// Fills the brain's name in; refuses another one.
    pub(super) fn name_it(&self, name: &mut String) -> Result<()> {
        if name.is_empty() {
            name.clone_from(&self.shared.name);
        }
        if *name != self.shared.name {
            let why = format!("this is {:?}, not {name:?}: leave it out", self.shared.name);
            return Err(Refusal::invalid("brain", why));
        }
        Ok(())
    }
}

impl Shared {
    async fn by_call<Q: Question>(&self, question: &Q) -> Result<Q::Answer> {
        let answer = self.client.call(Q::PATH, question).await?;
        self.saw(Q::moment(&answer).map(|moment| moment.lsn));
        Ok(answer)
    }

    pub(super) fn saw(&self, lsn: Option<u64>) {
        if let Some(lsn) = lsn {
            self.seen.fetch_max(lsn, Ordering::AcqRel);
        }
    }
}

impl Client {
    /// Makes a change that has its brain's name; once, however often it is begun.
    pub(super) async fn change<C: Change>(&self, mut change: C) -> Result<C::Answer> {
        identify(change.options_mut());
        self.call(C::PATH, &change).await
    }
}

/// Gives a request an id, unless it has one.
pub(super) fn identify(options: &mut v1::WriteOptions) {
    if options.request_id.is_empty() {
        options.request_id = Uuid::now_v7().to_string();
    }
}

/// Answers from a view: here, or where nobody waits for the thread.
async fn answer<Q: Question>(view: View, question: Q) -> Result<Answered<Q::Answer>> {
    if !Q::IS_HEAVY || view.nodes() <= SMALL_BRAIN_EVENTS {
        return question.ask(&view);
    }
    let answered = tokio::task::spawn_blocking(move || question.ask(&view)).await;
    answered.unwrap_or_else(|error| {
        let message = format!("a question was not answered: {error}");
        Err(Refusal::new(Code::Internal, "INTERNAL", message))
    })
}
