//! The HTTP server: three pages, one request a connection, each with its deadline.
//!
//! There is room for few connections: of more, the oldest is closed, so that who is slow makes way for who comes.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HOST, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::gathered::Gathered;
use super::pages::{self, Told};
use crate::brains::Brains;
use crate::error::{Error, Result};
use crate::ingress::latency::Latencies;
use crate::limits::{
    METRICS_AFTER, METRICS_CONNECTIONS_MAX, METRICS_HEAD_AFTER, METRICS_HEAD_BYTES_MAX,
    METRICS_HEADERS_MAX,
};
use crate::refusal::{self, Refusal};

/// What the figures are, for who reads them.
const FIGURES: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
/// What the other pages are.
const WORDS: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

/// How long nobody is let in after that failed.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The server of metrics, until it is dropped; none where it is off.
#[derive(Debug)]
pub(crate) struct Metrics(Option<(SocketAddr, JoinHandle<()>)>);

/// What all requests have in common.
struct Pages {
    told: Told,
    gathered: Gathered,
    /// Only who names this machine is answered: a page in a browser may reach us by a name that it has made up.
    is_local: bool,
}

impl Pages {
    async fn figures(self: &Arc<Self>) -> refusal::Result<String> {
        let pages = Arc::downgrade(self);
        let gather = async move {
            let pages = pages.upgrade();
            let pages = pages.ok_or_else(|| Refusal::internal("the daemon has stopped"))?;
            pages::metrics(&pages.told).await
        };
        Ok(self.gathered.page(gather).await?.to_string())
    }
}

impl Metrics {
    /// Answers from now on who comes in by a listener, if there is one.
    pub(crate) fn start(
        listener: Option<TcpListener>,
        brains: &Brains,
        latencies: &Latencies,
    ) -> Result<Self> {
        let Some(listener) = listener else {
            return Ok(Self(None));
        };
        let bound = listener.local_addr().map_err(Error::Metrics)?;
        let pages = Arc::new(Pages {
            told: Told {
                brains: brains.clone(),
                latencies: latencies.clone(),
            },
            gathered: Gathered::default(),
            is_local: bound.ip().is_loopback(),
        });
        let serving = tokio::spawn(serve(listener, pages));
        Ok(Self(Some((bound, serving))))
    }

    /// Where it listens, with the port that the system chose if port 0 was asked for.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.0.as_ref().map(|(address, _)| *address)
    }

    /// Listens no more.
    pub(crate) async fn end(mut self) {
        if let Some((_, serving)) = &mut self.0 {
            serving.abort();
            // It ends because it was told to.
            drop(serving.await);
        }
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        if let Some((_, serving)) = &self.0 {
            serving.abort();
        }
    }
}

/// Tasks that end with whoever holds them.
#[derive(Default)]
struct Visitors(VecDeque<JoinHandle<()>>);

impl Visitors {
    fn enter(&mut self, visitor: JoinHandle<()>) {
        self.0.retain(|visitor| !visitor.is_finished());
        while self.0.len() >= METRICS_CONNECTIONS_MAX
            && let Some(oldest) = self.0.pop_front()
        {
            oldest.abort();
        }
        self.0.push_back(visitor);
    }
}

impl Drop for Visitors {
    fn drop(&mut self) {
        for visitor in &self.0 {
            visitor.abort();
        }
    }
}

async fn serve(listener: TcpListener, pages: Arc<Pages>) {
    let mut visitors = Visitors::default();
    loop {
        match listener.accept().await {
            Ok((stream, from)) => {
                let visit = visit(stream, from, Arc::downgrade(&pages));
                visitors.enter(tokio::spawn(visit));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection for metrics was lost before it began");
                sleep(ACCEPT_AGAIN_AFTER).await;
            }
        }
    }
}

/// One connection. It keeps no brain, nor their folder, from being let go of at the end.
async fn visit(stream: TcpStream, from: SocketAddr, pages: Weak<Pages>) {
    let answer = service_fn(|request| {
        let pages = pages.upgrade();
        async move {
            let answer = match pages {
                Some(pages) => answer(&pages, &request).await,
                None => plain(StatusCode::SERVICE_UNAVAILABLE, "stopped\n"),
            };
            Ok::<_, Infallible>(answer)
        }
    });
    let visit = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(METRICS_HEAD_AFTER)
        .max_buf_size(METRICS_HEAD_BYTES_MAX)
        .max_headers(METRICS_HEADERS_MAX)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), answer);
    match timeout(METRICS_AFTER, visit).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => tracing::debug!(%from, %why, "a request for metrics failed"),
        Err(_) => tracing::debug!(%from, "a request for metrics took too long"),
    }
}

async fn answer(pages: &Arc<Pages>, request: &Request<Incoming>) -> Response<String> {
    if pages.is_local && !names_this_machine(request) {
        let why = "name this machine by its address or as localhost; see metrics.allow_remote\n";
        return plain(StatusCode::MISDIRECTED_REQUEST, why);
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = plain(StatusCode::METHOD_NOT_ALLOWED, "GET it\n");
        let allowed = HeaderValue::from_static("GET, HEAD");
        answer.headers_mut().insert(ALLOW, allowed);
        return answer;
    }
    match request.uri().path() {
        "/metrics" => match pages.figures().await {
            Ok(figures) => words(StatusCode::OK, FIGURES, figures),
            Err(refusal) => {
                tracing::warn!(why = refusal.message, "metrics can't be told");
                let why = "the daemon's log tells why this failed\n";
                plain(StatusCode::INTERNAL_SERVER_ERROR, why)
            }
        },
        "/healthz" => plain(StatusCode::OK, "alive\n"),
        "/readyz" => match pages::ready(&pages.told) {
            (true, told) => words(StatusCode::OK, WORDS, told),
            (false, told) => words(StatusCode::SERVICE_UNAVAILABLE, WORDS, told),
        },
        _ => plain(
            StatusCode::NOT_FOUND,
            "there are /metrics, /healthz and /readyz\n",
        ),
    }
}

fn plain(status: StatusCode, told: &str) -> Response<String> {
    words(status, WORDS, told.to_owned())
}

fn words(status: StatusCode, kind: HeaderValue, told: String) -> Response<String> {
    let mut answer = Response::new(told);
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, kind);
    answer
}

/// True if a request's host is an address, localhost, or not said.
fn names_this_machine(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
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
    async fn of_too_many_visitors_the_oldest_goes() {
        let mut visitors = Visitors::default();
        let (alive, mut gone) = tokio::sync::mpsc::channel::<()>(1);
        for first in [true, false] {
            let held = first.then(|| alive.clone());
            visitors.enter(tokio::spawn(async move {
                let _held = held;
                std::future::pending().await
            }));
        }
        drop(alive);
        for _ in 2..=METRICS_CONNECTIONS_MAX {
            visitors.enter(tokio::spawn(std::future::pending()));
        }
        assert_eq!(gone.recv().await, None);
        assert_eq!(visitors.0.len(), METRICS_CONNECTIONS_MAX);
    }
}
