//! Unary calls by path, with retries.

use std::error::Error;
use std::pin::Pin;

use amem_proto::answer::{Code, Refusal, Result};
use amem_proto::change::Change;
use amem_proto::codec::BytesCodec;
use amem_proto::ids::new_id;
use amem_proto::v1;
use prost::Message;
use prost::bytes::Bytes;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Status};

use super::client::Client;
use super::retry::Attempts;

impl Client {
    /// Sends the same message with every attempt.
    pub(super) async fn call<M, A>(&self, path: &'static str, message: &M) -> Result<A>
    where
        M: Message,
        A: Message + Default,
    {
        let bytes = Bytes::from(message.encode_to_vec());
        let mut attempts = Attempts::new(self.retry());
        loop {
            let answered = self.send(path, bytes.clone()).await;
            match answered.and_then(|answer| decoded(&answer)) {
                Ok(answer) => return Ok(answer),
                Err(refusal) => attempts.wait(refusal).await?,
            }
        }
    }

    /// Makes a call once.
    pub(super) async fn call_once<M, A>(&self, path: &'static str, message: &M) -> Result<A>
    where
        M: Message,
        A: Message + Default,
    {
        let answer = self.send(path, message.encode_to_vec().into()).await?;
        decoded(&answer)
    }

    /// Makes a call once, by bytes: so that it is compiled once.
    fn send(&self, path: &'static str, message: Bytes) -> BytesAnswer {
        let mut grpc = Grpc::new(self.link());
        Box::pin(async move {
            grpc.ready().await.map_err(|error| lost(&error))?;
            let path = PathAndQuery::from_static(path);
            let answered = grpc
                .unary(Request::new(message), path, BytesCodec::<Bytes>::new())
                .await;
            Ok(answered.map_err(refused)?.into_inner())
        })
    }
}

type BytesAnswer = Pin<Box<dyn Future<Output = Result<Bytes>> + Send>>;

fn decoded<A: Message + Default>(answer: &[u8]) -> Result<A> {
    A::decode(answer).map_err(|why| refused(Status::internal(why.to_string())))
}

/// A status with a source was created locally for a broken connection; statuses from the daemon have none.
pub(super) fn refused(status: Status) -> Refusal {
    match status.source() {
        Some(source) => lost(source),
        None => status.into(),
    }
}

/// The connection is lost: whether the call was executed is unknown.
fn lost(error: &dyn Error) -> Refusal {
    let mut root = error;
    while let Some(source) = root.source() {
        root = source;
    }
    let message = format!("the connection to the daemon was lost: {root}");
    Refusal::new(Code::Unavailable, "CONNECTION_LOST", message)
}

impl Client {
    /// Makes a change that names its brain, once, with retries.
    pub(super) async fn change<C: Change>(&self, mut change: C) -> Result<C::Answer> {
        identify(change.options_mut());
        let answered = self.call(C::PATH, &change).await;
        // The caller can repeat the change under this id.
        answered.map_err(|refusal| refusal.with("request_id", &change.options_mut().request_id))
    }
}

/// Sets a request id, unless there is one.
pub(super) fn identify(options: &mut v1::WriteOptions) {
    if options.request_id.is_empty() {
        options.request_id = new_id().to_string();
    }
}
