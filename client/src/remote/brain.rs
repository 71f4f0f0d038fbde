//! A brain: read through its file if possible, else through the daemon; written through the daemon.
//!
//! Promises: a query has the same answer and refusal either way; every view is at least as new as every answer that
//! this client got; a retried change is made once.

use std::path::PathBuf;
use std::sync::Arc;

use amem_format::reader::Reader;
use amem_format::view::View;
use amem_proto::answer::{AnswerWithTouches, Code, Question, Refusal, Result};
use amem_proto::change::Change;
use amem_proto::v1;
use tokio::time::timeout;

use super::client::Client;
use super::file::{LocalFile, aside};
use super::position::LatestPosition;
use super::touches::TouchCollector;
use crate::limits::{ANALYZED_BYTES_MAX, LOOK_EVERY, SMALL_BRAIN_EVENTS};

/// An open brain. Cloning it is cheap. Uses of events in direct reads are sent when the last clone is dropped, if the
/// runtime still runs; `flush` waits for them.
#[derive(Debug, Clone)]
pub struct Brain {
    pub(super) shared: Arc<BrainShared>,
    /// Queries go to the daemon, even if the file could be read.
    by_call: bool,
}

#[derive(Debug)]
pub(super) struct BrainShared {
    pub(super) client: Client,
    pub(super) name: String,
    /// The daemon's answer when it was opened.
    opened: v1::OpenBrainResponse,
    /// `None` if the daemon does not allow direct reads.
    file: Option<LocalFile>,
    pub(super) seen: Arc<LatestPosition>,
    touches: TouchCollector,
}

impl Brain {
    /// `path` is `None` if the file may not be read.
    pub(super) async fn new(
        client: Client,
        name: String,
        path: Option<PathBuf>,
        opened: v1::OpenBrainResponse,
    ) -> Self {
        let seen = Arc::new(LatestPosition::default());
        seen.saw_moment(opened.moment.as_ref());
        let file = match path {
            Some(path) => Some(LocalFile::open(path, seen.get()).await),
            None => None,
        };
        let touches = TouchCollector::start(client.clone(), name.clone(), seen.clone());
        let shared = BrainShared {
            client,
            name,
            opened,
            file,
            seen,
            touches,
        };
        Self {
            shared: Arc::new(shared),
            by_call: false,
        }
    }

    /// The name of the brain.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// The daemon's answer when it was opened: identity, path, permissions.
    pub fn opened(&self) -> &v1::OpenBrainResponse {
        &self.shared.opened
    }

    /// Whether queries read the file.
    pub fn is_direct(&self) -> bool {
        !self.by_call && self.reader().is_some()
    }

