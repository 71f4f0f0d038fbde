//! What hyper does not say of a connection of HTTP/1, read off its bytes.
//!
//! Two things: lines `content-length:` that hyper drops where a request has `transfer-encoding` as well (a proxy in
//! front may go by the other one, so that the two disagree where the next request begins), and answers that hyper gives
//! by itself to heads that it cannot read, which have no body.

use std::sync::atomic::{AtomicU64, Ordering};

use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use serde_json::json;

use crate::limits::{HTTP_HEAD_BYTES_MAX, HTTP_HEADERS_MAX};

/// The beginning of the line that is counted.
const LENGTH_LINE: &[u8] = b"\ncontent-length:";

/// Lines `content-length:` of a connection: those that came, and those of requests whose headers have them.
#[derive(Debug, Default)]
pub(crate) struct LengthLines {
    came: AtomicU64,
    known: AtomicU64,
}

impl LengthLines {
    /// True if the length of a request is beyond doubt. Call it once for each request, in order. A body that has such
    /// a line, and a pipelined request, can make a request doubtful that is not; none that is doubtful passes.
    pub(crate) fn is_clear(&self, headers: &HeaderMap) -> bool {
        let lines = headers.get_all(CONTENT_LENGTH).iter().count() as u64;
        let known = self.known.fetch_add(lines, Ordering::Relaxed) + lines;
        let is_chunked = headers.contains_key(TRANSFER_ENCODING);
        !is_chunked || lines == 0 && self.came.load(Ordering::Relaxed) <= known
    }
}

/// Counts the lines in the bytes of a connection, however they are split.
#[derive(Debug, Default)]
pub(super) struct LineCounter {
    /// Bytes of `LENGTH_LINE` that came last.
    matched: usize,
}

impl LineCounter {
    pub(super) fn receive(&mut self, bytes: &[u8], lines: &LengthLines) {
        for byte in bytes {
            // Only the first byte of the pattern is a line feed: after a mismatch nothing else can go on.
            self.matched = match byte.to_ascii_lowercase() {
                byte if byte == LENGTH_LINE[self.matched] => self.matched + 1,
                b'\n' => 1,
                _ => 0,
            };
            if self.matched == LENGTH_LINE.len() {
                self.matched = 0;
                lines.came.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Answers of hyper's own: status, name of the error, code, and what to do.
const OWN_ANSWERS: [(&str, &str, &str); 3] = [
    (
        "400",
        "REQUEST_HEAD",
        "the head of the request cannot be read as HTTP/1.1: check its request line, its headers and its framing",
    ),
    (
        "414",
        "URI_SIZE",
        "the target of the request is too long: send options in a body",
    ),
    ("431", "HEAD_SIZE", ""),
];

/// The answer to send instead, if these bytes are one of hyper's own: an error without a body. Ours have one.
pub(super) fn typed(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let line = text.strip_prefix("HTTP/1.1 ")?.lines().next()?;
    if !text.contains("\r\ncontent-length: 0\r\n") {
        return None;
    }
    let (_, code, detail) = OWN_ANSWERS.iter().find(|row| line.starts_with(row.0))?;
    let detail = match *detail {
        "" => too_large(),
        detail => detail.to_owned(),
    };
    let body = json!({"error": "ValidationError", "detail": detail, "code": code}).to_string();
    let answer = format!(
        "HTTP/1.1 {line}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    Some(answer.into_bytes())
}

/// Why a head is refused for its size.
pub(crate) fn too_large() -> String {
    format!(
        "the head of the request has more than {HTTP_HEADERS_MAX} headers or {HTTP_HEAD_BYTES_MAX} bytes, the limits: \
         send fewer"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        let pair = |(name, value): &(&'static str, &'static str)| {
            (name.parse().unwrap(), value.parse().unwrap())
        };
        pairs.map(pair).collect()
    }

    #[test]
    fn a_length_beside_chunks_is_noticed_however_the_bytes_are_split() {
        let length = headers(&[("content-length", "5")]);
        let chunks = headers(&[("transfer-encoding", "chunked")]);
        let both = headers(&[("content-length", "5"), ("transfer-encoding", "chunked")]);
        let pair = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n";
        let plain = "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello";
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        for step in [1, 2, 3, 7, 1000] {
            for (requests, seen, clear) in [
                (&[pair][..], &[&chunks][..], &[false][..]),
                (&[pair], &[&both], &[false]),
                (&[chunked], &[&chunks], &[true]),
                (&[plain, chunked], &[&length, &chunks], &[true, true]),
                (&[plain, pair], &[&length, &chunks], &[true, false]),
            ] {
                let (lines, mut counter) = (LengthLines::default(), LineCounter::default());
                for ((request, seen), clear) in requests.iter().zip(seen).zip(clear) {
                    for part in request.as_bytes().chunks(step) {
                        counter.receive(part, &lines);
                    }
                    assert_eq!(lines.is_clear(seen), *clear, "{step} {request:?}");
                }
            }
        }
    }

    #[test]
    fn only_bare_errors_get_a_body() {
        let bare =
            b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: x\r\n\r\n";
        let typed_answer = String::from_utf8(typed(bare).unwrap()).unwrap();
        assert!(
            typed_answer.starts_with("HTTP/1.1 431 Request"),
            "{typed_answer}"
        );
        assert!(typed_answer.contains("HEAD_SIZE") && typed_answer.contains("connection: close"));
        for other in [
            &b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..],
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 9\r\n\r\n",
            b"\xff",
            b"",
        ] {
            assert_eq!(typed(other), None);
        }
    }
}
