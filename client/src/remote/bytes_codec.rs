//! Unary calls as bytes.

use std::pin::Pin;

use prost::bytes::{Buf, BufMut, Bytes};
use tonic::client::Grpc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Response, Status};

use super::link::AuthorizedChannel;

/// An answer on its way.
pub(super) type BytesFuture = Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>;

/// Makes a call once the connection is ready.
pub(super) fn unary(
    link: AuthorizedChannel,
    path: &'static str,
    request: Request<Bytes>,
) -> BytesFuture {
    Box::pin(async move {
        let mut grpc = Grpc::new(link);
        // The words are those of the clients that tonic generates.
        let ready = grpc.ready().await;
        ready.map_err(|why| Status::unknown(format!("Service was not ready: {why}")))?;
        let path = PathAndQuery::from_static(path);
        grpc.unary(request, path, BytesCodec).await
    })
}

/// Messages as bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
