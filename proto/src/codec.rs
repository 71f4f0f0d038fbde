//! Messages as bytes: what stands around a call need not know its types.
//!
//! tonic compiles some hundred functions for each pair of messages that its codec has: a program with this one has one
//! pair.

use std::fmt;
use std::marker::PhantomData;

use prost::bytes::{Buf, BufMut, Bytes};
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Sends what becomes bytes, valid messages or not, and receives bytes.
pub struct BytesCodec<E = Bytes>(PhantomData<fn(E)>);

impl<E> BytesCodec<E> {
    /// A codec.
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E> Default for BytesCodec<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> fmt::Debug for BytesCodec<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BytesCodec")
    }
}

impl<E: Into<Bytes> + Send + 'static> Codec for BytesCodec<E> {
    type Encode = E;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self::new()
    }

    fn decoder(&mut self) -> Self {
        Self::new()
    }
}

impl<E: Into<Bytes>> Encoder for BytesCodec<E> {
    type Item = E;
    type Error = Status;

    fn encode(&mut self, message: E, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(message.into());
        Ok(())
    }
}

impl<E> Decoder for BytesCodec<E> {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}
