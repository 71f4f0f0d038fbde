//! The server of the pages: one request a connection, each with its deadline.
//!
//! Of more than `METRICS_HEADS_MAX` connections whose request has not arrived, and of more than
//! `METRICS_CONNECTIONS_MAX` others, the oldest is closed: a slow client gives way to a new one, and none that has sent
//! its request to one that has not.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use amem_engine::tasks::spawn_named;
use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderMap, HeaderValue};
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::page_cache::PageCache;
use super::pages::{self, PageSources};
use super::status::status;
use crate::brains::Brains;
use crate::config::Limits;
use crate::control::Control;
use crate::error::{Error, Result};
use crate::ingress::Peer;
use crate::ingress::accept::ACCEPT_AGAIN_AFTER;
use crate::ingress::admission::{Admission, Protocol};
use crate::ingress::latency::Latencies;
use crate::ingress::requirement::Requirement;
use crate::ingress::session::SessionState;
use crate::limits::{
    METRICS_AFTER, METRICS_CONNECTIONS_MAX, METRICS_HEAD_AFTER, METRICS_HEAD_BYTES_MAX,
    METRICS_HEADERS_MAX, METRICS_HEADS_MAX,
};
use crate::refusal::{self, Refusal};

/// The content type of metrics.
const METRICS_TYPE: HeaderValue =
    HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// The content type of the other pages.
const TEXT_TYPE: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// HTTP, as admission sees it: all pages are open.
struct Http;

impl Protocol for Http {
    fn requirement(&self, _: &Parts) -> refusal::Result<Requirement> {
        Ok(Requirement::OPEN)
    }

    fn timeout(&self, _: &Parts) -> refusal::Result<Option<Duration>> {
        Ok(None)
    }
}

/// The limits of admission here. The quota admits all connections, even from one address.
fn limits() -> Limits {
    Limits {
        requests_in_flight: 2 * METRICS_CONNECTIONS_MAX as u64,
        deadline_secs: METRICS_AFTER.as_secs(),
        deadline_max_secs: METRICS_AFTER.as_secs(),
        ..Limits::default()
    }
}

/// The server of the pages.
#[derive(Debug)]
pub(crate) struct MetricsServer {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
}

/// What all requests share.
#[derive(Debug)]
struct Site {
    admission: Admission,
    sources: PageSources,
    metrics: PageCache,
    /// True if requests must name this machine: a web page can make a browser connect to loopback under the page's own
    /// host name (DNS rebinding).
    is_local: bool,
}

impl MetricsServer {
    /// A server that answers once `serve` is polled.
    pub(crate) fn new(
        listener: TcpListener,
        control: Control,
        brains: &Brains,
        latencies: &Latencies,
    ) -> Result<Self> {
        let address = listener.local_addr().map_err(Error::Metrics)?;
        let site = Arc::new(Site {
            admission: Admission::with_limits(control, limits()),
            sources: PageSources {
                brains: brains.clone(),
                latencies: latencies.clone(),
            },
            metrics: PageCache::default(),
            is_local: address.ip().is_loopback(),
        });
        Ok(Self {
            listener,
            address,
            site,
        })
    }

    /// The bound address: its port is never 0.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers for as long as it is polled.
    pub(crate) async fn serve(self) {
        let mut connections = RecentConnections::default();
        loop {
            match self.listener.accept().await {
                Ok((stream, from)) => {
                    let has_head = Arc::default();
                    let site = Arc::downgrade(&self.site);
                    let serving = serve_connection(stream, from, site, Arc::clone(&has_head));
                    let task = spawn_named("metrics", Box::pin(serving));
                    connections.add(RecentConnection { task, has_head });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection for metrics");
                    sleep(ACCEPT_AGAIN_AFTER).await;
                }
            }
        }
    }
}

/// The task of a connection.
struct RecentConnection {
    task: JoinHandle<()>,
    /// True once its request has arrived.
    has_head: Arc<AtomicBool>,
}

impl Drop for RecentConnection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The newest connections, the oldest first. They end when this is dropped.
#[derive(Default)]
struct RecentConnections(VecDeque<RecentConnection>);

impl RecentConnections {
    fn add(&mut self, connection: RecentConnection) {
        self.0.retain(|connection| !connection.task.is_finished());
        self.close_oldest(false, METRICS_HEADS_MAX - 1);
        self.close_oldest(true, METRICS_CONNECTIONS_MAX);
        self.0.push_back(connection);
    }

    /// Closes the oldest of those whose request has arrived, or has not, until `most` are left.
    fn close_oldest(&mut self, has_head: bool, most: usize) {
        let is_of = |it: &RecentConnection| it.has_head.load(Ordering::Acquire) == has_head;
        let count = self.0.iter().filter(|it| is_of(it)).count();
        let mut excess = count.saturating_sub(most);
        self.0.retain(|it| {
            let is_closed = excess > 0 && is_of(it);
            excess -= usize::from(is_closed);
            !is_closed
        });
    }
}

