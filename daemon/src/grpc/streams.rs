//! The calls of amem.v1 with streams: messages without their types outside, and with their types in `calls`.

use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use prost::Message;
use prost::bytes::Bytes;
use tokio_stream::Stream;
use tonic::server::{ClientStreamingService, ServerStreamingService, StreamingService};
use tonic::{Request, Response, Status, Streaming};

use super::call_parts::{StatusFuture, malformed, parts};
use crate::auth::Caller;
use crate::calls::dispatch::CallAnswer;
use crate::calls::{AnswerStream, Gateway, fact_export, ingest_stream, merge, subscribe, transfer};
use crate::refusal::{Refusal, Result};

/// The answers of a stream, with refusals as statuses.
pub(super) struct AnyStream(Pin<Box<dyn Stream<Item = Result<CallAnswer, Status>> + Send>>);

impl Stream for AnyStream {
    type Item = Result<CallAnswer, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(cx)
    }
}

/// A function of a call: what comes of its requests.
type StreamFunction<I, O> = fn(Arc<Gateway>, Caller, I) -> ResultFuture<O>;

type ResultFuture<T> = Pin<Box<dyn Future<Output = Result<T, Status>> + Send>>;

/// How a call with streams is executed.
#[derive(Clone, Copy)]
pub(super) enum StreamCall {
    /// One request, a stream of answers.
    Answers(StreamWay<Bytes, AnyStream>),
    /// A stream of requests, one answer.
    Requests(StreamWay<Streaming<Bytes>, CallAnswer>),
    /// Both are streams.
    Both(StreamWay<Streaming<Bytes>, AnyStream>),
}

/// The function of a call with streams.
pub(super) struct StreamWay<I, O>(StreamFunction<I, O>);

impl<I, O> Clone for StreamWay<I, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O> Copy for StreamWay<I, O> {}

impl<I, O> StreamWay<I, O> {
    pub(super) fn of(self, gateway: Arc<Gateway>) -> StreamExecution<I, O> {
        StreamExecution { gateway, way: self }
    }
}

/// Executes a call with streams.
pub(super) struct StreamExecution<I, O> {
    gateway: Arc<Gateway>,
    way: StreamWay<I, O>,
}

impl<I: Send + 'static, O: 'static> StreamExecution<I, O> {
    fn execute(&self, request: Request<I>) -> StatusFuture<O> {
        let (gateway, way) = (self.gateway.clone(), self.way);
        Box::pin(async move {
            let (caller, request) = parts(request)?;
            Ok(Response::new((way.0)(gateway, caller, request).await?))
        })
    }
}

impl ServerStreamingService<Bytes> for StreamExecution<Bytes, AnyStream> {
    type Response = CallAnswer;
    type ResponseStream = AnyStream;
    type Future = StatusFuture<AnyStream>;

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        self.execute(request)
    }
}

impl ClientStreamingService<Bytes> for StreamExecution<Streaming<Bytes>, CallAnswer> {
    type Response = CallAnswer;
    type Future = StatusFuture<Self::Response>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        self.execute(request)
    }
}

impl StreamingService<Bytes> for StreamExecution<Streaming<Bytes>, AnyStream> {
    type Response = CallAnswer;
    type ResponseStream = AnyStream;
    type Future = StatusFuture<AnyStream>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        self.execute(request)
    }
}

impl StreamCall {
    /// The call of this path, if it has a stream.
    pub(super) fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/amem.v1.BrainService/ExportBrain" => {
                Self::Answers(StreamWay(|gateway, caller, request| {
                    Box::pin(async move {
                        let request = decoded(&request)?;
                        Ok(answers(transfer::export(&gateway, &caller, request).await?))
                    })
                }))
            }
            "/amem.v1.FactService/ExportFacts" => {
                Self::Answers(StreamWay(|gateway, caller, request| {
                    Box::pin(async move {
                        let request = decoded(&request)?;
                        Ok(answers(
                            fact_export::export(&gateway, &caller, request).await?,
                        ))
                    })
                }))
            }
            "/amem.v1.MemoryService/Subscribe" => {
                Self::Answers(StreamWay(|gateway, caller, request| {
                    Box::pin(async move {
                        let request = decoded(&request)?;
                        Ok(answers(
                            subscribe::follow(&gateway, &caller, request).await?,
                        ))
                    })
                }))
            }
            "/amem.v1.BrainService/ImportBrain" => {
                Self::Requests(StreamWay(|gateway, caller, parts| {
                    Box::pin(async move {
                        let imported = transfer::import(gateway, caller, Requests::new(parts));
                        Ok(CallAnswer::new(imported.await?))
                    })
                }))
            }
            "/amem.v1.BrainService/MergeBrain" => {
                Self::Requests(StreamWay(|gateway, caller, parts| {
                    Box::pin(async move {
                        let merged = merge::merge(gateway, caller, Requests::new(parts));
                        Ok(CallAnswer::new(merged.await?))
                    })
                }))
            }
            "/amem.v1.MemoryService/IngestStream" => {
                Self::Both(StreamWay(|gateway, caller, batches| {
                    Box::pin(async move {
                        let batches = Requests::new(batches);
                        Ok(answers(ingest_stream::ingest(gateway, caller, batches)?))
                    })
                }))
            }
            _ => return None,
        })
    }
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> Result<M, Status> {
    M::decode(bytes).map_err(|why| malformed(&why))
}

/// A stream of requests. It ends with a refusal after a message that cannot be decoded.
struct Requests<M> {
    /// `None` once it has ended.
    messages: Option<Streaming<Bytes>>,
    of: PhantomData<fn() -> M>,
}

impl<M> Requests<M> {
    fn new(messages: Streaming<Bytes>) -> Self {
        Self {
            messages: Some(messages),
            of: PhantomData,
        }
    }
}

impl<M: Message + Default> Stream for Requests<M> {
    type Item = Result<M>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(messages) = &mut self.messages else {
            return Poll::Ready(None);
        };
        let next = match ready!(Pin::new(messages).poll_next(cx)) {
            None => return Poll::Ready(None),
            Some(next) => next.and_then(|bytes| decoded(&bytes)),
        };
        if next.is_err() {
            self.messages = None;
        }
        Poll::Ready(Some(next.map_err(Refusal::from)))
    }
}

/// The answers of a stream without their type.
fn answers<M: Message + 'static>(answers: AnswerStream<M>) -> AnyStream {
    AnyStream(Box::pin(AnyAnswers(answers)))
}

struct AnyAnswers<M>(AnswerStream<M>);

impl<M: Message + 'static> Stream for AnyAnswers<M> {
    type Item = Result<CallAnswer, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.0).poll_next(cx);
        next.map(|answer| {
            let answer = answer?;
            Some(match answer {
                Ok(message) => Ok(CallAnswer::new(message)),
                Err(refusal) => Err(refusal.into()),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_proto::calls::CALLS;

    #[test]
    fn every_call_with_a_stream_is_executed_as_its_kind() {
        for call in CALLS {
            let streams = match StreamCall::of(call.path) {
                None => (false, false),
                Some(StreamCall::Answers(_)) => (false, true),
                Some(StreamCall::Requests(_)) => (true, false),
                Some(StreamCall::Both(_)) => (true, true),
            };
            assert_eq!(
                streams,
                (call.sends_stream, call.answers_stream),
                "{call:?}"
            );
        }
    }
}
