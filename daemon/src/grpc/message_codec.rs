//! Messages of any type between gRPC and the calls: requests as bytes, answers as [`CallAnswer`].
//!
//! tonic compiles some hundred functions for each pair of messages that its codec has: this one has one pair.

use prost::bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

use crate::calls::dispatch::CallAnswer;

/// The codec of all calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageCodec;

impl Codec for MessageCodec {
    type Encode = CallAnswer;
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

impl Encoder for MessageCodec {
    type Item = CallAnswer;
    type Error = Status;

    fn encode(&mut self, message: Self::Item, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&message.encode());
        Ok(())
    }
}

impl Decoder for MessageCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
