//! The body of an answer that is a stream of server-sent events.
//!
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html>: `id`, `data`, and comments while there is nothing
//! to say. Only the last message of a commit has an id, so that a commit is never resumed in its middle. A refusal is
//! an event of its own, `failure`, and the last one.
//!
//! Promises: one message is in memory at a time; a client that takes nothing ends its subscription
//! (`limits.send_secs`). Not here: what else ends the stream, and how much of it waits to be sent (`gateway`).

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use amem_proto::v1;
use axum::body::{Bytes, HttpBody};
use http_body::Frame;
use prost::Message;
use tokio::time::{Instant, Sleep, sleep};
use tokio_stream::Stream;

use super::super::errors;
use super::message::encoded;
use crate::calls::AnswerStream;
use crate::gateway::PartKind;
use crate::limits::HTTP_COMMENT_EVERY;
use crate::refusal::Refusal;

/// A comment: the client ignores it.
const COMMENT: &[u8] = b":\n\n";

/// The body.
pub(in super::super) struct EventBody {
    /// `None` once the stream has ended.
    messages: Option<AnswerStream<v1::SubscribeResponse>>,
    /// Ready when a comment is due.
    quiet: Pin<Box<Sleep>>,
}

impl EventBody {
    /// The messages of a subscription as events.
    pub(in super::super) fn new(messages: AnswerStream<v1::SubscribeResponse>) -> Self {
        Self {
            messages: Some(messages),
            quiet: Box::pin(sleep(HTTP_COMMENT_EVERY)),
        }
    }

    /// The next comment is due after a silence from now on.
    fn wait(&mut self) {
        self.quiet
            .as_mut()
            .reset(Instant::now() + HTTP_COMMENT_EVERY);
    }

    /// Ends the stream: its last event says why.
    fn fail(&mut self, refusal: &Refusal) -> Bytes {
        self.messages = None;
        failure_event(refusal)
    }
}

/// How the event begins that ends a stream early, before its JSON.
const FAILURE: &str = "event: failure\ndata: ";

/// The last event of a stream that ends early.
pub(in super::super) fn failure_event(refusal: &Refusal) -> Bytes {
    let (_, body) = errors::error(refusal, false, false);
    format!("{FAILURE}{body}\n\n").into()
}

/// What a part of a stream of events is.
pub(in super::super) fn part_kind(data: &[u8]) -> PartKind {
    if data.starts_with(b":") {
        return PartKind::SignOfLife;
    }
    let Some(body) = data.strip_prefix(FAILURE.as_bytes()) else {
        return PartKind::Message;
    };
    let body = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    PartKind::Failure(body["code"].as_str().unwrap_or("UNKNOWN").to_owned())
}

/// A message as an event. JSON as it is made here has no line breaks.
fn event(message: &v1::SubscribeResponse) -> Result<Bytes, Refusal> {
    let data = encoded("SubscribeResponse", &message.encode_to_vec())?;
    let lsn = message.moment.as_ref().map(|moment| moment.lsn);
    let id = match lsn.filter(|_| !message.more) {
        Some(lsn) => format!("id: {lsn}\n"),
        None => String::new(),
    };
    Ok([id.as_bytes(), b"data: ", &data, b"\n\n"].concat().into())
}

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = &mut *self;
        let Some(messages) = &mut this.messages else {
            return Poll::Ready(None);
        };
        let bytes = match Pin::new(messages).poll_next(cx) {
            Poll::Ready(None) => {
                this.messages = None;
                return Poll::Ready(None);
            }
            Poll::Ready(Some(Err(refusal))) => this.fail(&refusal),
            Poll::Ready(Some(Ok(message))) => {
                this.wait();
                event(&message).unwrap_or_else(|refusal| this.fail(&refusal))
            }
            Poll::Pending => {
                ready!(this.quiet.as_mut().poll(cx));
                this.wait();
                Bytes::from_static(COMMENT)
            }
        };
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.messages.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_message_of_a_commit_has_an_id() {
        let mut message = v1::SubscribeResponse {
            moment: Some(v1::Moment {
                lsn: 42,
                ..v1::Moment::default()
            }),
            principal: "uid:1\n".into(),
            more: true,
            ..v1::SubscribeResponse::default()
        };
        let told = |message: &v1::SubscribeResponse| {
            String::from_utf8(event(message).unwrap().to_vec()).unwrap()
        };
        let data = "{\"moment\":{\"lsn\":\"42\"},\"principal\":\"uid:1\\n\"";
        assert_eq!(told(&message), format!("data: {data},\"more\":true}}\n\n"));
        message.more = false;
        assert_eq!(told(&message), format!("id: 42\ndata: {data}}}\n\n"));
    }
    #[test]
    fn a_part_is_a_message_a_sign_of_life_or_the_reason_of_the_end() {
        let refusal = Refusal::invalid("x", "it must not be");
        let failure = PartKind::Failure(refusal.reason.to_string());
        assert_eq!(part_kind(&failure_event(&refusal)), failure);
        assert_eq!(part_kind(COMMENT), PartKind::SignOfLife);
        let message = event(&v1::SubscribeResponse::default()).unwrap();
        assert_eq!(part_kind(&message), PartKind::Message);
        assert_eq!(part_kind(b"{}"), PartKind::Message);
    }
}
