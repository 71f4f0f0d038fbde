//! A client of HTTP/1.1 by hand: it sends what it is given, byte for byte.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use amem_client::v1;
use serde_json::Value;

use crate::process::{Daemon, Setup};

/// HTTP on this machine.
pub(crate) const HTTP: &str =
    "[http]\nlisten = \"127.0.0.1:0\"\n[tcp]\ntokens_file = \"tokens.toml\"\n";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// An answer.
#[derive(Debug)]
pub(crate) struct WebAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl WebAnswer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|header| header.0 == name);
        found.next().map(|header| header.1.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/json"),
            "{self:?}"
        );
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The body of a success.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// A refusal must have this status, name and code, and say why.
    pub(crate) fn refused(&self, status: u16, name: &str, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        assert_eq!(
            (&body["error"], &body["code"]),
            (&name.into(), &code.into()),
            "{body}"
        );
        assert!(
            body["detail"]
                .as_str()
                .is_some_and(|detail| detail.len() > 10),
            "{body}"
        );
        body
    }
}

/// Reads answers of a connection.
#[derive(Debug)]
pub(crate) struct WebReader<S> {
    pub(crate) stream: S,
    read: Vec<u8>,
}

impl<S: Read> WebReader<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            read: Vec::new(),
        }
    }

    fn more(&mut self) -> bool {
        let mut part = [0; 4096];
        match self.stream.read(&mut part) {
            Ok(0) => false,
            Err(why) => {
                let is_late = matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                assert!(
                    !is_late,
                    "the daemon neither answers nor closes the connection"
                );
                false
            }
            Ok(bytes) => {
                self.read.extend_from_slice(&part[..bytes]);
                true
            }
        }
    }

    /// The next answer; `None` at the end of the connection.
    pub(crate) fn answer(&mut self) -> Option<WebAnswer> {
        let head_end = loop {
            let end = self.read.windows(4).position(|four| four == b"\r\n\r\n");
            match end {
                Some(end) => break end + 4,
                None if self.more() => {}
                None => return None,
            }
        };
        let head: Vec<u8> = self.read.drain(..head_end).collect();
        let head = String::from_utf8(head).unwrap();
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        let mut answer = WebAnswer {
            status,
            headers: lines.filter_map(header).collect(),
            body: Vec::new(),
        };
        let length = answer
            .header("content-length")
            .map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length && self.more() {}
        // An answer to HEAD has the length of a body that does not come.
        answer.body = self.read.drain(..length.min(self.read.len())).collect();
        Some(answer)
    }
}

/// A connection.
pub(crate) fn connect(address: SocketAddr) -> WebReader<TcpStream> {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_nodelay(true).unwrap();
    WebReader::new(stream)
}

/// The answer to these bytes on a connection of their own.
pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Option<WebAnswer> {
    let mut reader = connect(address);
    // A daemon that has answered before it read everything may reset the connection.
    drop(reader.stream.write_all(bytes));
    reader.answer()
}

/// A caller with a token.
#[derive(Debug, Clone)]
pub(crate) struct WebCaller {
    pub(crate) address: SocketAddr,
    /// `authorization: Bearer …`, as it is sent.
    pub(crate) shows: String,
}

impl WebCaller {
    pub(crate) fn bearer(daemon: &Daemon, token: &str) -> Self {
        Self {
            address: daemon.http.unwrap(),
            shows: format!("authorization: Bearer {token}"),
        }
    }

    /// As mem0's clients call.
    pub(crate) fn token(daemon: &Daemon, token: &str) -> Self {
        Self {
            address: daemon.http.unwrap(),
            shows: format!("authorization: Token {token}"),
        }
    }

    /// The bytes of a request with more headers.
    pub(crate) fn bytes(
        &self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Vec<u8> {
        let Self { address, shows } = self;
        let mut head = format!("{method} {target} HTTP/1.1\r\nhost: {address}\r\n");
        for header in headers
            .iter()
            .copied()
            .chain([shows.as_str()])
            .filter(|header| !header.is_empty())
        {
            head += &format!("{header}\r\n");
        }
        if !body.is_empty() {
            head += &format!("content-length: {}\r\n", body.len());
        }
        [head.as_bytes(), b"\r\n", body].concat()
    }

    /// Sends a request with more headers.
    pub(crate) fn send(
        &self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &Value,
    ) -> WebAnswer {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let json = if body.is_empty() {
            ""
        } else {
            "content-type: application/json"
        };
        let headers: Vec<_> = headers.iter().copied().chain([json]).collect();
        raw(
            self.address,
            &self.bytes(method, target, &headers, body.as_bytes()),
        )
        .unwrap()
    }

    pub(crate) fn get(&self, target: &str) -> WebAnswer {
        self.send("GET", target, &[], &Value::Null)
    }

    pub(crate) fn delete(&self, target: &str) -> WebAnswer {
        self.send("DELETE", target, &[], &Value::Null)
    }

    pub(crate) fn post(&self, target: &str, body: &Value) -> WebAnswer {
        self.send("POST", target, &[], body)
    }

    pub(crate) fn put(&self, target: &str, body: &Value) -> WebAnswer {
        self.send("PUT", target, &[], body)
    }
}

/// Sends a request without a body by a Unix socket.
pub(crate) fn by_socket(path: &Path, method: &str, target: &str) -> WebAnswer {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!("{method} {target} HTTP/1.1\r\nhost: memory\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    WebReader::new(stream).answer().unwrap()
}

/// A daemon with HTTP, and a caller that may do everything.
pub(crate) async fn daemon() -> (Daemon, WebCaller) {
    daemon_with("").await
}

/// The same with more settings.
pub(crate) async fn daemon_with(settings: &str) -> (Daemon, WebCaller) {
    let daemon = Setup::new(&format!("{HTTP}{settings}")).start();
    let token = daemon.token_of("admin", v1::Permission::Admin).await;
    let web = WebCaller::bearer(&daemon, &token);
    (daemon, web)
}
