//! One request and its answer. Redirects are answers like any other: no key follows them.

use std::error::Error as _;
use std::future::poll_fn;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use http_body::Body;
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, PROXY_AUTHORIZATION};
use hyper_util::rt::TokioIo;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::base_url::BaseUrl;
use super::connection::connect;
use super::pool::{ConnectionPool, DriverTask, OpenConnection};
use super::proxy::{ProxyAddress, ProxyRules};
use super::tls::connector;
use crate::limits::{ANSWER_HEAD_BYTES_MAX, IDLE_READY_AFTER};
use crate::secret::Secret;

type Result<T, E = String> = std::result::Result<T, E>;

/// How a server is called.
pub(crate) struct HttpSetup<'s> {
    pub(crate) url: BaseUrl,
    pub(crate) proxies: &'s ProxyRules,
    pub(crate) ca_file: Option<&'s Path>,
    pub(crate) connect_after: Duration,
    pub(crate) allow_plain_http: bool,
}

/// Calls one server.
pub(crate) struct HttpClient {
    pub(crate) url: BaseUrl,
    proxy: Option<ProxyAddress>,
    tls: Option<TlsConnector>,
    connect_after: Duration,
    allow_plain_http: bool,
    pool: Arc<ConnectionPool>,
}

impl HttpClient {
    /// Reads authorities if the server needs them.
    pub(crate) fn new(setup: HttpSetup<'_>) -> Result<Self> {
        let is_tls = setup.url.is_tls;
        Ok(Self {
            proxy: setup.proxies.to(&setup.url).cloned(),
            tls: is_tls.then(|| connector(setup.ca_file)).transpose()?,
            url: setup.url,
            connect_after: setup.connect_after,
            allow_plain_http: setup.allow_plain_http,
            pool: Arc::default(),
        })
    }

    /// What a proxy wants to see, which no error may repeat.
    pub(crate) fn proxy_secret(&self) -> Option<&Secret> {
        self.proxy.as_ref()?.authorization.as_ref()
    }

    /// Posts JSON; `path` follows that of the base URL.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: HeaderMap,
        body: String,
    ) -> Result<HttpAnswer> {
        // A server may close a connection at the very moment of its next request, and says so in many ways: a new one
        // tells whether the server is well.
        if let Some(connection) = self.reused().await {
            let request = self.request(path, headers.clone(), body.clone())?;
            if let Ok(answer) = self.exchange(connection, request).await {
                return Ok(answer);
            }
        }
        let connection = self.open().await?;
        let request = self.request(path, headers, body)?;
        let answered = self.exchange(connection, request).await;
        answered.map_err(|why| broken(&why))
    }

    /// A connection whose last answer was read, if it is ready soon: its task notices the end a moment later.
    async fn reused(&self) -> Option<OpenConnection> {
        let mut connection = self.pool.take()?;
        let is_ready = timeout(IDLE_READY_AFTER, connection.sender.ready()).await;
        is_ready
            .is_ok_and(|ready| ready.is_ok())
            .then_some(connection)
    }

    async fn open(&self) -> Result<OpenConnection> {
        let connected = connect(
            &self.url,
            self.proxy.as_ref(),
            self.tls.as_ref(),
            self.allow_plain_http,
            self.connect_after,
        );
        let stream = timeout(self.connect_after, connected).await;
        let stream = stream.unwrap_or_else(|_| {
            let seconds = self.connect_after.as_secs();
            let authority = &self.url.authority;
            Err(format!("no connection to {authority} within {seconds} s"))
        })?;
        let mut builder = http1::Builder::new();
        builder.max_buf_size(ANSWER_HEAD_BYTES_MAX);
        let shaken = builder.handshake(TokioIo::new(stream)).await;
        let (sender, connection) = shaken.map_err(|why| broken(&why))?;
        // How it ends, the request hears too.
        let driver = DriverTask(tokio::spawn(async move { _ = connection.await }));
        Ok(OpenConnection {
            sender,
            _driver: driver,
        })
    }

    async fn exchange(
        &self,
        mut connection: OpenConnection,
        request: Request<String>,
    ) -> Result<HttpAnswer, hyper::Error> {
        let answer = connection.sender.send_request(request).await?;
        let (head, body) = answer.into_parts();
        Ok(HttpAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: BodyReader {
                body,
                connection: Some(connection),
                pool: self.pool.clone(),
            },
        })
    }

    fn request(&self, path: &str, headers: HeaderMap, body: String) -> Result<Request<String>> {
        let url = &self.url;
        let own = format!("{}{path}", url.path);
        // A proxy without a tunnel needs the whole URL.
        let plain_proxy = self.proxy.as_ref().filter(|_| !url.is_tls);
        let target = match plain_proxy {
            Some(_) => format!("http://{}{own}", url.authority),
            None => own,
        };
        let header = |text: &str| {
            let value = HeaderValue::from_str(text);
            value.map_err(|_| "the host is no header".to_owned())
        };
        let request = Request::post(target).header(HOST, header(&url.authority)?);
        let mut request = request.body(body).map_err(|why| why.to_string())?;
        request.headers_mut().extend(headers);
        request
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(secret) = plain_proxy.and_then(|proxy| proxy.authorization.as_ref()) {
            let mut value = header(secret.reveal())?;
            value.set_sensitive(true);
            request.headers_mut().insert(PROXY_AUTHORIZATION, value);
        }
        Ok(request)
    }
}

/// An error of hyper with its causes.
fn broken(why: &hyper::Error) -> String {
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
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: BodyReader,
}

impl HttpAnswer {
    /// A header as text; empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.and_then(|value| value.to_str().ok()).unwrap_or("")
    }
}

/// A body that arrives.
pub(crate) struct BodyReader {
    body: Incoming,
    connection: Option<OpenConnection>,
    pool: Arc<ConnectionPool>,
}

impl BodyReader {
    /// The next bytes; `None` at the end.
    pub(crate) async fn chunk(&mut self) -> Option<Result<Bytes>> {
        loop {
            let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
            let Some(frame) = frame else {
                if let Some(connection) = self.connection.take() {
                    self.pool.put(connection);
                }
                return None;
            };
            match frame {
                Ok(frame) => {
                    if let Ok(data) = frame.into_data() {
                        return Some(Ok(data));
                    }
                }
                Err(why) => return Some(Err(broken(&why))),
            }
        }
    }

    /// All of it, up to a limit.
    pub(crate) async fn all(&mut self, bytes_max: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        while let Some(chunk) = self.chunk().await {
            let chunk = chunk?;
            if out.len() + chunk.len() > bytes_max {
                return Err(too_long(bytes_max));
            }
            out.extend_from_slice(&chunk);
        }
        Ok(out)
    }

    /// The beginning, for errors.
    pub(crate) async fn start(&mut self, bytes_max: usize) -> Vec<u8> {
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

/// Why an answer is not read on.
pub(crate) fn too_long(bytes_max: usize) -> String {
    format!("the answer is longer than {bytes_max} bytes (answer_bytes_max)")
}