    /// The same brain, with its queries answered by the daemon: for callers that cannot spare a thread for heavy ones.
    #[must_use]
    pub fn by_call(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            by_call: true,
        }
    }

    /// The reader of its file, for queries without messages (`core::query`); `None` if it is not read directly.
    pub fn reader(&self) -> Option<Arc<Reader>> {
        self.shared.file.as_ref()?.reader()
    }

    /// Answers a query; fills in the brain's name. If the file is read, heavy queries on large brains run on the
    /// blocking pool, and the daemon answers questions in words for which much of the journal would be analyzed here.
    pub async fn ask<Q: Question>(&self, mut question: Q) -> Result<Q::Answer> {
        self.name_it(question.brain_mut())?;
        let shared = &self.shared;
        let Some(file) = shared.file.as_ref().filter(|_| !self.by_call) else {
            return shared.by_call(&question).await;
        };
        match file.view(shared.seen.get()).await {
            Ok(Some(view)) => {
                // Once, for the file answers as well, only later.
                if asks_in_words(Q::PATH)
                    && view.must_analyze(ANALYZED_BYTES_MAX)
                    && let Ok(answer) = shared.by_call_once(&question).await
                {
                    return Ok(answer);
                }
                let answered = shared.answer(view, question).await?;
                shared.touches.add(&answered.touched);
                shared.saw_read(Q::moment(&answered.answer));
                Ok(answered.answer)
            }
            // The file was removed or does not exist yet: ask the daemon.
            Ok(None) => shared.by_call(&question).await,
            Err(refusal) if refusal.code == Code::Unavailable => shared.by_call(&question).await,
            Err(refusal) => Err(refusal),
        }
    }

    /// Makes a change; fills in the brain's name, and a request id if there is none. Retries with the same id while
    /// that may help (`Retry`); the change is made once. The refusal of a change that was sent has the id as
    /// "request_id" in its metadata, to repeat the change later.
    pub async fn write<C: Change>(&self, mut change: C) -> Result<C::Answer> {
        self.name_it(change.brain_mut())?;
        let change = self.shared.client.change(change);
        let answer = if C::PATH == v1::EraseRequest::PATH {
            self.letting_go(change).await?
        } else {
            change.await?
        };
        self.shared.seen.saw_commit(C::commit(&answer));
        Ok(answer)
    }

    /// Waits for an erase. The daemon waits for readers of earlier files, so this client looks for the newer one
    /// meanwhile.
    async fn letting_go<T>(&self, erase: impl Future<Output = Result<T>>) -> Result<T> {
        let Some(file) = &self.shared.file else {
            return erase.await;
        };
        tokio::pin!(erase);
        loop {
            match timeout(LOOK_EVERY, &mut erase).await {
                Ok(answer) => return answer,
                // The next read reports the error.
                Err(_) => drop(file.view(self.shared.seen.get()).await),
            }
        }
    }

    /// Waits until the uses of events in direct reads are durable.
    pub async fn flush(&self) -> Result<()> {
        self.shared.touches.flush().await
    }

    /// Sends pending uses and closes the brain.
    pub async fn close(self) -> Result<()> {
        self.flush().await
    }

    /// Fills in the brain's name; an error if the request names another brain.
    pub(super) fn name_it(&self, name: &mut String) -> Result<()> {
        if name.is_empty() {
            name.clone_from(&self.shared.name);
        }
        if *name != self.shared.name {
            let why = format!(
                "this is {:?}, not {name:?}: omit the name",
                self.shared.name
            );
            return Err(Refusal::invalid("brain", why));
        }
        Ok(())
    }
}

/// True for questions that search texts.
fn asks_in_words(path: &str) -> bool {
    [
        v1::SearchRequest::PATH,
        v1::TextRequest::PATH,
        v1::ContextRequest::PATH,
    ]
    .contains(&path)
}

impl BrainShared {
    async fn by_call_once<Q: Question>(&self, question: &Q) -> Result<Q::Answer> {
        let answer = self.client.call_once(Q::PATH, question).await?;
        self.seen.saw_moment(Q::moment(&answer));
        Ok(answer)
    }

    async fn by_call<Q: Question>(&self, question: &Q) -> Result<Q::Answer> {
        let answer = self.client.call(Q::PATH, question).await?;
        self.seen.saw_moment(Q::moment(&answer));
        Ok(answer)
    }

    /// Records the moment of a direct read, unless another instance answered meanwhile.
    fn saw_read(&self, moment: Option<&v1::Moment>) {
        let seen = self.seen.get();
        if let Some(moment) = moment
            && super::position::BrainPosition::of(&moment.instance, 0).instance == seen.instance
        {
            self.seen.saw_moment(Some(moment));
        }
    }

    pub(super) fn seen(&self) -> &LatestPosition {
        &self.seen
    }

    /// Answers from a view, on the blocking pool if the query is heavy.
    async fn answer<Q: Question>(
        &self,
        view: View,
        question: Q,
    ) -> Result<AnswerWithTouches<Q::Answer>> {
        if !question.is_heavy() || view.nodes() <= SMALL_BRAIN_EVENTS {
            return question.ask(&view);
        }
        // The permit ends with the work, even if the caller stops waiting.
        let turn = self.client.turn().await;
        let answered = aside(move || {
            let _turn = turn;
            question.ask(&view)
        });
        answered.await?
    }
}

impl Client {
    /// Opens a brain, to be read directly if the daemon allows it and the file can be opened here, else through the
    /// daemon; written through the daemon.
    pub async fn brain(&self, brain: &str) -> Result<Brain> {
        let response = self.say_open(brain).await?;
        let (name, path) = (brain.to_owned(), self.path(&response));
        Ok(Brain::new(self.clone(), name, path, response).await)
    }
}
