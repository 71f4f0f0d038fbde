//! One request as it arrives.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// Bytes of a body; a request of tests is far below.
const BODY_BYTES_MAX: u64 = 32 << 20;

/// A request that a server received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The method.
    pub method: String,
    /// The target of the request line, with its query.
    pub target: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; `Null` if it is no JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// The first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        found.next().map(|(_, value)| value.as_str())
    }

    /// The path without the query, and without the host of a request to a proxy.
    pub fn path(&self) -> &str {
        let target = self.target.split('?').next().unwrap_or_default();
        match target.strip_prefix("http://") {
            Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => target,
        }
    }

    /// The value of a name in the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// Reads a request; `None` if the peer left.
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let Some(head) = Self::read_head(stream)? else {
            return Ok(None);
        };
        let length = head.header("content-length").and_then(|n| n.parse().ok());
        let is_chunked = head.header("transfer-encoding") == Some("chunked");
        let mut body = Vec::new();
        if is_chunked {
            loop {
                let size = u64::from_str_radix(line(stream)?.trim(), 16).unwrap_or(0);
                stream
                    .by_ref()
                    .take(size.min(BODY_BYTES_MAX))
                    .read_to_end(&mut body)?;
                line(stream)?;
                if size == 0 {
                    break;
                }
            }
        } else {
            let length: u64 = length.unwrap_or(0);
            stream
                .take(length.min(BODY_BYTES_MAX))
                .read_to_end(&mut body)?;
        }
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(Some(Self { body, ..head }))
    }

    /// Reads the head alone, as a proxy does.
    pub(crate) fn read_head(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
        let first = line(stream)?;
        let mut words = first.split_whitespace().map(str::to_owned);
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Ok(None);
        };
        let mut headers = Vec::new();
        loop {
            let text = line(stream)?;
            let Some((name, value)) = text.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Some(Self {
            method,
            target,
            headers,
            body: Value::Null,
        }))
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    stream.take(64 << 10).read_line(&mut text)?;
    Ok(text)
}
