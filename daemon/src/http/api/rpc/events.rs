//! The body of an answer that is a stream of server-sent events.
//!
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html>: `id`, `data`, and comments while there is nothing
//! to say. Only the last message of a commit has an id, so that a commit is never resumed in its middle. A refusal is
//! an event of its own, `failure`, and the last one.
//!
//! Promises: one message is in memory at a time; it goes in parts, as the connection asks for them; a client that takes
//! nothing ends its subscription (`limits.send_secs`) and its connection (`UnreadAnswers`); the stream ends when the
//! rights of its caller change, at its deadline, and with the daemon.

use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use amem_proto::v1;
use axum::body::{Bytes, HttpBody};
use http_body::Frame;
use tokio::time::{Instant, Sleep, sleep, sleep_until};
use tokio_stream::Stream;

use super::super::body::{AnswerHold, UnreadAnswers};
use super::super::errors;
use super::message::tell;
use crate::calls::AnswerStream;
use crate::ingress::authorization::RequestAuthorization;
use crate::ingress::deadline::Deadline;
use crate::limits::{ANSWER_PART_BYTES, HTTP_COMMENT_EVERY};
use crate::refusal::Refusal;

/// A comment: the client ignores it.
const COMMENT: &[u8] = b":\n\n";

/// The body.
pub(in super::super) struct EventBody {
    /// `None` once the stream has ended.
    messages: Option<AnswerStream<v1::SubscribeResponse>>,
    /// Ready with the reason when it must end.
    ended: Pin<Box<dyn Future<Output = Refusal> + Send>>,
    /// Ready when a comment is due.
    quiet: Pin<Box<Sleep>>,
    /// Of the newest event, what was not sent yet.
    rest: Bytes,
    hold: AnswerHold,
    number: u64,
    answers: Arc<UnreadAnswers>,
}

impl EventBody {
    /// The messages of a subscription as events, until its caller loses rights or its deadline passes.
    pub(in super::super) fn new(
        messages: AnswerStream<v1::SubscribeResponse>,
        mut authorization: RequestAuthorization,
        deadline: Option<Deadline>,
        hold: AnswerHold,
        answers: Arc<UnreadAnswers>,
    ) -> Self {
        let end_on = authorization.end_on();
        let late = async move {
            match deadline {
                None => pending().await,
                Some(deadline) => {
                    sleep_until(deadline.at).await;
                    deadline.exceeded()
                }
            }
        };
        let ended = async move {
            tokio::select! {
                refusal = authorization.ended(end_on) => refusal,
                refusal = late => refusal,
            }
        };
        Self {
            messages: Some(messages),
            ended: Box::pin(ended),
            quiet: Box::pin(sleep(HTTP_COMMENT_EVERY)),
            rest: Bytes::new(),
            hold,
            number: answers.number(),
            answers,
        }
    }

    /// The bytes of the next event or comment; `None` at the end.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(messages) = &mut self.messages else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(refusal) = self.ended.as_mut().poll(cx) {
            return Poll::Ready(Some(self.fail(&refusal)));
        }
        match Pin::new(messages).poll_next(cx) {
            Poll::Ready(Some(Ok(message))) => {
                self.wait();
                if let Some(timer) = &mut self.hold.timer {
                    timer.record();
                    timer.answered = true;
                }
                let told = event(&message);
                Poll::Ready(Some(told.unwrap_or_else(|refusal| self.fail(&refusal))))
            }
            Poll::Ready(Some(Err(refusal))) => Poll::Ready(Some(self.fail(&refusal))),
            Poll::Ready(None) => {
                self.messages = None;
                if let Some(timer) = &mut self.hold.timer {
                    timer.end(None);
                }
                Poll::Ready(None)
            }
            Poll::Pending => {
                ready!(self.quiet.as_mut().poll(cx));
                self.wait();
                Poll::Ready(Some(Bytes::from_static(COMMENT)))
            }
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
        if let Some(timer) = &mut self.hold.timer {
            timer.end(Some(&refusal.reason));
        }
        let (_, body) = errors::error(refusal, false, false);
        format!("event: failure\ndata: {body}\n\n").into()
    }
}

/// A message as an event. JSON as it is made here has no line breaks.
fn event(message: &v1::SubscribeResponse) -> Result<Bytes, Refusal> {
    let data = tell("SubscribeResponse", message)?;
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
        // The connection has taken what it got: that nothing comes now is not its fault.
        this.answers.end(this.number);
        if this.rest.is_empty() {
            match ready!(this.poll_next(cx)) {
                None => return Poll::Ready(None),
                Some(bytes) => this.rest = bytes,
            }
        }
        let part = this.rest.len().min(ANSWER_PART_BYTES);
        let part = this.rest.split_to(part);
        this.answers.give(this.number);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.messages.is_none() && self.rest.is_empty()
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.answers.end(self.number);
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
}
