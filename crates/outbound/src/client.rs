//! A client for requests and their answers. Redirects are answers like any other: no key follows them.

use std::error::Error as _;
use std::future::poll_fn;
use std::pin::Pin;

use http_body::Body;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, PROXY_AUTHORIZATION};
use hyper::http::uri::Scheme;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::connector::{AnswerMark, Connector};
use crate::limits::{IDLE_AFTER, IDLE_CONNECTIONS_MAX};

type Result<T, E = String> = std::result::Result<T, E>;

/// How a client keeps its connections.
#[derive(Debug, Clone, Copy)]
pub struct HttpSetup {
    /// True if a connection whose answer was read waits for the next request.
    pub keeps_connections: bool,
    /// Bytes of the head of an answer.
    pub head_bytes_max: usize,
}

/// Sends requests.
pub struct HttpClient {
    client: Client<Connector, String>,
    connector: Connector,
}

impl HttpClient {
    /// A client with no connection yet.
    #[must_use]
    pub fn new(connector: Connector, setup: HttpSetup) -> Self {
        let mut builder = Client::builder(TokioExecutor::new());
        builder
            .http1_max_buf_size(setup.head_bytes_max)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_AFTER)
            .pool_max_idle_per_host(if setup.keeps_connections {
                IDLE_CONNECTIONS_MAX
            } else {
                0
            });
        Self {
            client: builder.build(connector.clone()),
            connector,
        }
    }

    /// The value of Proxy-Authorization, which no error may repeat.
    #[must_use]
    pub fn proxy_authorization(&self) -> Option<&str> {
        let value = self.connector.proxy.as_ref()?.authorization.as_ref()?;
        value.to_str().ok()
    }

    /// Sends a request whose URL is whole.
    ///
    /// # Errors
    /// Why there is no connection, or how it broke.
    pub async fn send(&self, mut request: Request<String>) -> Result<HttpAnswer> {
        // A proxy without a tunnel reads the request itself.
        let is_plain = request.uri().scheme() != Some(&Scheme::HTTPS);
        let proxy = self.connector.proxy.as_ref().filter(|_| is_plain);
        if let Some(value) = proxy.and_then(|proxy| proxy.authorization.clone()) {
            request.headers_mut().insert(PROXY_AUTHORIZATION, value);
        }
        let mut used = 0;
        loop {
            match self.client.request(request.clone()).await {
                Ok(answer) => {
                    if let Some(mark) = answer.extensions().get::<AnswerMark>() {
                        mark.set();
                    }
                    let (head, body) = answer.into_parts();
                    return Ok(HttpAnswer {
                        status: head.status.as_u16(),
                        headers: head.headers,
                        body: BodyReader(body),
                    });
                }
                // A server may close a connection at the very moment of its next request, and says so in many ways: a
                // new one shows whether the server is well.
                Err(why) if was_used(&why) && used < IDLE_CONNECTIONS_MAX => used += 1,
                Err(why) => return Err(reason(&why)),
            }
        }
    }
}

/// True if the connection that broke had carried an answer before.
fn was_used(why: &Error) -> bool {
    let mut extras = hyper::http::Extensions::new();
    if let Some(connection) = why.connect_info() {
        connection.get_extras(&mut extras);
    }
    extras.get::<AnswerMark>().is_some_and(AnswerMark::is_set)
}

fn reason(why: &Error) -> String {
    match why.source() {
        Some(cause) if why.is_connect() => cause.to_string(),
        Some(cause) => broken(cause),
        None => broken(why),
    }
}

/// An error of hyper with its causes.
fn broken(why: &(dyn std::error::Error + 'static)) -> String {
    let mut text = format!("the connection broke: {why}");
    let mut cause = why.source();
    while let Some(why) = cause {
        let inner = why.to_string();
        if !text.ends_with(&inner) {
            text = format!("{text}: {inner}");
        }
        cause = why.source();
    }
    text
}

/// The head of an answer, and its body.
pub struct HttpAnswer {
    /// Its status.
    pub status: u16,
    /// Its headers.
    pub headers: HeaderMap,
    /// What follows the head.
    pub body: BodyReader,
}

impl HttpAnswer {
    /// A header as text; empty if there is none.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// A body that arrives.
pub struct BodyReader(Incoming);

impl BodyReader {
    /// The next bytes; `None` at the end.
    pub async fn chunk(&mut self) -> Option<Result<Bytes>> {
        loop {
            match poll_fn(|context| Pin::new(&mut self.0).poll_frame(context)).await? {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        return Some(Ok(data));
                    }
                }
                Err(why) => return Some(Err(broken(&why))),
            }
        }
    }

    /// All of it; `None` if it is longer than the limit.
    ///
    /// # Errors
    /// How the connection broke.
    pub async fn all(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        let mut out = Vec::new();
        while let Some(chunk) = self.chunk().await {
            let chunk = chunk?;
            if out.len() + chunk.len() > bytes_max {
                return Ok(None);
            }
            out.extend_from_slice(&chunk);
        }
        Ok(Some(out))
    }

    /// The beginning, for errors.
    pub async fn start(&mut self, bytes_max: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while out.len() < bytes_max
            && let Some(Ok(chunk)) = self.chunk().await
        {
            out.extend_from_slice(&chunk);
        }
        out.truncate(bytes_max);
        out
    }
}
