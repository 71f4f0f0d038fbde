//! HTTP/2 by hand, as no library would send it.

use prost::Message;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = (payload.len() as u32).to_be_bytes();
    let mut bytes = vec![a, b, c, kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// What a connection begins with: every stream, and the connection, may be sent so many bytes.
pub(crate) fn opening(window: u32) -> Vec<u8> {
    let mut settings = vec![0, 4];
    settings.extend(window.to_be_bytes());
    let mut bytes = [PREFACE, &frame(SETTINGS, 0, 0, &settings)].concat();
    if let Some(more) = window.checked_sub(65_536) {
        bytes.extend(frame(WINDOW_UPDATE, 0, 0, &more.to_be_bytes()));
    }
    bytes
}

/// The headers of a call, none of them packed.
pub(crate) fn headers_of(method: &str) -> Vec<u8> {
    let path = format!("/amem.v1.{method}");
    let mut block = vec![0x83, 0x86, 0x04, path.len() as u8];
    block.extend(path.as_bytes());
    block.extend([0x01, 9]);
    block.extend(b"localhost");
    block.extend([0x0F, 0x10, 16]);
    block.extend(b"application/grpc");
    block.extend([0x00, 2]);
    block.extend(b"te");
    block.push(8);
    block.extend(b"trailers");
    block
}

/// A message as gRPC sends it.
pub(crate) fn message(of: &impl Message) -> Vec<u8> {
    let bytes = of.encode_to_vec();
    let mut message = vec![0];
    message.extend((bytes.len() as u32).to_be_bytes());
    message.extend(bytes);
    message
}

/// A whole call.
pub(crate) fn call(stream: u32, method: &str, message: &[u8]) -> Vec<u8> {
    let mut bytes = frame(HEADERS, END_HEADERS, stream, &headers_of(method));
    bytes.extend(frame(DATA, END_STREAM, stream, message));
    bytes
}