/// Serves one connection. `site` is weak: a connection must not keep the folder of the brains locked at the end.
async fn serve_connection(
    stream: TcpStream,
    from: SocketAddr,
    site: Weak<Site>,
    has_head: Arc<AtomicBool>,
) {
    let session = Arc::new(SessionState::default());
    let answer = service_fn(|request: Request<Incoming>| {
        has_head.store(true, Ordering::Release);
        let (site, session) = (site.upgrade(), session.clone());
        async move {
            let answer = match site {
                Some(site) => {
                    let (head, _) = request.into_parts();
                    admit(&site, &head, Peer::Anonymous { from }, &session).await
                }
                None => plain(StatusCode::SERVICE_UNAVAILABLE, "stopped\n"),
            };
            Ok::<_, Infallible>(answer)
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(METRICS_HEAD_AFTER)
        .max_buf_size(METRICS_HEAD_BYTES_MAX)
        .max_headers(METRICS_HEADERS_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answer);
    match timeout(METRICS_AFTER, serving).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => tracing::debug!(%from, %why, "a request for metrics failed"),
        Err(_) => tracing::debug!(%from, "a request for metrics took too long"),
    }
}

/// Admits a request, and answers it.
async fn admit(
    site: &Arc<Site>,
    head: &Parts,
    peer: Peer,
    session: &Arc<SessionState>,
) -> Response<String> {
    if site.is_local && !names_this_machine(&head.headers) {
        let why =
            "address this machine by its IP address or as localhost; see metrics.allow_remote\n";
        return plain(StatusCode::MISDIRECTED_REQUEST, why);
    }
    let admitted = site.admission.admit(&Http, head, &peer, None, session);
    let answered = match admitted {
        Ok(mut admitted) => admitted.run(answer(site, head)).await,
        Err(refusal) => Err(refusal),
    };
    answered.unwrap_or_else(|refusal| {
        tracing::debug!(reason = &*refusal.reason, "refused a request for metrics");
        plain(status(refusal.code), &format!("{}\n", refusal.message))
    })
}

async fn answer(site: &Arc<Site>, head: &Parts) -> Response<String> {
    if !matches!(head.method, Method::GET | Method::HEAD) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, allowed);
        return answer;
    }
    match head.uri.path() {
        "/metrics" => metrics(site).await,
        "/healthz" => plain(StatusCode::OK, "alive\n"),
        "/readyz" => {
            let (is_ready, page) = pages::ready(&site.sources);
            let status = if is_ready {
                StatusCode::OK
            } else {
                StatusCode::SERVICE_UNAVAILABLE
            };
            text(status, TEXT_TYPE, page)
        }
        _ => plain(
            StatusCode::NOT_FOUND,
            "the pages are /metrics, /healthz and /readyz\n",
        ),
    }
}

async fn metrics(site: &Arc<Site>) -> Response<String> {
    let site_of_page = Arc::downgrade(site);
    let gather = async move {
        let site = site_of_page.upgrade();
        let site = site.ok_or_else(|| Refusal::internal("the daemon has stopped"))?;
        pages::metrics(&site.sources).await
    };
    match site.metrics.page(gather).await {
        Ok(page) => text(StatusCode::OK, METRICS_TYPE, page.to_string()),
        Err(refusal) => {
            tracing::warn!(why = refusal.message, "cannot gather metrics");
            let why = "this failed: see the log of amemd\n";
            plain(StatusCode::INTERNAL_SERVER_ERROR, why)
        }
    }
}

fn plain(status: StatusCode, page: &str) -> Response<String> {
    text(status, TEXT_TYPE, page.to_owned())
}

fn text(status: StatusCode, content_type: HeaderValue, page: String) -> Response<String> {
    let mut answer = Response::new(page);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}

/// True if a request names no host, an address, or localhost.
fn names_this_machine(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (first, second) = (hosts.next(), hosts.next());
    match (first, second) {
        (None, _) => true,
        (Some(host), None) => host.to_str().is_ok_and(is_this_machine),
        _ => false,
    }
}

/// True if a host, with or without a port, is an address or localhost.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_this_machine_if_it_is_an_address_or_localhost() {
        for host in [
            "127.0.0.1",
            "127.0.0.1:9411",
            "[::1]:9411",
            "[::1]",
            "localhost",
            "LOCALHOST:9411",
        ] {
            assert!(is_this_machine(host), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "evil.example:9411",
            "localhost.evil",
            ":1",
        ] {
            assert!(!is_this_machine(host), "{host}");
        }
    }

    #[tokio::test]
    async fn slow_requests_close_the_oldest_of_them_and_none_that_has_arrived() {
        let connection = |has_head: bool| RecentConnection {
            task: tokio::spawn(std::future::pending()),
            has_head: Arc::new(has_head.into()),
        };
        let mut connections = RecentConnections::default();
        let (check, first_slow) = (connection(true), connection(false));
        let first_slow_task = first_slow.task.abort_handle();
        let check_task = check.task.abort_handle();
        connections.add(first_slow);
        connections.add(check);
        for _ in 0..METRICS_HEADS_MAX {
            connections.add(connection(false));
        }
        let closed = async {
            while !first_slow_task.is_finished() {
                tokio::task::yield_now().await;
            }
        };
        let closed = timeout(METRICS_AFTER, closed).await;
        closed.expect("the oldest slow one stays");
        assert!(!check_task.is_finished());
        assert_eq!(connections.0.len(), METRICS_HEADS_MAX + 1);
        // Clients that send their request and do not read the answer give way to each other.
        for _ in 0..=METRICS_CONNECTIONS_MAX {
            connections.add(connection(true));
        }
        let closed = async {
            while !check_task.is_finished() {
                tokio::task::yield_now().await;
            }
        };
        let closed = timeout(METRICS_AFTER, closed).await;
        closed.expect("the oldest stays");
        assert_eq!(
            connections.0.len(),
            METRICS_HEADS_MAX - 1 + METRICS_CONNECTIONS_MAX + 1
        );
    }
}
