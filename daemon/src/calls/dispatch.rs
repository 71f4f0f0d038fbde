//! The calls without streams by their paths: the bytes of a request in, the message of its answer out.
//!
//! What stands around a call (gRPC, REST) sees one type of future and one type of answer. So it is compiled once, and
//! not once for each call and each protocol.
//! Not here: streams, which have functions of their own; what a call does (`Gateway`).

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use amem_proto::answer::{Code, Question};
use amem_proto::v1;
use prost::bytes::Bytes;
use prost::{DecodeError, Message};

use super::gateway::{Gateway, Handle, ScopedRequest};
use super::memory::Write;
use crate::auth::Caller;
use crate::refusal::Refusal;

/// An answer whose type its protocol need not know.
pub(crate) struct CallAnswer(Box<dyn Encode>);

impl CallAnswer {
    pub(crate) fn new(message: impl Message + 'static) -> Self {
        Self(Box::new(message))
    }

    /// The bytes that it will have.
    pub(crate) fn encoded_len(&self) -> usize {
        self.0.encoded_len()
    }

    /// Its bytes.
    pub(crate) fn encode(self) -> Vec<u8> {
        self.0.encode()
    }
}

impl From<CallAnswer> for Bytes {
    fn from(answer: CallAnswer) -> Self {
        answer.encode().into()
    }
}

trait Encode: Send {
    fn encoded_len(&self) -> usize;

    fn encode(self: Box<Self>) -> Vec<u8>;
}

impl<M: Message> Encode for M {
    fn encoded_len(&self) -> usize {
        Message::encoded_len(self)
    }

    fn encode(self: Box<Self>) -> Vec<u8> {
        self.encode_to_vec()
    }
}

/// Why a call has no answer.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The bytes are not its request.
    Malformed(DecodeError),
    Refused(Refusal),
}

impl From<DecodeError> for CallError {
    fn from(error: DecodeError) -> Self {
        Self::Malformed(error)
    }
}

impl From<Refusal> for CallError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

type CallResult = Result<CallAnswer, CallError>;

/// A call in progress. The caller gives it up by dropping it.
pub(crate) type CallFuture = Pin<Box<dyn Future<Output = CallResult> + Send>>;

type CallFunction = fn(Arc<Gateway>, Caller, Bytes) -> CallFuture;

/// The functions by path: of each call, as its kind is executed.
macro_rules! functions {
    ($($kind:ident $place:ident $name:literal $path:literal $request:ident $response:ident;)*) => {
        [$(($path, $kind::<v1::$request> as CallFunction)),*]
    };
}

fn question<Q: Question>(gateway: Arc<Gateway>, caller: Caller, bytes: Bytes) -> CallFuture {
    Box::pin(async move {
        let question = decoded::<Q>(bytes)?;
        answered(gateway.ask_as(&caller, question).await)
    })
}

fn change<W: Write>(gateway: Arc<Gateway>, caller: Caller, bytes: Bytes) -> CallFuture {
    Box::pin(async move {
        let change = decoded::<W>(bytes)?;
        answered(gateway.write_as(&caller, change).await)
    })
}

fn fact<C>(gateway: Arc<Gateway>, caller: Caller, bytes: Bytes) -> CallFuture
where
    C: Handle<Response: Message + 'static> + ScopedRequest,
{
    Box::pin(async move {
        let request = decoded::<C>(bytes)?;
        answered(gateway.fact_as(&caller, request).await)
    })
}

fn call<C>(gateway: Arc<Gateway>, caller: Caller, bytes: Bytes) -> CallFuture
where
    C: Handle<Response: Message + 'static>,
{
    Box::pin(async move {
        let request = decoded::<C>(bytes)?;
        answered(gateway.call_as(&caller, request).await)
    })
}

fn decoded<M: Message + Default>(bytes: Bytes) -> Result<M, CallError> {
    Ok(M::decode(&bytes[..])?)
}

fn answered(answer: Result<impl Message + 'static, Refusal>) -> CallResult {
    Ok(CallAnswer::new(answer?))
}

static FUNCTIONS: LazyLock<HashMap<&'static str, CallFunction>> =
    LazyLock::new(|| HashMap::from(amem_proto::for_each_unary_call!(functions)));

/// Executes a call without streams. An error if there is none of this path.
pub(crate) async fn execute(
    path: &str,
    gateway: &Arc<Gateway>,
    caller: &Caller,
    request: Bytes,
) -> CallResult {
    let Some(function) = FUNCTIONS.get(path) else {
        let message = format!(
            "unknown call {path:?}: server reflection lists the calls; those with streams are gRPC's"
        );
        return Err(Refusal::new(Code::Unimplemented, "UNKNOWN_CALL", message).into());
    };
    function(gateway.clone(), caller.clone(), request).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_proto::calls::CALLS;

    #[test]
    fn every_call_without_streams_has_its_function_and_no_other_has() {
        for call in CALLS {
            let is_unary = !call.sends_stream && !call.answers_stream;
            assert_eq!(FUNCTIONS.contains_key(call.path), is_unary, "{call:?}");
        }
        assert!(FUNCTIONS.len() > 50);
        assert!(
            FUNCTIONS
                .keys()
                .all(|path| amem_proto::calls::call(path).is_some())
        );
    }

    #[test]
    fn a_message_has_the_bytes_that_it_announces() {
        let message = v1::GetBrainRequest {
            brain: "work".into(),
        };
        let (any, bytes) = (CallAnswer::new(message.clone()), message.encode_to_vec());
        assert_eq!(any.encoded_len(), bytes.len());
        assert_eq!(any.encode(), bytes);
        assert!(matches!(
            decoded::<v1::GetBrainRequest>(Bytes::from_static(&[0x0a, 9])),
            Err(CallError::Malformed(_))
        ));
    }
}
