//! An answer in pieces, as they come.

use std::future::Future;

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::timeout;

use amem_memory::model::{ChatTurn, ModelFailure, ModelReply};
use amem_outbound::FrameReader;

use crate::client::{ProviderClient, now_secs};
use crate::failure::CallError;
use crate::http::too_long;
use crate::limits::STREAM_PIECES_MAX;
use crate::runtime::ModelRuntime;
use crate::wire::{CallOptions, ChatPrompt, ReplyBuilder, ReplyShape, chat_request, stream_syntax};

enum StreamItem {
    Text(String),
    End(ModelReply),
    Failure(ModelFailure),
}

/// Pieces of text. An iterator for threads that wait; tasks use `piece`. The call ends when this is dropped.
pub struct ChatStream {
    items: Receiver<StreamItem>,
    reply: Option<ModelReply>,
}

impl ChatStream {
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(
        runtime: &ModelRuntime,
        run: impl FnOnce(PieceSender) -> F,
    ) -> Self {
        let (sender, items) = channel(STREAM_PIECES_MAX);
        runtime.spawn(run(PieceSender(sender)));
        Self { items, reply: None }
    }

    /// The next piece; `None` at the end.
    pub async fn piece(&mut self) -> Option<Result<String, ModelFailure>> {
        let item = self.items.recv().await;
        self.taken(item)
    }

    /// The whole answer with its tokens, once the last piece is taken; `None` if it failed.
    pub fn reply(&self) -> Option<&ModelReply> {
        self.reply.as_ref()
    }

    fn taken(&mut self, item: Option<StreamItem>) -> Option<Result<String, ModelFailure>> {
        match item? {
            StreamItem::Text(text) => Some(Ok(text)),
            StreamItem::Failure(failure) => Some(Err(failure)),
            StreamItem::End(reply) => {
                self.reply = Some(reply);
                None
            }
        }
    }
}

impl Iterator for ChatStream {
    type Item = Result<String, ModelFailure>;

    fn next(&mut self) -> Option<Self::Item> {
        let item = self.items.blocking_recv();
        self.taken(item)
    }
}

/// Sends pieces to their reader.
pub(crate) struct PieceSender(Sender<StreamItem>);

impl PieceSender {
    pub(crate) async fn run(self, client: &ProviderClient, system: &str, messages: &[ChatTurn]) {
        let prompt = ChatPrompt {
            system,
            messages,
            shape: ReplyShape::Plain,
            is_stream: true,
        };
        let slot = client.slots.acquire().await;
        let item = match self.pieces(client, &prompt).await {
            Ok(reply) => {
                let letters = prompt
                    .messages
                    .iter()
                    .map(|turn| turn.text.len())
                    .sum::<usize>();
                let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX);
                let reply = ModelReply {
                    is_cut: reply.is_cut(),
                    tokens_in: reply
                        .tokens_in
                        .unwrap_or_else(|| tokens(letters + system.len())),
                    tokens_out: reply.tokens_out.unwrap_or_else(|| tokens(reply.text.len())),
                    text: reply.text,
                    millis: 0,
                };
                client
                    .budget
                    .add_tokens(reply.tokens_in + reply.tokens_out, now_secs());
                StreamItem::End(reply)
            }
            Err(why) => StreamItem::Failure(why.failure(false)),
        };
        drop(slot);
        // A reader that left needs no end.
        _ = self.0.send(item).await;
    }

    async fn pieces(
        &self,
        client: &ProviderClient,
        prompt: &ChatPrompt<'_>,
    ) -> Result<ReplyBuilder, CallError> {
        let after = client.settings.call_after();
        let late = || {
            let seconds = client.settings.call_secs;
            CallError::Lost(format!("no piece of the answer within {seconds} s"))
        };
        let build =
            |options: &CallOptions<'_>| chat_request(client.settings.provider, prompt, options);
        let answer = timeout(after, client.send(build)).await;
        let mut answer = answer.map_err(|_| late())??;
        client.check_type(&answer)?;
        let kind = answer.header("content-type").to_ascii_lowercase();
        let Some(syntax) = stream_syntax(&kind, b"") else {
            // A server that does not stream.
            let whole = timeout(after, client.reply(&mut answer)).await;
            let reply = whole.map_err(|_| late())??;
            self.text(&reply.text).await;
            return Ok(reply);
        };
        let mut frames = FrameReader::new(syntax);
        let (mut reply, mut bytes) = (ReplyBuilder::default(), 0);
        loop {
            let chunk = timeout(after, answer.body.chunk()).await;
            let chunk = chunk.map_err(|_| late())?;
            let is_end = chunk.is_none();
            let messages = match chunk {
                Some(chunk) => {
                    let chunk = chunk.map_err(|why| client.lost(&why))?;
                    bytes += chunk.len();
                    if bytes > client.settings.answer_bytes_max {
                        return Err(client.lost(&too_long(client.settings.answer_bytes_max)));
                    }
                    frames.feed(&chunk)
                }
                None => frames.finish(),
            };
            for message in messages {
                let piece = client.piece(&message)?;
                reply.add(&piece);
                if !self.text(&piece.text).await {
                    return Ok(reply);
                }
            }
            if is_end {
                return client.finished(reply);
            }
        }
    }
    /// False if the reader left.
    async fn text(&self, text: &str) -> bool {
        text.is_empty() || self.0.send(StreamItem::Text(text.to_owned())).await.is_ok()
    }
}
